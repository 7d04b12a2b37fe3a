"""The uncompressed data of the page, as JSON: models, categories with means of questions, and tasks with scores."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...base.untrusted_text import in_one_line
from ...lab.checklists.metrics.error_counts import MODES
from ...lab.checklists.rejections import UNANSWERED
from ...lab.checklists.scoring.scores import ModelScores, Part, Scores, State
from ...lab.checklists.tasks import Checklist, Task
from ...lab.experiments.finding import n_equal
from .evidence import ModelEvidence

STATES: tuple[State | None, ...] = ("judged", "stale", "unjudged", "missing", None)
"""The states from best to worst; None is the state of a model that was not asked for tasks of that length."""

_N_TITLE = 160
_N_READ = 2000
_MIN_COMMON = 20
_MIN_ALIKE = 3


def overview_of(scores: Scores, models: Sequence[ModelEvidence], marks: Sequence[str]) -> dict[str, Any]:
    """The overview."""
    suite = scores.suite
    categories = list(suite.checklists)
    tasks = shown_tasks(scores, models)
    columns = [_of_task(task, models, marks) for task in tasks]
    return {
        "models": [{"key": model.model, "name": model.name} for model in scores.models],
        "areas": list(suite.areas),
        "categories": [
            {"area": area, "name": name, "questions": checklist.questions, "weights": _weights(scores, checklist)}
            for (area, name), checklist in suite.checklists.items()
        ],
        "lengths": list(suite.lengths),
        "levels": list(suite.levels),
        "means": question_means(scores),
        "marks": list(marks),
        "tasks": {
            "id": [task.id for task in tasks],
            "length": [task.length for task in tasks],
            "category": [categories.index((task.area, task.category)) for task in tasks],
            "title": titles(tasks),
            **{name: [column[name] for column in columns] for name in ("scores", "states", "marked")},
        },
    }


def question_means(scores: Scores) -> list[dict[str, Any]]:
    """The mean verdict of each model on each question, by length (first the main table) and judged category."""
    if scores.method != "checklist":  # an overall rating has no verdicts on questions
        return []
    suite, by_model = scores.suite, [_verdicts(model) for model in scores.models]
    numbers = {key: number for number, key in enumerate(suite.checklists)}
    rows = []
    for length in (None, *suite.lengths):
        for key in sorted(numbers, key=lambda key: suite.areas.index(key[0])):
            verdicts = [model.get((length, *key), []) for model in by_model]
            if any(verdicts):
                means, n = list(map(_means, verdicts)), list(map(len, verdicts))
                rows.append({"category": numbers[key], "length": length, "means": means, "n": n})
    return rows


def _verdicts(model: ModelScores) -> dict[tuple[str | None, str, str], list[tuple[float, ...]]]:
    """The verdicts on the answers of a model, by length, area and category."""
    verdicts: dict[tuple[str | None, str, str], list[tuple[float, ...]]] = {}
    for answer in model.answers:
        task = answer.task
        verdicts.setdefault((task.length, task.area, task.category), []).append(answer.verdicts)
    return verdicts


def _means(verdicts: Sequence[tuple[float, ...]]) -> list[float] | None:
    columns = zip(*verdicts, strict=True)
    return [round(math.fsum(column) / len(verdicts), 6) for column in columns] if verdicts else None


def shown_tasks(scores: Scores, models: Sequence[ModelEvidence]) -> list[Task]:
    """The tasks of the main table, and those of a length of which any model has an answer or judgement."""
    return [
        task for task in scores.suite.tasks if task.length is None or any(task.key in model.by_task for model in models)
    ]


def titles(tasks: Sequence[Task]) -> list[str]:
    """The beginning of each task's instruction, without the words with which all of its category and length begin."""
    texts = [" ".join((task.instruction or "")[:_N_READ].split()) for task in tasks]
    groups: dict[tuple[str, str, str | None], list[int]] = {}
    for number, task in enumerate(tasks):
        groups.setdefault((task.area, task.category, task.length), []).append(number)
    beginnings = [""] * len(tasks)
    for numbers in groups.values():
        first, last = (pick(texts[number] for number in numbers) for pick in (min, max))
        # Whole words only.
        begin = first.rfind(" ", 0, n_equal(first, last)) + 1 if len(numbers) >= _MIN_ALIKE else 0
        for number in numbers:
            text = texts[number] if begin < _MIN_COMMON else f"…{texts[number][begin:]}"
            beginnings[number] = in_one_line(text, _N_TITLE)
    return beginnings


def _weights(scores: Scores, checklist: Checklist) -> list[float]:
    """The weights that the scores were computed with."""
    n = len(checklist.questions)
    return [round(weight, 4) for weight in (checklist.weights if scores.weights == "suite" else (100 / n,) * n)]


def _of_task(task: Task, models: Sequence[ModelEvidence], marks: Sequence[str]) -> dict[str, Any]:
    """By model, the mean score of the trials, the number of the state of the worst one, and all marks as bits."""
    figures, states, marked = [], "", []
    for model in models:
        trials = model.by_task.get(task.key, ())
        values = [trial.score.score for trial in trials if trial.score is not None]
        figures.append(round(math.fsum(values) / len(values), 4) if values else None)
        is_asked = task.length is None or task.length in model.lengths
        present: set[State | None] = {trial.state for trial in trials} or {"missing" if is_asked else None}
        states += str(max(map(STATES.index, present)))
        held = {mark for trial in trials for mark in trial.marks}
        marked.append(sum(1 << number for number, mark in enumerate(marks) if mark in held))
    return {"scores": figures, "states": states, "marked": marked}


N_TINTS = 9
"""The number of tints from the lowest to the highest figure."""


def model_rows(scores: Scores) -> list[dict[str, Any]]:
    """A row for each model of the table, in the order of the table."""
    return [
        {
            "key": model.model,
            "name": model.name,
            "place": place,
            "ranks": ranks,
            "average": model.average,
            "areas": [model.areas.get(area, Part(0)) for area in scores.suite.areas],
            "n_missing": sum(len(part.missing) for part in model.areas.values()),
            "places": bounds,
            "signature": model.signature,
        }
        for model, place, ranks, bounds in zip(
            scores.models, scores.places, scores.ranks, scores.place_bounds, strict=True
        )
    ]


def span_of(averages: Sequence[Part]) -> tuple[float, float]:
    """From the lowest to the highest end of all intervals; the axis of the bars."""
    ends = [value for part in averages for value in (part.low, part.high, part.rescaled) if value is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low, high) if high > low else (low - 1, high + 1)


def category_rows(scores: Scores) -> list[dict[str, Any]]:
    """A row for each category of the main table, with the rescaled score of each model and its tint."""
    keys = [key for key in scores.suite.checklists if any(key in model.categories for model in scores.models)]
    keys.sort(key=lambda key: scores.suite.areas.index(key[0]))
    values = sorted(
        part.rescaled for model in scores.models for part in model.categories.values() if part.rescaled is not None
    )
    numbers = {key: number for number, key in enumerate(scores.suite.checklists)}
    rows = []
    for key in keys:
        parts = [model.categories.get(key) for model in scores.models]
        cells = [(part, tint(None if part is None else part.rescaled, values)) for part in parts]
        rows.append({"area": key[0], "name": key[1], "number": numbers[key], "cells": cells})
    return rows


def tint(value: float | None, in_order: Sequence[float]) -> int | None:
    """The number of a tint, from 0 to `N_TINTS` - 1, by rank, so that a few very low values do not hide differences."""
    if value is None:
        return None
    return round(bisect_left(in_order, value) / max(1, len(in_order) - 1) * (N_TINTS - 1))


def length_rows(scores: Scores) -> list[tuple[str, list[tuple[ModelScores, Part]]]]:
    """For each length that any model was asked for, the models with their figures, best score first."""
    rows = []
    for length in scores.suite.lengths:
        parts = [(model, model.lengths[length]) for model in scores.models if length in model.lengths]
        parts.sort(key=lambda row: -float("inf") if row[1].rescaled is None else row[1].rescaled, reverse=True)
        if parts:
            rows.append((length, parts))
    return rows


def marks_in_order(marks: Iterable[str]) -> list[str]:
    """Each mark once: the error modes in the order of tables, then the signals."""
    names = set(marks)
    return [*(mode for mode in MODES if mode in names), *sorted(names.difference(MODES))]


def mark_rows(models: Sequence[ModelEvidence], marks: Sequence[str]) -> list[tuple[ModelScores, int, list[int]]]:
    """For each model with answers, how many there are and how many of them have each mark."""
    rows = []
    for model in models:
        answers = [trial for trials in model.by_task.values() for trial in trials if trial.answer is not None]
        if answers:
            rows.append((model.scores, len(answers), [sum(mark in trial.marks for trial in answers) for mark in marks]))
    return rows


def gap_rows(scores: Scores) -> list[tuple[ModelScores, list[tuple[str, str, tuple[str, ...]]]]]:
    """For each model with missing, unjudged, stale or refused answers: the part, the state and the IDs of the tasks."""
    rows = []
    for model in scores.models:
        parts: Mapping[str, Part] = {**model.areas, **model.lengths}
        gaps = [
            (place, state, ids)
            for place, part in parts.items()
            for state in ("missing", "unjudged", "stale", *UNANSWERED)
            if (ids := getattr(part, state))
        ]
        if gaps:
            rows.append((model, gaps))
    return rows

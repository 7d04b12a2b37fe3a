"""The data of the page: models, categories, tasks with scores, and every answer with its verdicts and reasons."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ...base.errors import ChecklistError
from ...base.untrusted_text import in_one_line
from ...lab.checklists.checklist_runs import Answer, Run
from ...lab.checklists.checklist_scoring import GAPS, ChecklistScores, Gap, ModelScores, ScoredPart
from ...lab.checklists.error_modes import MODES, ErrorRules, errors_in
from ...lab.checklists.judged import State, Verdicts, is_stale
from ...lab.checklists.judgements import Judgement
from ...lab.checklists.line_files import OnFault
from ...lab.checklists.tasks import AnswerKey, Checklist, ChecklistTask, TaskKey
from ...lab.finding import n_equal
from ..answers import packed


@dataclass(frozen=True)
class AnswerEvidence:
    """The data of one answer of a model."""

    trial: int  # number of the answer
    state: State  # whether it is judged, and if not, why
    score: Verdicts | None = None  # its score, if it is judged
    answer: Answer | None = None  # answer, if the run has it
    # judgements of it, in the order of the file, and whether each is stale: of another text or another checklist
    judgements: Sequence[tuple[Judgement, bool]] = ()
    marks: tuple[str, ...] = ()  # error modes that its text has


@dataclass(frozen=True)
class ModelEvidence:
    """The data of the answers of a model, by task, without answers that have no text, judgement or score."""

    scores: ModelScores
    has_answers: bool  # whether its run has answers
    by_task: Mapping[TaskKey, Sequence[AnswerEvidence]] = field(repr=False)  # answers to each task, by trial

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that any answer has."""
        return tuple(dict.fromkeys(mark for group in self.by_task.values() for trial in group for mark in trial.marks))

    @cached_property
    def lengths(self) -> frozenset[str | None]:
        """The lengths of the tasks that the model was asked for."""
        return frozenset(length for _, length in self.by_task)


def evidence_of(
    scores: ChecklistScores,
    runs: Sequence[Run],
    *,
    judge: str | None = None,
    on_fault: OnFault | None = None,
) -> list[ModelEvidence]:
    """The data of the answers of all models, in the order of the scores."""
    by_key = {run.key: run for run in runs}
    rules = ErrorRules(scores.suite)
    models = []
    for model in scores.models:
        if model.model not in by_key:
            raise ChecklistError(f"the scores are of {model.model} too, but there is no such run")
        run = by_key[model.model]
        answers = run.answers(scores.suite, on_fault=on_fault)
        rows = [
            row
            for row in run.judgements(scores.suite, on_fault=on_fault)
            if row.method == scores.method and (judge is None or judge in (row.judge, row.version))
        ]
        models.append(ModelEvidence(model, bool(answers), _by_task(model, rules, run, answers, rows)))
    return models


def _by_task(
    model: ModelScores, rules: ErrorRules, run: Run, answers: Mapping[AnswerKey, Answer], rows: Sequence[Judgement]
) -> dict[TaskKey, list[AnswerEvidence]]:
    judgements: dict[AnswerKey, list[Judgement]] = {}
    for row in rows:
        judgements.setdefault(row.key, []).append(row)
    scored = {answer.key: answer for answer in model.answers}
    errors = (answer for answer in errors_in(answers, rows, rules) if answer.has_text)
    marks = {answer.key: tuple(mode for mode, has in MODES.items() if has(answer)) for answer in errors}
    by_task: dict[TaskKey, list[AnswerEvidence]] = {}
    for key in sorted({*answers, *judgements, *scored}, key=lambda key: (key[0], key[1] or "", key[2])):
        own = [(row, is_stale(row, rules.suite, run, answers)) for row in judgements.get(key, ())]
        state: State = "judged"
        if key not in scored and own:
            state = "stale" if all(stale for _, stale in own) else "unjudged"
        elif key not in scored:
            state = "unjudged" if run.waits_for_replies and key in answers else "missing"
        evidence = (state, scored.get(key), answers.get(key), own, marks.get(key, ()))
        by_task.setdefault(key[:2], []).append(AnswerEvidence(key[2], *evidence))
    return by_task


class Extent(NamedTuple):
    """The part of the texts that a page holds."""

    answer: int | None = None  # maximum number of code points of an answer or instruction; None for no limit
    reason: int | None = None  # maximum number of code points of a reason; None for no limit


def task_line(task: ChecklistTask, models: Sequence[ModelEvidence], extent: Extent) -> str:
    """The line of a task."""
    entries = [
        _entry(number, evidence, extent)
        for number, model in enumerate(models)
        for evidence in model.by_task.get(task.key, ())
    ]
    instruction = task.instruction or ""
    return packed(
        {
            "instruction": instruction[: extent.answer],
            "n_instruction": len(instruction),
            "is_whole": task.is_whole,
            "wanted": task.wanted_words,
            "reference": None if task.reference is None else task.reference[: extent.answer],
            "entries": entries,
        }
    )


def _entry(model: int, evidence: AnswerEvidence, extent: Extent) -> dict[str, Any]:
    answer, score = evidence.answer, evidence.score
    entry: dict[str, Any] = {"model": model, "state": evidence.state}
    if evidence.trial != 1:
        entry["trial"] = evidence.trial
    if answer is not None:
        entry |= {"answer": answer.response[: extent.answer], "length": len(answer.response)}
        if answer.finish_reason is not None:
            entry["finish"] = answer.finish_reason
    if score is not None:
        entry |= {
            "score": round(score.score, 4),
            "words": score.words,
            "verdicts": [round(verdict, 4) for verdict in score.verdicts],
        }
    if evidence.marks:
        entry["marks"] = list(evidence.marks)
    entry["judgements"] = [_judgement(*pair, extent) for pair in evidence.judgements]
    return entry


def _judgement(judgement: Judgement, is_stale: bool, extent: Extent) -> dict[str, Any]:
    """A judgement without its default values."""
    reasons = [None if text is None else text[: extent.reason] for text in judgement.reasons]
    entry: dict[str, Any] = {
        "judge": judgement.judge,
        "version": judgement.version,
        "rating": None if judgement.rating == 1 else judgement.rating,
        "scores": judgement.verdicts and [round(verdict, 4) for verdict in judgement.verdicts],
        "reasons": reasons if any(reasons) else None,
        "tries": None if judgement.tries == 1 else judgement.tries,
        "fault": judgement.fault,
        "cut": judgement.cut or None,
        "stale": is_stale or None,
    }
    return {name: value for name, value in entry.items() if value not in (None, "")}


STATES: tuple[State | None, ...] = ("judged", "stale", "unjudged", "missing", None)
"""The states from best to worst; None is the state of a model that was not asked for tasks of that length."""

_N_TITLE = 160
_N_READ = 2000
_MIN_COMMON = 20
_MIN_ALIKE = 3


def overview_of(scores: ChecklistScores, models: Sequence[ModelEvidence], marks: Sequence[str]) -> dict[str, Any]:
    """The overview."""
    suite = scores.suite
    categories = list(suite.checklists)
    tasks = shown_tasks(scores, models)
    columns = [_of_task(task, models, marks) for task in tasks]

    def weights(checklist: Checklist) -> list[float]:  # with which the scores were computed
        n = len(checklist.questions)
        return [round(weight, 4) for weight in (checklist.weights if scores.weights == "suite" else (100 / n,) * n)]

    return {
        "models": [{"key": model.model, "name": model.name} for model in scores.models],
        "areas": list(suite.areas),
        "categories": [
            {"area": area, "name": name, "questions": checklist.questions, "weights": weights(checklist)}
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


def question_means(scores: ChecklistScores) -> list[dict[str, Any]]:
    """The mean verdict of each model on each question, by length (first the main table) and judged category."""
    if scores.method != "checklist":  # an overall rating has no verdicts on questions
        return []
    suite, n_models = scores.suite, len(scores.models)
    numbers = {key: number for number, key in enumerate(suite.checklists)}
    verdicts: dict[Any, list[list[tuple[float, ...]]]] = {}  # by length, area and category, of each model
    for number, model in enumerate(scores.models):
        for answer in model.answers:
            place = (answer.task.length, *answer.task.place)
            verdicts.setdefault(place, [[] for _ in range(n_models)])[number].append(answer.verdicts)

    def means(listed: Sequence[tuple[float, ...]]) -> list[float] | None:
        columns = zip(*listed, strict=True)
        return [round(math.fsum(column) / len(listed), 6) for column in columns] if listed else None

    return [
        {"category": numbers[key], "length": length, "means": list(map(means, group)), "n": list(map(len, group))}
        for length in (None, *suite.lengths)
        for key in sorted(numbers, key=lambda key: suite.areas.index(key[0]))
        if (group := verdicts.get((length, *key))) is not None
    ]


def shown_tasks(scores: ChecklistScores, models: Sequence[ModelEvidence]) -> list[ChecklistTask]:
    """The tasks of the main table, and those of a length of which any model has an answer or judgement."""
    return [
        task for task in scores.suite.tasks if task.length is None or any(task.key in model.by_task for model in models)
    ]


def titles(tasks: Sequence[ChecklistTask]) -> list[str]:
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


def _of_task(task: ChecklistTask, models: Sequence[ModelEvidence], marks: Sequence[str]) -> dict[str, Any]:
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


def span_of(averages: Sequence[ScoredPart]) -> tuple[float, float]:
    """From the lowest to the highest end of all intervals; the axis of the bars."""
    ends = [value for part in averages for value in (*(part.interval or ()), part.rescaled) if value is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low, high) if high > low else (low - 1, high + 1)


def category_rows(scores: ChecklistScores) -> list[dict[str, Any]]:
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


def length_rows(scores: ChecklistScores) -> list[tuple[str, list[tuple[ModelScores, ScoredPart]]]]:
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


def gap_rows(scores: ChecklistScores) -> list[tuple[ModelScores, list[tuple[str, Gap, tuple[str, ...]]]]]:
    """For each model with missing, unjudged, stale or refused answers: the part, the state and the IDs of the tasks."""
    rows = []
    for model in scores.models:
        parts: Mapping[str, ScoredPart] = {**model.areas, **model.lengths}
        gaps = [(place, state, ids) for place, part in parts.items() for state in GAPS if (ids := part.gaps[state])]
        if gaps:
            rows.append((model, gaps))
    return rows

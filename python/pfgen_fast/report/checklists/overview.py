"""The uncompressed data of the page, as JSON: models, categories with means of questions, and tasks with scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...checklists.scoring.scores import ModelScores, Scores, State
from ...checklists.tasks import Checklist, Task
from ...files.untrusted_text import in_one_line
from ..differences import n_equal
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
    of_tasks = [_of_task(task, models, marks) for task in tasks]
    return {
        "models": [{"key": one.model, "name": one.name} for one in scores.models],
        "areas": list(suite.areas),
        "categories": [
            {"area": area, "name": name, "questions": one.questions, "weights": _weights(scores, one)}
            for (area, name), one in suite.checklists.items()
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
            **{name: [of[name] for of in of_tasks] for name in ("scores", "states", "marked")},
        },
    }


def question_means(scores: Scores) -> list[dict[str, Any]]:
    """The mean verdict of each model on each question, by length (first the main table) and judged category."""
    if scores.method != "checklist":  # an overall rating has no verdicts on questions
        return []
    suite, by_model = scores.suite, [_verdicts(model) for model in scores.models]
    numbers = {key: number for number, key in enumerate(suite.checklists)}
    found = []
    for length in (None, *suite.lengths):
        for key in sorted(numbers, key=lambda key: suite.areas.index(key[0])):
            verdicts = [model.get((length, *key), []) for model in by_model]
            if any(verdicts):
                means, n = list(map(_means, verdicts)), list(map(len, verdicts))
                found.append({"category": numbers[key], "length": length, "means": means, "n": n})
    return found


def _verdicts(model: ModelScores) -> dict[tuple[str | None, str, str], list[tuple[float, ...]]]:
    """The verdicts on the answers of a model, by length, area and category."""
    found: dict[tuple[str | None, str, str], list[tuple[float, ...]]] = {}
    for answer in model.answers:
        task = answer.task
        found.setdefault((task.length, task.area, task.category), []).append(answer.verdicts)
    return found


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
    found = [""] * len(tasks)
    for numbers in groups.values():
        first, last = (pick(texts[number] for number in numbers) for pick in (min, max))
        # Whole words only.
        begin = first.rfind(" ", 0, n_equal(first, last)) + 1 if len(numbers) >= _MIN_ALIKE else 0
        for number in numbers:
            text = texts[number] if begin < _MIN_COMMON else f"…{texts[number][begin:]}"
            found[number] = in_one_line(text, _N_TITLE)
    return found


def _weights(scores: Scores, checklist: Checklist) -> list[float]:
    """The weights that the scores were computed with."""
    n = len(checklist.questions)
    return [round(weight, 4) for weight in (checklist.weights if scores.weights == "suite" else (100 / n,) * n)]


def _of_task(task: Task, models: Sequence[ModelEvidence], marks: Sequence[str]) -> dict[str, Any]:
    """By model, the mean score of the trials, the number of the state of the worst one, and all marks as bits."""
    figures, states, marked = [], "", []
    for model in models:
        trials = model.by_task.get(task.key, ())
        found = [one.score.score for one in trials if one.score is not None]
        figures.append(round(math.fsum(found) / len(found), 4) if found else None)
        is_asked = task.length is None or task.length in model.lengths
        of_trials: set[State | None] = {one.state for one in trials} or {"missing" if is_asked else None}
        states += str(max(map(STATES.index, of_trials)))
        held = {mark for one in trials for mark in one.marks}
        marked.append(sum(1 << number for number, mark in enumerate(marks) if mark in held))
    return {"scores": figures, "states": states, "marked": marked}

"""The mean verdict of each model on each question of a category: where models differ, and where none does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...checklists.scores import AnswerScore, ModelScores, Scores
from ...checklists.suite import Checklist, TaskKey


@dataclass(frozen=True)
class QuestionMeans:
    """The mean verdicts on the questions of a category, for the tasks of one length.

    Attributes:
        checklist: The questions with their weights.
        length: The length of the tasks; None for those of the main table.
        means: For each model, the mean verdict on each question; None for a model without a judged answer.
        n_tasks: For each model, the number of tasks with a judged answer.
    """

    checklist: Checklist
    length: str | None
    means: tuple[tuple[float, ...] | None, ...]
    n_tasks: tuple[int, ...]


def question_means(scores: Scores) -> list[QuestionMeans]:
    """The means of all categories in the order of the suite, those of the main table first.

    Trials of a task are averaged first, so tasks count alike. Categories without a judged answer are not in.
    Where a judge gave one overall rating, no question has a verdict.
    """
    if scores.method != "checklist":
        return []
    by_model = [_by_category(model) for model in scores.models]
    keys = dict.fromkeys(
        (length, *of_area)
        for length in (None, *scores.suite.lengths)
        for area in scores.suite.areas
        for of_area in scores.suite.checklists
        if of_area[0] == area
    )
    found = []
    for length, area, category in keys:
        tasks = [model.get((length, area, category), {}) for model in by_model]
        if any(tasks):
            means = tuple(_mean(map(_mean_verdicts, of_model.values())) if of_model else None for of_model in tasks)
            checklist = scores.suite.checklists[area, category]
            found.append(QuestionMeans(checklist, length, means, tuple(map(len, tasks))))
    return found


def _by_category(model: ModelScores) -> dict[tuple[str | None, str, str], dict[TaskKey, list[AnswerScore]]]:
    found: dict[tuple[str | None, str, str], dict[TaskKey, list[AnswerScore]]] = {}
    for answer in model.answers:
        task = answer.task
        of_category = found.setdefault((task.length, task.area, task.category), {})
        of_category.setdefault(task.key, []).append(answer)
    return found


def _mean_verdicts(answers: Sequence[AnswerScore]) -> tuple[float, ...]:
    return answers[0].verdicts if len(answers) == 1 else _mean(answer.verdicts for answer in answers)


def _mean(verdicts: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    listed = list(verdicts)
    return tuple(math.fsum(of_question) / len(listed) for of_question in zip(*listed, strict=True))

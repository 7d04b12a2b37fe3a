"""The mean verdict of each model on each question of a category: where models differ, and where none does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...checklists.scoring.scores import ModelScores, Scores
from ...checklists.tasks import Checklist


@dataclass(frozen=True)
class QuestionMeans:
    """The mean verdicts on the questions of a category, for the tasks of one length."""

    checklist: Checklist  # questions with their weights
    length: str | None  # length of the tasks; None for those of the main table
    # for each model, the mean verdict on each question; None for a model without a judged answer
    means: tuple[tuple[float, ...] | None, ...]
    n: tuple[int, ...]  # for each model, the number of judged answers


def question_means(scores: Scores) -> list[QuestionMeans]:
    """The means of all categories in the order of the suite, those of the main table first.

    Categories without a judged answer are not in. Where a judge gave one overall rating, no question has a verdict.
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
        verdicts = [model.get((length, area, category), []) for model in by_model]
        if any(verdicts):
            checklist = scores.suite.checklists[area, category]
            found.append(QuestionMeans(checklist, length, tuple(map(_means, verdicts)), tuple(map(len, verdicts))))
    return found


def _by_category(model: ModelScores) -> dict[tuple[str | None, str, str], list[tuple[float, ...]]]:
    found: dict[tuple[str | None, str, str], list[tuple[float, ...]]] = {}
    for answer in model.answers:
        task = answer.task
        found.setdefault((task.length, task.area, task.category), []).append(answer.verdicts)
    return found


def _means(verdicts: Sequence[tuple[float, ...]]) -> tuple[float, ...] | None:
    if not verdicts:
        return None
    return tuple(math.fsum(of_question) / len(verdicts) for of_question in zip(*verdicts, strict=True))

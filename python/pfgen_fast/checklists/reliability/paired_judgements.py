"""The judgements of two sides on the same answers, as columns of numbers: scores of answers, and verdicts.

Answers are left out, and counted, where one side has no verdicts, or the sides judged other texts or other checklists.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from statistics import fmean
from typing import Any

import numpy as np

from ...errors import ChecklistError
from ...statistics.agreement_of_levels import level_numbers
from ...statistics.correlation import Floats
from ..judgements import AnswerKey
from ..suite import ChecklistSuite, keys_in_order
from ..tasks import Checklist
from .answer_grid import AnswerGrid, Ints, grid_fields
from .judge_selection import Ratings, Side


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a checklist."""

    checklist: Checklist
    number: int  # from 0

    @property
    def text(self) -> str:
        """The text of the question."""
        return self.checklist.questions[self.number]

    @property
    def weight(self) -> float:
        """The weight; the weights of a checklist have the sum 100."""
        return self.checklist.weights[self.number]

    @property
    def labels(self) -> tuple[str, str, int]:
        """Area, category and number from 1, as readers see it."""
        return self.checklist.area, self.checklist.category, self.number + 1


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedJudgements(AnswerGrid):
    """The answers that two sides judged, with their verdicts."""

    names: tuple[str, str]
    questions: tuple[Question, ...]
    verdict_answers: Ints
    verdict_questions: Ints
    verdicts: Floats
    rated_answers: Ints
    rated_questions: Ints
    rated_levels: Ints
    left_out: Mapping[str, int]

    @cached_property
    def scores(self) -> Floats:
        """For the two sides (rows), the score of each answer, 0 to 100."""
        weights = np.array([question.weight for question in self.questions])
        products = weights[self.verdict_questions] * self.verdicts
        ends = np.searchsorted(self.verdict_answers, np.arange(1, self.n_answers))  # answers stand in their order
        return np.array([[math.fsum(part) for part in np.split(row, ends)] for row in products])

    def notes(self) -> list[str]:
        """A sentence for each reason for which answers are left out."""
        return [f"{n:,} answers are left out: {reason}" for reason, n in self.left_out.items() if n]


def pair(first: Side, second: Side, suite: ChecklistSuite, *, draws: int = 0, seed: int = 0) -> PairedJudgements:
    """The judgements of two sides on the same answers, of models with the same key or of each side's only model."""
    left_out: Counter[str] = Counter()
    found: dict[tuple[str, AnswerKey], tuple[Ratings, Ratings]] = {}
    for model, of_first, of_second in _models(first, second, left_out):
        common = _common(of_first, of_second, left_out)
        found |= {(model, key): common[key] for _, key in keys_in_order(suite, common)}
    if not found:
        reasons = "; ".join(f"{reason}: {n:,}" for reason, n in left_out.items() if n)
        raise ChecklistError(
            f"{first.name} and {second.name} have no judged answer in common ({reasons or 'no model in common'}); "
            "expected judgements of the same answers with the same checklist"
        )
    used = {key[:2] for _, key in found}
    fields = grid_fields(suite, list(found), [task for task in suite.tasks if task.key in used])
    return PairedJudgements(
        **fields,
        **_verdicts(suite, found),
        names=(first.name, second.name),
        left_out=dict(left_out),
        n_draws=draws,
        seed=seed,
    )


def _models(
    first: Side, second: Side, left_out: Counter[str]
) -> list[tuple[str, Mapping[AnswerKey, Ratings], Mapping[AnswerKey, Ratings]]]:
    if len(first.models) == len(second.models) == 1:
        (key, one), (_, other) = next(iter(first.models.items())), next(iter(second.models.items()))
        return [(key, one, other)]
    for side, without in ((first, second), (second, first)):
        n = sum(len(answers) for key, answers in side.models.items() if key not in without.models)
        left_out[f"{without.name} does not have their model"] += n
    return [(key, answers, second.models[key]) for key, answers in first.models.items() if key in second.models]


def _common(
    first: Mapping[AnswerKey, Ratings], second: Mapping[AnswerKey, Ratings], left_out: Counter[str]
) -> dict[AnswerKey, tuple[Ratings, Ratings]]:
    found = {}
    for key, of_first in first.items():
        of_second = second.get(key)
        if of_second is None:
            left_out["only one side judged them"] += 1
        elif of_first[0].response_sha256 != of_second[0].response_sha256:
            left_out["the sides judged other texts"] += 1
        elif len({of_first[0].checklist_sha256, of_second[0].checklist_sha256} - {None}) > 1:
            left_out["the sides judged by other checklists"] += 1
        else:
            found[key] = of_first, of_second
    left_out["only one side judged them"] += sum(key not in first for key in second)
    return found


def _verdicts(suite: ChecklistSuite, found: Mapping[tuple[str, AnswerKey], tuple[Ratings, Ratings]]) -> dict[str, Any]:
    """The questions about answers, and the verdicts on them: their means over ratings, and rating by rating."""
    category_of = {task.key: task.place for task in suite.tasks}
    needed = {category_of[key[:2]] for _, key in found}
    begins: dict[tuple[str, str], int] = {}
    questions: list[Question] = []
    for category in dict.fromkeys(category_of.values()):
        if category in needed:
            begins[category], checklist = len(questions), suite.checklists[category]
            questions += [Question(checklist, number) for number in range(len(checklist.questions))]
    means: list[tuple[float, ...]] = []  # answer, question, and the verdicts of both sides
    rated: list[tuple[float, ...]] = []
    for answer, ((_, key), (one, other)) in enumerate(found.items()):
        begin = begins[category_of[key[:2]]]
        means += zip(repeat(answer), count(begin), mean_verdicts(one), mean_verdicts(other), strict=False)
        for a, b in zip(one, other, strict=False):
            rated += zip(repeat(answer), count(begin), a.scores or (), b.scores or (), strict=False)
    of_means, of_rated = (np.array(rows, dtype=np.float64).reshape(-1, 4).T for rows in (means, rated))
    return {
        "questions": tuple(questions),
        "verdict_answers": of_means[0].astype(np.int64),
        "verdict_questions": of_means[1].astype(np.int64),
        "verdicts": of_means[2:],
        "rated_answers": of_rated[0].astype(np.int64),
        "rated_questions": of_rated[1].astype(np.int64),
        "rated_levels": np.stack([level_numbers(column, suite.levels) for column in of_rated[2:]]),
    }


def mean_verdicts(ratings: Ratings) -> Sequence[float]:
    """The mean of each verdict over the ratings of an answer."""
    scores = [one.scores for one in ratings if one.scores is not None]
    if len(scores) == 1:
        return scores[0]
    return list(map(fmean, zip(*scores, strict=True)))

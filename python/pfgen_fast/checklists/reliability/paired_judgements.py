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

import numpy as np
from numpy.typing import NDArray

from ...errors import ChecklistError
from ...statistics.agreement_of_levels import level_numbers
from ...statistics.correlation import Floats
from ..judgements import AnswerKey
from ..suite import ChecklistSuite
from ..tasks import Checklist, Task
from .judge_selection import Ratings, Side

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a checklist."""

    checklist: Checklist
    number: int  # from 0

    @property
    def text(self) -> str:
        """The question itself."""
        return self.checklist.questions[self.number]

    @property
    def weight(self) -> float:
        """Its weight; those of a checklist have the sum 100."""
        return self.checklist.weights[self.number]

    @property
    def labels(self) -> tuple[str, str, int]:
        """Area, category and number, as tables name it."""
        return self.checklist.area, self.checklist.category, self.number


@dataclass(frozen=True, eq=False)
class PairedJudgements:
    """The answers that two sides judged, with their verdicts."""

    suite: ChecklistSuite
    names: tuple[str, str]
    models: tuple[str, ...]
    tasks: tuple[Task, ...]
    questions: tuple[Question, ...]
    keys: tuple[AnswerKey, ...]
    model_of: Ints
    task_of: Ints
    verdict_answers: Ints
    verdict_questions: Ints
    verdicts: Floats
    rated_answers: Ints
    rated_questions: Ints
    rated_levels: Ints
    left_out: Mapping[str, int]

    @property
    def n_answers(self) -> int:
        """The number of answers that both judged."""
        return len(self.model_of)

    @cached_property
    def scores(self) -> Floats:
        """For the two sides (rows), the score of each answer, 0 to 100."""
        weights = np.array([question.weight for question in self.questions])
        products = weights[self.verdict_questions] * self.verdicts
        ends = np.searchsorted(self.verdict_answers, np.arange(1, self.n_answers))  # answers stand in their order
        return np.array([[math.fsum(part) for part in np.split(row, ends)] for row in products])

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of the suite that the tasks belong to: areas, and areas of a length."""
        return tuple(dict.fromkeys(part_of(task) for task in self.tasks))

    @cached_property
    def part_of_task(self) -> Ints:
        """The number of each task's part."""
        numbers = {part: number for number, part in enumerate(self.parts)}
        return np.array([numbers[part_of(task)] for task in self.tasks], dtype=np.int64)

    def notes(self) -> list[str]:
        """A sentence for each reason for which answers are left out."""
        return [f"{n:,} answers are left out: {reason}" for reason, n in self.left_out.items() if n]


def part_of(task: Task) -> str:
    """The name of the part of the suite that a task belongs to: its area, with its length if it has one."""
    return task.area if task.length is None else f"{task.area} {task.length}"


def pair(first: Side, second: Side, suite: ChecklistSuite) -> PairedJudgements:
    """The judgements of two sides on the same answers.

    Models are the same if their runs have the same key, or if both sides have a single model.
    """
    left_out: Counter[str] = Counter()
    found: list[tuple[str, Task, tuple[Ratings, Ratings]]] = []
    order = {key: number for number, key in enumerate(suite.by_key)}
    for model, of_first, of_second in _models(first, second, left_out):
        common = _common(of_first, of_second, left_out)
        for key in sorted(common, key=lambda key: (order[key[:2]], key[2])):
            found.append((model, suite.by_key[key[:2]], common[key]))
    if not found:
        reasons = "; ".join(f"{reason}: {n:,}" for reason, n in left_out.items() if n)
        raise ChecklistError(
            f"{first.name} and {second.name} have no judged answer in common ({reasons or 'no model in common'}); "
            "expected judgements of the same answers with the same checklist"
        )
    return _pairing(suite, (first.name, second.name), found, left_out)


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
        elif _differ(of_first[0].checklist_sha256, of_second[0].checklist_sha256):
            left_out["the sides judged by other checklists"] += 1
        else:
            found[key] = of_first, of_second
    left_out["only one side judged them"] += sum(key not in first for key in second)
    return found


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other


def _pairing(
    suite: ChecklistSuite,
    names: tuple[str, str],
    found: Sequence[tuple[str, Task, tuple[Ratings, Ratings]]],
    left_out: Mapping[str, int],
) -> PairedJudgements:
    models = {model: number for number, model in enumerate(dict.fromkeys(model for model, _, _ in found))}
    used = {task.key for _, task, _ in found}
    tasks = {key: number for number, key in enumerate(key for key in suite.by_key if key in used)}
    checklists = {key: suite.checklists[key] for key in dict.fromkeys((t.area, t.category) for t in suite.tasks)}
    needed = {(task.area, task.category) for _, task, _ in found}
    questions = [
        Question(one, number) for key, one in checklists.items() if key in needed for number in range(len(one.weights))
    ]
    first_question: dict[tuple[str, str], int] = {}
    for number, question in enumerate(questions):
        first_question.setdefault((question.checklist.area, question.checklist.category), number)
    means: list[tuple[float, ...]] = []  # answer, question, and the verdicts of both sides
    rated: list[tuple[float, ...]] = []
    for answer, (_, task, (one, other)) in enumerate(found):
        begin = first_question[task.area, task.category]
        means += zip(repeat(answer), count(begin), _mean_verdicts(one), _mean_verdicts(other), strict=False)
        for a, b in zip(one, other, strict=False):
            rated += zip(repeat(answer), count(begin), a.scores or (), b.scores or (), strict=False)
    of_means, of_rated = (np.array(rows, dtype=np.float64).reshape(-1, 4).T for rows in (means, rated))
    return PairedJudgements(
        suite=suite,
        names=names,
        models=tuple(models),
        tasks=tuple(suite.by_key[key] for key in tasks),
        questions=tuple(questions),
        keys=tuple(one[0].key for _, _, (one, _) in found),
        model_of=np.array([models[model] for model, _, _ in found], dtype=np.int64),
        task_of=np.array([tasks[task.key] for _, task, _ in found], dtype=np.int64),
        verdict_answers=of_means[0].astype(np.int64),
        verdict_questions=of_means[1].astype(np.int64),
        verdicts=of_means[2:],
        rated_answers=of_rated[0].astype(np.int64),
        rated_questions=of_rated[1].astype(np.int64),
        rated_levels=np.stack([level_numbers(column, suite.levels) for column in of_rated[2:]]),
        left_out=dict(left_out),
    )


def _mean_verdicts(ratings: Ratings) -> Sequence[float]:
    scores = [one.scores for one in ratings if one.scores is not None]
    if len(scores) == 1:
        return scores[0]
    return list(map(fmean, zip(*scores, strict=True)))

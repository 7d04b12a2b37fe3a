"""`noise`: the part of a score that is chance, the tasks or ratings for a given precision, and the use of questions.

The variance of a score has two parts: variance between tasks, and variance between ratings of the same answer. They can
only be separated if answers were rated several times. Questions are compared within their category.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean

import numpy as np

from ...statistics.correlation import Floats, pearson, spearman
from ...statistics.mean_interval import ROUNDING, quantile
from ..judgements import AnswerKey
from ..scoring.scoring import score_of
from .agreement import TwoTables, two_tables
from .answer_grid import Ints, part_of
from .judge_selection import Side
from .paired_judgements import PairedJudgements, Question

ModelWords = Mapping[str, Mapping[AnswerKey, int]]
"""By model and answer, the number of words."""


@dataclass(frozen=True)
class PartNoise:
    """The noise of the scores of a part of the suite, in points of rescaled scores."""

    name: str
    n_tasks: float
    n_ratings: float
    between: float
    within: float | None
    apart: float | None
    areas: tuple[PartNoise, ...] = ()  # of an average

    def _quantile(self, n_tasks: float) -> float:
        """Student's quantile, with degrees of freedom by Welch and Satterthwaite for areas of unequal sizes."""
        areas, factor = self.areas or (self,), n_tasks / self.n_tasks
        total = math.fsum(area.variance() for area in areas) or 1.0
        shares = [(area.variance() / total) ** 2 / max(1.0, area.n_tasks * factor - 1) for area in areas]
        return quantile(1 / math.fsum(shares) if any(shares) else max(1.0, n_tasks - len(areas)))

    def variance(self, tasks: float = 1.0, ratings: float | None = None) -> float:
        """The variance of a mean."""
        of_ratings = 0.0 if self.within is None else self.within**2 / (self.n_ratings if ratings is None else ratings)
        return (self.between**2 + of_ratings) / (self.n_tasks * tasks)

    def half_width(self, tasks: float = 1.0, ratings: float | None = None) -> float:
        """Half of the 95 % interval of a mean."""
        return self._quantile(self.n_tasks * tasks) * math.sqrt(self.variance(tasks, ratings))

    @property
    def half_width_of_difference(self) -> float | None:
        """Half of the 95 % interval of the difference of two models; None with one model."""
        return None if self.apart is None else self._quantile(self.n_tasks) * self.apart / math.sqrt(self.n_tasks)

    def tasks_for(self, wanted: float, ratings: float | None = None) -> int:
        """The number of tasks for intervals of this half width."""
        variance = self.variance(1 / self.n_tasks, ratings)
        n = max(2 * len(self.areas or (self,)), math.ceil(variance * (quantile(math.inf) / wanted) ** 2))
        while self._quantile(n) * math.sqrt(variance / n) > wanted * (1 + ROUNDING):
            n += 1
        return n

    def ratings_for(self, wanted: float) -> int | None:
        """The number of ratings for this half width with these tasks; None if unknown, or if no number is enough."""
        if self.within is None:
            return None
        spare = (wanted / self._quantile(self.n_tasks)) ** 2 * self.n_tasks - self.between**2
        return math.ceil(self.within**2 / spare - 1e-9) if spare > 0 else None


@dataclass(frozen=True)
class QuestionUse:
    """The use of a question; undefined figures are None."""

    question: Question
    n: int
    mean: float
    best: float
    between_models: float | None
    like: int | None
    repeats: float | None
    words: float | None
    words_alone: float | None
    alone: float | None


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of a judge's scores."""

    side: Side
    pairing: PairedJudgements  # of the side with itself
    words: ModelWords

    @cached_property
    def parts(self) -> tuple[PartNoise, ...]:
        """The parts of the suite."""
        pairing, factor = self.pairing, abs(self.pairing.suite.rescaling.factor)
        n_models, strata = len(pairing.models), pairing.strata(pairing.scores[0])
        within = self._within()
        found = []
        for number, part in enumerate(pairing.parts):
            values = strata[number].values
            n_tasks = (~np.isnan(values)).sum(axis=1)
            spreads = [_squares(row[~np.isnan(row)]) / (n - 1) for row, n in zip(values, n_tasks, strict=True) if n > 1]
            if not spreads:
                continue
            apart = [
                _squares(both) / (len(both) - 1)
                for i, j in combinations(range(n_models), 2)
                if len(both := (d := values[i] - values[j])[~np.isnan(d)]) > 1
            ]
            of_ratings, n_ratings = within.get(part, (None, 1.0))
            total = float(np.median(spreads))
            between = max(0.0, total - (of_ratings or 0.0) / n_ratings)
            found.append(
                PartNoise(
                    part,
                    float(n_tasks.mean()),
                    n_ratings,
                    factor * math.sqrt(between),
                    None if of_ratings is None else factor * math.sqrt(of_ratings),
                    factor * math.sqrt(float(np.median(apart))) if apart else None,
                )
            )
        return tuple(found)

    def _within(self) -> dict[str, tuple[float, float]]:
        """By part: the mean variance of ratings of an answer that has several, and their mean number."""
        suite = self.pairing.suite
        parts: dict[str, tuple[list[float], list[int]]] = {}
        for answers in self.side.models.values():
            for key, ratings in answers.items():
                task = suite.by_key[key[:2]]
                variances, sizes = parts.setdefault(part_of(task), ([], []))
                sizes.append(len(ratings))
                if len(ratings) > 1:
                    weights = suite.checklist(task).weights
                    scores = [score_of(one.scores or (), weights) for one in ratings]
                    variances.append(_squares(scores) / (len(ratings) - 1))
        return {part: (fmean(variances), fmean(sizes)) for part, (variances, sizes) in parts.items() if variances}

    @cached_property
    def average(self) -> PartNoise | None:
        """The mean of the areas, which have equal weights; None if an area has no variance."""
        names = {self.pairing.parts[part] for part in self.pairing.main_parts}
        chosen = [part for part in self.parts if part.name in names]
        if len(chosen) < len(names):
            return None
        n = math.fsum(part.n_tasks for part in chosen)
        # With this factor, division by the number of all tasks gives the variance of the mean of means.
        scale = math.sqrt(n) / len(chosen)

        def together(values: Sequence[float | None]) -> float | None:
            known = [value**2 / part.n_tasks for value, part in zip(values, chosen, strict=True) if value is not None]
            return scale * math.sqrt(math.fsum(known)) if len(known) == len(chosen) else None

        ratings = fmean(part.n_ratings for part in chosen)
        within = together([part.within for part in chosen])
        between = together([part.between for part in chosen]) or 0.0
        apart = together([part.apart for part in chosen])
        return PartNoise("average", n, ratings, between, within, apart, tuple(chosen))

    @cached_property
    def questions(self) -> tuple[QuestionUse, ...]:
        """The use of each question."""
        return tuple(
            self._use(question, matrix, answers)
            for questions, matrix, answers in self._checklists
            for question in questions
        )

    @cached_property
    def _checklists(self) -> list[tuple[Sequence[Question], Floats, Ints]]:
        """The questions of each checklist, the verdicts on them (rows) by answer (columns), and the answers."""
        pairing = self.pairing
        begins = [number for number, question in enumerate(pairing.questions) if question.number == 0]
        found: list[tuple[Sequence[Question], Floats, Ints]] = []
        for begin, end in zip(begins, [*begins[1:], len(pairing.questions)], strict=True):
            places = np.flatnonzero((pairing.verdict_questions >= begin) & (pairing.verdict_questions < end))
            # The verdicts on an answer are adjacent, in the order of the questions.
            of_answers = places.reshape(-1, end - begin)
            verdicts, answers = pairing.verdicts[0][of_answers].T, pairing.verdict_answers[of_answers[:, 0]]
            found.append((pairing.questions[begin:end], verdicts, answers))
        return found

    def _use(self, question: Question, matrix: Floats, answers: Ints) -> QuestionUse:
        pairing, column = self.pairing, matrix[question.number]
        scores = pairing.scores[0][answers]
        rest = scores - question.weight * column
        like: tuple[float, int] | None = None
        for other in range(len(matrix)):
            r = None if other == question.number else pearson(column, matrix[other])
            if r is not None and (like is None or abs(r) > abs(like[0])):
                like = r, other
        words = self._words_of[answers]
        known = ~np.isnan(words)
        of_words = [(column[known], words[known]), (column[known], rest[known]), (words[known], rest[known])]
        with_words, with_rest, words_rest = (spearman(*columns) for columns in of_words)
        alone = pearson(column, scores)
        return QuestionUse(
            question,
            len(column),
            fmean(column),
            float((column == pairing.suite.levels[-1]).mean()),
            between_groups(column, pairing.model_of[answers]),
            None if like is None else like[1],
            None if like is None else like[0],
            with_words,
            partial(with_words, with_rest, words_rest),
            None if alone is None else alone**2,
        )

    @cached_property
    def _words_of(self) -> Floats:
        pairing = self.pairing
        of_models = [self.words.get(model, {}) for model in pairing.models]
        known = (of_models[model].get(key) for model, key in zip(pairing.model_of.tolist(), pairing.keys, strict=True))
        return np.array([math.nan if n is None else n for n in known], dtype=np.float64)

    @cached_property
    def last_alone(self) -> tuple[float | None, TwoTables]:
        """The share of the variance within categories that the last questions predict, and the table by them alone."""
        pairing = self.pairing
        only = np.zeros(pairing.n_answers)
        unexplained, total = [], []
        for _, matrix, answers in self._checklists:
            only[answers] = 100 * matrix[-1]
            scores = pairing.scores[0][answers]
            spread = _squares(scores)
            total.append(spread)
            unexplained.append(spread * (1 - (pearson(matrix[-1], scores) or 0.0) ** 2))
        all_spread = math.fsum(total)
        explained = 1 - math.fsum(unexplained) / all_spread if all_spread > 0 else None
        return explained, two_tables(pairing, np.stack([pairing.scores[0], only]))


def between_groups(values: Floats, groups: Ints) -> float | None:
    """The share of the variance between groups, beyond chance (epsilon squared); None where it is undefined."""
    names, group_of = np.unique(groups, return_inverse=True)
    total = _squares(values)
    if len(names) < 2 or len(values) <= len(names) or total <= 0:
        return None
    means = np.bincount(group_of, values) / np.bincount(group_of)
    inside = math.fsum(((values - means[group_of]) ** 2).tolist())
    by_chance = (len(names) - 1) * inside / (len(values) - len(names))
    return (total - inside - by_chance) / total


def partial(xy: float | None, xz: float | None, yz: float | None) -> float | None:
    """The correlation of x and y with z held, from the three correlations; None where it is undefined."""
    if xy is None or xz is None or yz is None:
        return None
    rest = (1 - xz * xz) * (1 - yz * yz)
    return None if rest <= 1e-12 else (xy - xz * yz) / math.sqrt(rest)


def _squares(values: Sequence[float] | Floats) -> float:
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)

"""Scores with fewer reference answers: draws two disjoint parts of the reference answers and scores runs with each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..scoring.scorer import Scorer
from ..statistics.correlation import Floats
from ..statistics.mean_interval import mean_interval
from ..suite.questions import Question
from ..suite.suite import Suite
from .scored_runs import AnswersOfRuns, DrawnAnswers

REFERENCE_ANSWERS = (500, 100, 50, 20, 10, 5)
"""Numbers of answers per set to try."""

_FEWER_ANSWERS = 100_000


class CutReferences:
    """Scores answers with fewer reference answers, too; `score_runs` calls it with each batch."""

    def __init__(
        self,
        sizes: Sequence[int] | None = None,
        *,
        n_draws: int = 2,
        trials: int | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self._is_usual = sizes is None
        self._wanted = sorted(set(REFERENCE_ANSWERS if sizes is None else sizes), reverse=True)
        if any(size < 1 for size in self._wanted) or n_draws < 1:
            raise ExperimentError(f"reference answers {self._wanted}, draws {n_draws}: expected at least 1 for both")
        self._n_draws, self._seed, self._threads = n_draws, seed, threads
        self._drawn = DrawnAnswers(trials, seed, n_wanted=_FEWER_ANSWERS)
        self._suite: Suite | None = None
        self._batches: list[AnswersOfRuns] = []

    def __call__(self, suite: Suite, of_runs: AnswersOfRuns) -> None:
        """Keeps the drawn answers of a batch, so that each index scores the answers of all batches."""
        if self._suite is None:
            self._suite, most = suite, largest_set(suite) // 2
            if self._wanted[0] > most and not self._is_usual:
                raise ExperimentError(
                    f"{self._wanted[0]} reference answers: expected at most {most}, half of the largest set, because "
                    "two parts are compared"
                )
            self._wanted = [size for size in self._wanted if size <= most]
        self._batches.append(self._drawn.of(suite, of_runs))

    @property
    def notes(self) -> list[str]:
        """Sentences on the number of answers that were scored, and on sets that are too small for a drawn number."""
        assert self._suite is not None
        sizes = [len(answers) for question in self._suite for answers in question.answers.values()]
        return [
            *self._drawn.notes("with fewer reference answers"),
            *(
                f"{sum(n < 2 * size for n in sizes):,} of {len(sizes):,} reference sets have fewer than {2 * size:,} "
                f"answers and are halved if twice {size:,} are drawn; the smallest set has {min(sizes):,}"
                for size in self._wanted
                if min(sizes) < 2 * size
            ),
        ]

    @cached_property
    def scores(self) -> tuple[Floats, list[tuple[int, Halves]]]:
        """The scores of the runs over the drawn answers: with all reference answers, and with the parts of a draw."""
        assert self._suite is not None
        found = []
        for size, draw in itertools.product(self._wanted, range(self._n_draws)):
            one, other = cut_suite(self._suite, size, np.random.default_rng((self._seed, size, draw)))
            found.append((size, (self._scores(one), self._scores(other))))
        usual = self._scores(self._suite)
        self._batches.clear()  # the texts are not needed again
        return usual, found

    def _scores(self, suite: Suite) -> Floats:
        scorer = Scorer(suite, threads=self._threads)  # one at a time, because an index takes much memory
        rewards = ((batch, scorer.reward(batch.questions, batch.answers)) for batch in self._batches)
        means = np.concatenate([batch.question_means(found, len(suite)) for batch, found in rewards])
        scores: Floats = means.mean(axis=1)
        return scores


def largest_set(suite: Suite) -> int:
    """The number of answers in the largest reference set."""
    return max(len(answers) for question in suite for answers in question.answers.values())


def cut_suite(suite: Suite, size: int, generator: np.random.Generator) -> tuple[Suite, Suite]:
    """Two suites with `size` answers of each set, or with half of the set; they share no answer and keep the order."""
    parts: tuple[list[Question], list[Question]] = ([], [])
    for question in suite:
        drawn: tuple[dict[str, tuple[str, ...]], ...] = ({}, {})
        for name, answers in question.answers.items():
            order, n = generator.permutation(len(answers)), max(1, min(size, len(answers) // 2))
            for half, rows in zip(drawn, (order[:n], order[-n:]), strict=True):
                half[name] = tuple(answers[row] for row in np.sort(rows))
        for questions, half in zip(parts, drawn, strict=True):
            questions.append(replace(question, answers=MappingProxyType(half)))
    one, other = (
        Suite(f"{suite.name} cut to {size}", tuple(questions), derived_from=suite.metadata_hash) for questions in parts
    )
    return one, other


Halves = tuple[Floats, Floats]
"""The scores of the runs from a part of the data, and from another part of the same size."""


@dataclass(frozen=True, eq=False)
class RunPairs:
    """All pairs of runs; pairs are close if their scores differ by at most half of the median interval of a score."""

    first: NDArray[np.int_]  # row of the first run of each pair
    second: NDArray[np.int_]  # row of the second run of each pair
    is_close: NDArray[np.bool_]  # whether the pair is close
    within: float | None  # largest difference of the scores of close runs; None if scores have no interval

    @classmethod
    def of(cls, question_scores: Floats) -> RunPairs:
        """The pairs of runs (rows) with these scores of questions (columns)."""
        first, second = np.triu_indices(len(question_scores), 1)
        halves = [half for row in question_scores if (half := mean_interval(row).half_width) is not None]
        within = float(np.median(halves)) if halves else None
        means = question_scores.mean(axis=1)
        is_close = np.abs(means[first] - means[second]) <= (-1.0 if within is None else within)
        return cls(first, second, is_close, within)

    def chosen(self, runs: NDArray[np.int_]) -> RunPairs:
        """The pairs of some of the runs, which are renumbered."""
        new = np.full(max(self.second) + 1, -1)
        new[runs] = np.arange(len(runs))
        kept = (new[self.first] >= 0) & (new[self.second] >= 0)
        return RunPairs(new[self.first][kept], new[self.second][kept], self.is_close[kept], self.within)

    def agreement(self, halves: Halves, usual: Floats) -> Agreement:
        """Computes how the scores from two parts agree."""
        # Rounded, because sums in another order could distinguish equal scores.
        one, other = (np.sign(half[self.first] - half[self.second]) for half in np.round(halves, 12))
        agreement = one * other
        differ = np.sqrt(np.count_nonzero(one) * np.count_nonzero(other))
        of_close = agreement[self.is_close]
        return Agreement(
            kendall=float(agreement.sum() / differ) if differ else 0.0,
            swapped=float((agreement < 0).mean()),
            of_close=float(of_close.mean()) if len(of_close) else None,
            close_swapped=float((of_close < 0).mean()) if len(of_close) else None,
            shift=float(np.mean(halves) - usual.mean()),
        )


@dataclass(frozen=True)
class Agreement:
    """Agreement of two rankings of the same runs, from disjoint parts of the data."""

    kendall: float
    swapped: float  # share of the pairs of runs that have the opposite order
    # Kendall's correlation over close pairs: the share in the same order minus the share in the opposite order; None
    # without close pairs
    of_close: float | None
    close_swapped: float | None  # share of the close pairs that have the opposite order
    shift: float  # mean score of the runs from the parts, minus the mean score from all data

"""The precision of a run's scores, and the number of trials that a given precision needs.

The interval covers the variation between trials of the same questions. The questions are fixed, so its width goes to 0
as trials are added. Definition: docs/generation.md, section 4; how well it holds: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.mean_interval import quantile
from ..scoring.scorer import Scorer
from ..suite.rules import SCORES, column_of
from .trials import RunFolder, Trials, packed_trials, single_trials


@dataclass(frozen=True)
class Interval:
    """A score and its 95 % interval, `value` ± `half_width`."""

    value: float  # mean over the questions of the mean of their trials
    half_width: float | None  # half the width of the 95 % interval; None with fewer trials than `least_trials`
    n_trials: int


class TrialScores:
    """The scores of a run, to which trials are added."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._values: dict[str, list[list[float]]] = {metric: [[] for _ in scorer.suite] for metric in SCORES}
        self._question_numbers = {question.question: number for number, question in enumerate(scorer.suite)}

    @classmethod
    def of(cls, run: RunFolder, scorer: Scorer) -> TrialScores:
        """Scores a run, from the files of its single trials if they exist."""
        paths, scores = single_trials(run.folder), cls(scorer)
        packed = run.trials_path or packed_trials(run.folder)
        for path in paths or ([packed] if packed else []):
            scores.add(Trials.read(path))
        return scores

    def add(self, trials: Trials) -> None:
        """Scores and adds trials, usually one."""
        table = self._scorer.score(trials.lines.questions, trials.lines.answers)
        question_numbers = [self._question_numbers[question] for question in trials.questions]
        for metric, by_question in self._values.items():
            for number, value in zip(question_numbers, table[column_of(metric)].tolist(), strict=True):
                by_question[number].append(value)

    @property
    def n_trials(self) -> int:
        """The number of trials that every question has."""
        return min(map(len, self._values["score"]))

    def interval(self, metric: str = "score") -> Interval:
        """The value and interval of one metric."""
        if not self.n_trials:
            raise ValueError("an interval needs at least one trial of each question")
        samples = [np.array(values) for values in self._values[metric]]
        value = float(np.mean([sample.mean() for sample in samples]))
        fewest = min(map(len, samples))
        is_enough = fewest >= least_trials(len(samples))
        return Interval(value, half_width(samples) if is_enough else None, fewest)

    def intervals(self) -> Mapping[str, Interval]:
        """The value and interval of every metric."""
        return {metric: self.interval(metric) for metric in SCORES}

    def expected_half_width(self, n_trials: int) -> float:
        """Estimates the half width of the score's interval with this number of trials; needs at least two trials."""
        variances = np.array([np.var(values, ddof=1) for values in self._values["score"]])
        return _half_width(variances, np.full(len(variances), n_trials))

    def trials_for(self, wanted: float) -> int | None:
        """Estimates how many trials a half width of `wanted` takes; None with fewer than two trials."""
        if self.n_trials < 2:
            return None
        many = 1 << 40  # so that Student's quantile is that of the normal distribution
        n = max(
            least_trials(len(self._question_numbers)), math.ceil(many * (self.expected_half_width(many) / wanted) ** 2)
        )
        while self.expected_half_width(n) > wanted:  # Student's quantile is a bit larger
            n += 1
        return n


def half_width(samples: Sequence[NDArray[np.float64]]) -> float | None:
    """Computes half the width of the 95 % interval of the mean of means; None if a sample has fewer than two values."""
    counts = np.array([len(sample) for sample in samples])
    return None if counts.min() < 2 else _half_width(np.array([sample.var(ddof=1) for sample in samples]), counts)


def _half_width(variances: NDArray[np.float64], counts: NDArray[np.int_]) -> float:
    """Half the width of Student's interval, with the degrees of freedom of Welch and Satterthwaite."""
    parts = variances / counts
    total = float(parts.sum())
    if not total > 0:
        return 0.0
    degrees = 1 / float(((parts / total) ** 2 / (counts - 1)).sum())
    return quantile(degrees) * math.sqrt(total) / len(parts)


def least_trials(n_questions: int) -> int:
    """The fewest trials for an interval, because few trials often vary little by chance (docs/statistics.md)."""
    return max(2, min(10, math.ceil(100 / n_questions)))

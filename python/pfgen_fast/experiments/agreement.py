"""How two rankings of the same runs agree: over all pairs of runs, and over those that are close."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..statistics.correlation import Floats
from ..statistics.mean_interval import mean_interval

Halves = tuple[Floats, Floats]
"""The scores of the runs from a part of the data, and from another part of the same size."""


@dataclass(frozen=True, eq=False)
class RunPairs:
    """All pairs of runs, and which of them are close.

    Two runs are close if their scores differ by no more than half of a 95 % interval of a score over questions, the
    median of all runs.
    """

    first: NDArray[np.int_]  # row of the one run of each pair
    second: NDArray[np.int_]  # row of the other
    is_close: NDArray[np.bool_]  # whether the pair is close
    within: float | None  # by how much the scores of close runs differ at most; None where scores have no interval

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
        """The pairs of some of the runs, which are numbered anew."""
        new = np.full(max(self.second) + 1, -1)
        new[runs] = np.arange(len(runs))
        kept = (new[self.first] >= 0) & (new[self.second] >= 0)
        return RunPairs(new[self.first][kept], new[self.second][kept], self.is_close[kept], self.within)

    def agreement(self, halves: Halves, usual: Floats) -> Agreement:
        """How the scores from two parts agree."""
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
    """How two rankings of the same runs agree, from parts of the data that have nothing in common."""

    kendall: float
    swapped: float  # share of the pairs of runs that have the opposite order
    # Kendall's correlation over close pairs alone: the share in the same order minus that in the opposite one. None if
    # there are none
    of_close: float | None
    close_swapped: float | None  # share of the close pairs that have the opposite order
    shift: float  # mean score of the runs from the parts, minus that from everything

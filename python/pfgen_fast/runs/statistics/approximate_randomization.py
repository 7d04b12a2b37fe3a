"""Several runs against one baseline, by paired approximate randomization over questions.

All runs are compared on the same questions and by the same draws, so no figure depends on the order of the runs. A draw
swaps run and baseline on some questions. It is at least as far from "the difference is d" as the run itself exactly if
d lies between the mean difference on the swapped questions and that on the others. So the draws give p-values and the
intervals that invert them. Definition and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import ExperimentError
from ...base.mean_interval import ROUNDING
from .paired_tests import ALPHA, PairedDifference, Test, cluster_codes, cluster_sums
from .verdicts import Verdict, decided

MAX_DRAWS = 1_000_000
_AT_ONCE = 1 << 20  # numbers that are in memory together


@dataclass(frozen=True, eq=False, kw_only=True)
class _Swapped(PairedDifference):
    """The difference of the baseline to a run, over the questions that all runs have."""

    test: Test = "swapping"
    is_enough: bool  # whether the ways to swap are enough for a verdict in this family
    n_ways: int  # draws, with the run itself
    lows: Floats  # of the draws with the lowest lower means of the two parts, in ascending order
    highs: Floats  # of the draws with the highest upper means, in descending order

    @property
    def has_verdict(self) -> bool:
        """Whether questions or clusters, and draws, are enough for a verdict."""
        return super().has_verdict and self.is_enough

    def interval(self, alpha: float = ALPHA) -> tuple[float, float] | tuple[None, None]:
        """All differences whose p-value is above `alpha`; None if the draws are too few for ends."""
        at = math.floor(alpha * self.n_ways + ROUNDING)
        low, high = float(self.lows[at]), float(self.highs[at])
        is_wide = high - low > ROUNDING * max(abs(low), abs(high))
        return (low, high) if is_wide and math.isfinite(low) and math.isfinite(high) else (None, None)


def against_baseline(
    baseline: Any, runs: Any, *, n_draws: int | None = None, seed: int = 0, clusters: Sequence[Hashable] | None = None
) -> list[Verdict]:
    """Compares a baseline with runs by swapping them on questions, or on clusters of questions (one for each question).

    The p-value is the share of draws whose difference is at least as large. It is exact if there are at most `n_draws`
    ways to swap.
    """
    base, others = np.asarray(baseline, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    if base.ndim != 1 or others.ndim != 2 or others.shape[1] != base.size or not others.size:
        raise ExperimentError(
            f"values of the shape {others.shape} against a baseline of {base.shape}: expected a row for each run, "
            "with the same questions as the baseline, and at least one of both"
        )
    if not (np.isfinite(base).all() and np.isfinite(others).all()):
        raise ExperimentError("a value is missing: the baseline and all runs need a number for every question")
    n_runs = len(others)
    n_draws = default_draws(n_runs) if n_draws is None else n_draws
    largest = np.maximum(np.abs(base).max(), np.abs(others).max(axis=1))[:, np.newaxis]
    values = base - others
    values[np.abs(values) <= ROUNDING * largest] = 0.0
    codes = None if clusters is None else cluster_codes(clusters)
    swapped, sizes = (row if codes is None else cluster_sums(row, codes) for row in (values, np.ones((1, base.size))))
    n_units = swapped.shape[1]
    takes_all = takes_all_ways(n_units, n_draws)
    n_as_far, lows, highs = _draws(swapped, sizes[0], largest, n_draws, seed)
    n_ways = 2**n_units if takes_all else n_draws + 1  # the original questions count as a draw too, so p is never 0
    # The smallest p-value, of the run itself and of all signs reversed, must be significant for the whole family.
    is_enough = not takes_all or 2 * n_runs / n_ways <= ALPHA + ROUNDING
    pairs = [
        _Swapped(
            mean=math.fsum(row) / len(row),
            p_value=None if n_units == 1 else n / n_ways,
            n=base.size,
            n_clusters=None if clusters is None else n_units,
            is_enough=is_enough,
            n_ways=n_ways,
            lows=row_lows,
            highs=row_highs,
        )
        for row, n, row_lows, row_highs in zip(values.tolist(), n_as_far.tolist(), lows, highs, strict=True)
    ]
    return decided(pairs)


def default_draws(n_runs: int) -> int:
    """The number of draws for a family of runs: 10,000, or more so that the smallest p-value by Holm is 0.005."""
    return min(max(10_000, 200 * n_runs), MAX_DRAWS)


def takes_all_ways(n_questions: int, n_draws: int) -> bool:
    """Whether randomization tries all ways to swap the runs, because there are at most `n_draws` of them."""
    return n_questions < MAX_DRAWS.bit_length() and 2**n_questions <= n_draws


def _draws(
    values: Floats, sizes: Floats, largest: Floats, n_draws: int, seed: int
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """How many draws are as far from 0 as the run, and the most extreme means that an interval may need, by run."""
    n_runs, n = values.shape
    is_exact = takes_all_ways(n, n_draws)
    n_ways = 2**n if is_exact else n_draws
    n_kept = math.floor(ALPHA * (n_ways + 1) + ROUNDING) + 1
    generator = np.random.default_rng(seed)
    n_as_far = np.full(n_runs, 0 if is_exact else 1, dtype=np.int64)
    lows, highs = np.full((n_runs, 1), -np.inf), np.full((n_runs, 1), np.inf)  # the run itself
    if is_exact:
        lows, highs = lows[:, :0], highs[:, :0]
    at_once = max(1, _AT_ONCE // max(n, n_runs))
    for begin in range(0, n_ways, at_once):
        size = min(at_once, n_ways - begin)
        if is_exact:
            is_swapped = np.arange(begin, begin + size)[:, np.newaxis] >> np.arange(n) & 1
        else:
            is_swapped = generator.integers(2, size=(size, n), dtype=np.int8)
        weights = is_swapped.T.astype(np.float64)
        sums, n_swapped = values @ weights, sizes @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.stack([sums / n_swapped, (values.sum(axis=1, keepdims=True) - sums) / (sizes.sum() - n_swapped)])
        parts[np.abs(parts) <= ROUNDING * largest] = 0.0  # a difference by rounding alone
        has_both = (n_swapped > 0) & (n_swapped < sizes.sum())
        low, high = np.where(has_both, parts.min(axis=0), -np.inf), np.where(has_both, parts.max(axis=0), np.inf)
        n_as_far += ((low <= 0) & (high >= 0)).sum(axis=1)
        lows, highs = (
            _smallest(np.concatenate([lows, low], axis=1), n_kept),
            -_smallest(-np.concatenate([highs, high], axis=1), n_kept),
        )
    return n_as_far, np.sort(lows, axis=1), -np.sort(-highs, axis=1)


def _smallest(values: Floats, n: int) -> Floats:
    return values if values.shape[1] <= n else np.partition(values, n, axis=1)[:, :n]

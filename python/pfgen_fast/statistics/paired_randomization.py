"""Several runs against one baseline, by paired approximate randomization over questions.

All runs are compared on the same questions and by the same draws, so no figure depends on the order of the runs.
Definition and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from .correlation import Floats
from .mean_interval import CONFIDENCE, ROUNDING, ends
from .paired import MIN_QUESTIONS, cluster_codes, cluster_sums, corrected

MAX_DRAWS = 1_000_000
_AT_ONCE = 1 << 22  # numbers that are in memory together


@dataclass(frozen=True)
class BaselineDifference:
    """The difference of a run to the baseline, over the questions that all runs have."""

    mean: float  # mean of run - baseline
    low: float | None  # lower end of Student's 95 % interval; None if the differences of the questions have no spread
    high: float | None  # upper end of the interval; None in the same cases
    p_value: float | None  # two-sided p-value of "there is no difference"; None with one question
    # p-value corrected by Holm for all runs that are compared with the baseline; None (no verdict) with fewer than
    # `MIN_QUESTIONS` questions, and if no p-value could be small enough (see `draws_needed`)
    corrected: float | None

    def differs(self, alpha: float = 0.05) -> bool | None:
        """Whether run and baseline differ by the corrected p-value; None (no verdict) without a corrected p-value."""
        return None if self.corrected is None else self.corrected <= alpha


def against_baseline(
    baseline: Any,
    runs: Any,
    *,
    n_draws: int | None = None,
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
) -> list[BaselineDifference]:
    """Compares runs with a baseline by swapping them on questions, or on clusters of questions (one for each question).

    The p-value is the share of draws whose difference is at least as large. It is exact if there are at most `n_draws`
    ways to swap.
    """
    one, others = np.asarray(baseline, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    if one.ndim != 1 or others.ndim != 2 or others.shape[1] != one.size or not others.size:
        raise ExperimentError(
            f"values of the shape {others.shape} against a baseline of {one.shape}: expected a row for each run, "
            "with the same questions as the baseline, and at least one of both"
        )
    if not (np.isfinite(one).all() and np.isfinite(others).all()):
        raise ExperimentError("a value is missing: the baseline and all runs need a number for every question")
    n_runs = len(others)
    n_draws = default_draws(n_runs) if n_draws is None else n_draws
    largest = np.maximum(np.abs(one).max(), np.abs(others).max(axis=1))
    values = others - one
    values[np.abs(values) <= ROUNDING * largest[:, np.newaxis]] = 0.0
    swapped = values if clusters is None else cluster_sums(values, cluster_codes(clusters))
    n = swapped.shape[1]
    p = _p_values(swapped, n_draws, seed)
    if takes_all_ways(n, n_draws):
        is_enough = 2 * draws_needed(n_runs) + 2 <= 2**n  # a draw with all signs reversed is equally far
    else:
        is_enough = draws_needed(n_runs) <= n_draws
    after = corrected(p, "holm").tolist() if n >= MIN_QUESTIONS and is_enough else [None] * n_runs
    result = []
    for row, of_row, own, of_family in zip(values.tolist(), largest.tolist(), p.tolist(), after, strict=True):
        low, high = ends(row, of_row, clusters)
        result.append(BaselineDifference(math.fsum(row) / len(row), low, high, None if n == 1 else own, of_family))
    return result


def default_draws(n_runs: int) -> int:
    """The number of draws for a family of runs: 10,000, or more so that the smallest p-value by Holm is 0.005."""
    return min(max(10_000, 200 * n_runs), MAX_DRAWS)


def draws_needed(n_runs: int) -> int:
    """The smallest number of draws for which the smallest p-value times the number of runs is at most 0.05."""
    return math.ceil(n_runs / (1 - CONFIDENCE) - ROUNDING) - 1


def takes_all_ways(n_questions: int, n_draws: int) -> bool:
    """Whether randomization tries all ways to swap the runs, because there are at most `n_draws` of them."""
    return n_questions < MAX_DRAWS.bit_length() and 2**n_questions <= n_draws


def _p_values(values: Floats, n_draws: int, seed: int) -> Floats:
    n_runs, n = values.shape
    # A difference that is smaller by rounding alone counts as equally far.
    as_far = np.abs(values.sum(axis=1)) - ROUNDING * np.abs(values).sum(axis=1)
    is_exact = takes_all_ways(n, n_draws)
    n_ways = 2**n if is_exact else n_draws
    generator = np.random.default_rng(seed)
    n_as_far: NDArray[np.int64] = np.zeros(n_runs, dtype=np.int64)
    at_once = max(1, _AT_ONCE // max(n, n_runs))
    for begin in range(0, n_ways, at_once):
        size = min(at_once, n_ways - begin)
        if is_exact:
            is_swapped = np.arange(begin, begin + size)[:, np.newaxis] >> np.arange(n) & 1
        else:
            is_swapped = generator.integers(2, size=(size, n), dtype=np.int8)
        n_as_far += (np.abs(values @ (1.0 - 2.0 * is_swapped).T) >= as_far[:, np.newaxis]).sum(axis=1)
    # The original questions count as a draw too, so p is never 0.
    found: Floats = n_as_far / n_ways if is_exact else (n_as_far + 1) / (n_draws + 1)
    return found

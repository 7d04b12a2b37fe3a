"""Several runs against one baseline, by resampling questions: paired bootstrap, and paired approximate randomization.

All runs are compared on the same questions and by the same draws, so no figure depends on the order of the runs. Draws
are whole numbers of a generator that NumPy never changes, and their sums are exact, so a seed gives the same figures on
every machine. Needs only NumPy. Definitions and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from .correlation import Floats
from .mean_interval import CONFIDENCE, ROUNDING
from .paired import MIN_QUESTIONS, cluster_codes, cluster_sums, corrected, sign_test
from .resampling import bootstrap_counts, exact_sums

PairedTest = Literal["bootstrap", "randomization"]

MAX_DRAWS = 1_000_000
MAX_SEED = 2**32 - 1
_DRAWN_AT_ONCE = 1 << 22  # questions of draws that are in memory together
_RUNS_AT_ONCE = 16  # runs whose draws are in memory together: the draws of 516 runs would take gigabytes


@dataclass(frozen=True)
class BaselineDifference:
    """The difference of a run to the baseline, over the questions that all runs have."""

    mean: float  # mean of run - baseline
    # lower end of the 95 % interval of the difference; None by randomization, which has no interval, and if the
    # differences of the questions have no spread
    low: float | None
    high: float | None  # upper end of the interval; None in the same cases
    p_value: float | None  # Two-sided p-value of "there is no difference"; None with one question
    # p-value corrected by Holm for all runs that are compared with the baseline; None (no verdict) with fewer than
    # `MIN_QUESTIONS` questions, and if no p-value could be small enough (see `draws_needed`)
    corrected: float | None
    n: int

    def differs(self, alpha: float = 0.05) -> bool | None:
        """Whether run and baseline differ by the corrected p-value; None (no verdict) without a corrected p-value."""
        return None if self.corrected is None else self.corrected <= alpha


def against_baseline(
    baseline: Any,
    runs: Any,
    *,
    test: PairedTest = "bootstrap",
    n_draws: int | None = None,
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
) -> list[BaselineDifference]:
    """Compares runs with a baseline by resampling questions, or clusters of questions (one for each question)."""
    if test not in get_args(PairedTest):
        raise ExperimentError(f"test {test!r}: expected one of {', '.join(get_args(PairedTest))}")
    if n_draws is None:
        n_draws = default_draws(len(runs))
    for name, number, least, most in (("n_draws", n_draws, 1, MAX_DRAWS), ("seed", seed, 0, MAX_SEED)):
        if not least <= number <= most:
            raise ExperimentError(f"{name} {number}: expected a whole number from {least} to {most:,}")
    differences = _Differences.of(baseline, runs, clusters)
    n_runs, n = differences.values.shape
    halves, p = (_bootstrap if test == "bootstrap" else _randomization)(differences, n_draws, seed)
    if test == "randomization" and takes_all_ways(n, n_draws):
        is_enough = 2 * draws_needed(n_runs) + 2 <= 2**n  # a draw with all signs reversed is equally far
    else:
        is_enough = draws_needed(n_runs) <= n_draws
    has_verdict = n >= MIN_QUESTIONS and is_enough
    after = corrected(p, "holm").tolist() if has_verdict else [None] * n_runs
    columns = (differences.means, differences.means - halves, differences.means + halves, p)
    n_questions = np.size(baseline)
    return [
        BaselineDifference(mean, _or_none(low), _or_none(high), None if n == 1 else of_run, of_family, n_questions)
        for mean, low, high, of_run, of_family in zip(*(column.tolist() for column in columns), after, strict=True)
    ]


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def default_draws(n_runs: int) -> int:
    """The number of draws for a family of runs: 10,000, or more so that the smallest p-value by Holm is 0.005."""
    return min(max(10_000, 200 * n_runs), MAX_DRAWS)


def draws_needed(n_runs: int) -> int:
    """The smallest number of draws for which the smallest p-value times the number of runs is at most 0.05."""
    return math.ceil(n_runs / (1 - CONFIDENCE) - ROUNDING) - 1


def takes_all_ways(n_questions: int, n_draws: int) -> bool:
    """Whether randomization tries all ways to swap the runs, because there are at most `n_draws` of them."""
    return n_questions < MAX_DRAWS.bit_length() and 2**n_questions <= n_draws


@dataclass(frozen=True, eq=False)
class _Differences:
    """The differences of runs (rows) to the baseline."""

    values: Floats  # difference on each question, or its sum over each cluster (column); 0 if only rounding causes it
    centred: Floats  # the same, minus the mean difference of each question
    sizes: Floats | None  # number of questions of each cluster; None without clusters
    means: Floats  # from exact sums
    errors: Floats  # standard errors of the means; 0 if the differences have no spread

    @classmethod
    def of(cls, baseline: Any, runs: Any, clusters: Sequence[Hashable] | None) -> _Differences:
        one, others = np.asarray(baseline, dtype=np.float64), np.asarray(runs, dtype=np.float64)
        if one.ndim != 1 or others.ndim != 2 or others.shape[1] != one.size or not others.size:
            raise ExperimentError(
                f"values of the shape {others.shape} against a baseline of {one.shape}: expected a row for each run, "
                "with the same questions as the baseline, and at least one of both"
            )
        if not (np.isfinite(one).all() and np.isfinite(others).all()):
            raise ExperimentError("a value is missing: the baseline and all runs need a number for every question")
        smallest = ROUNDING * np.maximum(np.abs(one).max(), np.abs(others).max(axis=1, keepdims=True))
        values = others - one
        values[np.abs(values) <= smallest] = 0.0
        n_questions, sizes = one.size, None
        means = _row_sums(values) / n_questions
        centred = values - means[:, np.newaxis]
        if clusters is not None:
            codes = cluster_codes(clusters)
            sizes = np.bincount(codes).astype(np.float64)
            values, centred = (cluster_sums(of, codes) for of in (values, centred))
        n = values.shape[1]
        has_spread = (np.abs(centred) > smallest).any(axis=1) & (n > 1)
        errors = np.sqrt(_row_sums(centred**2) / max(n - 1, 1) / n) * (n / n_questions)
        return cls(values, centred, sizes, means, np.where(has_spread, errors, 0.0))


def _row_sums(values: Floats) -> Floats:
    return np.array([math.fsum(row) for row in values.tolist()])


def _bootstrap(differences: _Differences, n_draws: int, seed: int) -> tuple[Floats, Floats]:
    """Half the width of the interval (NaN without one) and the p-value of the studentized bootstrap."""
    means, errors = differences.means, differences.errors
    centred, sizes = differences.centred, differences.sizes
    n_runs, n = centred.shape
    as_far = np.divide(np.abs(means), errors, out=np.full(n_runs, np.inf), where=errors > 0)
    n_as_far = np.zeros(n_runs, dtype=np.int64)
    # The interval contains 95 % of the draws: it ends at the smallest of the `n_largest` largest t.
    n_largest = math.floor((1 - CONFIDENCE) * (n_draws + 1) + ROUNDING)
    largest = [np.empty((len(means[some]), 0)) for some in _some(n_runs)]
    for _, size, block_seed in _blocks(n, n_draws, seed):
        counts = np.ascontiguousarray(bootstrap_counts(n, size, seed=block_seed).T, dtype=np.float64)
        for at, some in enumerate(_some(n_runs)):
            sums, squares = exact_sums(centred[some], counts), exact_sums(centred[some] ** 2, counts)
            from_mean = squares - sums * sums / n
            if sizes is not None:  # a cluster has its size times the mean of a draw, instead of the mean once
                of_draw = sums / (sizes @ counts)
                products = exact_sums(centred[some] * sizes, counts)
                from_mean = squares - 2 * of_draw * products + of_draw**2 * (sizes**2 @ counts)
            t = _t(sums, squares, from_mean, n)
            n_as_far[some] += (t >= as_far[some, np.newaxis]).sum(axis=1)
            largest[at] = _largest(np.concatenate([largest[at], t], axis=1), n_largest)
    quantiles = np.concatenate([rows.min(axis=1, initial=math.inf) for rows in largest])
    halves = np.full(n_runs, np.nan)
    np.multiply(quantiles, errors, out=halves, where=(errors > 0) & np.isfinite(quantiles))
    return halves, np.where(errors > 0, _p(n_as_far, n_draws), np.where(means == 0, 1.0, sign_test(n)))


def _largest(values: Floats, n: int) -> Floats:
    """The `n` largest values of each row, in any order."""
    n_less = values.shape[1] - n
    return values if n_less <= 0 else np.partition(values, n_less - 1, axis=1)[:, n_less:]


def _t(sums: Floats, squares: Floats, from_mean: Floats, n: int) -> Floats:
    """The absolute t of draws, from sums of differences, of their squares, and of squares around the draw's mean."""
    has_spread = from_mean > ROUNDING * squares
    found = np.full(sums.shape, np.inf)
    # The mean is sum / n, and its standard error the root of from_mean / (n - 1) / n.
    errors = np.sqrt(np.where(has_spread, from_mean, 1.0) * (n / max(n - 1, 1)))
    np.divide(np.abs(sums), errors, out=found, where=has_spread)
    return found


def _p(n_as_far: NDArray[np.int64], n_draws: int) -> Floats:
    """The p-value; the original questions count as a draw too, so p is never 0."""
    return (n_as_far + 1) / (n_draws + 1)


def _randomization(differences: _Differences, n_draws: int, seed: int) -> tuple[Floats, Floats]:
    """No interval, and the share of swaps with a difference as large: exact if there are few enough ways to swap."""
    values = differences.values
    n_runs, n = values.shape
    as_far = np.abs(_row_sums(values)) - ROUNDING * np.abs(values).sum(
        axis=1
    )  # a difference by rounding alone counts as equally far
    is_exact = takes_all_ways(n, n_draws)
    n_as_far = np.zeros(n_runs, dtype=np.int64)
    for begin, size, block_seed in _blocks(n, 2**n if is_exact else n_draws, seed):
        if is_exact:
            is_swapped = np.arange(begin, begin + size) >> np.arange(n)[:, np.newaxis] & 1
        else:
            is_swapped = (np.random.PCG64(block_seed).random_raw((size, n)) >> np.uint64(63)).T
        signs: Floats = 1.0 - 2.0 * is_swapped.astype(np.float64)
        for some in _some(n_runs):
            n_as_far[some] += (np.abs(exact_sums(values[some], signs)) >= as_far[some, np.newaxis]).sum(axis=1)
    return np.full(n_runs, np.nan), n_as_far / 2**n if is_exact else _p(n_as_far, n_draws)


def _blocks(n: int, n_draws: int, seed: int) -> Iterator[tuple[int, int, int]]:
    """The first draw of each block of draws, the size of the block, and its seed."""
    at_once = max(1, _DRAWN_AT_ONCE // n)
    for number, begin in enumerate(range(0, n_draws, at_once)):
        yield begin, min(at_once, n_draws - begin), (number << 32) + seed


def _some(n_runs: int) -> list[slice]:
    """Slices of runs that are processed together."""
    return [slice(begin, begin + _RUNS_AT_ONCE) for begin in range(0, n_runs, _RUNS_AT_ONCE)]

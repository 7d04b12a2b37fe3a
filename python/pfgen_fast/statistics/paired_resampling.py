"""Several runs against one baseline, by resampling questions: paired bootstrap, and paired approximate randomization.

All runs are compared on the same questions and by the same draws, so no figure depends on the order of the runs. Draws
are whole numbers of a generator that NumPy keeps for ever, and their sums are exact: a seed gives the same figures on
every machine. Needs only NumPy. Definitions and how well they hold: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ..errors import ExperimentError
from .correlation import Floats
from .mean_interval import CONFIDENCE, ROUNDING
from .paired import MIN_QUESTIONS, corrected, sign_test
from .resampling import bootstrap_counts, exact_sums

PairedTest = Literal["bootstrap", "randomization"]

MAX_DRAWS = 1_000_000
MAX_SEED = 2**32 - 1
_DRAWN_AT_ONCE = 1 << 22  # questions of draws that are in memory together
_RUNS_AT_ONCE = 16  # runs whose draws are in memory together: those of 516 runs would take gigabytes


@dataclass(frozen=True)
class BaselineDifference:
    """The difference of a run to the baseline, over the questions that all runs have."""

    mean: float  # mean of run - baseline
    # lower end of the 95 % interval of the difference; None by randomization, which has no interval, and where the
    # questions have no spread to judge by
    low: float | None
    high: float | None  # upper end of the interval; None as `low`
    p_value: float | None  # Two-sided p-value of "there is no difference"; None with one question
    # same by Holm, for all runs that are compared with the baseline; None, no verdict, with fewer than `MIN_QUESTIONS`
    # questions, and where no p-value could be small enough (see `draws_needed`)
    corrected: float | None
    n: int

    def differs(self, alpha: float = 0.05) -> bool | None:
        """Whether run and baseline differ, corrected; None, no verdict, as `corrected`."""
        return None if self.corrected is None else self.corrected <= alpha


def against_baseline(
    baseline: Any, runs: Any, *, test: PairedTest = "bootstrap", n_draws: int | None = None, seed: int = 0
) -> list[BaselineDifference]:
    """Compares runs with a baseline by drawing questions again."""
    if test not in get_args(PairedTest):
        raise ExperimentError(f"test {test!r}: expected one of {', '.join(get_args(PairedTest))}")
    if n_draws is None:
        n_draws = default_draws(len(runs))
    for name, number, least, most in (("n_draws", n_draws, 1, MAX_DRAWS), ("seed", seed, 0, MAX_SEED)):
        if not least <= number <= most:
            raise ExperimentError(f"{name} {number}: expected a whole number from {least} to {most:,}")
    cells = [_Differences.of(difference, largest) for difference, largest in _checked(baseline, runs)]
    found = (_bootstrap if test == "bootstrap" else _randomization)(cells, n_draws, seed)
    n = cells[0].values.size
    if test == "randomization" and takes_all_ways(n, n_draws):
        is_enough = 2 * draws_needed(len(cells)) + 2 <= 2**n  # all signs turned are as far
    else:
        is_enough = draws_needed(len(cells)) <= n_draws
    has_verdict = n >= MIN_QUESTIONS and is_enough
    after = corrected([p for _, p in found], "holm").tolist() if has_verdict else [None] * len(cells)
    return [
        BaselineDifference(
            cell.mean,
            None if half is None else cell.mean - half,
            None if half is None else cell.mean + half,
            None if n == 1 else p,
            p_corrected,
            n,
        )
        for cell, (half, p), p_corrected in zip(cells, found, after, strict=True)
    ]


def default_draws(n_runs: int) -> int:
    """The number of draws for a family of runs: 10,000, or so many that the smallest p-value by Holm is 0.005."""
    return min(max(10_000, 200 * n_runs), MAX_DRAWS)


def draws_needed(n_runs: int) -> int:
    """The fewest draws whose smallest p-value, multiplied by the number of runs, is at most 0.05."""
    return math.ceil(n_runs / (1 - CONFIDENCE) - ROUNDING) - 1


def takes_all_ways(n_questions: int, n_draws: int) -> bool:
    """Whether randomization tries all ways to swap the runs, because these are no more than `n_draws`."""
    return n_questions < MAX_DRAWS.bit_length() and 2**n_questions <= n_draws


_Found = tuple["float | None", float]  # half of the interval, and the p-value


@dataclass(frozen=True, eq=False)
class _Differences:
    """The differences of a run to the baseline."""

    values: Floats  # difference on each question; 0 where it is rounding
    mean: float  # their mean, from an exact sum
    centred: Floats  # differences from their mean
    error: float  # standard error of the mean; 0 where the differences have no spread

    @classmethod
    def of(cls, values: Floats, largest: float) -> _Differences:
        values = np.where(np.abs(values) <= ROUNDING * largest, 0.0, values)
        n = values.size
        mean = math.fsum(values.tolist()) / n
        centred = values - mean
        if n < 2 or float(np.abs(centred).max()) <= ROUNDING * largest:
            return cls(values, mean, centred, 0.0)
        squares = math.fsum((centred * centred).tolist())
        return cls(values, mean, centred, math.sqrt(squares / (n - 1) / n))


def _checked(baseline: Any, runs: Any) -> Iterator[tuple[Floats, float]]:
    """Each run's differences to the baseline, with the largest amount that they are made from."""
    one, others = np.asarray(baseline, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    if one.ndim != 1 or others.ndim != 2 or others.shape[1] != one.size or not others.size:
        raise ExperimentError(
            f"values of the shape {others.shape} against a baseline of {one.shape}: expected a row for each run, with "
            "the same questions as the baseline, and at least one of both"
        )
    if not (np.isfinite(one).all() and np.isfinite(others).all()):
        raise ExperimentError("a value is missing: the baseline and all runs need a number for every question")
    largest_of_baseline = float(np.abs(one).max())
    for row in others:
        yield row - one, max(largest_of_baseline, float(np.abs(row).max()))


def _bootstrap(cells: Sequence[_Differences], n_draws: int, seed: int) -> list[_Found]:
    """The symmetric interval and p-value of the studentized bootstrap.

    A draw's t is the distance of its mean from the mean of all questions, in standard errors of the draw; unlike
    percentiles, t depends on the number of questions. A draw without spread counts as infinitely far.
    """
    n = cells[0].values.size
    values = np.stack([part for cell in cells for part in (cell.centred, cell.centred**2)])
    as_far = np.array([abs(cell.mean) / cell.error if cell.error else math.inf for cell in cells])
    n_as_far = np.zeros(len(cells), dtype=np.int64)
    # The 95 % of draws that the interval holds end at the smallest of these, as many as make p <= 0.05 beyond it.
    n_largest = math.floor((1 - CONFIDENCE) * (n_draws + 1) + ROUNDING)
    largest = [np.empty((len(cells[some]), 0)) for some in _some(cells)]
    for _, size, block_seed in _blocks(n, n_draws, seed):
        counts = np.ascontiguousarray(bootstrap_counts(n, size, seed=block_seed).T, dtype=np.float64)
        for at, some in enumerate(_some(cells)):
            sums = exact_sums(values[2 * some.start : 2 * some.stop], counts)
            t = _t(sums[0::2], sums[1::2], n)
            n_as_far[some] += (t >= as_far[some, np.newaxis]).sum(axis=1)
            largest[at] = _largest(np.concatenate([largest[at], t], axis=1), n_largest)
    quantiles = (row.min(initial=math.inf) for row in itertools.chain(*largest))
    return [
        (float(t * cell.error) if math.isfinite(t) else None, _p(count, n_draws))
        if cell.error
        else (None, float(sign_test(cell.values.size)) if cell.mean else 1.0)
        for cell, t, count in zip(cells, quantiles, n_as_far.tolist(), strict=True)
    ]


def _largest(values: Floats, n: int) -> Floats:
    """The `n` largest values of each row, in any order."""
    n_less = values.shape[1] - n
    return values if n_less <= 0 else np.partition(values, n_less - 1, axis=1)[:, n_less:]


def _t(sums: Floats, squares: Floats, n: int) -> Floats:
    """The amounts of t of draws from their sums of centred differences and of the squares of these."""
    variances = squares - sums * sums / n
    has_spread = variances > ROUNDING * squares
    found = np.full(sums.shape, np.inf)
    # The mean is sum / n, and its standard error the root of variances / (n - 1) / n.
    errors = np.sqrt(np.where(has_spread, variances, 1.0) * (n / max(n - 1, 1)))
    np.divide(np.abs(sums), errors, out=found, where=has_spread)
    return found


def _p(n_as_far: int, n_draws: int) -> float:
    """The questions that were asked count as a draw, too, so that p is never 0."""
    return (n_as_far + 1) / (n_draws + 1)


def _randomization(cells: Sequence[_Differences], n_draws: int, seed: int) -> list[_Found]:
    """How often swapped runs differ as much: exactly, where there are few enough ways to swap them."""
    n = cells[0].values.size
    values = np.stack([cell.values for cell in cells])
    sums = np.array([abs(math.fsum(cell.values.tolist())) for cell in cells])
    as_far = sums - ROUNDING * np.abs(values).sum(axis=1)  # what differs by rounding alone is as far
    is_exact = takes_all_ways(n, n_draws)
    n_as_far = np.zeros(len(cells), dtype=np.int64)
    for begin, size, block_seed in _blocks(n, 2**n if is_exact else n_draws, seed):
        if is_exact:
            is_swapped = np.arange(begin, begin + size) >> np.arange(n)[:, np.newaxis] & 1
        else:
            is_swapped = (np.random.PCG64(block_seed).random_raw((size, n)) >> np.uint64(63)).T
        signs: Floats = 1.0 - 2.0 * is_swapped.astype(np.float64)
        for some in _some(cells):
            n_as_far[some] += (np.abs(exact_sums(values[some], signs)) >= as_far[some, np.newaxis]).sum(axis=1)
    return [(None, count / 2**n if is_exact else _p(count, n_draws)) for count in n_as_far.tolist()]


def _blocks(n: int, n_draws: int, seed: int) -> Iterator[tuple[int, int, int]]:
    """The first draw of each block, the size of the block, and its seed: draws of all runs, some at a time."""
    at_once = max(1, _DRAWN_AT_ONCE // n)
    for number, begin in enumerate(range(0, n_draws, at_once)):
        yield begin, min(at_once, n_draws - begin), (number << 32) + seed


def _some(cells: Sequence[_Differences]) -> list[slice]:
    """The runs, some at a time."""
    return [slice(begin, begin + _RUNS_AT_ONCE) for begin in range(0, len(cells), _RUNS_AT_ONCE)]

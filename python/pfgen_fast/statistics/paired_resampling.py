"""Several runs against one baseline, by resampling questions: paired bootstrap, and paired approximate randomization.

All runs are compared on the same questions and by the same draws, so no figure depends on the order of the runs. Draws
are whole numbers of a generator that NumPy keeps for ever, and their sums are exact: a seed gives the same figures on
every machine. Needs only NumPy. Definitions and how well they hold: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from .mean_interval import CONFIDENCE, ROUNDING
from .p_values import corrected
from .paired import MIN_QUESTIONS
from .resampling import bootstrap_counts, exact_sums

Floats = NDArray[np.float64]
PairedTest = Literal["bootstrap", "randomization"]

MAX_DRAWS = 1_000_000
MAX_SEED = 2**32 - 1
_DRAWN_AT_ONCE = 1 << 22
"""Questions of draws that are in memory together."""


@dataclass(frozen=True)
class BaselineDifference:
    """The difference of a run to the baseline, over the questions that all runs have.

    Attributes:
        mean: The mean of run - baseline.
        low: Lower end of the 95 % interval of the difference; None by randomization, which has no interval, and where
            the questions have no spread to judge by.
        high: Upper end of the interval; None as `low`.
        p_value: Two-sided p-value of "there is no difference"; None with one question.
        corrected: The same by Holm, for all runs that are compared with the baseline; None with fewer than
            `MIN_QUESTIONS` questions.
        n: The number of questions.
    """

    mean: float
    low: float | None
    high: float | None
    p_value: float | None
    corrected: float | None
    n: int

    def differs(self, alpha: float = 0.05) -> bool | None:
        """Whether run and baseline differ, corrected; None, no verdict, with fewer than `MIN_QUESTIONS` questions."""
        return None if self.corrected is None else self.corrected <= alpha


def against_baseline(
    baseline: Any, runs: Any, *, test: PairedTest = "bootstrap", n_draws: int = 10_000, seed: int = 0
) -> list[BaselineDifference]:
    """Compares runs with a baseline by drawing questions again.

    Args:
        baseline: The value of each question in the baseline.
        runs: The same of the runs that are compared with it, a row for each.
        test: `"bootstrap"` draws as many questions as there are, with replacement; `"randomization"` swaps a run and
            the baseline on each question or not, in all ways if these are no more than `n_draws`.
        n_draws: The number of draws.
        seed: The seed of the draws.

    Raises:
        ExperimentError: There is no question or no run, a value is missing, shapes differ, or a number is out of range.

    Example:
        >>> baseline = [0.4, 0.7, 0.4, 0.8, 0.3, 0.6]
        >>> better, same = against_baseline(baseline, [[0.5, 0.7, 0.6, 0.9, 0.4, 0.8], baseline], test="randomization")
        >>> round(better.mean, 3), better.p_value, better.corrected, same.p_value
        (0.117, 0.0625, 0.125, 1.0)
    """
    if test not in get_args(PairedTest):
        raise ExperimentError(f"test {test!r}: expected one of {', '.join(get_args(PairedTest))}")
    for name, number, least, most in (("n_draws", n_draws, 1, MAX_DRAWS), ("seed", seed, 0, MAX_SEED)):
        if not least <= number <= most:
            raise ExperimentError(f"{name} {number}: expected a whole number from {least} to {most:,}")
    cells = [_Differences.of(difference, largest) for difference, largest in _checked(baseline, runs)]
    found = (_bootstrap if test == "bootstrap" else _randomization)(cells, n_draws, seed)
    n = cells[0].values.size
    after = corrected([p for _, p in found], "holm").tolist() if n >= MIN_QUESTIONS else [None] * len(cells)
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


def takes_all_ways(n_questions: int, n_draws: int) -> bool:
    """Whether randomization tries all ways to swap the runs, because these are no more than `n_draws`.

    Example:
        >>> takes_all_ways(13, 10_000), takes_all_ways(14, 10_000)
        (True, False)
    """
    return n_questions < MAX_DRAWS.bit_length() and 2**n_questions <= n_draws


_Found = tuple["float | None", float]
"""Half of the interval, and the p-value."""


@dataclass(frozen=True, eq=False)
class _Differences:
    """The differences of a run to the baseline.

    Attributes:
        values: The difference on each question; 0 where it is rounding.
        mean: Their mean, from an exact sum.
        centred: The differences from their mean.
        error: The standard error of the mean; 0 where the differences have no spread.
    """

    values: Floats
    mean: float
    centred: Floats
    error: float

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

    @property
    def sign_test(self) -> float:
        """The p-value where all differences are the same: that of the sign test, and 1 where there is none."""
        return 2.0 / 2.0 ** min(self.values.size, 1000) if self.mean else 1.0


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

    A draw's t is how far its mean lies from the mean of all questions, in standard errors of the draw: t knows how few
    the questions are, percentiles do not. A draw without spread counts as infinitely far, against a difference.
    """
    n = cells[0].values.size
    values = np.stack([part for cell in cells for part in (cell.centred, cell.centred**2)])
    t = np.empty((len(cells), n_draws))
    for begin, size, block_seed in _blocks(n, n_draws, seed):
        counts = bootstrap_counts(n, size, seed=block_seed)
        sums = exact_sums(values, np.ascontiguousarray(counts.T, dtype=np.float64))
        t[:, begin : begin + size] = _t(sums[0::2], sums[1::2], n)
    return [_by_draws(cell, of_cell) for cell, of_cell in zip(cells, t, strict=True)]


def _by_draws(cell: _Differences, t: Floats) -> _Found:
    if not cell.error:
        return None, cell.sign_test
    half = _quantile(t) * cell.error
    p = _p(int((t >= abs(cell.mean) / cell.error).sum()), t.size)
    return half if math.isfinite(half) else None, p


def _t(sums: Floats, squares: Floats, n: int) -> Floats:
    """The amounts of t of draws from their sums of centred differences and of the squares of these."""
    variances = squares - sums * sums / n
    has_spread = variances > ROUNDING * squares
    found = np.full(sums.shape, np.inf)
    # The mean is sum / n, and its standard error the root of variances / (n - 1) / n.
    errors = np.sqrt(np.where(has_spread, variances, 1.0) * (n / max(n - 1, 1)))
    np.divide(np.abs(sums), errors, out=found, where=has_spread)
    return found


def _quantile(amounts: Floats) -> float:
    """The smallest value that 95 % of the draws do not exceed, as many as make p <= 0.05 beyond it."""
    n_beyond = math.floor((1 - CONFIDENCE) * (amounts.size + 1) + ROUNDING) - 1
    return float(np.sort(amounts)[amounts.size - 1 - n_beyond]) if n_beyond >= 0 else math.inf


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
        n_as_far += (np.abs(exact_sums(values, signs)) >= as_far[:, np.newaxis]).sum(axis=1)
    return [(None, count / 2**n if is_exact else _p(count, n_draws)) for count in n_as_far.tolist()]


def _blocks(n: int, n_draws: int, seed: int) -> Iterator[tuple[int, int, int]]:
    """The first draw of each block, the size of the block, and its seed: draws of all runs, some at a time."""
    at_once = max(1, _DRAWN_AT_ONCE // n)
    for number, begin in enumerate(range(0, n_draws, at_once)):
        yield begin, min(at_once, n_draws - begin), (number << 32) + seed

"""Means of strata that count alike, such as areas of a suite: bootstrap over items, and paired differences.

Items are drawn within their stratum, the same draws for all members, so that differences of members are paired. Sums
over draws are of whole numbers and exact: no figure depends on the order in which a machine adds them up. Needs only
NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .correlation import Floats
from .mean_interval import ROUNDING
from .paired import Correction, PairedDifference, Pairs, sign_test
from .resampling import bootstrap_counts
from .student import p_value_of, quantile

_SMALLEST = 1e-150
"""The squares of smaller differences are 0, so that they count as none."""
_AT_ONCE = 1000
"""Draws that are made together: whoever takes more draws gets the first ones again."""
_GRID_BITS = 32
"""Values are put on a grid of 2^-32, or a coarser one where their sums would not fit into 53 bits."""


@dataclass(frozen=True, eq=False)
class Stratum:
    """The values of all members on the items of one stratum, each of which may have several or none."""

    totals: Floats  # sum of the values of each member (row) on each item (column)
    counts: Floats  # how many values that are

    @classmethod
    def of(cls, values: Any) -> Stratum:
        """A stratum with one value for each member (row) and item (column); NaN where there is none."""
        rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
        is_there = ~np.isnan(rows)
        return cls(np.where(is_there, rows, 0.0), is_there.astype(np.float64))

    @property
    def values(self) -> Floats:
        """The mean value of each member on each item; NaN where there is none."""
        with np.errstate(invalid="ignore"):
            found: Floats = self.totals / self.counts
        return found


def drawn_means(strata: Sequence[Stratum], n_draws: int, *, seed: int = 0) -> list[Floats]:
    """The mean of each member (column) in each bootstrap draw (row), by stratum; NaN where a draw has no value."""
    return [_drawn(stratum, n_draws, (seed << 64) + (place << 32)) for place, stratum in enumerate(strata)]


def _drawn(stratum: Stratum, n_draws: int, seed: int) -> Floats:
    n_members, n_items = stratum.totals.shape
    largest = float(np.abs(stratum.totals).max(initial=0.0)) * max(1, n_items)
    bits = min(_GRID_BITS, 53 - math.frexp(largest)[1])
    on_grid = np.rint(np.ldexp(stratum.totals.T, bits))
    # A member with as many values on each item has as many in each draw.
    has_all = (stratum.counts == stratum.counts[:, :1]).all(axis=1)
    n_values = np.repeat(n_items * stratum.counts[:, 0][np.newaxis], min(n_draws, _AT_ONCE), axis=0)
    found = np.empty((n_draws, n_members))
    for begin in range(0, n_draws, _AT_ONCE):
        n_now = min(_AT_ONCE, n_draws - begin)
        drawn = bootstrap_counts(n_items, n_now, seed=seed + begin).astype(np.float64)
        if not has_all.all():
            n_values[:n_now, ~has_all] = drawn @ stratum.counts[~has_all].T
        with np.errstate(invalid="ignore"):
            found[begin : begin + n_now] = np.ldexp(drawn @ on_grid, -bits) / n_values[:n_now]
    return found


def mean_of_strata(means: Sequence[Floats]) -> Floats:
    """The mean over strata, which count alike; NaN where that of any stratum is."""
    total = np.zeros_like(means[0])
    for of_stratum in means:
        total = total + of_stratum
    return total / len(means)


def paired_difference(a: Sequence[Any], b: Sequence[Any]) -> PairedDifference:
    """The difference A - B of two members' means of strata, over the items that both have.

    The test is Student's for a mean of means of paired differences, with the degrees of freedom of Welch and
    Satterthwaite. One stratum is the paired t-test.
    """
    pairs = [_common(of_a, of_b) for of_a, of_b in zip(a, b, strict=True)]
    means = [pair.mean for pair in pairs]
    difference, n = math.fsum(means) / len(means), sum(pair.n for pair in pairs)
    if any(pair.n < 2 for pair in pairs):
        return PairedDifference(difference, None, None, None, n)
    if not any(pair.error for pair in pairs):
        is_zero = abs(difference) <= max(_SMALLEST, *(ROUNDING * pair.largest for pair in pairs))
        return PairedDifference(difference, None, None, 1.0 if is_zero else float(sign_test(n)), n)
    variance = math.fsum(pair.error for pair in pairs)
    degrees = 1 / math.fsum((pair.error / variance) ** 2 / (pair.n - 1) for pair in pairs)
    error = math.sqrt(variance) / len(means)
    half = quantile(degrees) * error
    p_value = p_value_of(difference / error, degrees)
    return PairedDifference(difference, difference - half, difference + half, p_value, n)


class _Common(NamedTuple):
    """The differences on the items of a stratum that both members have."""

    mean: float
    error: float  # variance of the mean; 0 where all are the same but for rounding, or there is one only
    n: int
    largest: float  # largest absolute value that they are between


def _common(a: Any, b: Any) -> _Common:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    differences = x - y
    is_common = ~np.isnan(differences)
    if not is_common.all():
        x, y, differences = x[is_common], y[is_common], differences[is_common]
    n = len(differences)
    if not n:
        raise ValueError("a difference needs an item of each stratum that both have")
    largest = float(max(np.abs(x).max(), np.abs(y).max()))
    mean = math.fsum(differences.tolist()) / n
    if n < 2 or np.ptp(differences) <= max(_SMALLEST, ROUNDING * largest):
        return _Common(mean, 0.0, n, largest)
    return _Common(mean, math.fsum(np.square(differences - mean).tolist()) / (n - 1) / n, n, largest)


def all_pairs(strata: Sequence[Any], *, alpha: float = 0.05, correction: Correction = "bh") -> Pairs:
    """Compares every pair of members by `paired_difference`, and finds the groups that cannot be told apart."""
    matrices = [np.asarray(stratum, dtype=np.float64) for stratum in strata]
    size = len(matrices[0])
    differences, p = (np.full((size, size), np.nan) for _ in range(2))
    n = np.zeros((size, size), dtype=np.int_)
    for row in range(size):
        n[row, row] = sum(int((~np.isnan(matrix[row])).sum()) for matrix in matrices)
        for column in range(row + 1, size):
            a, b = ([matrix[member] for matrix in matrices] for member in (row, column))
            try:
                found = paired_difference(a, b)
            except ValueError:
                continue
            differences[row, column], differences[column, row] = found.mean, -found.mean
            n[row, column] = n[column, row] = found.n
            if found.p_value is not None:
                p[row, column] = p[column, row] = found.p_value
    return Pairs.of(differences, n, p, alpha, correction)

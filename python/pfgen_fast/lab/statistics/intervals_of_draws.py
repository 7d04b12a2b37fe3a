"""Draws of whole clusters, such as tasks, and 95 % intervals from them; intervals of shares and of means of strata.

A draw is a vector with the number of times that each item is in it; all figures share it. The draws give only the
standard error. With few clusters their percentiles are much too narrow, because the spread of the draws has no
correction for the number of clusters, and their mean is not the figure. Coverage: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import Counts, Floats
from ...base.mean_interval import ROUNDING, mean_interval, quantile, wilson
from ...runs.statistics.paired_tests import ALPHA, against

Ends = tuple[float | None, float | None]

_MOST_UNDEFINED = 0.025
"""Share of the draws up to which undefined ones, such as those of one level only, are left out."""


def interval_of_draws(value: float, draws: Floats, n_clusters: int, n_strata: int = 1) -> Ends:
    """The ends of the interval of a coefficient from -1 to 1: Student's, on the scale of Fisher's transformation.

    None without spread, if too many draws are undefined, and at -1 and 1.
    """
    degrees, defined = n_clusters - n_strata, draws[~np.isnan(draws)]
    if math.isnan(value) or degrees < 1 or len(defined) < max(2, (1 - _MOST_UNDEFINED) * len(draws)):
        return None, None
    # Not the spread on the scale, where a draw of 1 is infinite.
    half, slope = quantile(degrees) * math.sqrt(defined.var() * n_clusters / degrees), 1 - value * value
    if half <= ROUNDING * np.abs(defined).max() or slope <= ROUNDING:
        return None, None
    low, high = (math.tanh(math.atanh(value) + side * half / slope) for side in (-1, 1))
    return low, high


def clustered_rate(values: Sequence[float], clusters: Sequence[Hashable]) -> tuple[float, float, float]:
    """The mean of values from 0 to 1, such as 1 for yes and 0 for no, and its 95 % interval.

    The interval is that of Wilson's formula with the effective number of values: the number of independent values that
    have the cluster-robust variance of the mean, which is at least that of independent values. It is the number of
    clusters if all values are equal.
    """
    n = len(values)
    if not n:
        raise ValueError("a share needs at least one value")
    n_clusters = len(set(clusters))
    share = math.fsum(values) / n
    interval = mean_interval([float(value) for value in values], clusters)
    effective = float(n_clusters)
    if interval.half_width and n_clusters > 1:
        variance = (interval.half_width / quantile(n_clusters - 1)) ** 2
        # Independent values between 0 and 1, such as ties, have a smaller variance than yes and no.
        independent = math.fsum((value - share) ** 2 for value in values) / n
        effective = share * (1 - share) / max(variance, independent / n)
    return share, *wilson(share, effective, quantile(max(1, n_clusters - 1)))


_AT_ONCE = 1 << 16  # counts whose temporary arrays fit into the cache of a core
_MIN_DRAWS_AT_ONCE = 16


def bootstrap_counts(n_items: int, n_draws: int, *, seed: int = 0) -> Counts:
    """Draws all items with replacement: how often each item (column) is in each draw (row)."""
    counts = np.zeros((n_draws, n_items), dtype=np.int32)
    # Numbers below n_items from the upper half of the raw numbers: the same with every version of NumPy.
    raw = np.random.PCG64(seed).random_raw((n_draws, n_items)) >> np.uint64(32)
    drawn = (raw * np.uint64(n_items) >> np.uint64(32)).astype(np.int64)
    at_once = max(1, _AT_ONCE // max(1, n_items))
    for begin in range(0, n_draws, at_once):
        block = drawn[begin : begin + at_once]
        places = block + n_items * np.arange(len(block))[:, np.newaxis]
        counts[begin : begin + at_once] = np.bincount(places.ravel(), minlength=block.size).reshape(block.shape)
    return counts


def resampled_means(values: Any, counts: Counts) -> Floats:
    """Computes the mean of each row of values in each draw: a row for each draw, a column for each row of values."""
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    is_there = np.isfinite(rows)
    known, weights = np.where(is_there, rows, 0.0), is_there.astype(np.float64)
    means = np.empty((len(counts), len(rows)))
    for block, drawn in _blocks(counts):
        with np.errstate(invalid="ignore"):
            means[block] = ((known @ drawn) / (weights @ drawn)).T
    return means


def _blocks(counts: Counts) -> Iterator[tuple[slice, Floats]]:
    """Blocks of draws, with a row for each item; the fewer items, the more draws are in a block."""
    per_block = max(_MIN_DRAWS_AT_ONCE, _AT_ONCE // max(1, counts.shape[1]))
    for begin in range(0, len(counts), per_block):
        block = slice(begin, begin + per_block)
        yield block, np.ascontiguousarray(counts[block].T, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Stratum:
    """The values of all members on the items of one stratum: any number of values for each item."""

    totals: Floats  # sum of the values of each member (row) on each item (column)
    counts: Floats  # number of these values

    @classmethod
    def of(cls, values: Any) -> Stratum:
        """A stratum with one value for each member (row) and item (column); NaN for a missing value."""
        rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
        is_there = ~np.isnan(rows)
        return cls(np.where(is_there, rows, 0.0), is_there.astype(np.float64))

    @property
    def values(self) -> Floats:
        """The mean value of each member on each item; NaN for an item without values."""
        with np.errstate(invalid="ignore"):
            means: Floats = self.totals / self.counts
        return means


def half_widths(*strata: Stratum) -> Floats:
    """Half the width of the 95 % interval of each member's mean of strata, by Student's t and Welch's degrees.

    Each value of an item counts, and the values of an item are dependent. NaN without spread, and if a member has fewer
    than two items in a stratum.
    """
    from scipy.special import stdtrit

    items = []
    for stratum in strata:
        n, has_value = stratum.counts.sum(axis=1, keepdims=True), stratum.counts > 0
        with np.errstate(invalid="ignore"):
            mean = stratum.totals.sum(axis=1, keepdims=True) / n
            share = has_value.sum(axis=1, keepdims=True) / n  # what an item adds to the mean; its value without repeats
            items.append(np.where(has_value, mean + share * (stratum.totals - mean * stratum.counts), np.nan))
    tested = against([np.zeros(values.shape[1]) for values in items], items)
    half: Floats = stdtrit(tested.degrees, 1 - ALPHA / 2) * tested.errors
    return np.where((tested.errors > 0) & ~np.isnan(tested.p_values), half, np.nan)

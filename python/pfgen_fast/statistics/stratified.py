"""Means of strata with the same weight, such as areas of a suite: their intervals, and bootstrap draws of items.

Items are drawn within their stratum, with the same draws for all members, so differences of members are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .correlation import Floats
from .paired import ALPHA, against
from .resampling import bootstrap_counts

_AT_ONCE = 1000
"""Draws that are made together. A longer run starts with the same draws as a shorter one."""


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
            found: Floats = self.totals / self.counts
        return found


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


def drawn_means(strata: Sequence[Stratum], n_draws: int, *, seed: int = 0) -> list[Floats]:
    """Computes the mean of each member (column) in each bootstrap draw (row), by stratum; NaN without a value."""
    return [_drawn(stratum, n_draws, (seed << 64) + (place << 32)) for place, stratum in enumerate(strata)]


def _drawn(stratum: Stratum, n_draws: int, seed: int) -> Floats:
    n_members, n_items = stratum.totals.shape
    found = np.empty((n_draws, n_members))
    for begin in range(0, n_draws, _AT_ONCE):
        n_now = min(_AT_ONCE, n_draws - begin)
        drawn = bootstrap_counts(n_items, n_now, seed=seed + begin).astype(np.float64)
        with np.errstate(invalid="ignore"):
            found[begin : begin + n_now] = (drawn @ stratum.totals.T) / (drawn @ stratum.counts.T)
    return found


def mean_of_strata(means: Sequence[Floats]) -> Floats:
    """The mean over strata with the same weight; NaN if the mean of any stratum is NaN."""
    found: Floats = np.mean(means, axis=0)
    return found

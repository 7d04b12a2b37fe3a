"""Means of strata with the same weight, such as areas of a suite, and their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...runs.statistics.paired import ALPHA, against
from .correlation import Floats


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

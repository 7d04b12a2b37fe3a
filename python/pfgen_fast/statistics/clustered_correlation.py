"""Spearman's and Pearson's correlation with bootstrap draws of whole clusters, and Spearman's p-value.

Values that depend on one another, such as the answers of all models to a task, are a cluster and drawn together. A
value that is drawn n times has weight n. Needs only NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .correlation import Floats
from .resampling import Counts, resampled_means
from .student import p_values_of

_VALUES_AT_ONCE = 1 << 20
"""Weights of draws whose temporary arrays are made together."""


def spearman(x: Any, y: Any) -> float | None:
    """Spearman's correlation of two columns; None with fewer than two values or where a column is constant."""
    one = np.arange(len(x))
    found = float(resampled_spearman(x, y, one, np.ones((1, len(one)), dtype=np.int32))[0]) if len(one) else math.nan
    return None if math.isnan(found) else found


def pearson(x: Any, y: Any) -> float | None:
    """Pearson's correlation of two columns; None with fewer than two values or where a column is constant."""
    one = np.arange(len(x))
    found = float(resampled_pearson(x, y, one, np.ones((1, len(one)), dtype=np.int32))[0]) if len(one) else math.nan
    return None if math.isnan(found) else found


def p_value(coefficient: float, n: int) -> float | None:
    """The two-sided p-value of a correlation of n values, from Student's distribution; None below three values."""
    if n < 3:
        return None
    rest = 1 - coefficient * coefficient
    t = math.inf if rest <= 0 else coefficient * math.sqrt((n - 2) / rest)
    return float(p_values_of(np.array([t]), n - 2)[0])


def resampled_spearman(x: Any, y: Any, cluster_of: NDArray[np.int_], counts: Counts) -> Floats:
    """Spearman's correlation in each draw; NaN where a column of it is constant.

    Ranks are doubled and counted from their middle: whole numbers, whose sums are exact in any order.
    """
    columns = _Ranked(x), _Ranked(y)
    found = np.full(len(counts), np.nan)
    per_block = max(1, _VALUES_AT_ONCE // max(1, len(cluster_of)))
    for begin in range(0, len(counts), per_block):
        block = slice(begin, begin + per_block)
        weights = counts[block].astype(np.float64)[:, cluster_of]
        of_x, of_y = (column.centred_ranks(weights) for column in columns)
        xx, yy, xy = ((weights * product).sum(axis=1) for product in (of_x * of_x, of_y * of_y, of_x * of_y))
        found[block] = _ratio(xx, yy, xy)
    return found


def resampled_pearson(x: Any, y: Any, cluster_of: NDArray[np.int_], counts: Counts) -> Floats:
    """Pearson's correlation in each draw, NaN where a column is constant; arguments as of `resampled_spearman`."""
    a, b = (np.asarray(column, dtype=np.float64) for column in (x, y))
    # From the middle, so that the squares lose few digits.
    a, b = (column - math.fsum(column.tolist()) / len(column) for column in (a, b))
    products = [np.ones(len(a)), a, b, a * a, b * b, a * b]
    n_clusters = counts.shape[1]
    of_clusters = [np.bincount(cluster_of, product, n_clusters) for product in products]
    n, sa, sb, saa, sbb, sab = resampled_means(np.stack(of_clusters), counts).T
    xx, yy = n * saa - sa * sa, n * sbb - sb * sb
    # What cancellation leaves of a constant column is no spread.
    xx, yy = (np.where(v <= 1e-12 * n * s, 0.0, v) for v, s in ((xx, saa), (yy, sbb)))
    return _ratio(xx, yy, n * sab - sa * sb)


def _ratio(xx: Floats, yy: Floats, xy: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where((xx > 0) & (yy > 0), np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0), np.nan)
    return found


class _Ranked:
    """A column that is sorted once and ranked under many weights."""

    def __init__(self, column: Any) -> None:
        values = np.asarray(column, dtype=np.float64)
        self._order = np.argsort(values, kind="stable")
        _, self._group_of, sizes = np.unique(values, return_inverse=True, return_counts=True)
        self._begins = np.cumsum(sizes) - sizes

    def centred_ranks(self, weights: Floats) -> Floats:
        """Twice the ranks of the values (columns) under each row of weights, less the middle; equal values share it."""
        of_groups = np.add.reduceat(weights[:, self._order], self._begins, axis=1)
        up_to = np.cumsum(of_groups, axis=1)
        ranks: Floats = (2 * up_to - of_groups - up_to[:, -1:])[:, self._group_of]
        return ranks

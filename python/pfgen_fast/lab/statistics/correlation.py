"""Correlation of two columns: Pearson, Spearman and Kendall (tau-b), with intervals over clusters of dependent values.

The jackknife leaves out one cluster at a time, and the bootstrap draws whole clusters, because the values of a cluster
are dependent. Definitions: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import ExperimentError
from ...base.mean_interval import quantile
from .intervals_of_draws import resampled_means

COEFFICIENTS = ("Pearson", "Spearman", "Kendall")
MIN_VALUES = 3  # the smallest number of pairs of values for which a correlation is meaningful
MIN_FOR_INTERVAL = 10
"""The smallest number of values, or of clusters of dependent values, for which intervals hold."""

SAME_RANKING = 0.95  # two rankings count as the same if their Kendall correlation exceeds this value
_VALUES_AT_ONCE = 1 << 16  # weights of draws whose temporary arrays fit into the cache of a core
_ALMOST_ONE = 1 - 1e-12


@dataclass(frozen=True)
class Correlation:
    """A coefficient and its 95 % interval."""

    value: float
    # lower end of the interval; None if there are too few values, or if a column varies only in one cluster
    low: float | None = None
    high: float | None = None  # upper end of the interval; None in the same cases

    def __str__(self) -> str:
        interval = "" if self.low is None else f" ({self.low:.4f} to {self.high:.4f})"
        return f"{self.value:.4f}{interval}"


def coefficient(name: str, x: Floats, y: Floats) -> float:
    """Computes one of `COEFFICIENTS` for two columns."""
    if is_constant(x) or is_constant(y):
        raise ExperimentError("a constant column has no correlation")
    # SciPy's own functions for Pearson and Spearman spend most of their time on p-values.
    if name == "Pearson":
        return float(np.corrcoef(x, y)[0, 1])
    from scipy import stats

    if name == "Spearman":
        return float(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1])
    # SciPy divides by 0 in the asymptotic p-value of two values, which have no ties.
    return float(stats.kendalltau(x, y, method="asymptotic" if len(x) > 2 else "exact").statistic)


def _or_none(name: str, x: Any, y: Any) -> float | None:
    a, b = (np.asarray(column, dtype=np.float64) for column in (x, y))
    return None if is_constant(a) or is_constant(b) else coefficient(name, a, b)


pearson, spearman, kendall = (partial(_or_none, name) for name in COEFFICIENTS)
"""A coefficient of two columns (Kendall's is tau-b); None with fewer than two values or if a column is constant."""


def is_constant(column: Floats) -> bool:
    """Whether all values of a column are equal."""
    return not len(column) or bool(np.ptp(column) == 0)


def check_columns(columns: Mapping[str, Floats], what: str) -> None:
    """Checks that columns can be correlated."""
    for name, column in columns.items():
        if len(column) < MIN_VALUES:
            raise ExperimentError(f"{len(column)} {what}: a correlation needs at least {MIN_VALUES}")
        if is_constant(column):
            raise ExperimentError(
                f"{name} is {column[0]:.6g} for all {len(column)} {what}: a constant column has no correlation"
            )


def few_values(n: int, what: str) -> list[str]:
    """A warning about correlations of fewer than `MIN_FOR_INTERVAL` values; an empty list if there are enough."""
    if n >= MIN_FOR_INTERVAL:
        return []
    return [
        f"the correlations are of only {n} {what}, so they have no intervals and say little: "
        f"expected at least {MIN_FOR_INTERVAL}"
    ]


def correlate(x: Floats, y: Floats, *, clusters: NDArray[np.int_] | None = None) -> dict[str, Correlation]:
    """Computes all coefficients of two columns, with 95 % intervals of the jackknife (docs/statistics.md)."""
    values = {name: coefficient(name, x, y) for name in COEFFICIENTS}
    names, cluster_of = np.unique(np.arange(len(x)) if clusters is None else clusters, return_inverse=True)
    if len(names) < MIN_FOR_INTERVAL:
        return {name: Correlation(value) for name, value in values.items()}
    without = _without_each(x, y, cluster_of, len(names))
    return {name: _with_interval(value, without[name]) for name, value in values.items()}


def _with_interval(value: float, without: Floats) -> Correlation:
    """The coefficient with its interval, from the coefficients without each cluster."""
    if np.isnan(without).any():
        return Correlation(value)
    n = len(without)
    half = quantile(n - 2) * math.sqrt((n - 1) * np.arctanh(_inside(without)).var())
    low, high = (float(np.tanh(np.arctanh(_inside(value)) + side * half)) for side in (-1, 1))
    return Correlation(value, min(low, value), max(high, value))


def _inside(values: Any) -> Any:
    """Values that Fisher's scale has."""
    return np.clip(values, -_ALMOST_ONE, _ALMOST_ONE)


def _without_each(x: Floats, y: Floats, cluster_of: NDArray[np.int_], n_clusters: int) -> dict[str, Floats]:
    """The coefficients without each cluster; NaN if a column without it is constant."""
    counts = 1 - np.eye(n_clusters)
    # By pair of clusters, the sums over pairs of values: do their orders agree (1 or -1), do x and y differ?
    sums = np.zeros((3, n_clusters, n_clusters))
    for cluster in range(n_clusters):
        members = np.flatnonzero(cluster_of == cluster)
        x_signs, y_signs = (np.sign(column[members, np.newaxis] - column) for column in (x, y))
        for total, signs in zip(sums, (x_signs * y_signs, np.abs(x_signs), np.abs(y_signs)), strict=True):
            total[cluster] = np.bincount(cluster_of, signs.sum(axis=0), n_clusters)
    agreement, x_differs, y_differs = (((counts @ pairs) * counts).sum(axis=1) for pairs in sums)
    with np.errstate(invalid="ignore"):
        kendall = agreement / np.sqrt(x_differs * y_differs)
    pearson, spearman = (resampled(x, y, cluster_of, counts) for resampled in (resampled_pearson, resampled_spearman))
    return {"Pearson": pearson, "Spearman": spearman, "Kendall": kendall}


class _Ranked:
    """A column that is sorted once and ranked with many weights."""

    def __init__(self, column: Floats) -> None:
        self._order = np.argsort(column, kind="stable")
        _, self._group_of, sizes = np.unique(column, return_inverse=True, return_counts=True)
        self._begins = np.cumsum(sizes) - sizes

    def ranks(self, weights: Floats) -> Floats:
        """The ranks of the values (columns) with each row of weights, from 0; equal values share the mean."""
        totals = np.add.reduceat(weights[:, self._order], self._begins, axis=1)
        return (np.cumsum(totals, axis=1) - totals / 2)[:, self._group_of]


def ranks(scores: Floats) -> Floats:
    """The ranks of scores, 1 for the highest; equal scores share the mean of their ranks."""
    from scipy.stats import rankdata

    descending: Floats = rankdata(-scores)
    return descending


COMPARED_DIGITS = 9
"""Number of decimals to which scores are compared, because sums in another order differ in the last digits."""


def p_value(coefficient: float, n: int) -> float | None:
    """The two-sided p-value of a correlation of n values, from Student's distribution; None below three values.

    Student's distribution gives 0 for the coefficients 1 and -1, so they have the p-value of the permutation test.
    """
    if n < 3:
        return None
    from scipy.special import stdtr

    rest = 1 - coefficient * coefficient
    if rest <= 0:
        return 2 / math.factorial(min(n, 200))  # 0 from there on, and n! takes seconds for a million
    return float(2 * stdtr(n - 2, -abs(coefficient) * math.sqrt((n - 2) / rest)))


def resampled_spearman(x: Any, y: Any, cluster_of: NDArray[np.int_], counts: Any) -> Floats:
    """Spearman's correlation in each draw of clusters; NaN if a column of it is constant."""
    from scipy.sparse import csr_array

    (_, x_codes), (ys, y_codes) = (np.unique(column, return_inverse=True) for column in (x, y))
    # Equal pairs of values share their ranks, so they are counted together.
    pairs, pair_of = np.unique(x_codes * len(ys) + y_codes, return_inverse=True)
    columns = [_Ranked(side) for side in np.divmod(pairs, max(1, len(ys)))]
    n_pairs = len(pairs)
    members = csr_array((np.ones(len(pair_of)), (pair_of, cluster_of)), shape=(n_pairs, counts.shape[1]))
    coefficients = np.full(len(counts), np.nan)
    per_block = max(1, _VALUES_AT_ONCE // max(1, n_pairs))
    for begin in range(0, len(counts) if n_pairs else 0, per_block):
        block = slice(begin, begin + per_block)
        weights = np.ascontiguousarray((members @ counts[block].T.astype(np.float64)).T)
        a, b = (2 * column.ranks(weights) - weights.sum(axis=1, keepdims=True) for column in columns)
        coefficients[block] = _ratio(*((weights * product).sum(axis=1) for product in (a * a, b * b, a * b)))
    return coefficients


def resampled_pearson(x: Any, y: Any, cluster_of: NDArray[np.int_], counts: Any) -> Floats:
    """Pearson's correlation in each draw; NaN if a column of it is constant."""
    a, b = (np.asarray(column, dtype=np.float64) for column in (x, y))
    # Centred, so that the squares keep most digits.
    a, b = (column - math.fsum(column.tolist()) / len(column) for column in (a, b))
    products = [np.ones(len(a)), a, b, a * a, b * b, a * b]
    n_clusters = counts.shape[1]
    sums = [np.bincount(cluster_of, product, n_clusters) for product in products]
    n, sa, sb, saa, sbb, sab = resampled_means(np.stack(sums), counts).T
    xx, yy = n * saa - sa * sa, n * sbb - sb * sb
    # A constant column may keep a tiny spread by cancellation.
    xx, yy = (np.where(v <= 1e-12 * n * s, 0.0, v) for v, s in ((xx, saa), (yy, sbb)))
    return _ratio(xx, yy, n * sab - sa * sb)


def _ratio(xx: Floats, yy: Floats, xy: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.where((xx > 0) & (yy > 0), np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0), np.nan)
    return ratio

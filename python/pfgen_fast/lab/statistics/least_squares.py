"""Least squares: coefficients with a lower bound (SciPy's NNLS), and win rates that length does not explain.

    y = a(pair) + b x

For win rates, `y` is 1 for a win, 0 for a loss, and the value of a tie; `x` is the logarithm of the ratio of the two
answers' lengths. `b` is the slope within pairs of models, common to all pairs. The length-controlled win rate of a pair
is its mean of `y` minus `b` times its mean of `x`: the win rate of answers of equal length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import Counts, Floats, Ints
from ...base.errors import ExperimentError
from .intervals_of_draws import resampled_means

_LARGEST = 1024.0
_NO_DISTANCE = 1e-7  # from the bound, below which a coefficient is at the bound
_WEIGHT = 1e6  # of fitted values against distances from equal coefficients
_SMALLEST_EIGENVALUE = 1e-10  # as a share of the largest; below it, a draw does not determine its coefficients


@dataclass(frozen=True)
class BoundedFit:
    """The coefficients that fit best and are not below a bound."""

    coefficients: tuple[float, ...]  # if the data do not determine them, the coefficients nearest to equal ones
    percent: tuple[float, ...]  # coefficients divided by their sum, times 100; empty if that sum is zero
    at_bound: tuple[bool, ...]  # whether each is at the bound
    ss_residual: float  # sum of the squared residuals
    ss_total: float  # sum of the squares about the mean
    rank: int  # rank of the rows; if it is below the number of coefficients, the data do not determine all of them


def bounded_fit(x: Any, y: Any, *, bound: float = 0.0) -> BoundedFit:
    """Minimises the sum of (y - x w)^2 over all w that are not below the bound."""
    from scipy.optimize import nnls

    rows, values = _checked(x, y)
    rank = int(np.linalg.matrix_rank(rows))
    above = nnls(rows, values - bound * rows.sum(axis=1))[0]
    if rank < rows.shape[1]:
        above = _nearest_to_equal(rows, above, rank)
    above[above < _NO_DISTANCE] = 0.0
    coefficients = bound + above
    total = coefficients.sum()
    residuals = values - rows @ coefficients
    from_mean = (values - values.mean()) * bool(np.ptp(values))  # 0 for equal values, without rounding
    return BoundedFit(
        coefficients=tuple(coefficients.tolist()),
        percent=tuple((100 * coefficients / total).tolist()) if total else (),
        at_bound=tuple((above == 0).tolist()),
        ss_residual=float(residuals @ residuals),
        ss_total=float(from_mean @ from_mean),
        rank=rank,
    )


def bounded_fits(x: Any, y: Any, counts: Counts, *, bound: float = 0.0) -> Floats:
    """Computes the coefficients of `bounded_fit` for each draw of rows; NaN if a draw does not determine them."""
    from scipy.optimize import nnls

    rows, values = _checked(x, y)
    n, drawn = rows.shape[1], counts.astype(np.float64)
    gram = (drawn @ (rows[:, :, np.newaxis] * rows[:, np.newaxis]).reshape(len(rows), -1)).reshape(-1, n, n)
    moments = drawn @ (rows * (values - bound * rows.sum(axis=1))[:, np.newaxis])
    eigenvalues = np.linalg.eigvalsh(gram)
    is_known = eigenvalues[:, 0] > _SMALLEST_EIGENVALUE * eigenvalues[:, -1]
    above = np.full(moments.shape, np.nan)
    above[is_known] = np.linalg.solve(gram[is_known], moments[is_known, :, np.newaxis])[..., 0]
    is_below = (above < 0).any(axis=1)
    lower = np.linalg.cholesky(gram[is_below])
    targets = np.linalg.solve(lower, moments[is_below, :, np.newaxis])[..., 0]
    for draw, matrix, target in zip(np.flatnonzero(is_below).tolist(), lower, targets, strict=True):
        above[draw] = nnls(matrix.T, target)[0]
    return bound + above


def _checked(x: Any, y: Any) -> tuple[Floats, Floats]:
    rows, values = (np.asarray(column, dtype=np.float64) for column in (x, y))
    if rows.ndim != 2 or not rows.size or values.shape != rows.shape[:1]:
        raise ExperimentError(
            f"a regression of {values.shape} values on rows of the shape {rows.shape}: expected a value for each row, "
            "and at least one row and one column"
        )
    if not (np.abs(rows).max() <= _LARGEST and np.abs(values).max() <= _LARGEST):
        raise ExperimentError(f"a regression needs numbers from -{_LARGEST:g} to {_LARGEST:g}")
    return rows, values


def _nearest_to_equal(rows: Floats, fitted: Floats, rank: int) -> Floats:
    """Of all coefficients from 0 on with the same fitted values, those nearest to their mean.

    The fitted values get a weight so large that the distance from the mean does not change them.
    """
    from scipy.optimize import lsq_linear

    n = len(fitted)
    if not rank:
        return np.zeros(n)
    known = _WEIGHT * np.linalg.svd(rows)[2][:rank]
    from_mean = np.eye(n) - 1 / n
    target = np.append(known @ fitted, np.zeros(n))
    shares: Floats = lsq_linear(np.vstack([known, from_mean]), target, (0, np.inf), "bvls").x
    return shares


FEWEST_CLUSTERS = 20
"""With fewer tasks, the slope is so uncertain that no length-controlled win rate is given."""


@dataclass(frozen=True, eq=False)
class WinRates:
    """Win rates by pair; a draw is a row. NaN where they are undefined."""

    n: Ints  # numbers of comparisons
    rates: Floats
    controlled: Floats  # length-controlled win rates
    slope: float  # change of the win rate if the one answer is e times as long
    rate_draws: Floats
    controlled_draws: Floats
    slope_draws: Floats


def win_rates(y: Floats, x: Floats, pairs: Ints, n_pairs: int, clusters: Ints, counts: Counts) -> WinRates:
    """Computes the win rates of each pair, and their draws of clusters, such as tasks."""
    n_clusters = counts.shape[1]
    cells = pairs * n_clusters + clusters
    has_length = ~np.isnan(x)
    known = np.where(has_length, x, 0.0)
    is_known = has_length.astype(np.float64)
    columns = [np.ones(len(y)), y, is_known, is_known * y, known, known * known, known * y]
    sums = [np.bincount(cells, column, n_pairs * n_clusters).reshape(n_pairs, n_clusters) for column in columns]
    drawn = resampled_means(np.concatenate(sums), counts).reshape(len(counts), len(columns), n_pairs) * n_clusters
    whole = np.stack([part.sum(axis=1) for part in sums])
    rates, controlled, slope = _figures(whole)
    drawn_rates = [np.asarray(part) for part in _figures(np.moveaxis(drawn, 0, 1))]
    if n_clusters < FEWEST_CLUSTERS:
        controlled, slope = np.full(n_pairs, np.nan), np.float64(np.nan)

    return WinRates(whole[0].astype(np.int64), rates, controlled, float(slope), *drawn_rates)


def _figures(sums: Floats) -> tuple[Floats, Floats, Any]:
    """Rates, length-controlled rates and the slope, from sums whose last axis are pairs."""
    n, total, n_known, y, x, xx, xy = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = total / n
        within_xx = np.where(n_known > 0, xx - x * x / n_known, 0.0).sum(axis=-1)
        within_xy = np.where(n_known > 0, xy - x * y / n_known, 0.0).sum(axis=-1)
        slope = np.where(within_xx > 1e-12 * xx.sum(axis=-1), within_xy / within_xx, np.nan)
        controlled = np.clip(y / n_known - np.expand_dims(slope, -1) * x / n_known, 0.0, 1.0)
    return rates, controlled, slope

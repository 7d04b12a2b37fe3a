"""Least squares: coefficients with a lower bound (SciPy's NNLS)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import Floats
from ...base.errors import ExperimentError

_LARGEST = 1024.0
_NO_DISTANCE = 1e-7  # from the bound, below which a coefficient is at the bound
_WEIGHT = 1e6  # of fitted values against distances from equal coefficients


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

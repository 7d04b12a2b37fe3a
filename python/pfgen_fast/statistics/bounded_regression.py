"""Least squares without an intercept, with a lower bound for the coefficients: exactly, or for many draws at once.

The exact fit uses whole numbers and rounds at the end, so the same data give the same coefficients, and hashes, on
every machine. The fits of draws use floats in a fixed order of operations, without a BLAS. Both methods exchange free
and bound coefficients until all have the right sign (block principal pivoting). Needs only NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import lcm
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from .discernment_scores import Floats
from .resampling import Counts, resampled_means

_GRID_BITS = 50
"""Values are rounded to multiples of 2^-50, which are exact for the levels of verdicts."""
_LARGEST = 1024.0
_TIE_BITS = 60  # weight of the misfit over the distance from equal coefficients, if the data do not determine them
_NO_DISTANCE = Fraction(1, 1 << 40)
"""Distance from the bound below which a coefficient is at the bound, if the data do not determine all of them."""
_SMALLEST_PIVOT = 1e-10
_ROUNDING = 1e-12
_PATIENCE = 3
"""Exchanges that do not reduce the number of wrong signs, before only one coefficient is exchanged at a time."""
_MOST_EXCHANGES = 100

Row = list[int]


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
    rows, values = _checked(x, y)
    columns, target = [_on_grid(column) for column in rows.T], _on_grid(values)
    gram = [[_product(one, other) for other in columns] for one in columns]
    moments = [_product(column, target) for column in columns]
    rank = int(np.linalg.matrix_rank(rows))
    solved = _solved_or_nearest(gram, moments, Fraction(bound), is_open=rank < len(gram))
    total = sum(solved)
    unit = Fraction(1, 1 << 2 * _GRID_BITS)
    fitted = sum(w * (2 * moment - _dot(solved, row)) for w, moment, row in zip(solved, moments, gram, strict=True))
    squares = _product(target, target)
    return BoundedFit(
        coefficients=tuple(map(float, solved)),
        percent=tuple(float(100 * w / total) for w in solved) if total else (),
        at_bound=tuple(w == bound for w in solved),
        ss_residual=float((squares - fitted) * unit),
        ss_total=float((squares - Fraction(sum(target) ** 2, len(target))) * unit),
        rank=rank,
    )


def bounded_fits(x: Any, y: Any, counts: Counts, *, bound: float = 0.0) -> Floats:
    """Computes the coefficients of `bounded_fit` for each draw of rows: a row for each draw."""
    rows, values = _checked(x, y)
    n = rows.shape[1]
    gram, moments = np.empty((len(counts), n, n)), np.empty((len(counts), n))
    above = values - bound * _row_sums(rows)
    for first in range(n):
        products = rows[:, first:] * rows[:, first, np.newaxis]
        means = resampled_means(np.column_stack([products, rows[:, first] * above]).T, counts)
        gram[:, first, first:] = gram[:, first:, first] = means[:, :-1]
        moments[:, first] = means[:, -1]
    found = np.full((len(counts), n), np.nan)
    is_known = _is_definite(gram)
    found[is_known] = bound + _not_negative(gram[is_known], moments[is_known])
    return found


def _checked(x: Any, y: Any) -> tuple[Floats, Floats]:
    rows, values = (np.asarray(given, dtype=np.float64) for given in (x, y))
    if rows.ndim != 2 or not rows.size or values.shape != rows.shape[:1]:
        raise ExperimentError(
            f"a regression of {values.shape} values on rows of the shape {rows.shape}: expected a value for each row, "
            "and at least one row and one column"
        )
    if not (np.abs(rows).max() <= _LARGEST and np.abs(values).max() <= _LARGEST):
        raise ExperimentError(f"a regression needs numbers from -{_LARGEST:g} to {_LARGEST:g}")
    return rows, values


# --- exactly


def _on_grid(values: Floats) -> Row:
    found: Row = np.rint(np.ldexp(values, _GRID_BITS)).astype(np.int64).tolist()
    return found


def _product(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(map(mul, one, other))


def _dot(one: Sequence[Fraction], other: Sequence[int]) -> Fraction:
    return sum(map(mul, one, other), Fraction(0))


def _solved_or_nearest(gram: Sequence[Row], moments: Row, bound: Fraction, *, is_open: bool) -> list[Fraction]:
    """The coefficients that fit best; if the data do not determine them, the coefficients nearest to equal ones.

    The second solution fits the fitted values of the first one. Otherwise the misfit would decide between columns that
    are linearly dependent except for their last digits.
    """
    if not is_open:
        return _solution(gram, moments, bound)
    first = _solution(*_nearest_to_equal(gram, moments), bound)
    found = _solution(*_nearest_to_equal(gram, [_dot(first, row) for row in gram]), bound)
    return [bound if value - bound < _NO_DISTANCE else value for value in found]


def _nearest_to_equal(gram: Sequence[Row], moments: Sequence[int | Fraction]) -> tuple[list[Row], Row]:
    """Adds the distance from the mean coefficient to the problem, with a weight too small to change the best fit."""
    n = len(gram)
    weight, unit = n << _TIE_BITS, 1 << 2 * _GRID_BITS
    with_distance = [[weight * gram[i][j] + unit * ((n if i == j else 0) - 1) for j in range(n)] for i in range(n)]
    if not any(map(any, gram)):  # all data are 0, so all coefficients are at the bound
        with_distance = [[unit if i == j else 0 for j in range(n)] for i in range(n)]
    shared = lcm(*(moment.denominator for moment in moments))
    whole = [int(shared * weight * moment) for moment in moments]
    return [[shared * value for value in row] for row in with_distance], whole


def _solution(gram: Sequence[Row], moments: Row, bound: Fraction) -> list[Fraction]:
    """The w not below the bound that minimises w' gram w / 2 - moments' w, for a positive definite matrix."""
    n = len(gram)
    of_bound = [
        bound.denominator * moment - bound.numerator * sum(row) for moment, row in zip(moments, gram, strict=True)
    ]
    free = [True] * n
    fewest, patience = n + 1, _PATIENCE
    while True:
        above = _solved(gram, of_bound, free)
        wrong = [i for i in range(n) if (above[i] if free[i] else _dot(above, gram[i]) - of_bound[i]) < 0]
        if not wrong:
            return [bound + value / bound.denominator for value in above]
        if len(wrong) < fewest:
            fewest, patience = len(wrong), _PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong = wrong[-1:]  # exchanging one at a time always ends
        for i in wrong:
            free[i] = not free[i]


def _solved(gram: Sequence[Row], moments: Row, free: Sequence[bool]) -> list[Fraction]:
    """Solves the equations of the free coefficients by elimination without fractions; the others are zero."""
    places = [i for i, is_free in enumerate(free) if is_free]
    rows = [[*(gram[i][j] for j in places), moments[i]] for i in places]
    before = 1
    for k, top in enumerate(rows):
        for row in rows[k + 1 :]:
            row[k + 1 :] = [
                (value * top[k] - row[k] * above) // before
                for value, above in zip(row[k + 1 :], top[k + 1 :], strict=True)
            ]
        before = top[k]
    found = [Fraction(0)] * len(free)
    for k in reversed(range(len(places))):
        known = [found[i] for i in places[k + 1 :]]
        found[places[k]] = (rows[k][-1] - _dot(known, rows[k][k + 1 : -1])) / rows[k][k]
    return found


# --- many at once


def _row_sums(rows: Floats) -> Floats:
    """Sums of each row from left to right; the order of NumPy's own sums depends on the machine."""
    return reduce(np.add, np.moveaxis(rows, -1, 0), np.zeros(rows.shape[:-1]))


def _eliminated(matrices: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Gaussian elimination: upper triangles of the matrices, and the transformed right-hand sides."""
    upper, right = matrices.copy(), targets.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(upper.shape[1] - 1):
            factors = upper[:, k + 1 :, k] / upper[:, k, k, np.newaxis]
            upper[:, k + 1 :] -= factors[:, :, np.newaxis] * upper[:, np.newaxis, k]
            right[:, k + 1 :] -= factors * right[:, k, np.newaxis]
    return upper, right


def _is_definite(gram: Floats) -> NDArray[np.bool_]:
    """Whether each draw determines its coefficients: no column is a combination of the others, up to rounding."""
    upper, _ = _eliminated(gram, np.zeros(gram.shape[:2]))
    pivots, sizes = (np.diagonal(each, axis1=1, axis2=2) for each in (upper, gram))
    return np.asarray((pivots > _SMALLEST_PIVOT * sizes).all(axis=1))


def _not_negative(gram: Floats, moments: Floats) -> Floats:
    """`_solution` with the bound 0 for many matrices at once; NaN if rounding makes the exchanges repeat."""
    found = np.zeros(moments.shape)
    free = np.ones(moments.shape, dtype=bool)
    fewest, patience = np.full(len(moments), moments.shape[1] + 1), np.full(len(moments), _PATIENCE)
    rest = np.arange(len(moments))
    for _ in range(_MOST_EXCHANGES):
        found[rest] = _unbounded(gram[rest], moments[rest], free[rest])
        gradients = _row_sums(gram[rest] * found[rest, np.newaxis]) - moments[rest]
        wrong = np.where(free[rest], found[rest], gradients) < -_ROUNDING
        n_wrong = wrong.sum(axis=1)
        rest, wrong, n_wrong = (each[n_wrong > 0] for each in (rest, wrong, n_wrong))
        if not len(rest):
            break
        is_fewer = n_wrong < fewest[rest]
        is_stuck = ~is_fewer & (patience[rest] == 0)
        fewest[rest] = np.minimum(fewest[rest], n_wrong)
        patience[rest] = np.where(is_fewer, _PATIENCE, np.maximum(patience[rest] - 1, 0))
        last = wrong & (wrong[:, ::-1].cumsum(axis=1)[:, ::-1] == 1)
        free[rest] ^= np.where(is_stuck[:, np.newaxis], last, wrong)
    found[rest] = np.nan
    return np.maximum(found, 0.0)


def _unbounded(gram: Floats, moments: Floats, free: NDArray[np.bool_]) -> Floats:
    """Solves the equations of the free coefficients of each matrix; the others are zero."""
    n = moments.shape[1]
    matrices = np.where(free[:, :, np.newaxis] & free[:, np.newaxis], gram, np.eye(n))
    upper, right = _eliminated(matrices, np.where(free, moments, 0.0))
    found = np.zeros(moments.shape)
    for k in reversed(range(n)):
        known = _row_sums(upper[:, k, k + 1 :] * found[:, k + 1 :])
        found[:, k] = (right[:, k] - known) / upper[:, k, k]
    return found

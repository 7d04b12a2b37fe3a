"""Agreement of two raters who give levels, such as 0, 0.25, ... 1; `raters` is for any number of raters.

All figures come from a table that counts each pair of levels. Sums of whole numbers are exact in any
order, and draws of a bootstrap are sums of tables. An undefined figure is None (NaN in draws).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ChecklistError
from .correlation import Floats
from .intervals_of_draws import Scale

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LevelAgreement:
    """Agreement of two raters; without pairs, all figures are None."""

    n: int  # number of pairs of levels
    same: float | None = None  # share of the pairs with the same level
    within_one_level: float | None = None  # share of the pairs whose levels are the same or neighbours
    mean_difference: float | None = None  # mean of the second rater's level minus the first's
    kappa: float | None = None  # Cohen's kappa; None also if a rater gave only one level
    kappa_quadratic: float | None = None  # kappa weighted by squared distances of levels; None in the same cases


FIGURES: Mapping[str, Scale] = {
    "same": "share",
    "within_one_level": "share",
    "mean_difference": "linear",
    "kappa": "fisher",
    "kappa_quadratic": "fisher",
}
"""The figures of `LevelAgreement`, in the order of `figures_of_tables`, with the scales of their intervals."""


def agreement_of_levels(first: Any, second: Any, levels: Sequence[float]) -> LevelAgreement:
    """Computes the agreement of two raters from the level that each rater gave to each item."""
    x, y = (level_numbers(column, levels) for column in (first, second))
    if x.shape != y.shape:
        raise ChecklistError(f"{x.size} and {y.size} levels: expected the same number from both raters")
    return agreement_of_table(tables_of([x, y], np.zeros(len(x), dtype=np.int64), 1, len(levels))[0], levels)


def agreement_of_table(table: Any, levels: Sequence[float]) -> LevelAgreement:
    """Computes the agreement of two raters from the counts of each pair of levels."""
    counts = np.asarray(table, dtype=np.float64)[np.newaxis]
    figures = [None if math.isnan(value) else value for value in figures_of_tables(counts, levels)[0].tolist()]
    return LevelAgreement(int(counts.sum()), *figures)


def figures_of_tables(tables: Any, levels: Sequence[float]) -> Floats:
    """Computes `FIGURES` (columns) for many tables (rows); NaN if a figure is undefined."""
    counts = np.asarray(tables, dtype=np.float64)
    values, places = np.asarray(levels, dtype=np.float64), np.arange(len(levels))
    distance = np.abs(places[:, np.newaxis] - places)
    of_first, of_second = counts.sum(axis=2), counts.sum(axis=1)
    n = of_first.sum(axis=1)
    by_chance = of_first[:, :, np.newaxis] * of_second[:, np.newaxis, :]
    has_kappa = ((of_first > 0).sum(axis=1) > 1) & ((of_second > 0).sum(axis=1) > 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappas = [
            np.where(has_kappa, 1 - _weighed(counts, weights) * n / _weighed(by_chance, weights), np.nan)
            for weights in ((distance > 0).astype(np.float64), (values[:, np.newaxis] - values) ** 2)
        ]
        shares = [
            _weighed(counts, distance == 0) / n,
            _weighed(counts, distance <= 1) / n,
            _weighed(counts, values - values[:, np.newaxis]) / n,
        ]
    return np.stack([*shares, *kappas], axis=1)


def tables_of(given: Any, groups: Ints, n_groups: int, n_levels: int) -> Ints:
    """Counts each pair of levels in each group."""
    first, second = np.asarray(given, dtype=np.int64)
    cells = (groups * n_levels + first) * n_levels + second
    counts: Ints = np.bincount(cells, minlength=n_groups * n_levels * n_levels).astype(np.int64)
    return counts.reshape(n_groups, n_levels, n_levels)


def level_numbers(values: Any, levels: Sequence[float]) -> Ints:
    """Finds the index of the level of each value."""
    column = np.asarray(values, dtype=np.float64)
    known = np.asarray(levels, dtype=np.float64)
    found = np.minimum(np.searchsorted(known, column), len(known) - 1)
    wrong = column[known[found] != column]
    if wrong.size:
        raise ChecklistError(f"{wrong[0]:g} is not a level: expected one of {', '.join(f'{one:g}' for one in levels)}")
    return found.astype(np.int64)


def _weighed(counts: Floats, weights: Any) -> Floats:
    """The weighted sum of the cells of each table."""
    found: Floats = (counts * weights).sum(axis=(1, 2))
    return found

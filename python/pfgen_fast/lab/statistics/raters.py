"""Agreement of any number of raters, with draws of clusters of units.

A unit is an answer or a question about it. `values` has a row for each rater and a column for each unit; NaN stands for
a missing rating. Figures of draws are from sums over clusters, so they are computed once for all draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import Counts, Floats, Ints
from .correlation import pearson, resampled_pearson, resampled_spearman, spearman
from .intervals_of_draws import resampled_means


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure, and its value in each draw; NaN where it is undefined."""

    value: float
    draws: Floats
    clusters: Ints  # numbers of the clusters of its units


def alpha(values: Floats, clusters: Ints, counts: Counts) -> Figure:
    """Krippendorff's alpha on the interval scale; units with one rating do not count."""
    is_there = ~np.isnan(values)
    known = values[is_there]
    middle = (known.min() + known.max()) / 2 if known.size else 0.0  # centred, so that squares keep all digits
    centred = np.where(is_there, values - middle, 0.0)
    n, total, squares = is_there.sum(axis=0).astype(np.float64), centred.sum(axis=0), (centred * centred).sum(axis=0)
    is_paired = n > 1
    within = np.zeros(len(n))
    within[is_paired] = (n * squares - total * total)[is_paired] / (n[is_paired] - 1)
    sums = np.where(is_paired, np.stack([n, total, squares, within]), 0.0)

    def statistic(n: Any, total: Any, squares: Any, within: Any) -> Any:
        between = n * squares - total * total
        return np.where(between > 1e-12 * n * squares, 1 - (n - 1) * within / between, np.nan)

    return _figure(sums, statistic, clusters, counts)


def krippendorff_alpha(ratings: Any) -> float | None:
    """Krippendorff's alpha on the interval scale: a row for each rater, NaN for a missing rating; None if undefined."""
    values = np.asarray(ratings, dtype=np.float64)
    value = alpha(values, np.zeros(values.shape[1], dtype=np.int64), np.ones((0, 1), dtype=np.int32)).value
    return None if math.isnan(value) else value


def fleiss(votes: Floats, clusters: Ints, counts: Counts) -> Figure:
    """Fleiss' kappa of votes: a row for each level, and for each unit the number of raters who chose the level.

    The observed agreement is the mean over units of the share of pairs of raters with the same level, and the expected
    one follows from the shares of the levels among all ratings. Units may have different numbers of raters; units with
    one rater do not count.
    """
    n = votes.sum(axis=0)
    is_paired = n > 1
    same = np.zeros(len(n))
    same[is_paired] = ((votes * (votes - 1)).sum(axis=0)[is_paired]) / (n * (n - 1))[is_paired]
    sums = np.where(is_paired, np.vstack([is_paired, same, votes]), 0.0)

    def statistic(n_units: Any, same: Any, *votes: Any) -> Any:
        stacked = np.stack(votes)
        shares = stacked / stacked.sum(axis=0)
        expected = (shares * shares).sum(axis=0)
        return np.where(expected < 1, (same / n_units - expected) / (1 - expected), np.nan)

    return _figure(sums, statistic, clusters, counts)


def fleiss_kappa(counts: Any) -> float:
    """Fleiss' kappa: a row for each unit, with the number of raters who chose each level; NaN if undefined."""
    votes = np.asarray(counts, dtype=np.float64)
    if votes.ndim != 2 or not votes.size:
        return math.nan
    return fleiss(votes.T, np.zeros(len(votes), dtype=np.int64), np.ones((0, 1), dtype=np.int32)).value


def _figure(sums: Floats, statistic: Callable[..., Any], clusters: Ints, counts: Counts) -> Figure:
    n_clusters = counts.shape[1]
    by_cluster = np.stack([np.bincount(clusters, row, n_clusters) for row in sums])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(*(np.float64(math.fsum(row)) for row in sums.tolist())))
        drawn: Floats = np.asarray(statistic(*(resampled_means(by_cluster, counts) * n_clusters).T), dtype=np.float64)
    return Figure(value, drawn, np.flatnonzero(by_cluster[0]))


@dataclass(frozen=True, eq=False)
class Correlated:
    """The correlation of two raters over the units that both rated."""

    n: int
    pearson: Figure
    spearman: Figure


def correlated(x: Floats, y: Floats, clusters: Ints, counts: Counts) -> Correlated:
    """The correlation of two columns, with NaN for a missing rating; undefined below three common units."""
    both = ~np.isnan(x) & ~np.isnan(y)
    n = int(both.sum())
    if n < 3:
        undefined = Figure(math.nan, np.full(len(counts), np.nan), clusters[:0])
        return Correlated(n, undefined, undefined)
    a, b, units = x[both], y[both], clusters[both]
    used = np.unique(units)
    return Correlated(
        n,
        Figure(_or_nan(pearson(a, b)), resampled_pearson(a, b, units, counts), used),
        Figure(_or_nan(spearman(a, b)), resampled_spearman(a, b, units, counts), used),
    )


def mean_of(figures: list[Figure]) -> Figure:
    """The mean of the figures that are defined, in each draw too."""
    defined = [figure for figure in figures if not math.isnan(figure.value)]
    if not defined:
        return Figure(math.nan, figures[0].draws if figures else np.empty(0), np.empty(0, dtype=np.int64))
    draws = np.stack([figure.draws for figure in defined])
    n = (~np.isnan(draws)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        means = np.where(np.isnan(draws), 0.0, draws).sum(axis=0) / n
    used = np.unique(np.concatenate([figure.clusters for figure in defined]))
    return Figure(math.fsum(figure.value for figure in defined) / len(defined), means, used)


def same_levels(first: Ints, second: Ints, levels: Sequence[float]) -> tuple[float | None, float | None]:
    """The share of equal levels and quadratic kappa of two raters, from the numbers of their levels.

    Both are None without common units, and kappa if a rater gave only one level.
    """
    if not len(first):
        return None, None
    a, b = np.asarray(levels, dtype=np.float64)[np.stack([first, second])]
    by_chance = float(((a[:, np.newaxis] - b) ** 2).mean())
    has_kappa = len(np.unique(a)) > 1 and len(np.unique(b)) > 1
    return float((a == b).mean()), 1 - float(((a - b) ** 2).mean()) / by_chance if has_kappa else None


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value

"""What items say about models: spread, discrimination, redundant pairs, and differences between groups of models.

Rows of `scores` are models, columns are items; higher scores are better, and no score is missing. Needs only NumPy.
Definitions: docs/experiments.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .correlation import MIN_FOR_INTERVAL, Floats
from .paired import corrected
from .student import p_values_of, quantile

MAX_ITEMS_OF_PAIRS = 5_000
"""The largest number of items whose pairs are compared: the matrices then take about 1 GB."""
MIN_OF_PAIRS = 20  # the smallest number of clusters of models that tells whether two items are redundant
ALIKE, ALIKE_BEYOND_SCORE = 0.9, 0.5  # correlations from which on two items are redundant
MIN_OF_GROUP = 10  # the smallest number of models in a group, and outside it, that are compared on an item
MIN_ITEMS_OF_GROUPS = 20  # with fewer items, the mean score tells too little about models to compare groups of them
NEAR_AN_END = 0.05  # share of the range of all scores
_VALUES_AT_ONCE = 1 << 22
_ALMOST_ONE = 1 - 1e-12
_LEAST_NOISE = 0.1  # of the variance of the noise, as a share of its mean
_N_POWERS = 4  # of the mean score, from 0 on: a cubic curve


@dataclass(frozen=True, eq=False)
class ItemFigures:
    """Figures of each item."""

    means: Floats  # mean over the models
    spreads: Floats  # standard deviation over the models
    # correlation of the item with the mean of the other items over the models, and its 95 % interval; NaN if undefined
    discrimination: Floats
    low: Floats
    high: Floats
    shares: Floats  # share in the variance of the mean score over the models; the sum is 1
    at_floor: NDArray[np.bool_]  # whether all models have a score near the lowest score of the table
    at_ceiling: NDArray[np.bool_]


@dataclass(frozen=True)
class RedundantPair:
    """Two items on which models score alike."""

    first: int
    second: int
    correlation: float  # over the models
    beyond_score: float  # the same for models with the same mean score (partial correlation)


@dataclass(frozen=True, eq=False)
class GroupDifferences:
    """Differences on each item (column) between a group of models (row) and the other models with the same score."""

    groups: tuple[int, ...]  # numbers of the groups that are large enough
    differences: Floats  # difference in the score of the item, given the mean score
    p_values: Floats  # NaN if the item or the group does not vary
    corrected: Floats  # by Benjamini and Hochberg, for all groups and items as one family


def item_figures(scores: Floats, clusters: NDArray[np.int_]) -> ItemFigures:
    """The figures of each item; models of one cluster depend on one another."""
    deviations = scores - scores.mean(axis=0)
    total = deviations.sum(axis=1)
    variance = float(total @ total)
    shares = total @ deviations / variance if variance > 0 else np.full(scores.shape[1], np.nan)
    lowest, highest = float(scores.min()), float(scores.max())
    # Where all scores are equal, nothing is near an end.
    margin = NEAR_AN_END * (highest - lowest) if highest > lowest else -1.0
    return ItemFigures(
        scores.mean(axis=0),
        deviations.std(axis=0),
        *_item_rest(deviations, total, clusters),
        shares,
        scores.max(axis=0) <= lowest + margin,
        scores.min(axis=0) >= highest - margin,
    )


def _item_rest(deviations: Floats, total: Floats, clusters: NDArray[np.int_]) -> tuple[Floats, Floats, Floats]:
    """The correlation of each item with the sum of the other items, and its interval of the jackknife over clusters."""
    order = np.argsort(clusters, kind="stable")
    begins = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    n, n_items = len(begins), deviations.shape[1]
    value, low, high = np.full((3, n_items), np.nan)
    per_block = max(1, _VALUES_AT_ONCE // len(total))
    counts = np.diff(begins, append=len(order))[:, None]
    for begin in range(0, n_items, per_block):
        block = slice(begin, begin + per_block)
        x = deviations[order, block]
        rest = total[order, None] - x
        sums = [np.add.reduceat(values, begins) for values in (x, rest, x * x, rest * rest, x * rest)]
        wholes = [values.sum(axis=0) for values in sums]
        value[block] = _correlation(len(order), *wholes)
        if n >= MIN_FOR_INTERVAL:
            without = _correlation(len(order) - counts, *(w - s for w, s in zip(wholes, sums, strict=True)))
            middle, of_each = (np.arctanh(np.clip(r, -_ALMOST_ONE, _ALMOST_ONE)) for r in (value[block], without))
            half = quantile(n - 2) * np.sqrt((n - 1) * of_each.var(axis=0))
            low[block], high[block] = np.tanh(middle - half), np.tanh(middle + half)
    return value, low, high


def _correlation(n: Any, x: Floats, y: Floats, xx: Floats, yy: Floats, xy: Floats) -> Floats:
    of_x, of_y = n * xx - x * x, n * yy - y * y
    varies = (of_x > 1e-12 * n * xx) & (of_y > 1e-12 * n * yy)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(varies, np.clip((n * xy - x * y) / np.sqrt(of_x * of_y), -1, 1), np.nan)
    return found


def redundant_pairs(
    scores: Floats, *, alike: float = ALIKE, beyond_score: float = ALIKE_BEYOND_SCORE
) -> list[RedundantPair]:
    """The pairs of items whose correlations reach both thresholds, the most alike first."""
    columns = np.column_stack([scores, scores.mean(axis=1)])
    columns = columns - columns.mean(axis=0)
    lengths = np.sqrt((columns**2).sum(axis=0))
    columns /= np.where(lengths > 1e-12, lengths, np.inf)
    between = columns.T @ columns
    with_mean = between[:-1, -1]
    between = between[:-1, :-1]
    rest = np.sqrt(np.maximum(1 - with_mean**2, 1e-12))
    partial = (between - np.outer(with_mean, with_mean)) / np.outer(rest, rest)
    first, second = np.nonzero(np.triu((between >= alike) & (partial >= beyond_score), 1))
    order = np.argsort(-between[first, second], kind="stable")
    return [
        RedundantPair(int(a), int(b), float(between[a, b]), float(min(partial[a, b], 1.0)))
        for a, b in zip(first[order], second[order], strict=True)
    ]


def group_differences(scores: Floats, groups: NDArray[np.int_]) -> GroupDifferences:
    """The differences of each group to all other models on each item, given the mean score of the model.

    The mean score enters as a cubic curve, because the scores of an item are near its ends for weak and strong models.
    So does the variance of the noise, which is that of all models. Groups with few models in or outside them are left
    out. A negative number is a model without a group.
    """
    n = len(groups)
    mean = scores.mean(axis=1)
    spread = mean.std()
    score = (mean - mean.mean()) / (spread if spread > 0 else 1.0)
    basis, _ = np.linalg.qr(score[:, None] ** np.arange(_N_POWERS))
    items = scores - basis @ (basis.T @ scores)
    # The variance of the noise as a curve over the mean score.
    squares = items**2
    noise = np.maximum(basis @ (basis.T @ squares), _LEAST_NOISE * squares.mean(axis=0)) * (n / (n - _N_POWERS))
    is_constant = np.ptp(scores, axis=0) <= 1e-12
    names, sizes = np.unique(groups[groups >= 0], return_counts=True)
    large = [int(name) for name, size in zip(names, sizes, strict=True) if MIN_OF_GROUP <= size <= n - MIN_OF_GROUP]
    differences, p_values = np.full((2, len(large), scores.shape[1]), np.nan)
    for row, group in enumerate(large):
        inside = (groups == group).astype(np.float64)
        inside -= basis @ (basis.T @ inside)
        amount = float(inside @ inside)
        if amount <= 1e-9 * n:
            continue
        difference = inside @ items / amount
        error = np.sqrt(inside**2 @ noise) / amount
        is_known = ~is_constant & (error > 1e-12)
        differences[row] = difference
        p_values[row, is_known] = p_values_of(difference[is_known] / error[is_known], n - _N_POWERS - 1)
    after = np.full(p_values.shape, np.nan)
    is_known = ~np.isnan(p_values)
    if is_known.any():
        after[is_known] = corrected(p_values[is_known], "bh")
    return GroupDifferences(tuple(large), differences, p_values, after)

"""Signed-rank tests of resampled items: the bootstrap, and smaller samples of the same items.

A draw is a vector with the number of times that each item is in it; all cells share it. The differences of a cell are
sorted once. The ranks of a draw follow from cumulative counts, so no draw is sorted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .discernment_scores import Floats, discernment_score
from .signed_rank import Zeros, checked_scores, differences_on_grid, directions, log_tail, under_the_null

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

MIN_DRAWS = 100  # smallest number of bootstrap draws, for any number of items
MAX_ITEMS_FOR_ALL_DRAWS = 2000  # with more items, `MAX_ITEM_DRAWS` limits the number of bootstrap draws
MAX_ITEM_DRAWS = 2 * 10**9  # maximum number of differences in all draws of all cells
_AT_ONCE = 1 << 16  # counts whose temporary arrays fit into the cache of a core
_MIN_DRAWS_AT_ONCE = 16
_CELLS_AT_ONCE = 1 << 20  # differences that are prepared together


def affordable_draws(n_draws: int, n_items: int, n_cells: int) -> int:
    """The number of draws that the bootstrap takes instead of `n_draws`, if these would take too long."""
    if n_items <= MAX_ITEMS_FOR_ALL_DRAWS:
        return n_draws
    return min(n_draws, max(MIN_DRAWS, MAX_ITEM_DRAWS // (n_items * max(1, n_cells))))


def bootstrap_counts(n_items: int, n_draws: int, *, seed: int = 0, groups: Sequence[Hashable] | None = None) -> Counts:
    """Draws all items with replacement: how often each item (column) is in each draw (row)."""
    numbers = {
        group: number for number, group in enumerate(dict.fromkeys(range(n_items) if groups is None else groups))
    }
    n_groups = len(numbers)
    counts = np.zeros((n_draws, n_groups), dtype=np.int32)
    drawn = _below(n_groups, n_draws, n_groups, seed)
    at_once = max(1, _AT_ONCE // max(1, n_groups))
    for begin in range(0, n_draws, at_once):
        block = drawn[begin : begin + at_once]
        places = block + n_groups * np.arange(len(block))[:, np.newaxis]
        counts[begin : begin + at_once] = np.bincount(places.ravel(), minlength=block.size).reshape(block.shape)
    return counts if groups is None else counts[:, [numbers[group] for group in groups]]


def subsample_counts(n_items: int, size: int, n_draws: int, *, seed: int = 0) -> Counts:
    """Draws `size` items, at most all, without replacement: whether each item (column) is in each draw (row)."""
    counts = np.zeros((n_draws, n_items), dtype=np.int32)
    draws = np.arange(n_draws)
    # Floyd's algorithm: one of the first items, or the next item if the drawn one is already in the sample.
    bounds = np.arange(n_items - size + 1, n_items + 1)
    for bound, drawn in zip(bounds.tolist(), _below(bounds, n_draws, size, seed).T, strict=True):
        counts[draws, np.where(counts[draws, drawn] == 1, bound - 1, drawn)] = 1
    return counts


def _below(bounds: Any, n_draws: int, n_numbers: int, seed: int) -> Ints:
    """Random whole numbers below bounds, a row for each draw: the same with every version of NumPy."""
    raw = np.random.PCG64(seed).random_raw((n_draws, n_numbers)) >> np.uint64(32)
    found: Ints = (raw * np.asarray(bounds, dtype=np.uint64) >> np.uint64(32)).astype(np.int64)
    return found


def interval(draws: Any) -> tuple[Floats, Floats]:
    """Computes the percentiles 2.5 and 97.5 of each column of draws, interpolated; undefined values are left out."""
    values = np.sort(np.asarray(draws, dtype=np.float64), axis=0)
    n_defined = (~np.isnan(values)).sum(axis=0)
    low, high = (_quantile(values, n_defined, share) for share in (0.025, 0.975))
    return low, high


def _quantile(ordered: Floats, n_defined: Any, share: float) -> Floats:
    position = share * np.maximum(n_defined - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_defined - 1, 0))
    if not len(ordered):
        return np.full(ordered.shape[1:], np.nan)
    at_below, at_above = (np.take_along_axis(ordered, at[np.newaxis], axis=0)[0] for at in (below, above))
    found: Floats = at_below + (at_above - at_below) * (position - below)
    return found


@dataclass(frozen=True, eq=False)
class Resampled:
    """Figures of each draw (row) and cell (column)."""

    n: Floats  # number of pairs with different scores
    log_p: Floats  # natural logarithm of the p-value; 0 where n is 0
    mean_drop: Floats  # by how much damaged texts are worse on average; NaN without pairs
    share_lower: Floats  # share of the pairs in which the damaged text is worse; NaN without pairs

    @property
    def d(self) -> Floats:
        """The discernment scores."""
        found: Floats = discernment_score(self.log_p)
        return found


def resampled(
    original: Any, damaged: Any, counts: Counts, *, higher_is_better: Any = True, zeros: Zeros = "drop"
) -> Resampled:
    """Computes `signed_rank` for each draw, with differences on the grid of the whole cell."""
    x, y = checked_scores(original, damaged, zeros)
    is_better = directions(higher_is_better, len(x))
    found = np.empty((4, len(counts), len(x)))
    per_chunk = max(1, _CELLS_AT_ONCE // max(1, x.shape[1]))
    for begin in range(0, len(x), per_chunk):
        chunk = slice(begin, begin + per_chunk)
        cells = _Cells.of(x[chunk], y[chunk], is_better[chunk])
        for block, of_items in _blocks(counts):
            found[:, block, chunk] = cells.figures(of_items, zeros)
    return Resampled(*found)


def resampled_means(values: Any, counts: Counts) -> Floats:
    """Computes the mean of each row of values in each draw: a row for each draw, a column for each row of values."""
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    is_there = np.isfinite(rows)
    known, weights = np.where(is_there, rows, 0.0), is_there.astype(np.float64)
    found = np.empty((len(counts), len(rows)))
    for block, of_items in _blocks(counts):
        with np.errstate(invalid="ignore"):
            found[block] = ((known @ of_items) / (weights @ of_items)).T
    return found


def _blocks(counts: Counts) -> Iterator[tuple[slice, Floats]]:
    """Blocks of draws, with a row for each item; the fewer items, the more draws are in a block."""
    per_block = max(_MIN_DRAWS_AT_ONCE, _AT_ONCE // max(1, counts.shape[1]))
    for begin in range(0, len(counts), per_block):
        block = slice(begin, begin + per_block)
        yield block, np.ascontiguousarray(counts[block].T, dtype=np.float64)


class _Ordered(NamedTuple):
    """The nonzero differences of a cell by rank; within a rank, negative differences come first."""

    order: Ints
    begins: Ints  # index in `order` where each group of equal ranks begins
    middles: Ints  # index where the positive differences of the group begin
    ends: Ints  # index where the group ends

    @classmethod
    def of(cls, g: Floats) -> _Ordered:
        items = np.flatnonzero(np.isfinite(g) & (g != 0))
        keys = 2 * np.abs(g[items]) + (g[items] > 0)
        order = np.argsort(keys, kind="stable")
        sizes, positive = np.divmod(keys[order], 2)
        begins = np.flatnonzero(np.diff(sizes, prepend=0.0))
        ends = np.append(begins[1:], len(sizes))[: len(begins)]
        n_positive = np.append(0, np.cumsum(positive == 1))
        return cls(items[order], begins, ends - (n_positive[ends] - n_positive[begins]), ends)


class _Cells(NamedTuple):
    """The differences of some cells, prepared for any number of draws."""

    ordered: list[_Ordered]  # each cell's differences in order
    is_pair: Floats  # whether both scores of an item (column) are there, as 0 or 1
    is_zero: Floats  # whether they are the same
    is_lower: Floats  # whether the damaged text is worse
    drop: Floats  # by how much; 0 where that is smaller than the grid

    @classmethod
    def of(cls, x: Floats, y: Floats, is_better: NDArray[np.bool_]) -> _Cells:
        g = differences_on_grid(x, y, is_better)
        with np.errstate(invalid="ignore", over="ignore"):
            drop = np.where(is_better[:, np.newaxis], x - y, y - x)
        drop[np.isnan(g) | (g == 0)] = 0.0
        is_pair, is_zero, is_lower = (where.astype(np.float64) for where in (~np.isnan(g), g == 0, g > 0))
        return cls([_Ordered.of(row) for row in g], is_pair, is_zero, is_lower, drop)

    def figures(self, of_items: Floats, zeros: Zeros) -> tuple[Floats, Floats, Floats, Floats]:
        """The figures of `Resampled`, for draws with a row for each item."""
        n_pairs, n_zero, n_lower = (where @ of_items for where in (self.is_pair, self.is_zero, self.is_lower))
        n = n_pairs - n_zero
        n_ranked_zeros = n_zero if zeros == "pratt" else np.zeros_like(n_zero)
        doubled_plus, tie_term = self._rank_sums(of_items, n_ranked_zeros)
        mean, variance = under_the_null(n + n_ranked_zeros, n_ranked_zeros, tie_term - n)
        log_p = log_tail((doubled_plus / 2 - mean) / np.sqrt(variance))
        with np.errstate(invalid="ignore"):
            mean_drop, share_lower = self.drop @ of_items / n_pairs + 0.0, n_lower / n_pairs
        return n.T, log_p.T, mean_drop.T, share_lower.T

    def _rank_sums(self, of_items: Floats, n_ranked_zeros: Floats) -> tuple[Floats, Floats]:
        """Twice the sums of the positive ranks, and the sums of the cubes of the sizes of groups."""
        doubled_plus, cubes = np.empty((2, len(self.ordered), of_items.shape[1]))
        before = np.zeros((of_items.shape[0] + 1, of_items.shape[1]))
        for cell, (order, begins, middles, ends) in enumerate(self.ordered):
            np.cumsum(of_items[order], axis=0, out=before[1 : len(order) + 1])
            first, last = before[begins], before[ends]
            sizes = last - first
            n_plus = last - before[middles]
            doubled_ranks = first + last + 1 + 2 * n_ranked_zeros[cell]
            doubled_plus[cell] = np.einsum("kd,kd->d", n_plus, doubled_ranks)
            cubes[cell] = np.einsum("kd,kd,kd->d", sizes, sizes, sizes)
        return doubled_plus, cubes

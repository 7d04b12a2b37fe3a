"""Resampled items: the bootstrap, and smaller samples of the same items.

A draw is a vector with the number of times that each item is in it; all figures share it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .discernment_scores import Floats

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

_AT_ONCE = 1 << 16  # counts whose temporary arrays fit into the cache of a core
_MIN_DRAWS_AT_ONCE = 16


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
    numbers: Ints = (raw * np.asarray(bounds, dtype=np.uint64) >> np.uint64(32)).astype(np.int64)
    return numbers


def resampled_means(values: Any, counts: Counts) -> Floats:
    """Computes the mean of each row of values in each draw: a row for each draw, a column for each row of values."""
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    is_there = np.isfinite(rows)
    known, weights = np.where(is_there, rows, 0.0), is_there.astype(np.float64)
    means = np.empty((len(counts), len(rows)))
    for block, drawn in _blocks(counts):
        with np.errstate(invalid="ignore"):
            means[block] = ((known @ drawn) / (weights @ drawn)).T
    return means


def _blocks(counts: Counts) -> Iterator[tuple[slice, Floats]]:
    """Blocks of draws, with a row for each item; the fewer items, the more draws are in a block."""
    per_block = max(_MIN_DRAWS_AT_ONCE, _AT_ONCE // max(1, counts.shape[1]))
    for begin in range(0, len(counts), per_block):
        block = slice(begin, begin + per_block)
        yield block, np.ascontiguousarray(counts[block].T, dtype=np.float64)

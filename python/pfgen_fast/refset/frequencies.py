"""Counts how often n-grams occur among many answers: `find_rare_ngrams` and `document_frequencies`.

N-grams consist of code points. All counts are exact, with any number of threads.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..native import _core
from ..native.core_errors import worded
from ..native.threads import checked_threads


def find_rare_ngrams(answers: Any, *, order: int = 5, below: int = 2, threads: int | None = None) -> _core.RareNgrams:
    """Finds the n-grams that occur fewer than `below` times, and the first place of one in each answer (or -1)."""
    order, below = checked_count("order", order), checked_count("below", below)
    n_threads = checked_threads(threads)
    with worded():
        return _core.find_rare_ngrams(_core.TextColumn(answers, "answers"), order, below, n_threads)


def document_frequencies(
    answers: Any, *, max_order: int = 10, least: int = 1, threads: int | None = None
) -> dict[str, int]:
    """The n-grams of orders 1 to `max_order` in at least `least` answers, sorted by code points, with their numbers."""
    max_order, n_threads = checked_max_order(max_order), checked_threads(threads)
    with worded():
        column = _core.TextColumn(answers, "answers")
        found = _core.document_frequencies(column, max_order, n_threads)
    frequencies = found.frequencies
    chosen = np.flatnonzero(frequencies >= least)
    rows, *parts = (values[chosen].tolist() for values in (found.rows, found.offsets, found.orders, frequencies))
    texts = {row: column[row] for row in set(rows)}
    ngrams = zip(rows, *parts, strict=True)
    return {texts[row][offset : offset + order]: count for row, offset, order, count in ngrams}


def checked_count(name: str, value: object, *, most: int = 2**31 - 1) -> int:
    """Checks an integer from 1."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= operator.index(value) <= most:
        raise ValueError(f"{name}: expected a whole number from 1 to {most}, not {value!r}")
    return operator.index(value)


def checked_max_order(max_order: object) -> int:
    """Checks the highest order of n-grams."""
    return checked_count("max_order", max_order, most=_core.__longest_ngram__)

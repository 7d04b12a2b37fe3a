"""Counts how often n-grams occur among many answers: `find_rare_ngrams` and `document_frequencies`.

N-grams consist of code points. All counts are exact, with any number of threads.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import _core
from ..native.core_errors import worded
from ..native.threads import checked_threads


@dataclass(frozen=True)
class RareNgrams:
    """The result of `find_rare_ngrams`."""

    rows: NDArray[np.bool_]  # whether each answer holds a rare n-gram
    first: NDArray[np.int32]  # where the first rare n-gram of each answer begins, in code points; -1 if there is none
    n_rare: int  # number of distinct rare n-grams
    n_distinct: int  # number of distinct n-grams


def find_rare_ngrams(answers: Any, *, order: int = 5, below: int = 2, threads: int | None = None) -> RareNgrams:
    """Finds the n-grams that occur fewer than `below` times among all answers, and the answers that hold one.

    Occurrences are counted, not answers: an n-gram that one answer holds twice counts twice. An answer shorter than
    `order` has no n-grams.
    """
    order, below = checked_count("order", order), checked_count("below", below)
    n_threads = checked_threads(threads)
    with worded():
        column = _core.TextColumn(answers, "answers")
        found = _core.find_rare_ngrams(column, order, below, n_threads)
    first = found.first
    return RareNgrams(first >= 0, first, found.n_rare, found.n_distinct)


@dataclass(frozen=True)
class DocumentFrequencies:
    """The result of `document_frequencies`: NumPy columns with a row per distinct n-gram, sorted by code points."""

    rows: NDArray[np.uint32]  # row of an answer that holds the n-gram
    offsets: NDArray[np.uint32]  # n-gram's offset in that answer, in code points
    orders: NDArray[np.uint8]  # n-gram's length in code points
    counts: NDArray[np.uint32]  # number of answers that hold the n-gram
    _answers: _core.TextColumn = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> list[str]:
        """The n-grams themselves."""
        answers = {row: self._answers[row] for row in np.unique(self.rows).tolist()}
        ngrams = zip(self.rows.tolist(), self.offsets.tolist(), self.orders.tolist(), strict=True)
        return [answers[row][offset : offset + order] for row, offset, order in ngrams]


def document_frequencies(answers: Any, *, max_order: int = 10, threads: int | None = None) -> DocumentFrequencies:
    """Counts the answers that hold each distinct n-gram of the orders 1 to `max_order`."""
    max_order, n_threads = checked_max_order(max_order), checked_threads(threads)
    with worded():
        column = _core.TextColumn(answers, "answers")
        found = _core.document_frequencies(column, max_order, n_threads)
    return DocumentFrequencies(found.rows, found.offsets, found.orders, found.frequencies, column)


def checked_count(name: str, value: object, *, most: int = 2**31 - 1) -> int:
    """Checks an integer from 1."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= operator.index(value) <= most:
        raise ValueError(f"{name}: expected a whole number from 1 to {most}, not {value!r}")
    return operator.index(value)


def checked_max_order(max_order: object) -> int:
    """Checks the highest order of n-grams."""
    return checked_count("max_order", max_order, most=_core.__longest_ngram__)

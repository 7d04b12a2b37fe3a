"""The cells of columns as numbers of names and as scores; a column is a list or an Arrow array."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import TrialsError
from ...base.untrusted_json import MAX_NUMBER
from ...base.untrusted_text import shown_value
from .item_table import Floats

Codes = NDArray[np.int32]
Locate = Callable[[int], str]
"""The location of a row for messages."""

NO_NAME = -1
"""The number of an empty name."""

_WORDS = {"true": 1.0, "false": 0.0}


class Names(dict[str, int]):
    """The number of each name, in the order of first occurrences."""

    def number(self, name: str) -> int:
        """The number of a name."""
        return self.setdefault(name, len(self))

    def numbers(
        self, values: Any, column: str, locate: Locate, *, may_be_empty: bool = False, task: str | None = None
    ) -> Codes:
        """The numbers of the names in a column."""
        names, places = _encoded(values)
        numbers = np.array([self.number_of(name, task) for name in names], dtype=np.int32)
        codes: Codes = numbers[places] if len(places) else places
        empty = np.flatnonzero(codes == NO_NAME)
        if len(empty) and not may_be_empty:
            raise TrialsError(f"{locate(int(empty[0]))}, column {column!r}: empty; expected a name")
        return codes

    def number_of(self, value: Any, task: str | None = None) -> int:
        """The number of the name in a cell, which may be a name of a task only."""
        name = label(value)
        return self.number(named_in(task, name)) if name.strip() else NO_NAME


def named_in(task: str | None, name: str) -> str:
    """A name that several tasks may have."""
    return name if task is None else f"{task}/{name}"


def _encoded(values: Any) -> tuple[list[Any], Codes]:
    """The distinct values of a column, and the place of each row in them."""
    if not isinstance(values, list):
        try:
            encoded = values if hasattr(values, "indices") else values.dictionary_encode()
            indices = encoded.indices.fill_null(len(encoded.dictionary))
            places = np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int32)
            return [*encoded.dictionary.to_pylist(), None], places
        except NotImplementedError:  # a column of lists or objects
            values = values.to_pylist()
    distinct: dict[Any, int] = {}
    keys = (str(value) if isinstance(value, (list, dict)) else value for value in values)
    places = np.array([distinct.setdefault(key, len(distinct)) for key in keys], dtype=np.int32)
    return list(distinct), places


def label(value: Any) -> str:
    """A cell as a name. A whole number becomes its digits, and a missing value becomes an empty name."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def scores_of(values: Any, column: str, locate: Locate) -> tuple[Floats, bool]:
    """The scores in a column, NaN for empty cells, and whether some of the cells are true or false."""
    if not isinstance(values, list):
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if pa.types.is_boolean(values.type):
            return np.array(values.cast(pa.int8()).cast(pa.float64()).to_numpy(zero_copy_only=False)), True
        if pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
            floats = values.cast(pa.float64(), safe=False)
            scores = np.array(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
            is_missing = floats.is_null().to_numpy(zero_copy_only=False)
            _check(scores, is_missing, column, locate)
            return scores, False
        values = values.to_pylist()
    has_words = any(type(value) is bool for value in values)
    try:
        if any(isinstance(value, str) and "_" in value for value in values):
            raise ValueError
        scores = np.array(list(map(float, values)), dtype=np.float64)
        is_missing = np.zeros(len(scores), dtype=bool)
    except (ValueError, TypeError, OverflowError):
        scores = np.empty(len(values))
        is_missing = np.zeros(len(values), dtype=bool)
        for row, value in enumerate(values):
            score = score_of(value)
            if score is None:
                raise _unexpected("a number", value, column, locate(row)) from None
            scores[row], is_missing[row] = score, is_empty(value)
            has_words = has_words or (isinstance(value, str) and value.strip().lower() in _WORDS)
    _check(scores, is_missing, column, locate)
    return scores, has_words


def is_empty(value: Any) -> bool:
    """Whether a cell is empty."""
    return value is None or (isinstance(value, str) and not value.strip())


def score_of(value: Any) -> float | None:
    """A cell as a score, NaN for an empty cell; None if the cell is no number."""
    if is_empty(value):
        return math.nan
    if isinstance(value, str):
        if value.strip().lower() in _WORDS:
            return _WORDS[value.strip().lower()]
        if "_" in value:
            return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (ValueError, TypeError):
        return None


def _check(scores: Floats, is_missing: NDArray[np.bool_], column: str, locate: Locate) -> None:
    bad = np.flatnonzero(~is_missing & ~(np.abs(scores) <= MAX_NUMBER))
    if len(bad):
        row = int(bad[0])
        raise TrialsError(
            f"{locate(row)}, column {column!r}: the score is {scores[row]:g}; expected a finite number up to "
            f"{MAX_NUMBER:.0e}, or an empty cell where there is no score"
        )


def _unexpected(expected: str, value: Any, column: str, location: str) -> TrialsError:
    return TrialsError(f"{location}, column {column!r}: expected {expected}, not {shown_value(value)}")

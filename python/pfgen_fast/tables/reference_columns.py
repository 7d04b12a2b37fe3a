"""The references of rows, from a column of lists or from several columns of texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

from ..errors import TrialsError
from .arrow_columns import pyarrow


def references_of(columns: Sequence[Any], *, nulls: Literal["error", "null"]) -> Any:
    """The references of each row in all columns, for `ReferenceScorer`; a null is no reference."""
    if nulls == "error" and len(columns) == 1 and _is_native(columns[0]):
        return columns[0]
    joined = _joined(columns)
    return joined if nulls == "error" else [listed or None for listed in joined]


def _is_native(column: Any) -> bool:
    """Whether the core reads a column of lists without a copy."""
    if not hasattr(column, "to_pylist"):
        return False
    types = pyarrow().types
    return bool(types.is_list(column.type) or types.is_large_list(column.type))


def _joined(columns: Sequence[Any]) -> list[list[Any]]:
    parts = [[_listed(value, row) for row, value in enumerate(values_of(column))] for column in columns]
    return parts[0] if len(parts) == 1 else [list(chain(*of_row)) for of_row in zip(*parts, strict=True)]


def values_of(column: Any) -> Sequence[Any]:
    """The values of a column of Arrow, polars or Python."""
    for name in ("to_pylist", "to_list"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def _listed(value: Any, row: int) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return list(value)
    raise TrialsError(f"expected a list of texts, not {type(value).__name__}", column="references", row=row)

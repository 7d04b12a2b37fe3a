"""Writes tables of values, a row for each answer: CSV, JSON lines, Parquet; the ending of the file says which.

Numbers have all their digits, and what has no value is an empty cell or null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import ChecklistError
from ...files.cells import csv_text
from ...files.compression import compressing
from ...files.journal import json_line
from ...files.untrusted_text import utf8
from ...files.writing import check_folder, writing_whole
from ...tables.arrow_columns import pyarrow
from ...tables.formats import check_target, format_of

Value = str | int | float | bool | None

_FORMATS = (".csv", ".jsonl", ".parquet")


def check_value_table(path: Path) -> None:
    """Checks, before any work, that a table can be written."""
    if format_of(path) not in _FORMATS or str(path) == "-":
        raise ChecklistError(f"{path}: expected a file that ends with {', '.join(_FORMATS)}")
    check_target(path)
    check_folder(path.parent)


def write_value_table(path: Path, types: Mapping[str, type], rows: Iterable[Sequence[Value]]) -> None:
    """Writes a table, atomically."""
    check_value_table(path)
    kind = format_of(path)
    with writing_whole(path) as file, compressing(file, path) as packed:
        if kind == ".csv":
            packed.write(utf8(csv_text(tuple(types), rows)))
        elif kind == ".jsonl":
            for row in rows:
                packed.write(json_line(dict(zip(types, row, strict=True))))
        else:
            _write_parquet(packed, types, list(rows))


def _write_parquet(file: Any, types: Mapping[str, type], rows: Sequence[Sequence[Value]]) -> None:
    pa = pyarrow()
    arrow_types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    # Arrow holds valid UTF-8 only: lone surrogates become the escapes that JSON has for them.
    arrays = [
        pa.array([utf8(value).decode() if isinstance(value, str) else value for value in column], arrow_types[type_])
        for column, type_ in zip(columns, types.values(), strict=True)
    ]
    pa.parquet.write_table(pa.Table.from_arrays(arrays, names=list(types)), file)

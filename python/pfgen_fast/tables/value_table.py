"""Writes tables of values as JSON lines, CSV, TSV or Parquet; the file extension selects the format.

Numbers have all their digits, and a missing value is null or an empty cell.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from ..base.compression import compressing
from ..base.errors import TrialsError
from ..base.file_writing import check_folder, writing_whole
from ..base.journal import json_line
from ..base.untrusted_text import csv_value, utf8
from .arrow_columns import pyarrow
from .formats import DELIMITERS, check_target, format_of
from .table_rows import STANDARD_STREAM

Write = Callable[[Iterable[Sequence[Any]]], None]
"""Appends rows."""
_FORMATS = (*DELIMITERS, ".jsonl", ".parquet")


def check_value_table(path: Path) -> str:
    """Checks, before any work, that a table can be written, and returns its format."""
    kind = format_of(path)
    if kind not in _FORMATS or str(path) == STANDARD_STREAM:
        raise TrialsError(f"{path}: expected a file that ends with {', '.join(_FORMATS)}")
    check_target(path)
    check_folder(path.parent)
    return kind


@contextlib.contextmanager
def writing_values(path: Path, types: Mapping[str, type], *, for_spreadsheets: bool = False) -> Iterator[Write]:
    """Yields a function that appends rows; `for_spreadsheets` escapes cells with `csv_value`. Writes atomically."""
    kind = check_value_table(path)
    with writing_whole(path) as file, compressing(file, path) as packed:
        if kind == ".parquet":
            with _parquet(packed, types) as write:
                yield write
        elif kind == ".jsonl":
            yield partial(_write_lines, packed, types)
        else:
            quoting, cell = (csv.QUOTE_MINIMAL, csv_value) if for_spreadsheets else (csv.QUOTE_ALL, None)
            packed.write(utf8(DELIMITERS[kind].join(types) + "\n"))
            yield partial(_write_cells, packed, DELIMITERS[kind], quoting, cell)


def _write_lines(file: IO[bytes], names: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    for row in rows:
        file.write(json_line(dict(zip(names, row, strict=True))))


def _write_cells(
    file: IO[bytes], delimiter: str, quoting: Any, cell: Callable[[Any], Any] | None, rows: Iterable[Sequence[Any]]
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    writer.writerows(rows if cell is None else (map(cell, row) for row in rows))
    file.write(utf8(text.getvalue()))


@contextlib.contextmanager
def _parquet(file: IO[bytes], types: Mapping[str, type]) -> Iterator[Write]:
    pa = pyarrow()
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[type_]) for name, type_ in types.items()])
    with pa.parquet.ParquetWriter(file, schema) as writer:

        def write(rows: Iterable[Sequence[Any]]) -> None:
            values = list(zip(*rows, strict=True)) or [()] * len(types)
            # Arrow needs valid UTF-8, so lone surrogates become the escapes of JSON.
            arrays = [
                pa.array([utf8(value).decode() if isinstance(value, str) else value for value in column], kind)
                for column, kind in zip(values, schema.types, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))

        yield write

"""Writes tables of texts, such as damaged texts to be scored elsewhere: JSON lines, CSV, TSV, Parquet; any length."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ..errors import TrialsError
from ..files.compression import compressing
from ..files.journal import json_line
from ..files.untrusted_text import utf8
from ..files.writing import check_folder, writing_whole
from .arrow_columns import pyarrow
from .formats import check_target, format_of
from .rows import STANDARD_STREAM

Write = Callable[[Iterable[Sequence[str]]], None]
"""Appends rows."""


def check_text_table(path: Path) -> str:
    """Checks, before any work, that a table of texts can be written, and returns its format."""
    kind = format_of(path)
    if str(path) == STANDARD_STREAM:
        raise TrialsError(f"{path}: rows of texts are written to a file, not to stdout")
    if kind not in _WRITERS:
        raise TrialsError(f"{path}: rows of texts are written as {', '.join(_WRITERS)}; not as {kind}")
    check_target(path)
    check_folder(path.parent)
    return kind


@contextlib.contextmanager
def writing_texts(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    """Yields a function that appends rows of texts to a table, which takes its place when the context ends."""
    kind = check_text_table(path)
    with writing_whole(path) as file, compressing(file, path) as packed, _WRITERS[kind](packed, columns) as write:
        yield write


@contextlib.contextmanager
def _json_lines(file: IO[bytes], columns: Sequence[str]) -> Iterator[Write]:
    def write(rows: Iterable[Sequence[str]]) -> None:
        file.write(b"".join(json_line(dict(zip(columns, row, strict=True))) for row in rows))

    yield write


def _delimited(delimiter: str) -> Callable[[IO[bytes], Sequence[str]], Any]:
    @contextlib.contextmanager
    def writing(file: IO[bytes], columns: Sequence[str]) -> Iterator[Write]:
        def write(rows: Iterable[Sequence[str]]) -> None:
            text = io.StringIO(newline="")
            writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerows(rows)
            file.write(utf8(text.getvalue()))

        file.write(utf8(delimiter.join(columns) + "\n"))
        yield write

    return writing


@contextlib.contextmanager
def _parquet(file: IO[bytes], columns: Sequence[str]) -> Iterator[Write]:
    pa = pyarrow()
    schema = pa.schema([(name, pa.string()) for name in columns])
    with pa.parquet.ParquetWriter(file, schema) as writer:

        def write(rows: Iterable[Sequence[str]]) -> None:
            values = list(zip(*rows, strict=True)) or [()] * len(columns)
            # Arrow holds valid UTF-8 only: lone surrogates become the escapes that JSON has for them.
            arrays = [pa.array([utf8(text).decode() for text in column], pa.string()) for column in values]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))

        yield write


_WRITERS: dict[str, Callable[[IO[bytes], Sequence[str]], Any]] = {
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
}

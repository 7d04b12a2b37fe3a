"""The formats of tables: the file extension selects the reader and the writer. A new format needs both, and entries."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from ..base.compression import compressing, compression
from ..base.errors import PfgenError, TrialsError
from ..base.file_writing import check_folder, writing_stdout, writing_whole
from ..base.journal import json_line
from ..base.untrusted_text import csv_value, in_one_line, utf8
from .arrow_columns import pyarrow, read_parquet, writing_parquet
from .table_rows import STANDARD_STREAM, AnyColumns, Columns, RowBatch, RowBatches, Write
from .text_formats import (
    read_csv,
    read_json_array,
    read_json_lines,
    writing_csv,
    writing_json_array,
    writing_json_lines,
)

Reader = Callable[[str, str, Columns, "int | None"], RowBatches]
"""Checks the columns of a source, which has a name in messages, and yields at least one batch of rows."""

Writer = Callable[[IO[bytes], RowBatch, Columns], contextlib.AbstractContextManager[Write]]
"""Opens a writer for rows with the columns of the first batch and the columns of scores."""

_READERS: dict[str, Reader] = {".parquet": read_parquet, ".jsonl": read_json_lines, ".json": read_json_array}
_WRITERS: dict[str, Writer] = {".parquet": writing_parquet, ".jsonl": writing_json_lines, ".json": writing_json_array}
DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""The formats without a fixed encoding, and their delimiters."""

_FORMATS = (*DELIMITERS, ".jsonl", ".parquet")


def reader_of(path: str | Path, encoding: str | None = None) -> Callable[[Columns, int | None], RowBatches]:
    """The reader of a file, which takes the columns and the number of rows at a time (None: the default).

    Args:
        path: The file, or "-" for stdin.
        encoding: Its encoding, which is used only if the format has no fixed encoding.
    """
    if not is_table(path) and str(path) != STANDARD_STREAM and not os.path.lexists(path):
        raise TrialsError(f"{path}: no such file")
    kind = format_of(path)
    name = "stdin" if str(path) == STANDARD_STREAM else str(path)
    if kind in DELIMITERS:
        return partial(read_csv, str(path), name, delimiter=DELIMITERS[kind], encoding=encoding)
    return partial(_READERS[kind], str(path), name)


def writer_to(place: str | Path, encoding: str | None = None) -> Writer:
    """The writer of a file; the encoding is used for CSV and TSV, unless the rows were read from CSV or TSV."""
    kind = format_of(place)
    if kind in DELIMITERS:
        return partial(writing_csv, delimiter=DELIMITERS[kind], encoding=encoding)
    return _WRITERS[kind]


def has_encoding(path: str | Path) -> bool:
    """Whether the format of a file has no fixed encoding."""
    return format_of(path) in DELIMITERS


def format_of(place: str | Path) -> str:
    """The format that a file extension stands for; Parquet requires pyarrow."""
    if str(place) == STANDARD_STREAM:
        return ".jsonl"
    kind = kind_of(place)
    if kind is None:
        *others, last = (kind for kind in (*DELIMITERS, *_READERS) if kind != ".parquet")
        raise TrialsError(
            f"{place}: unknown file extension; expected .parquet, or {', '.join(others)} or {last}, "
            "also followed by .gz, .xz or .zst, or - for JSON lines on stdin or stdout"
        )
    if kind == ".parquet":
        pyarrow()
    return kind


def is_table(place: str | Path) -> bool:
    """Whether the file extension names a format."""
    return kind_of(place) is not None


def tables_hint(folder: Path) -> str:
    """The end of a message about a directory that has no runs but tables; empty without tables."""
    names = sorted(path.name for path in folder.glob("*") if is_table(path) and ".json" not in path.name)
    return f"; it has tables such as {in_one_line(names[0], 60)}: name them, or use a glob" if names else ""


def kind_of(place: str | Path) -> str | None:
    """The format that a file extension stands for, such as ".jsonl" for answers.jsonl.gz; None if it is unknown."""
    path = Path(os.path.basename(place))
    packed = compression(path)
    kind = Path(path.stem).suffix if packed else path.suffix
    return kind if kind in DELIMITERS or (kind in _READERS and not (kind == ".parquet" and packed)) else None


def check_target(target: str | Path) -> None:
    """Raises PfgenError if the directory of a target is missing. It is not created, because it may be misspelt."""
    folder = Path(target).parent
    if str(target) != STANDARD_STREAM and not folder.is_dir():
        raise PfgenError(f"{target}: cannot be written: there is no folder {folder}")


def column_names(source: str | Path, encoding: str | None = None) -> list[str]:
    """The names of the columns of a table. For JSON, these are the keys in the first rows."""
    return [name for name in first_rows(source, encoding).names if name]


def first_rows(source: str | Path, encoding: str | None = None) -> RowBatch:
    """The first rows of a table, at most a hundred."""
    with contextlib.closing(reader_of(source, encoding)(AnyColumns(), 100)) as batches:
        return next(batches)


@contextlib.contextmanager
def opened(target: str | Path) -> Iterator[IO[bytes]]:
    """Opens stdout for writing, or a file that is written atomically (see `writing_whole`)."""
    if str(target) == STANDARD_STREAM:
        with writing_stdout() as file:
            yield file
    else:
        with writing_whole(Path(target)) as file, compressing(file, Path(target)) as writer:
            yield writer


def is_same(source: str, output: str) -> bool:
    """Whether two paths are the same file, for example by a hard link."""
    return os.path.exists(source) and os.path.exists(output) and os.path.samefile(source, output)


def table_rows(source: str | Path, *, batch_size: int = 1024) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the rows of a table in any format, each with its location for error messages."""
    with contextlib.closing(reader_of(source)(AnyColumns(), batch_size)) as batches:
        for batch in batches:
            for number, row in enumerate(batch.rows()):
                yield batch.location(number), row


WriteValues = Callable[[Iterable[Sequence[Any]]], None]
"""Appends rows."""


def check_value_table(path: Path) -> str:
    """Checks, before any work, that a table can be written, and returns its format."""
    kind = format_of(path)
    if kind not in _FORMATS or str(path) == STANDARD_STREAM:
        raise TrialsError(f"{path}: expected a file that ends with {', '.join(_FORMATS)}")
    check_target(path)
    check_folder(path.parent)
    return kind


@contextlib.contextmanager
def writing_values(path: Path, types: Mapping[str, type], *, for_spreadsheets: bool = False) -> Iterator[WriteValues]:
    """Yields a function that appends rows; `for_spreadsheets` escapes cells with `csv_value`. Writes atomically."""
    kind = check_value_table(path)
    with writing_whole(path) as file, compressing(file, path) as packed:
        if kind == ".parquet":
            with _parquet(packed, types) as write:
                yield write
        elif kind == ".jsonl":
            yield lambda rows: packed.writelines(json_line(dict(zip(types, row, strict=True))) for row in rows)
        else:
            quoting, cell = (csv.QUOTE_MINIMAL, csv_value) if for_spreadsheets else (csv.QUOTE_ALL, None)
            packed.write(utf8(DELIMITERS[kind].join(types) + "\n"))
            yield partial(_write_cells, packed, DELIMITERS[kind], quoting, cell)


def _write_cells(
    file: IO[bytes], delimiter: str, quoting: Any, cell: Callable[[Any], Any] | None, rows: Iterable[Sequence[Any]]
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    writer.writerows(rows if cell is None else (map(cell, row) for row in rows))
    file.write(utf8(text.getvalue()))


@contextlib.contextmanager
def _parquet(file: IO[bytes], types: Mapping[str, type]) -> Iterator[WriteValues]:
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

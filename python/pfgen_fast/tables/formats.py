"""The formats of tables; the file extension selects the format. A new format needs a module and an entry here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from ..base.compression import compressing, compression
from ..base.errors import PfgenError, TrialsError
from ..base.file_writing import writing_stdout, writing_whole
from ..base.untrusted_text import in_one_line
from .arrow_columns import pyarrow
from .csv_lines import read_csv, writing_csv
from .json_tables import read_json_array, read_json_lines, writing_json_array, writing_json_lines
from .parquet import read_parquet, writing_parquet
from .table_rows import STANDARD_STREAM, AnyColumns, Columns, RowBatch, RowBatches, Write

Reader = Callable[[str, Columns, "int | None"], RowBatches]
"""Checks the columns of a source, and yields at least one batch of rows; None is the default batch size."""

Writer = Callable[[IO[bytes], RowBatch, Columns], contextlib.AbstractContextManager[Write]]
"""Opens a writer for rows with the columns of the first batch and the columns of scores."""

_READERS: dict[str, Reader] = {".parquet": read_parquet, ".jsonl": read_json_lines, ".json": read_json_array}
_WRITERS: dict[str, Writer] = {".parquet": writing_parquet, ".jsonl": writing_json_lines, ".json": writing_json_array}
DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""The formats without a fixed encoding, and their delimiters."""


def reader_of(path: str | Path, encoding: str | None = None) -> Reader:
    """The reader of a file; the encoding is used only if the format has no fixed encoding."""
    if not is_table(path) and str(path) != STANDARD_STREAM and not os.path.lexists(path):
        raise TrialsError(f"{path}: no such file")
    kind = format_of(path)
    if kind in DELIMITERS:
        return partial(read_csv, delimiter=DELIMITERS[kind], encoding=encoding)
    return _READERS[kind]


def writer_to(path: str | Path, encoding: str | None = None) -> Writer:
    """The writer of a file; the encoding is used for CSV and TSV, unless the rows were read from CSV or TSV."""
    kind = format_of(path)
    if kind in DELIMITERS:
        return partial(writing_csv, delimiter=DELIMITERS[kind], encoding=encoding)
    return _WRITERS[kind]


def has_encoding(path: str | Path) -> bool:
    """Whether the format of a file has no fixed encoding."""
    return format_of(path) in DELIMITERS


def format_of(path: str | Path) -> str:
    """The format that a file extension stands for; Parquet requires pyarrow."""
    if str(path) == STANDARD_STREAM:
        return ".jsonl"
    kind = _kind(Path(path))
    if kind is None:
        *others, last = (kind for kind in (*DELIMITERS, *_READERS) if kind != ".parquet")
        raise TrialsError(
            f"{path}: unknown file extension; expected .parquet, or {', '.join(others)} or {last}, "
            "also followed by .gz, .xz or .zst, or - for JSON lines on stdin or stdout"
        )
    if kind == ".parquet":
        pyarrow()
    return kind


def is_table(path: str | Path) -> bool:
    """Whether the file extension names a format."""
    return _kind(Path(path)) is not None


def tables_hint(folder: Path) -> str:
    """The end of a message about a directory that has no runs but tables; empty without tables."""
    names = sorted(path.name for path in folder.glob("*") if is_table(path) and ".json" not in path.name)
    return f"; it has tables such as {in_one_line(names[0], 60)}: name them, or use a glob" if names else ""


def _kind(path: Path) -> str | None:
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
    with contextlib.closing(reader_of(source, encoding)(str(source), AnyColumns((), "", ()), 100)) as batches:
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


def table_rows(source: str | Path, *, batch_size: int = 1024) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the rows of a table in any format, each with its location for error messages."""
    read = reader_of(source)
    with contextlib.closing(read(str(source), AnyColumns((), "", ()), batch_size)) as batches:
        for batch in batches:
            for number, row in enumerate(batch.rows()):
                yield batch.location(number), row

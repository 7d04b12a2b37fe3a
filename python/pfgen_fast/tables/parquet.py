"""Parquet tables: rows stay in Arrow columns and never become Python objects on the way to another Parquet file."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..errors import TrialsError
from ..files.optional import optional
from ..files.reading import reading
from ..scoring.score_table import ScoreTable
from .rows import Columns, RowBatch, RowBatches, Write

_READ_BUFFER_BYTES = 1 << 20
_ROW_GROUP_ROWS = 1 << 16
_ROW_GROUP_BYTES = 1 << 25


def pyarrow() -> Any:
    """The package pyarrow, with its Parquet module loaded."""
    optional("pyarrow.parquet", extra="tables", needed_for="Parquet")
    return optional("pyarrow", extra="tables", needed_for="Parquet")


MISFITS = (ValueError, TypeError, OverflowError, NotImplementedError)
"""The errors of pyarrow for values that fit no array, and for arrays without equivalent Python values."""


@dataclass(frozen=True)
class ArrowRows:
    """Rows of a Parquet file."""

    source: str
    columns: Any
    full_schema: Any
    n_rows_before: int
    form: None = None

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return list(self.full_schema.names)

    def location(self, row: int | None) -> str:
        """The location of a row in the whole table, for error messages."""
        return self.source if row is None else f"{self.source}, row {self.n_rows_before + row + 1}"

    def values(self, column: str) -> Any:
        """A column in a form that the scorer accepts."""
        return self.columns.column(self.names.index(column))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, with values that JSON can represent (or NaN, infinity)."""
        names = self.names
        columns = [self._json_values(i, name) for i, name in enumerate(names)]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def _json_values(self, index: int, name: str) -> list[Any]:
        try:
            return [_plain(value) for value in self.columns.column(index).to_pylist()]
        except MISFITS as error:
            raise TrialsError(f"{self.source}, column {name!r}: cannot be written as text: {error}") from None

    def schema(self) -> Any:
        """The Arrow schema of the columns."""
        return self.full_schema

    def arrays(self, schema: Any) -> list[Any]:
        """The columns as Arrow arrays of the types in `schema`."""
        return list(self.columns.columns)


def _plain(value: Any) -> Any:
    """Converts a value of an Arrow column to one that JSON can represent."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal | uuid.UUID):
        return str(value)
    raise TypeError(f"it holds {type(value).__name__}")


def read_parquet(source: str, columns: Columns, batch_size: int) -> RowBatches:
    """Reads the rows of a Parquet file, page by page."""
    pa = pyarrow()
    n_rows = 0
    try:
        # The buffer reads pages on demand; otherwise pyarrow would read a whole row group ahead.
        with (
            reading(Path(source)) as file,
            pa.parquet.ParquetFile(file, pre_buffer=False, buffer_size=_READ_BUFFER_BYTES) as table,
        ):
            schema = table.schema_arrow
            columns.check(schema.names, source)
            for batch in table.iter_batches(batch_size):
                yield ArrowRows(source, batch, schema, n_rows)
                n_rows += batch.num_rows
            if not n_rows:
                yield ArrowRows(source, schema.empty_table(), schema, 0)
    except pa.ArrowException as error:
        raise TrialsError(f"{source}: damaged or no Parquet file: {error}") from None


@contextlib.contextmanager
def writing_parquet(file: IO[bytes], first: RowBatch, scores: Sequence[str]) -> Iterator[Write]:
    """Opens a writer of rows as Parquet, in row groups of bounded size."""
    pa = pyarrow()
    given = first.schema()
    schema = pa.schema([*given, *((name, pa.float64()) for name in scores)], given.metadata)
    pending: list[Any] = []

    def write(batch: RowBatch, table: ScoreTable) -> None:
        scored = pa.table(table)
        arrays = [*batch.arrays(given), *(scored.column(name) for name in scores)]
        pending.append(pa.Table.from_arrays(arrays, schema=schema))
        n_bytes = sum(part.nbytes for part in pending)
        if n_bytes >= _ROW_GROUP_BYTES or sum(map(len, pending)) >= _ROW_GROUP_ROWS:
            write_row_group()

    def write_row_group() -> None:
        writer.write_table(pa.concat_tables(pending))
        pending.clear()

    try:
        with pa.parquet.ParquetWriter(file, schema) as writer:
            yield write
            if pending:
                write_row_group()
    except pa.ArrowException as error:
        raise TrialsError(f"{first.location(None)}: cannot be written as Parquet: {error}") from None

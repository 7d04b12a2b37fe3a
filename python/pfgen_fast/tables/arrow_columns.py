"""Parquet tables, and Arrow columns in general: the types of columns, and columns of scores. Loads pyarrow on demand.

Rows remain Arrow columns; they do not become Python objects if the target is also Parquet.
"""

from __future__ import annotations

import bisect
import contextlib
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..base.errors import TrialsError, optional
from ..base.file_reading import reading
from ..base.untrusted_text import in_one_line
from .table_rows import ChosenColumns, Columns, RowBatch, RowBatches, Scores, Write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MISFITS = (ValueError, TypeError, OverflowError, NotImplementedError)
"""The errors that pyarrow raises if values do not fit an array, or if an array has no equivalent Python values."""

_READ_BUFFER_BYTES = 1 << 20
_ROW_GROUP_ROWS = 1 << 16
_ROW_GROUP_BYTES = 3 << 23
_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 23
_MAX_SHOWN = 200


def pyarrow() -> Any:
    """Imports pyarrow and its Parquet module."""
    optional("pyarrow.parquet", extra="tables", needed_for="Parquet")
    return optional("pyarrow", extra="tables", needed_for="Parquet")


@contextlib.contextmanager
def giving_memory_back() -> Iterator[None]:
    """Makes pyarrow use jemalloc, which returns memory to the system at once; this lowers the peak by 100 MB."""
    pa = pyarrow()
    usual = pa.default_memory_pool()
    with contextlib.suppress(NotImplementedError):  # some systems lack jemalloc
        pa.set_memory_pool(pa.jemalloc_memory_pool())
        pa.jemalloc_set_decay_ms(0)
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


def check_schema(schema: Any, columns: Columns, location: str) -> None:
    """Checks that a schema has the columns to read, as texts, and no column with the name of a score."""
    columns.check(schema.names, location)
    for name in filter(schema.names.__contains__, columns.inputs):
        kind = schema.field(name).type
        if name in columns.lists:
            if not (_holds_texts(kind) or (is_list(kind) and _holds_texts(kind.value_type))):
                raise TrialsError(f"{location}, column {name!r}: expected texts or lists of texts, not {kind}")
        elif not _holds_texts(kind):
            raise TrialsError(f"{location}, column {name!r}: expected texts, not {kind}")


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is a type of lists."""
    types = pyarrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _holds_texts(kind: Any) -> bool:
    types = pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)
    )


def with_scores(schema: Any, columns: Columns) -> Any:
    """The schema with the columns of scores appended, and with its metadata."""
    pa = pyarrow()
    return pa.schema([*schema, *((name, pa.float64()) for name in columns.scores)], schema.metadata)


def only_passing(batch: Any, passing: NDArray[np.bool_]) -> Any:
    """The rows of a batch that pass; the columns can have any type."""
    pa = pyarrow()
    try:
        return batch.filter(pa.array(passing))
    except pa.ArrowNotImplementedError:  # pyarrow cannot filter columns of views, which polars makes
        runs = [batch.slice(begin, end - begin) for begin, end in _runs(passing)] or [batch.slice(0, 0)]
        columns = [pa.concat_arrays([run.column(i) for run in runs]) for i in range(batch.num_columns)]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _runs(passing: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """The half-open index ranges of consecutive true values."""
    import numpy as np

    borders = np.flatnonzero(np.diff(passing, prepend=False, append=False)).tolist()
    return zip(borders[::2], borders[1::2], strict=True)


def score_arrays(scores: Scores) -> list[Any]:
    """Columns of scores as Arrow arrays, with null for NaN, without a copy."""
    pa = pyarrow()
    return [pa.array(column, pa.float64(), from_pandas=True) for column in scores.values()]


def json_values(column: Any) -> list[Any]:
    """The values of a column in the types of JSON (or NaN, infinity); no digit is lost."""
    kind = _json_type(column.type)
    values: list[Any] = (column if kind == column.type else column.cast(kind)).to_pylist()
    return values


def _json_type(kind: Any) -> Any:
    """The type to cast values to: decimals, dates and times become texts, as Arrow writes them."""
    pa, types = pyarrow(), pyarrow().types
    if isinstance(kind, pa.BaseExtensionType):
        return _json_type(kind.storage_type)
    if types.is_dictionary(kind):
        return _json_type(kind.value_type)
    if types.is_float16(kind):
        return pa.float32()
    if types.is_decimal(kind) or types.is_date(kind) or types.is_time(kind) or types.is_timestamp(kind):
        return pa.string()
    if types.is_map(kind):
        return pa.map_(_json_type(kind.key_type), _json_type(kind.item_type))
    if is_list(kind):
        return (pa.large_list if types.is_large_list(kind) else pa.list_)(_json_type(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([(part.name, _json_type(part.type)) for part in kind])
    if _holds_texts(kind) or types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return kind
    raise TypeError(f"the type {kind} is not supported")


@dataclass(frozen=True)
class _ArrowRows:
    source: str  # name of the file
    columns: Any  # rows, as a record batch
    full_schema: Any  # schema of the file
    metadata: Any  # metadata of the file, with its row groups
    n_rows_before: int  # number of rows of the file before this batch
    passed: NDArray[np.int64] | None = None  # indices in the batch that was read; None: all rows
    form: None = None

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    @property
    def names(self) -> Sequence[str]:
        return list(self.full_schema.names)

    def location(self, row: int | None) -> str:
        if row is None:
            return self.source
        row = self.n_rows_before + (row if self.passed is None else int(self.passed[row]))
        n_groups = self.metadata.num_row_groups if self.metadata else 0  # none of a table in memory
        sizes = [self.metadata.row_group(i).num_rows for i in range(n_groups)]
        group = bisect.bisect_right(list(itertools.accumulate(sizes)), row)
        return f"{self.source}, {f'row group {group}, ' if len(sizes) > 1 else ''}row {row + 1}"

    def values(self, column: str) -> Any:
        return self.columns.column(column)

    lists = values

    def rows(self) -> list[dict[str, Any]]:
        names = self.names
        columns = []
        for i, name in enumerate(names):
            try:
                columns.append(json_values(self.columns.column(i)))
            except MISFITS as error:
                raise TrialsError(f"{self.source}, column {name!r}: cannot be written as text: {error}") from None
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def schema(self) -> Any:
        return self.full_schema

    def arrays(self, schema: Any) -> list[Any]:
        return list(self.columns.columns)

    def only(self, passing: NDArray[np.bool_]) -> _ArrowRows:
        return replace(self, columns=only_passing(self.columns, passing), passed=passing.nonzero()[0])


def rows_in_memory(batch: Any, n_rows_before: int) -> RowBatch:
    """A record batch of a table in memory as a batch of rows."""
    return _ArrowRows("the table", batch, batch.schema, None, n_rows_before)


def read_parquet(source: str, name: str, columns: Columns, batch_size: int | None) -> RowBatches:
    """Reads the rows of a Parquet file, page by page."""
    n_rows = 0
    # With a buffer, pyarrow reads pages on demand; otherwise it would read a whole row group ahead.
    with (
        reading(Path(source)) as file,
        _naming_damage(name),
        pyarrow().parquet.ParquetFile(file, pre_buffer=False, buffer_size=_READ_BUFFER_BYTES) as table,
    ):
        schema, metadata = table.schema_arrow, table.metadata
        chosen = None
        if isinstance(columns, ChosenColumns):
            columns.check(schema.names, name)
            # In the order of the file, because batches have the columns in the order in which they were chosen.
            wanted = set(columns.inputs or schema.names)
            chosen = [column for column in schema.names if column in wanted]
            schema = pyarrow().schema([schema.field(column) for column in chosen])
        else:
            check_schema(schema, columns, name)
        for batch in table.iter_batches(batch_size or _usual_batch_size(metadata), columns=chosen):
            yield _ArrowRows(name, batch, schema, metadata, n_rows)
            n_rows += batch.num_rows
        if not n_rows:
            yield _ArrowRows(name, schema.empty_table(), schema, metadata, 0)


@contextlib.contextmanager
def _naming_damage(source: str) -> Iterator[None]:
    """Converts an error of pyarrow to one sentence; errors of the system, which have an errno, are raised unchanged."""
    try:
        yield
    except (OSError, pyarrow().ArrowException) as error:
        if getattr(error, "errno", None) is not None:
            raise
        told = in_one_line(" ".join(str(error).split()), _MAX_SHOWN)
        raise TrialsError(f"{source}: damaged or no Parquet file: {told}") from None


def _usual_batch_size(metadata: Any) -> int:
    """Number of rows to read at a time; it is smaller if rows are long, which limits memory."""
    n_bytes: int = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    n_rows: int = _BATCH_BYTES * metadata.num_rows // max(n_bytes, 1)
    return max(1, min(_BATCH_ROWS, n_rows))


@contextlib.contextmanager
def writing_parquet(file: IO[bytes], first: RowBatch, columns: Columns) -> Iterator[Write]:
    """Opens a writer of rows as Parquet, in row groups of bounded size."""
    pa = pyarrow()
    source, own_schema = first.location(None), first.schema()
    del first  # frees its memory
    schema = with_scores(own_schema, columns)
    pending: list[Any] = []

    def write(batch: RowBatch, scores: Scores) -> None:
        arrays = [*batch.arrays(own_schema), *score_arrays(scores)]
        pending.append(pa.Table.from_arrays(arrays, schema=schema))
        n_bytes = sum(part.nbytes for part in pending)
        if n_bytes >= _ROW_GROUP_BYTES or sum(map(len, pending)) >= _ROW_GROUP_ROWS:
            write_row_group()

    def write_row_group() -> None:
        writer.write_table(pa.concat_tables(pending))
        pending.clear()

    try:
        # Answers and scores rarely repeat, so the dictionary encoding of Parquet would only cost time.
        repeating = [path for path in _leaves(schema) if path not in {columns.answer, *columns.scores}]
        with pa.parquet.ParquetWriter(file, schema, use_dictionary=repeating) as writer:
            yield write
            if pending:
                write_row_group()
    except pa.ArrowException as error:
        raise TrialsError(f"{source}: cannot be written as Parquet: {error}") from None


def _leaves(schema: Any) -> list[str]:
    """The paths of the columns that Parquet stores for a schema; a nested column has several paths."""
    pa = pyarrow()
    stored = io.BytesIO()
    pa.parquet.write_table(schema.empty_table(), stored)
    stored_schema = pa.parquet.ParquetFile(stored).schema
    return [stored_schema.column(i).path for i in range(len(stored_schema.names))]

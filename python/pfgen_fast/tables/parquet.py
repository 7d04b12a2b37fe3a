"""Parquet tables. Rows remain Arrow columns; they do not become Python objects if the target is also Parquet."""

from __future__ import annotations

import bisect
import contextlib
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..base.errors import TrialsError
from ..base.file_reading import reading
from ..base.untrusted_text import in_one_line
from .arrow_columns import MISFITS, check_schema, json_values, only_passing, pyarrow, score_arrays, with_scores
from .table_rows import ChosenColumns, Columns, RowBatch, RowBatches, Scores, Write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_READ_BUFFER_BYTES = 1 << 20
_ROW_GROUP_ROWS = 1 << 16
_ROW_GROUP_BYTES = 3 << 23
_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 23
_MAX_SHOWN = 200


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
        sizes = [self.metadata.row_group(i).num_rows for i in range(self.metadata.num_row_groups)]
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


def read_parquet(source: str, columns: Columns, batch_size: int | None) -> RowBatches:
    """Reads the rows of a Parquet file, page by page."""
    n_rows = 0
    # With a buffer, pyarrow reads pages on demand; otherwise it would read a whole row group ahead.
    with (
        reading(Path(source)) as file,
        _naming_damage(source),
        pyarrow().parquet.ParquetFile(file, pre_buffer=False, buffer_size=_READ_BUFFER_BYTES) as table,
    ):
        schema, metadata = table.schema_arrow, table.metadata
        chosen = None
        if isinstance(columns, ChosenColumns):
            columns.check(schema.names, source)
            # In the order of the file, because batches have the columns in the order in which they were chosen.
            wanted = set(columns.inputs or schema.names)
            chosen = [name for name in schema.names if name in wanted]
            schema = pyarrow().schema([schema.field(name) for name in chosen])
        else:
            check_schema(schema, columns, source)
        for batch in table.iter_batches(batch_size or _usual_batch_size(metadata), columns=chosen):
            yield _ArrowRows(source, batch, schema, metadata, n_rows)
            n_rows += batch.num_rows
        if not n_rows:
            yield _ArrowRows(source, schema.empty_table(), schema, metadata, 0)


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

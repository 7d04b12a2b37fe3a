"""Tables of answers: chunked Arrow strings, processed in parallel and stored in Parquet files.

A table of answers has the columns `row` (the raw answer's number, from 0) and `answer`; a table of removed answers also
has a `reason`. The same rows produce the same bytes with any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..errors import BuildError, TrialsError
from ..files.optional import optional
from ..files.reading import opened
from ..files.writing import writing_whole

CHUNK_ROWS = 1 << 16
_ROW_GROUP_ROWS = 1 << 17


def arrow(module: str = "pyarrow") -> Any:
    """Imports pyarrow or one of its modules."""
    return optional(module, extra="build", needed_for="building a suite")


def answers_table(rows: Any, answers: Any, reasons: Any = None) -> Any:
    """Creates a table of answers, or of removed answers with their reasons."""
    pa = arrow()
    columns = {"row": pa.array(rows, pa.int64()), "answer": answers}
    if reasons is not None:
        columns["reason"] = pa.array(reasons, pa.string())
    return pa.table(columns)


def mapped(column: Any, function: Callable[[Any], Any], threads: int) -> list[Any]:
    """Applies a function to each part of a column, in threads, because pyarrow releases the GIL; keeps the order."""
    parts = [column.slice(start, CHUNK_ROWS) for start in range(0, len(column), CHUNK_ROWS)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda part: function(_one_array(part)), parts))


def _one_array(column: Any) -> Any:
    """A short column as a single array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return arrow().concat_arrays(column.chunks)


def text_column(arrays: Sequence[Any]) -> Any:
    """Concatenates arrays of texts into a column."""
    pa = arrow()
    return pa.chunked_array(arrays, pa.string())


def write_table(path: Path, table: Any) -> None:
    """Writes a table as Parquet, atomically."""
    with writing_whole(path) as file, opened_for_tables(file, table.schema) as writer:
        writer.write_table(table, _ROW_GROUP_ROWS)


def opened_for_tables(file: Any, schema: Any) -> Any:
    """A Parquet writer for an open file."""
    # Answers rarely repeat, so a dictionary would be built only to be discarded.
    return arrow("pyarrow.parquet").ParquetWriter(file, schema, use_dictionary=["reason"], compression="zstd")


def answers_schema() -> Any:
    """The schema of a table of answers."""
    pa = arrow()
    return pa.schema([("row", pa.int64()), ("answer", pa.string())])


def read_table(path: Path) -> Any:
    """Reads a table written by `write_table`."""
    try:
        with opened(path) as file:
            return arrow("pyarrow.parquet").read_table(file)
    except (TrialsError, arrow().ArrowException) as error:
        raise BuildError(
            f"{path}: cannot be read ({error}); delete it and run the same command again to rebuild it"
        ) from None

"""Tables of answers: chunked Arrow strings, searched and processed in parallel, and stored in Parquet files.

A table of answers has the columns `row` (the raw answer's number, from 0) and `answer`; a table of removed answers also
has a `reason`. The same rows produce the same bytes with any number of threads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..base.errors import BuildError, TrialsError
from ..base.optional import optional
from ..base.file_reading import opened
from ..base.file_writing import writing_whole

_CHUNK_ROWS = 1 << 16
_ROW_GROUP_ROWS = 1 << 17


def arrow(module: str = "pyarrow") -> Any:
    """Imports pyarrow or one of its modules."""
    return optional(module, extra="tables", needed_for="building a suite")


def mapped(column: Any, function: Callable[[Any], Any], threads: int) -> list[Any]:
    """Applies a function to each part of a column, in threads, because pyarrow releases the GIL; keeps the order."""
    parts = [column.slice(start, _CHUNK_ROWS).chunks for start in range(0, len(column), _CHUNK_ROWS)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda part: function(arrow().concat_arrays(part)), parts))


def matches(answers: Any, pattern: str) -> Any:
    """Which of the answers (an Arrow array) contain a match of the pattern."""
    return arrow("pyarrow.compute").match_substring_regex(answers, pattern)


def check_pattern(pattern: str, where: str) -> None:
    """Raises BuildError unless RE2 accepts the pattern; `where` names it in the message."""
    if not pattern:
        raise BuildError(f"{where}: the pattern is empty and would match everything")
    try:
        matches(arrow().array([""], "string"), pattern)
    except UnicodeEncodeError:
        raise BuildError(f"{where}: the pattern {pattern!r} does not compile: it has a lone surrogate") from None
    except arrow().ArrowInvalid as error:
        problem = str(error).removeprefix("Invalid regular expression: ")
        raise BuildError(f"{where}: the pattern {pattern!r} does not compile: {problem}") from None


def write_table(path: Path, table: Any) -> None:
    """Writes a table as Parquet, atomically."""
    with writing_tables(path, table.schema) as writer:
        writer.write_table(table, _ROW_GROUP_ROWS)


@contextlib.contextmanager
def writing_tables(path: Path, schema: Any) -> Iterator[Any]:
    """Yields a writer of tables with one schema to a Parquet file, which appears when it is complete."""
    # Answers rarely repeat, so a dictionary would be built only to be discarded.
    options: dict[str, Any] = {"use_dictionary": ["reason"], "compression": "zstd"}
    with writing_whole(path) as file, arrow("pyarrow.parquet").ParquetWriter(file, schema, **options) as writer:
        yield writer


def read_table(path: Path) -> Any:
    """Reads a table written by `write_table`."""
    try:
        with opened(path) as file:
            return arrow("pyarrow.parquet").read_table(file)
    except (TrialsError, arrow().ArrowException) as error:
        raise BuildError(
            f"{path}: cannot be read ({error}); delete it and run the same command again to rebuild it"
        ) from None

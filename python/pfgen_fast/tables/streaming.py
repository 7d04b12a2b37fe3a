"""Scores tables as streams: reads a table, and writes it with additional columns of scores.

While one batch is scored, the next batch is read and the previous batch is written, so memory does not grow with the
table. Nothing is written before the columns are checked, and files are written atomically. Readers yield at least one
batch, which may be empty, so that writers always know the columns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ..base.errors import PfgenError
from .arrow_columns import giving_memory_back
from .formats import check_target, format_of, has_encoding, opened, reader_of, writer_to
from .table_job import TableJob
from .table_rows import STANDARD_STREAM, Write

P = ParamSpec("P")
T = TypeVar("T")
_END: Any = object()


class TableCounts(NamedTuple):
    """How many rows a table has, and how many of them were written."""

    n_rows: int
    n_written: int


def score_table(
    source: str | Path,
    target: str | Path | Write,
    job: TableJob,
    *,
    batch_size: int | None = None,
    on_batch: Callable[[int], None] | None = None,
    on_scores: Write | None = None,
) -> TableCounts:
    """Scores a table batch by batch, and writes the table with additional columns of scores.

    The file extension selects the format: `.parquet`; or `.csv`, `.tsv`, `.jsonl` (one object per line) or `.json` (an
    array of objects), each optionally followed by `.gz`, `.xz` or `.zst`; `"-"` is stdin or stdout, as JSON lines. A
    file is written atomically. On stdout, rows that were written before an error remain. Source and target may have
    different formats:

    * Parquet keeps the types and the metadata of its columns. If the source is JSON, the first batch determines the
      types.
    * JSON keeps the order of the keys of each row. Decimals, dates and times become strings, as Arrow writes them, and
      NaN and infinity become null. A value that would lose digits is refused.
    * CSV and TSV keep texts unchanged. They have no nulls: an empty field is an empty text, and a null is written as an
      empty field. Other values are written as in JSON. If source and target are both CSV or TSV, the target has the
      encoding, the byte-order mark and the line ends of the source (the line end of its header).

    A score is null (empty in CSV) if the question lacks the reference set or the answer is missing.

    Args:
        source: The table to read, or `"-"`.
        target: The table to write, or `"-"`; its directory must exist. Or a function that takes rows.
        job: The scorer, the columns and the other options.
        batch_size: Rows to read at a time; by default up to 65,536 for Parquet, and 8,192 for other formats.
        on_batch: Called after each batch with the number of rows scored so far.
        on_scores: Also called with each batch that is written, and its scores.

    Raises:
        TrialsError: The source cannot be read, or a column or row is invalid. The message counts rows and lines from
            1, and row groups from 0.
        PfgenError: The target cannot be written, an option is invalid, or pyarrow is required but not installed.

    Example:
        >>> import pathlib, tempfile
        >>> from pfgen_fast import Scorer
        >>> folder = tempfile.TemporaryDirectory()
        >>> source, target = pathlib.Path(folder.name, "in.jsonl"), pathlib.Path(folder.name, "out.csv")
        >>> _ = source.write_text('{"id": 7, "q": "Q07", "a": "Ice floats on water."}')
        >>> score_table(source, target, TableJob(Scorer("mini"), "q", "a"))
        TableCounts(n_rows=1, n_written=1)
        >>> target.read_text().splitlines()[0]
        'id,q,a,fluency,truthfulness,helpfulness,average,fluency_A,fluency_B,truthfulness_A,truthfulness_B'
        >>> folder.cleanup()
    """
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size: expected at least 1, not {batch_size}")
    encoding, files = job.encoding, [source] if callable(target) else [source, target]
    if encoding is not None and not any(map(has_encoding, files)):
        names = " and ".join(map(str, files))
        raise PfgenError(f"encoding: expected a CSV or TSV file, but the files are {names}")
    read = reader_of(source, encoding)
    writer = None if callable(target) else writer_to(target, encoding)
    n_rows = n_written = 0
    is_arrow = ".parquet" in map(format_of, files)
    # Stdin is read without a thread, because such a thread might never end.
    taking: Any = contextlib.closing if str(source) == STANDARD_STREAM else reading_ahead
    with (
        giving_memory_back() if is_arrow else contextlib.nullcontext(),
        taking(read(job.names, batch_size)) as batches,
    ):
        first = next(batches)
        with contextlib.ExitStack() as stack:
            write: Any = target
            if writer is not None:
                assert not callable(target)
                check_target(target)
                file = stack.enter_context(opened(target))
                write = stack.enter_context(writer(file, first, job.names))
            give = stack.enter_context(writing_behind(write))
            rest = chain((first,), batches)
            del first  # frees its memory
            for batch in rest:
                lists = job.names.lists
                inputs = [batch.lists(name) if name in lists else batch.values(name) for name in job.names.inputs]
                outcome = job.score(inputs, batch.location)
                del inputs
                kept = batch if outcome.passing is None else batch.only(outcome.passing)
                n_rows, n_written = n_rows + len(batch), n_written + len(kept)
                give(kept, outcome.scores)
                if on_scores is not None:
                    on_scores(kept, outcome.scores)
                if on_batch is not None:
                    on_batch(n_rows)
                del batch, kept, outcome  # frees their memory before the next batch arrives
    return TableCounts(n_rows, n_written)


@contextlib.contextmanager
def reading_ahead(items: Generator[T, None, None]) -> Iterator[Iterator[T]]:
    """Runs a generator in a thread and yields an iterator over its items; an error is raised after the last item."""

    def taken() -> Iterator[T]:
        future = thread.submit(next, items, _END)
        while (item := future.result()) is not _END:
            future = thread.submit(next, items, _END)
            yield item
            del item  # frees its memory before the next item arrives

    with contextlib.closing(items), ThreadPoolExecutor(1, "pfgen-fast reader") as thread:
        yield taken()


@contextlib.contextmanager
def writing_behind(write: Callable[P, None]) -> Iterator[Callable[P, None]]:
    """Yields a function that calls `write` in a thread; an error is raised at the next call or at the end."""
    written: Future[None] | None = None

    def give(*item: P.args, **options: P.kwargs) -> None:
        nonlocal written
        if written is not None:
            written.result()
        written = thread.submit(write, *item, **options)

    with ThreadPoolExecutor(1, "pfgen-fast writer") as thread:
        yield give
        if written is not None:
            written.result()

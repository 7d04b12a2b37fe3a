"""Streaming scoring of tables: reads questions and answers, and writes the same table with columns of scores.

One batch is in memory at a time. Nothing is written before the columns are checked, and files are written atomically.
Readers yield at least one batch, possibly empty, so that writers always learn the columns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Literal

from ..errors import PfgenError, TrialsError
from ..scoring.score_table import ScoreTable
from ..scoring.scorer import Scorer
from .formats import check_target, has_encoding, opened, reader_of, writer_to
from .rows import Columns, RowBatch


def score_table(
    source: str | Path,
    target: str | Path,
    scorer: Scorer,
    *,
    question_column: str,
    answer_column: str,
    nulls: Literal["error", "null"] = "error",
    encoding: str | None = None,
    batch_size: int = 8192,
    on_batch: Callable[[int], None] | None = None,
) -> int:
    """Scores a table batch by batch and writes it with its own columns and the columns of scores.

    The file extension selects the format: `.parquet`; or `.csv`, `.tsv`, `.jsonl` (an object a line) or `.json` (an
    array of objects), optionally followed by `.gz`, `.xz` or `.zst`; `"-"` is stdin or stdout, as JSON lines. A file is
    written atomically; stdout keeps the rows written before an error. Source and target may have different formats:

    * Parquet keeps the types and the metadata of its columns. From JSON it takes the types of the first batch.
    * JSON keeps the order of the keys of each row. Values that JSON lacks are written as strings (decimals, and dates
      in ISO 8601), seconds (durations) or null (NaN, infinity).
    * CSV and TSV keep texts unchanged and have no nulls: an empty field is an empty text. A null becomes an empty
      field, and values of other types are written as in JSON. Made from each other, they keep the encoding, the
      byte-order mark and the line ends (those of the header).

    The columns of scores are those of `ScoreTable` without `question_id`. Scores are null (empty in CSV) where a
    question lacks a set or an answer is missing.

    Args:
        source: The table to read, or `"-"`.
        target: The table to write, or `"-"`; may be `source`. An existing file is replaced at the end; its folder must
            exist.
        scorer: Scores the answers.
        question_column: The column with the id or exact text of each question.
        answer_column: The column with the answers.
        nulls: How to treat a missing answer (a null, or a row of JSON without its key): `"error"` raises an error that
            names its row, `"null"` gives it null scores.
        encoding: The encoding of CSV and TSV files, such as `"cp932"`: of the source, which the target keeps, or of the
            target if only that is CSV or TSV. By default that of the source's byte-order mark, or UTF-8.
        batch_size: The number of rows to read and score at a time; determines the memory usage.
        on_batch: Called after each batch with the number of rows done so far.

    Returns:
        The number of rows.

    Raises:
        TrialsError: The source cannot be read, lacks a column, has a column with the name of a score, or a row cannot
            be scored or written; the message names the row (from 1) or the line.
        PfgenError: The target cannot be written, the encoding is unknown or has no use, or pyarrow is required but not
            installed.
        ValueError: `nulls` is invalid, or `batch_size` is below 1.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> source, target = pathlib.Path(folder.name, "in.jsonl"), pathlib.Path(folder.name, "out.csv")
        >>> _ = source.write_text('{"id": 7, "q": "Q07", "a": "Ice floats on water."}')
        >>> score_table(source, target, Scorer("mini"), question_column="q", answer_column="a")
        1
        >>> target.read_text().splitlines()[0]
        'id,q,a,fluency,truthfulness,helpfulness,average,fluency_A,fluency_B,truthfulness_A,truthfulness_B'
        >>> folder.cleanup()
    """
    if batch_size < 1:
        raise ValueError(f"batch_size: expected at least 1, not {batch_size}")
    if encoding is not None and not (has_encoding(source) or has_encoding(target)):
        raise PfgenError(f"encoding: only CSV and TSV leave it open, and neither {source} nor {target} is one of them")
    read, write_to = reader_of(source, encoding), writer_to(target, encoding)
    columns = Columns(
        question_column,
        answer_column,
        scorer.score((), (), nulls=nulls).columns[1:],
        may_lack_answers=nulls == "null",
    )
    n_rows = 0
    with contextlib.closing(read(str(source), columns, batch_size)) as batches:
        first = next(batches)
        check_target(target)
        with opened(target) as file, write_to(file, first, columns.scores) as write:
            for batch in chain((first,), batches):
                write(batch, _scored(scorer, batch, columns, nulls))
                n_rows += len(batch)
                if on_batch is not None:
                    on_batch(n_rows)
    return n_rows


def _scored(scorer: Scorer, batch: RowBatch, columns: Columns, nulls: Literal["error", "null"]) -> ScoreTable:
    try:
        return scorer.score(batch.values(columns.question), batch.values(columns.answer), nulls=nulls)
    except TrialsError as error:
        column = columns.question if error.column == "questions" else columns.answer
        raise TrialsError(f"{batch.location(error.row)}, column {column!r}: {error.problem}") from None

"""Appends scores to Arrow batches; the integrations of engines use this module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..base.errors import TrialsError
from .arrow_columns import check_schema, only_passing, pyarrow, score_arrays, with_scores
from .table_job import Nulls, TableJob, TableScorer

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE_ROWS = 1 << 16
"""Number of rows scored at a time, so large that the index of each question is loaded into the CPU cache only once."""
AT_ONCE_BYTES = 1 << 26
"""Maximum number of bytes of batches scored at a time."""


def score_schema(
    schema: pa.Schema,
    spec: TableScorer,
    *,
    question_column: str = "question",
    answer_column: str = "answer",
    columns: Sequence[str] | None = None,
    reference_column: str | Sequence[str] = "references",
) -> pa.Schema:
    """The schema of the output of `score_batches`: the given schema plus columns of scores (float64).

    Example:
        >>> import pyarrow as pa
        >>> from pfgen_fast import ScorerSpec
        >>> schema = pa.schema({"question": pa.string(), "answer": pa.string()})
        >>> score_schema(schema, ScorerSpec("mini"), columns=["average"]).names
        ['question', 'answer', 'average']
    """
    job = TableJob(spec, question_column, answer_column, columns, reference_column=reference_column)
    return scored_schema(schema, job)


def scored_schema(schema: pa.Schema, job: TableJob) -> pa.Schema:
    """The schema of the output of `scored_batches` for batches of a given schema."""
    check_schema(schema, job.names, "the schema")
    return with_scores(schema, job.names)


def score_batches(
    batches: Iterable[pa.RecordBatch],
    spec: TableScorer,
    *,
    question_column: str = "question",
    answer_column: str = "answer",
    columns: Sequence[str] | None = None,
    nulls: Nulls = "error",
    where: str | None = None,
    reference_column: str | Sequence[str] = "references",
) -> Iterator[pa.RecordBatch]:
    """Scores a stream of batches, and appends columns of scores to each batch.

    Small batches are scored together, up to 65,536 rows, so a batch is returned only after later batches have been
    read. All batches must have the same schema.

    Args:
        batches: Record batches, or any object that exports Arrow data (tables, streams, data frames).
        spec: A `ScorerSpec`, from which each process makes one scorer; a `Scorer`; or a `ReferenceScorer`, which
            needs no question column.
        question_column: The column with the id or exact text of each question.
        answer_column: The column with the answers.
        columns: The scores to append, such as `["average"]`; by default all scores.
        nulls: `"error"` raises an error that names the row of a missing answer; `"null"` gives the row null scores.
        where: The condition for rows to keep, such as `"average >= 0.6"`; it may use scores that are not in `columns`.
        reference_column: For a `ReferenceScorer`, the column with a list of references (or one reference) in each row;
            or several such columns, whose references are joined.

    Raises:
        TrialsError: A column or row is invalid; the message counts rows from 1 in the whole stream.
        PfgenError: An option is invalid, or pyarrow is not installed.

    Example:
        >>> import pyarrow as pa
        >>> from pfgen_fast import ScorerSpec
        >>> batch = pa.record_batch({"question": ["Q07", "Q08"], "answer": ["Ice floats.", ""]})
        >>> [scored] = score_batches([batch], ScorerSpec("mini"), columns=["average"])
        >>> scored.column("average").to_pylist()
        [0.02259, 0.0]
    """
    job = TableJob(spec, question_column, answer_column, columns, nulls, where, reference_column=reference_column)
    return scored_batches(batches, job)


def scored_batches(batches: Iterable[Any], job: TableJob) -> Iterator[pa.RecordBatch]:
    """Scores a stream of batches; see `score_batches`."""
    n_rows = 0
    for group in _groups(_of_one_schema(batches, job)):
        yield from _scored_group(group, job, n_rows)
        n_rows += sum(map(len, group))


def _of_one_schema(batches: Iterable[Any], job: TableJob) -> Iterator[pa.RecordBatch]:
    schema = None
    for number, batch in enumerate(record_batches(batches), start=1):
        if schema is None:
            schema = batch.schema
            check_schema(schema, job.names, "the first batch")
        elif batch.schema != schema:
            difference = _difference(batch, schema)
            raise TrialsError(f"batch {number}: has other columns or types than the first: {difference}")
        yield batch


def record_batches(data: Any) -> Iterator[pa.RecordBatch]:
    """The batches in a batch, a table, a data frame, a stream, or a sequence of these."""
    pa = pyarrow()
    if isinstance(data, pa.RecordBatch):
        yield data
    elif hasattr(data, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(data)
    elif hasattr(data, "__arrow_c_array__"):
        yield pa.record_batch(data)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        for part in data:
            yield from record_batches(part)
    else:
        raise TrialsError(f"batches: expected Arrow batches, not {type(data).__name__}")


def _difference(batch: Any, schema: Any) -> str:
    def told(field: Any) -> str:
        return f"{field.name!r} ({field.type}{'' if field.nullable else ' not null'})"

    own, expected = (list(map(told, schema)) for schema in (batch.schema, schema))
    lacking, new = [name for name in expected if name not in own], [name for name in own if name not in expected]
    parts = [f"{word} {', '.join(names)}" for word, names in (("no", lacking), ("new", new)) if names]
    return "; ".join(parts) or "in another order"


def _groups(batches: Iterable[Any]) -> Iterator[list[Any]]:
    group: list[Any] = []
    n_rows = n_bytes = 0
    for batch in batches:
        if group and (n_rows + len(batch) > AT_ONCE_ROWS or n_bytes + batch.nbytes > AT_ONCE_BYTES):
            yield group
            group, n_rows, n_bytes = [], 0, 0
        group.append(batch)
        n_rows, n_bytes = n_rows + len(batch), n_bytes + batch.nbytes
    if group:
        yield group


def _scored_group(group: list[Any], job: TableJob, n_rows_before: int) -> Iterator[pa.RecordBatch]:
    pa = pyarrow()

    def values(column: str) -> Any:
        return group[0].column(column) if len(group) == 1 else pa.chunked_array([part.column(column) for part in group])

    def location(row: int | None) -> str:
        return "the batches" if row is None else f"row {n_rows_before + row + 1}"

    outcome = job.score(list(map(values, job.names.inputs)), location)
    schema = with_scores(group[0].schema, job.names)
    arrays = score_arrays(outcome.scores)
    begin = row = 0
    for batch in group:
        kept = batch if outcome.passing is None else only_passing(batch, outcome.passing[row : row + len(batch)])
        row += len(batch)
        yield pa.RecordBatch.from_arrays(
            [*kept.columns, *(array.slice(begin, len(kept)) for array in arrays)], schema=schema
        )
        begin += len(kept)

"""Appends columns of scores to frames of Spark, by `mapInArrow` in the Python workers of Spark.

The spec is sent to the workers, and each worker process makes the scorer once.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..base.errors import PfgenError, TrialsError, optional
from ..rewards.references.reference_scorer import ReferenceScorer
from ..scoring.scorer import ScorerSpec
from ..tables.batches import scored_batches
from ..tables.table_job import Nulls, TableJob

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def score(
    frame: DataFrame,
    spec: ScorerSpec | ReferenceScorer,
    *,
    question_column: str = "question",
    answer_column: str = "answer",
    columns: Sequence[str] | None = None,
    nulls: Nulls = "error",
    where: str | None = None,
    reference_column: str | Sequence[str] = "references",
) -> DataFrame:
    """Appends columns of scores (double) to a frame, lazily; other columns keep their metadata and nullability.

    Columns are checked at once, and rows when they are computed. The scores equal the scores of `Scorer`, bit for bit.
    Spark scores the rows of a lost worker again, so no row is lost or duplicated.

    Every node needs this package. It also needs the suite at the same path, unless the suite is packaged or was built
    in memory. By default a worker scores with one thread, because Spark runs one worker for each core.

    The frame may be a stream, or a frame of Spark Connect. The other arguments are those of `score_batches`.

    If a row cannot be scored, the job fails with the `PythonException` of Spark. Its last line is the error of this
    package, with the partition (`spark_partition_id()`), the host, and the row of the partition, counted from 1.
    """
    types = optional("pyspark.sql.types", extra="spark", needed_for="Spark")
    job = TableJob(spec, question_column, answer_column, columns, nulls, where, reference_column=reference_column)
    _check_columns(frame, job, types)
    schema = types.StructType(
        [
            *frame.schema.fields,
            *(types.StructField(name, types.DoubleType(), nullable=True) for name in job.names.scores),
        ]
    )
    names, sent = frame.columns, job.with_threads(1)

    def scored_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _scored_partition(batches, names, sent)

    return _with_plain_names(frame).mapInArrow(scored_partition, schema)


def _check_columns(frame: DataFrame, job: TableJob, types: Any) -> None:
    """Checks that a frame has the columns to read, as texts, and no column with the name of a score."""
    job.names.check(frame.columns, "the frame")
    for name in job.names.inputs:
        kind = frame.schema[name].dataType
        if name in job.names.lists and isinstance(kind, types.ArrayType):
            kind = kind.elementType
        if not isinstance(kind, types.StringType | types.NullType):
            raise TrialsError(f"the frame: column {name!r}: expected texts, not {kind.simpleString()}")
    if frame.sparkSession.conf.get("spark.sql.caseSensitive") != "true":
        there = {name.lower(): name for name in frame.columns}
        for score in job.names.scores:
            if score.lower() in there:
                raise TrialsError(
                    f"the frame: there is already a column {there[score.lower()]!r}, which Spark does not distinguish "
                    f"from {score!r}, the name of a score; rename or drop it"
                )


def _with_plain_names(frame: DataFrame) -> DataFrame:
    """The frame with plain column names, because `mapInArrow` parses dots and backticks in names."""
    if not any(mark in name for name in frame.columns for mark in ".`"):
        return frame
    return frame.toDF(*(f"column_{i}" for i in range(len(frame.columns))))


def _scored_partition(batches: Iterator[pa.RecordBatch], names: list[str], job: TableJob) -> Iterator[pa.RecordBatch]:
    """Scores a partition in a worker; errors name the partition and the host."""
    try:
        yield from scored_batches((_named(batch, names) for batch in batches), job)
    except PfgenError as error:
        task = optional("pyspark", extra="spark", needed_for="Spark").TaskContext.get()
        raise type(error)(f"partition {task.partitionId()} on {socket.gethostname()}: {error}") from None


def _named(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    if batch.schema.names == names:
        return batch
    pa = optional("pyarrow", extra="spark", needed_for="Spark")
    fields = [field.with_name(name) for field, name in zip(batch.schema, names, strict=True)]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))

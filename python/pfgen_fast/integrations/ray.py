"""Scores a dataset of Ray Data.

Every worker process makes the scorer once, from a spec of a few hundred bytes. Ray scores in tasks, which it fuses with
the tasks that read, so blocks are not copied. A task holds its core only while it works, so scoring cannot block
reading.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..base.errors import PfgenError, TrialsError, optional
from ..rewards.references.reference_scorer import ReferenceScorer
from ..scoring.scorer import ScorerSpec
from ..tables.arrow_columns import check_schema, pyarrow
from ..tables.batches import scored_batches, scored_schema
from ..tables.table_job import Nulls, TableJob

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset


def score(
    dataset: Dataset,
    spec: ScorerSpec | ReferenceScorer,
    *,
    question_column: str = "question",
    answer_column: str = "answer",
    columns: Sequence[str] | None = None,
    nulls: Nulls = "error",
    where: str | None = None,
    reference_column: str | Sequence[str] = "references",
    num_cpus: float = 1,
    batch_size: int | None = None,
) -> Dataset:
    """Appends columns of scores to a dataset, lazily.

    The scores equal the scores of a single process, bit for bit. Ray determines the order of rows. If a worker dies,
    Ray replaces it and scores its blocks again, so no row is lost or duplicated. A rerun writes all rows again.

    An error in a worker is raised as a `RayTaskError` that is also an error of this package; its last line is the
    message. Ray does not retry. Columns are checked at once if Ray knows the schema, and otherwise when the dataset is
    read. A dataset without rows gets no columns of scores, because Ray Data does not call the scorer for it.

    Every node needs the suite of the `spec` at the same path. `num_cpus` is the number of cores of each task; a
    scorer has one thread for each whole core of its task. `batch_size` is the number of rows to score at a time; by
    default the rows of a block. The other arguments are those of `score_batches`.
    """
    ray = _ray()
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size: expected at least 1, not {batch_size}")
    if not num_cpus > 0:
        raise ValueError(f"num_cpus: expected a number above 0, not {num_cpus}")
    if not isinstance(spec, ScorerSpec | ReferenceScorer):
        raise PfgenError(f"spec: expected a ScorerSpec or a ReferenceScorer, not {type(spec).__name__}")
    job = TableJob(spec, question_column, answer_column, columns, nulls, where, reference_column=reference_column)
    schema = getattr(dataset.schema(fetch_if_missing=False), "base_schema", None)
    if isinstance(schema, pyarrow().Schema):  # for frames of pandas, the schema has other types
        check_schema(schema, job.names, "the dataset")
    nodes = ray.nodes() if ray.is_initialized() else []
    most = max((node["Resources"].get("CPU", 0) for node in nodes if node["Alive"]), default=num_cpus)
    if num_cpus > most:
        warnings.warn(f"num_cpus={num_cpus:g}: no node has this number of cores (maximum: {most:g})", stacklevel=2)
    return dataset.map_batches(
        _scored,
        fn_kwargs={"job": job.with_threads(max(1, math.floor(num_cpus)))},
        batch_format="pyarrow",
        batch_size=batch_size,
        zero_copy_batch=True,
        **({} if num_cpus == 1 else {"num_cpus": num_cpus}),  # one is the default, with which tasks are fused
    )


def _scored(block: pa.Table, job: TableJob) -> Iterator[pa.Table]:
    """Yields a block with its scores; Ray Data does not wrap errors of generators."""
    try:
        batches = list(scored_batches(block, job))
        schema = batches[0].schema if batches else scored_schema(block.schema, job)
        yield pyarrow().Table.from_batches(batches, schema)
    except TrialsError as error:
        raise _ray_error(TrialsError, f"a block of {block.num_rows:,} rows: {error}") from None
    except PfgenError as error:
        raise _ray_error(type(error), str(error)) from None


@functools.cache
def _ray_error_type(kind: Any) -> Any:
    user_code_exception: type[Exception] = _ray().exceptions.UserCodeException

    class RayError(user_code_exception, kind):  # type: ignore[misc, valid-type]
        """An error that Ray treats as an error of user code: it hides its frames and does not change the message."""

        def __init__(self, sentence: str) -> None:
            Exception.__init__(self, sentence)
            self.sentence = self.problem = sentence
            self.column = self.row = None  # not about an argument of a call

        def __str__(self) -> str:
            return self.sentence

        def __reduce__(self) -> tuple[Any, ...]:
            return _ray_error, (kind, self.sentence)

    RayError.__module__, RayError.__qualname__, RayError.__name__ = kind.__module__, kind.__qualname__, kind.__name__
    return RayError


def _ray_error(kind: type[PfgenError], sentence: str) -> PfgenError:
    error: PfgenError = _ray_error_type(kind)(sentence)  # type: ignore[arg-type]  # its class is hashable
    return error


def _ray() -> Any:
    optional("ray.data", extra="ray", needed_for="the integration of Ray")
    return optional("ray", extra="ray", needed_for="the integration of Ray")

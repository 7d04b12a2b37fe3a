"""Scores a dataset of Ray Data.

Every worker process makes the scorer once, from a spec of a few hundred bytes. By default Ray scores in tasks. It fuses
them with the tasks that read, so blocks are not copied. A task holds its core only while it works, so scoring cannot
block reading. Actors hold their cores to the end; use them for a fixed number of scorers.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import PfgenError, TrialsError
from ..files.optional import optional
from ..references.reference_scorer import ReferenceScorer
from ..scoring.spec import ScorerSpec
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
    actors: int | None = None,
    num_cpus: float | None = None,
    batch_size: int | None = None,
) -> Dataset:
    """Appends columns of scores to a dataset, lazily.

    The scores equal the scores of a single process, bit for bit. Ray determines the order of rows. If a worker dies,
    Ray replaces it and scores its blocks again, so no row is lost or duplicated. A rerun writes all rows again.

    An error in a worker is raised as a `RayTaskError` that is also an error of this package; its last line is the
    message. Ray does not retry. Columns are checked at once if Ray knows the schema, and otherwise when the dataset is
    read. A dataset without rows gets no columns of scores, because Ray Data does not call the scorer for it.

    Every node needs the suite of the `spec` at the same path. By default a scorer has one thread for each whole core of
    its task. `actors` is the number of actors; by default Ray starts tasks as cores become free. `num_cpus` is the
    number of cores of each task (default: 1) or actor (default: `share_of_cores`, which leaves a whole core for
    reading). `batch_size` is the number of rows to score at a time; by default the rows of a block. The other arguments
    are those of `score_batches`.
    """
    ray = _ray()
    _check_numbers(actors, num_cpus, batch_size)
    job = TableJob(
        _checked_spec(spec), question_column, answer_column, columns, nulls, where, reference_column=reference_column
    )
    schema = getattr(dataset.schema(fetch_if_missing=False), "base_schema", None)
    if isinstance(schema, pyarrow().Schema):  # for frames of pandas, the schema has other types
        check_schema(schema, job.names, "the dataset")
    n_cores = _cores_of_nodes(ray)
    if actors is not None and num_cpus is None:
        num_cpus = share_of_cores(actors, n_cores)
    _warn_of_waiting(actors, num_cpus, n_cores)
    job = job.with_threads(_threads(num_cpus))
    means: dict[str, Any] = {} if num_cpus is None else {"num_cpus": num_cpus}
    if actors is None:
        means |= {"fn": _scored, "fn_kwargs": {"job": job}}
    else:
        pool = ray.data.ActorPoolStrategy(size=actors)
        means |= {"fn": _ScoringActor, "fn_constructor_kwargs": {"job": job}, "compute": pool}
    return dataset.map_batches(batch_format="pyarrow", batch_size=batch_size, zero_copy_batch=True, **means)


def share_of_cores(actors: int, n_cores: Sequence[int]) -> float:
    """The cores for each actor such that a whole core is left for reading; `n_cores` has the cores of each node.

    Example:
        >>> [share_of_cores(actors, [2]) for actors in (1, 2)], share_of_cores(1, [1]), share_of_cores(11, [3, 8])
        ([1.0, 0.5], 0.0, 0.6666)
    """
    if not n_cores or _leaves_room(actors, 1.0, n_cores):
        return 1.0  # as for a task that reads, which Ray Data then runs in the actor
    fewest = min(n_cores)
    return math.floor((fewest - 1) / fewest * 10_000) / 10_000  # Ray counts in units of 1/10,000 core


def _leaves_room(actors: int, share: float, n_cores: Sequence[int]) -> bool:
    """Whether some node has a whole core left for any distribution of the actors."""
    if share == 0:
        return True
    return actors < sum(math.floor((cores - 1) / share + 1e-9) + 1 for cores in n_cores)


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


class _ScoringActor:
    def __init__(self, job: TableJob) -> None:
        self._job = job

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        yield from _scored(block, self._job)


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


def _threads(num_cpus: float | None) -> int:
    """One thread for each whole core."""
    return max(1, math.floor(num_cpus or 1))


def _ray() -> Any:
    optional("ray.data", extra="ray", needed_for="pfgen_fast.distributed.ray")
    return optional("ray", extra="ray", needed_for="pfgen_fast.distributed.ray")


def _checked_spec(spec: object) -> ScorerSpec | ReferenceScorer:
    if not isinstance(spec, ScorerSpec | ReferenceScorer):
        raise PfgenError(f"spec: expected a ScorerSpec or a ReferenceScorer, not {type(spec).__name__}")
    return spec


def _check_numbers(actors: int | None, num_cpus: float | None, batch_size: int | None) -> None:
    for name, number in (("actors", actors), ("batch_size", batch_size)):
        if number is not None and number < 1:
            raise ValueError(f"{name}: expected at least 1, not {number}")
    if num_cpus is not None and (num_cpus < 0 or (num_cpus == 0 and actors is None)):
        raise ValueError(f"num_cpus: expected a number above 0, not {num_cpus}")


def _cores_of_nodes(ray: Any) -> list[int]:
    """The number of cores of each node of Ray that has cores; empty if Ray does not run yet."""
    if not ray.is_initialized():
        return []
    cores = (math.floor(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"])
    return [of_node for of_node in cores if of_node]


def _warn_of_waiting(actors: int | None, num_cpus: float | None, n_cores: Sequence[int]) -> None:
    """Warns if actors can take all cores, so that reading is blocked forever unless Ray gets more nodes."""
    if not n_cores or num_cpus is None:
        return
    if num_cpus > max(n_cores):
        sentence = f"num_cpus={num_cpus:g}: no node has this number of cores (maximum: {max(n_cores)})"
    elif actors is not None and not _leaves_room(actors, num_cpus, n_cores):
        sentence = (
            f"actors={actors}, num_cpus={num_cpus:g}: the actors may take all cores of Ray ({sum(n_cores)}) and block "
            "reading forever; reduce actors or num_cpus, or omit num_cpus"
        )
    else:
        return
    warnings.warn(sentence, stacklevel=3)

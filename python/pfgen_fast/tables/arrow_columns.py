"""Arrow columns of tables: pyarrow on demand, which types hold texts, and columns of scores."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import TrialsError
from ..files.optional import optional
from .rows import Columns, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MISFITS = (ValueError, TypeError, OverflowError, NotImplementedError)
"""The errors of pyarrow for values that fit no array, and for arrays without equivalent Python values."""


def pyarrow() -> Any:
    """The package pyarrow, with its Parquet module loaded."""
    optional("pyarrow.parquet", extra="tables", needed_for="Parquet")
    return optional("pyarrow", extra="tables", needed_for="Parquet")


@contextlib.contextmanager
def giving_memory_back() -> Iterator[None]:
    """Lets pyarrow use the allocator that gives memory back soonest; with the usual one the peak is 100 MB higher.

    It is a setting of the whole process, but harmless: what is allocated meanwhile is freed where it was allocated.
    """
    pa = pyarrow()
    usual = pa.default_memory_pool()
    with contextlib.suppress(NotImplementedError):  # not every system has it
        pa.set_memory_pool(pa.jemalloc_memory_pool())
        pa.jemalloc_set_decay_ms(0)
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


def check_schema(schema: Any, columns: Columns, location: str) -> None:
    """Checks that a schema has the columns that scoring reads, as texts, and none that it adds.

    Raises:
        TrialsError: It has not; the message begins with `location`.
    """
    columns.check(schema.names, location)
    for name in filter(schema.names.__contains__, (columns.question, columns.answer)):
        kind = schema.field(name).type
        if not _holds_texts(kind):
            raise TrialsError(f"{location}, column {name!r}: expected texts, not {kind}")


def _holds_texts(kind: Any) -> bool:
    types = pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)
    )


def with_scores(schema: Any, columns: Columns) -> Any:
    """The schema with the columns of scores appended; its metadata stay."""
    pa = pyarrow()
    return pa.schema([*schema, *((name, pa.float64()) for name in columns.scores)], schema.metadata)


def only_passing(batch: Any, passing: NDArray[np.bool_]) -> Any:
    """The rows of a batch that pass, whatever types it has."""
    pa = pyarrow()
    try:
        return batch.filter(pa.array(passing))
    except pa.ArrowNotImplementedError:  # pyarrow joins columns of views, such as those of polars, but filters none
        runs = [batch.slice(begin, end - begin) for begin, end in _runs(passing)] or [batch.slice(0, 0)]
        columns = [pa.concat_arrays([run.column(i) for run in runs]) for i in range(batch.num_columns)]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _runs(passing: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """The runs of true values, each with the index of its first value and that after its last."""
    import numpy as np

    borders = np.flatnonzero(np.diff(passing, prepend=False, append=False)).tolist()
    return zip(borders[::2], borders[1::2], strict=True)


def score_arrays(scores: Scores) -> list[Any]:
    """Columns of scores as Arrow arrays, with null for NaN; their memory is shared."""
    pa = pyarrow()
    return [pa.array(column, pa.float64(), from_pandas=True) for column in scores.values()]

"""Arrow columns of tables: pyarrow on demand, which types hold texts, and columns of scores."""

from __future__ import annotations

from typing import Any

from ..errors import TrialsError
from ..files.optional import optional
from .rows import Columns, Scores


def pyarrow() -> Any:
    """The package pyarrow, with its Parquet module loaded."""
    optional("pyarrow.parquet", extra="tables", needed_for="Parquet")
    return optional("pyarrow", extra="tables", needed_for="Arrow")


def check_schema(schema: Any, columns: Columns, location: str) -> None:
    """Checks that a schema has the columns that scoring reads, as texts, and none that it adds.

    Raises:
        TrialsError: It has not; the message begins with `location`.
    """
    columns.check(schema.names, location)
    for name in (columns.question, columns.answer):
        kind = schema.field(name).type
        if not _holds_texts(kind):
            raise TrialsError(f"{location}: column {name!r}: expected texts, not {kind}")


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


def score_arrays(scores: Scores) -> list[Any]:
    """Columns of scores as Arrow arrays, with null for NaN; their memory is shared."""
    pa = pyarrow()
    return [pa.array(column, pa.float64(), from_pandas=True) for column in scores.values()]

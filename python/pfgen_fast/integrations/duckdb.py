"""Scores as a function of DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base.errors import PfgenError, optional
from ..base.untrusted_text import in_one_line
from ..rewards.references.reference_scorer import ReferenceScorer
from ..tables.arrow_columns import score_arrays
from ..tables.table_job import Nulls, TableJob, TableScorer

if TYPE_CHECKING:
    import duckdb


def register(
    connection: duckdb.DuckDBPyConnection,
    spec: TableScorer,
    *,
    name: str = "pfgen_score",
    column: str | None = None,
    columns: Sequence[str] | None = None,
    nulls: Nulls = "error",
) -> None:
    """Registers the SQL function `name(question, answer)`, which scores answers.

    For a `ReferenceScorer`, it is `name(answer, references)`, and `references` is a list of texts (`VARCHAR[]`).

    DuckDB calls the function with up to 2,048 rows at a time, from several threads, which share one scorer. For large
    tables, `score_batches` is faster; see docs/engines/duckdb.md.

    Args:
        connection: The connection; its cursors have the function too.
        spec: The spec of the scorer. Use `threads=1`, because DuckDB calls the function from several threads.
        name: The name of the function, which must be new.
        column: The score to return, as a DOUBLE; by default the average, or the first metric of a `ReferenceScorer`.
        columns: The scores to return instead, as a STRUCT, which `unnest(...)` converts to columns; `spec.columns`
            lists all scores.
        nulls: `"error"` ends the query with an error if an answer is missing; `"null"` gives it null scores.

    Raises:
        PfgenError: A score is unknown, DuckDB refuses the function, or duckdb or pyarrow is not installed.

    If a row cannot be scored, the query ends with `duckdb.InvalidInputException`. The message counts rows from 1 within
    one call of the function.

    Example:
        >>> import duckdb
        >>> from pfgen_fast import ScorerSpec
        >>> connection = duckdb.connect()
        >>> register(connection, ScorerSpec("mini", threads=1))
        >>> connection.sql("SELECT pfgen_score('Q07', 'Ice floats.') AS average").fetchall()
        [(0.02259,)]
        >>> register(connection, ScorerSpec("mini", threads=1), name="pfgen_scores", columns=["fluency", "helpfulness"])
        >>> connection.sql("SELECT unnest(pfgen_scores('Q07', 'Ice floats.'))").columns
        ['fluency', 'helpfulness']
    """
    duckdb = optional("duckdb", extra="duckdb", needed_for="register")
    pa = optional("pyarrow", extra="duckdb", needed_for="register")
    usual: Sequence[str] = ["average"]
    types = ["VARCHAR", "VARCHAR"]
    if isinstance(spec, ReferenceScorer):
        usual, types = spec.columns[:1], ["VARCHAR", "VARCHAR[]"] if spec.needs_references else ["VARCHAR"]
    wanted = columns if columns is not None else usual if column is None else [column]
    job = TableJob(spec, columns=wanted, nulls=nulls)

    def score(*inputs: Any) -> Any:
        outcome = job.score(inputs, lambda row: f"row {(row or 0) + 1} of {len(inputs[0])}")
        arrays = score_arrays(outcome.scores)
        return arrays[0] if columns is None else pa.StructArray.from_arrays(arrays, names=list(outcome.scores))

    # DuckDB counts the parameters.
    function = (lambda first, other: score(first, other)) if len(types) == 2 else (lambda answers: score(answers))
    create: Any = connection.create_function  # its type annotations differ between versions
    try:
        type_ = "DOUBLE" if columns is None else duckdb.struct_type(dict.fromkeys(job.names.scores, "DOUBLE"))
        create(name, function, types, type_, type="arrow", null_handling="special")
    except duckdb.Error as error:
        raise PfgenError(f"DuckDB refuses the function {name!r}: {in_one_line(str(error), 300)}") from None

"""Scores as an expression of polars, for data frames, lazy frames and the streaming engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from ..base.errors import TrialsError, optional
from ..rewards.references.reference_scorer import ReferenceScorer
from ..scoring.scorer import Scorer, ScorerSpec
from ..tables.table_job import Nulls, TableJob

if TYPE_CHECKING:
    import polars as pl


def score(
    question: str | pl.Expr,
    answer: str | pl.Expr,
    spec: ScorerSpec | Scorer,
    *,
    column: str = "average",
    columns: Sequence[str] | None = None,
    nulls: Nulls = "error",
) -> pl.Expr:
    """An expression with the scores of answers.

    The expression works row by row, so polars can filter before scoring and can stream. Its type is known before it
    runs. Strings, categories and enums are read without a copy.

    Args:
        question: The column with the id or exact text of each question, or an expression. For one question, pass
            `pl.lit("Q07")`.
        answer: The column with the answers, or an expression.
        spec: A `ScorerSpec`, from which each process makes one scorer; or a `Scorer`.
        column: The score, which becomes a column of floats with this name.
        columns: The scores to return instead, as a struct named `scores`, which `unnest("scores")` converts to columns;
            `spec.columns` lists all scores.
        nulls: `"error"` raises an error that names the row of a missing answer; `"null"` gives the row null scores.

    If both the question and the answer of a row are null, its scores are null, because polars passes nulls for the rows
    of other branches of `when().then()`. If the question is a literal there, pass `nulls="null"`.

    If a row cannot be scored, polars raises `TrialsError` when it runs the expression. The message counts rows from 1
    within the part of the frame that polars passed in one call.

    Example:
        >>> import polars as pl
        >>> spec = ScorerSpec("mini")
        >>> df = pl.DataFrame({"question": ["Q07", "Q08"], "answer": ["Ice floats.", ""]})
        >>> df.with_columns(score("question", "answer", spec))["average"].to_list()
        [0.02259, 0.0]
        >>> df.select(score("question", "answer", spec, columns=["fluency", "helpfulness"])).unnest("scores").columns
        ['fluency', 'helpfulness']
    """
    names = _name(question, "question"), _name(answer, "answer")
    job = TableJob(spec, *names, [column] if columns is None else columns, nulls)
    return _expression(job, [question, answer], as_struct=columns is not None)


def score_references(
    answer: str | pl.Expr,
    references: str | pl.Expr | Sequence[str | pl.Expr],
    scorer: ReferenceScorer,
    *,
    column: str | None = None,
    columns: Sequence[str] | None = None,
    nulls: Nulls = "error",
) -> pl.Expr:
    """An expression with the reference metrics of answers, whose references are in the same row.

    Args:
        answer: The column with the answers, or an expression.
        references: The column with a list of references, or with one reference, in each row; or several such columns,
            whose references are joined.
        scorer: The metrics.
        column: The metric, which becomes a column of floats with this name; by default the first of the scorer.
        columns: The metrics to return instead, as a struct named `scores`; see `score`.
        nulls: `"error"` raises an error that names a row without an answer or without references; `"null"` gives the
            row null scores.

    Example:
        >>> import polars as pl
        >>> df = pl.DataFrame({"answer": ["Ice floats."], "references": [["Ice floats.", "It floats."]]})
        >>> df.with_columns(score_references("answer", "references", ReferenceScorer(["chrf"])))["chrf"].to_list()
        [100.0]
    """
    listed = [references] if not isinstance(references, Sequence) or isinstance(references, str) else references
    listed = listed if scorer.needs_references else []
    chosen = columns if columns is not None else scorer.columns[:1] if column is None else [column]
    names = [_name(column, "references") for column in listed]
    job = TableJob(scorer, answer_column=_name(answer, "answer"), columns=chosen, nulls=nulls, reference_column=names)
    return _expression(job, [answer, *listed], as_struct=columns is not None)


def _expression(job: TableJob, inputs: Sequence[str | pl.Expr], *, as_struct: bool) -> pl.Expr:
    pl = optional("polars", extra="polars", needed_for="score")
    fields = [pl.Field(name, pl.Float64) for name in job.names.scores]
    return (
        pl.struct(**dict(zip(map(str, range(len(inputs))), inputs, strict=True)))  # makes literals as long as columns
        .map_batches(
            _ScoreSeries(job, as_struct=as_struct),
            return_dtype=pl.Struct(fields) if as_struct else pl.Float64,
            is_elementwise=True,
        )
        .alias("scores" if as_struct else job.names.scores[0])
    )


def _name(column: str | pl.Expr, role: str) -> str:
    """The name of a column in messages."""
    if isinstance(column, str):
        return column
    return column.meta.output_name(raise_if_undetermined=False) or role


class _ScoreSeries:
    """Scores a series of structs; a class, because polars pickles the functions of a plan."""

    def __init__(self, job: TableJob, *, as_struct: bool) -> None:
        self._job, self._as_struct = job, as_struct

    def __call__(self, structs: pl.Series) -> pl.Series:
        pl = optional("polars", extra="polars", needed_for="score")
        inputs, names = structs.struct.fields, self._job.names
        columns = [structs.struct.field(field) for field in inputs]
        for column, name in zip(columns, names.inputs, strict=True):
            kind = column.dtype.inner if column.dtype == pl.List and name in names.lists else column.dtype
            if kind not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
                raise TrialsError(f"column {name!r}: expected texts, not {column.dtype}")
        rows = reduce(or_, (column.is_not_null() for column in columns)).arg_true()
        if len(rows) < len(structs):
            columns = [column.gather(rows) for column in columns]
        outcome = self._job.score(columns, lambda row: f"row {rows[row or 0] + 1} of {len(structs)}")
        series = [pl.Series(name, values, nan_to_null=True) for name, values in outcome.scores.items()]
        if len(rows) < len(structs):
            empty = pl.Series([None], dtype=pl.Float64).new_from_index(0, len(structs))
            series = [empty.clone().scatter(rows, column).alias(column.name) for column in series]
        return pl.DataFrame(series).to_struct(structs.name) if self._as_struct else series[0].alias(structs.name)

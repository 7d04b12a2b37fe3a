"""Scores as an expression of polars, for data frames, lazy frames and the streaming engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import TrialsError
from ..files.optional import optional
from ..scoring.scorer import Scorer
from ..scoring.spec import ScorerSpec
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
    pl = optional("polars", extra="polars", needed_for="score")
    names = _name(question, "question"), _name(answer, "answer")
    job = TableJob(spec, *names, [column] if columns is None else columns, nulls)
    fields = [pl.Field(name, pl.Float64) for name in job.names.scores]
    return (
        pl.struct(**{_QUESTION: question, _ANSWER: answer})  # makes literals as long as columns
        .map_batches(
            _ScoreSeries(job, as_struct=columns is not None),
            return_dtype=pl.Float64 if columns is None else pl.Struct(fields),
            is_elementwise=True,
        )
        .alias("scores" if columns is not None else column)
    )


_QUESTION, _ANSWER = "question", "answer"


def _name(column: str | pl.Expr, role: str) -> str:
    """The name of a column in messages."""
    if isinstance(column, str):
        return column
    return column.meta.output_name(raise_if_undetermined=False) or role


class _ScoreSeries:
    """Scores a series of pairs; a class, because polars pickles the functions of a plan."""

    def __init__(self, job: TableJob, *, as_struct: bool) -> None:
        self._job, self._as_struct = job, as_struct

    def __call__(self, pairs: pl.Series) -> pl.Series:
        pl = optional("polars", extra="polars", needed_for="score")
        questions, answers = pairs.struct.field(_QUESTION), pairs.struct.field(_ANSWER)
        for column, name in ((questions, self._job.question_column), (answers, self._job.answer_column)):
            if column.dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
                raise TrialsError(f"column {name!r}: expected texts, not {column.dtype}")
        rows = (questions.is_not_null() | answers.is_not_null()).arg_true()
        if len(rows) < len(pairs):
            questions, answers = questions.gather(rows), answers.gather(rows)
        found = self._job.score(questions, answers, lambda row: f"row {rows[row or 0] + 1} of {len(pairs)}")
        series = [pl.Series(name, values, nan_to_null=True) for name, values in found.scores.items()]
        if len(rows) < len(pairs):
            empty = pl.Series([None], dtype=pl.Float64).new_from_index(0, len(pairs))
            series = [empty.clone().scatter(rows, one).alias(one.name) for one in series]
        return pl.DataFrame(series).to_struct(pairs.name) if self._as_struct else series[0].alias(pairs.name)

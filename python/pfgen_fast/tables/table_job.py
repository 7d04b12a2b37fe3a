"""The options for scoring tables: the columns to read, the scores to append, and the filter."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from ..base.errors import PfgenError, TrialsError
from ..base.untrusted_text import in_one_line
from ..rewards.references.reference_scorer import ReferenceScorer
from ..scoring.reply_text import ReasoningChoice, without_reasoning
from ..scoring.scorer import Scorer, ScorerSpec
from ..suite.rules import check_choice
from ..suite.suite import Suite
from .arrow_columns import pyarrow
from .table_rows import Columns, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_OPERATORS: dict[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISON = re.compile(r"\s*(?P<column>.+?)\s*(?P<operator>>=|<=|==|!=|>|<)\s*(?P<number>\S+)\s*", re.DOTALL)
_OF_NO_COLUMN = re.compile(r"[<>=!&|,]|\b(and|or|not)\b", re.IGNORECASE)
"""Matches a text that is more than a misspelt column, such as a second comparison or another kind of condition."""


@dataclass(frozen=True)
class RowFilter:
    """Comparisons that a row must all pass; a comparison with a missing score (NaN) always fails."""

    comparisons: tuple[tuple[str, str, float], ...] = ()  # column of scores, operator, number

    @classmethod
    def parsed(cls, text: str | None, columns: Sequence[str]) -> RowFilter:
        """Parses a filter such as `average >= 0.6`; every row passes the filter None."""
        parts = () if text is None else re.split(r"\s+and\s+", text.strip())
        return cls(tuple(_comparison(part, str(text), columns) for part in parts))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are compared."""
        return tuple(dict.fromkeys(column for column, _, _ in self.comparisons))

    def passing(self, scores: Mapping[str, NDArray[np.float64]], n_rows: int) -> NDArray[np.bool_]:
        """Whether each row passes."""
        import numpy as np

        passing = np.ones(n_rows, dtype=np.bool_)
        for column, name, number in self.comparisons:
            passing &= (scores[column] == scores[column]) & _OPERATORS[name](scores[column], number)  # not NaN
        return passing


def _comparison(part: str, text: str, columns: Sequence[str]) -> tuple[str, str, float]:
    match = _COMPARISON.fullmatch(part)
    if not match or (match["column"] not in columns and _OF_NO_COLUMN.search(match["column"])):
        raise PfgenError(
            f"filter {_shown(text)}: expected comparisons such as 'average >= 0.6', joined by 'and', not {_shown(part)}"
        )
    if match["column"] not in columns:
        raise PfgenError(f"filter {_shown(text)}: no score {_shown(match['column'])}; there are {', '.join(columns)}")
    try:
        number = float(match["number"])
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise PfgenError(f"filter {_shown(text)}: expected a number, not {_shown(match['number'])}")
    return match["column"], match["operator"], number


def _shown(text: str) -> str:
    return in_one_line(repr(text), 80)


TableScorer = ScorerSpec | Scorer | ReferenceScorer
"""What scores tables: `question_column` is for the first two, `reference_column` for the third."""
Nulls = Literal["error", "null"]
Location = Callable[[int | None], str]
"""Returns the location of a row of a batch for error messages; for None, that of the table."""


@dataclass(frozen=True)
class ScoredRows:
    """The scores of the rows that pass the filter; `passing` has a value for each row (None: all rows pass)."""

    scores: Scores
    passing: NDArray[np.bool_] | None


@dataclass(frozen=True)
class TableJob:
    """The checked options of `score_table` and `score_batches`. It can be pickled and sent to workers.

    Attributes:
        spec: A `Scorer` or a `ScorerSpec`; or a `ReferenceScorer`, which needs no question column.
        question_column: The column with the id or exact text of each question.
        answer_column: The column with the answers.
        columns: The scores to append, such as `["average"]`; by default all scores.
        nulls: `"error"` raises an error that names the row of a missing answer; `"null"` gives the row null scores.
        where: The condition for rows to write, such as `"average >= 0.6"`; by default all rows are written. It may use
            scores that are not in `columns`.
        encoding: The encoding of CSV and TSV files, such as `"cp932"`; by default the encoding of the byte-order mark,
            or UTF-8.
        reasoning: `"strip"` removes the reasoning of a model before scoring; `"keep"` scores texts unchanged.
        reference_column: For a `ReferenceScorer`, the column with the references of each row (a list of texts, or a
            text; in CSV, a JSON list), or several such columns, whose references are joined.
    """

    spec: TableScorer
    question_column: str = "question"
    answer_column: str = "answer"
    columns: Sequence[str] | None = None
    nulls: Nulls = "error"
    where: str | None = None
    encoding: str | None = None
    reasoning: ReasoningChoice = "keep"
    reference_column: str | Sequence[str] = "references"
    row_filter: RowFilter = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("reasoning", self.reasoning, ("keep", "strip"))
        check_choice("nulls", self.nulls, ("error", "null"))
        there = self._score_columns
        object.__setattr__(self, "columns", _checked(self.columns, there))
        object.__setattr__(self, "row_filter", RowFilter.parsed(self.where, there))
        _ = self.names  # raises an error if a column is missing

    @property
    def _score_columns(self) -> tuple[str, ...]:
        if isinstance(self.spec, ReferenceScorer) and "corpus_bleu" in self.spec.metrics:
            raise PfgenError("corpus_bleu is one number for all rows, not a column: use bleu")
        if isinstance(self.spec, ScorerSpec | ReferenceScorer):
            return self.spec.columns
        if isinstance(self.spec, Scorer):
            return self.spec.score((), ()).columns[1:]
        raise PfgenError(
            "spec: expected a ScorerSpec, such as ScorerSpec('mini'), a Scorer or a ReferenceScorer, "
            f"not {self.spec!r:.80}"
        )

    @property
    def suite(self) -> Suite | None:
        """The suite; None if the answers are compared with the references of their rows."""
        return None if isinstance(self.spec, ReferenceScorer) else self.spec.suite

    @cached_property
    def reference_columns(self) -> tuple[str, ...]:
        """The columns with references; empty if the spec needs none."""
        if not isinstance(self.spec, ReferenceScorer) or not self.spec.needs_references:
            return ()
        columns = (self.reference_column,) if isinstance(self.reference_column, str) else tuple(self.reference_column)
        if not columns:
            raise PfgenError("reference_column: expected at least one column")
        return columns

    @cached_property
    def names(self) -> Columns:
        """The columns to read and to append."""
        answer, lists = self.answer_column, self.reference_columns
        optional = (answer, *lists) if self.nulls == "null" else lists if len(lists) > 1 else ()
        inputs = (answer, *lists) if isinstance(self.spec, ReferenceScorer) else (self.question_column, answer)
        return Columns(inputs, answer, tuple(self.columns or ()), optional, lists)

    @cached_property
    def description(self) -> Mapping[str, str]:
        """Everything except the source that determines an output: equal descriptions produce equal outputs."""
        if isinstance(self.spec, ReferenceScorer):
            columns = {"reference columns": ", ".join(self.reference_columns)}
        else:
            columns = {"question column": self.question_column}
        return {
            "signature": self.spec.signature,
            **columns,
            "answer column": self.answer_column,
            "columns": ", ".join(self.names.scores),
            "nulls": self.nulls,
            "filter": "" if self.where is None else " ".join(self.where.split()),
            "encoding": self.encoding or "",
            **({"reasoning": "strip"} if self.reasoning == "strip" else {}),
        }

    def with_threads(self, threads: int) -> TableJob:
        """The job with this number of threads, unless its spec already has one."""
        spec = self.spec
        if isinstance(spec, ScorerSpec):
            return replace(self, spec=spec.with_threads(threads))
        if isinstance(spec, ReferenceScorer) and spec.threads is None:
            return replace(self, spec=replace(spec, threads=threads))
        return self

    def score(self, inputs: Sequence[Any], location: Location) -> ScoredRows:
        """Scores a batch: the columns `names.inputs`."""
        columns = list(inputs)
        if self.reasoning == "strip":
            answers = 0 if isinstance(self.spec, ReferenceScorer) else 1
            texts = _values_of(columns[answers])
            columns[answers] = [without_reasoning(text) if isinstance(text, str) else text for text in texts]
        try:
            table = self._all_scores(columns)
        except TrialsError as error:
            column_of = {"answers": self.answer_column, "questions": self.question_column}
            among = column_of.get(str(error.column))
            column = " and ".join(map(repr, self.reference_columns)) if among is None else repr(among)
            is_missing = re.match("expected a str, not NoneType|a null|expected at least one reference", error.problem)
            hint = '; nulls="null" (--nulls) gives such rows null scores' if is_missing else ""
            raise TrialsError(f"{location(error.row)}, column {column}: {error.problem}{hint}") from None
        scores = {name: table[name] for name in self.names.scores}
        if not self.row_filter.comparisons:
            return ScoredRows(scores, None)
        compared = {name: table[name] for name in self.row_filter.columns}
        passing = self.row_filter.passing(compared, len(table[self.row_filter.columns[0]]))
        return ScoredRows({name: column[passing] for name, column in scores.items()}, passing)

    def _all_scores(self, columns: Sequence[Any]) -> Any:
        if isinstance(self.spec, ReferenceScorer):
            references = _references_of(columns[1:], nulls=self.nulls) if columns[1:] else None
            return self.spec.score(columns[0], references, nulls=self.nulls)
        scorer = self.spec.scorer if isinstance(self.spec, ScorerSpec) else self.spec
        return scorer.score(*columns, nulls=self.nulls)


def _checked(columns: Sequence[str] | None, there: Sequence[str]) -> tuple[str, ...]:
    if columns is None:
        return tuple(there)
    if isinstance(columns, str):
        raise PfgenError(f"columns: expected a list of names, not the text {columns!r}")
    columns = tuple(columns)
    for name in columns:
        if name not in there:
            raise PfgenError(f"columns: no score {name!r}; there are {', '.join(there)}")
        if columns.count(name) > 1:
            raise PfgenError(f"columns: {name!r} appears {columns.count(name)} times")
    if not columns:
        raise PfgenError(f"columns: expected at least one of {', '.join(there)}")
    return columns


def _references_of(columns: Sequence[Any], *, nulls: Nulls) -> Any:
    """The references of each row in all columns, for `ReferenceScorer`; a null is no reference."""
    if nulls == "error" and len(columns) == 1 and hasattr(columns[0], "to_pylist"):
        types = pyarrow().types
        if types.is_list(columns[0].type) or types.is_large_list(columns[0].type):
            return columns[0]  # the core reads it without a copy
    parts = [[_as_list(value, row) for row, value in enumerate(_values_of(column))] for column in columns]
    joined = [list(chain(*lists)) for lists in zip(*parts, strict=True)]
    return joined if nulls == "error" else [texts or None for texts in joined]


def _values_of(column: Any) -> Sequence[Any]:
    """The values of a column of Arrow, polars or Python."""
    for name in ("to_pylist", "to_list"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def _as_list(value: Any, row: int) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return list(value)
    raise TrialsError(f"expected a list of texts, not {type(value).__name__}", column="references", row=row)

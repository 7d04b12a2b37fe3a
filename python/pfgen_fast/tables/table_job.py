"""The options for scoring tables: the columns to read, the scores to append, and the filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..errors import PfgenError, TrialsError
from ..scoring.reasoning_text import ReasoningChoice, without_reasoning
from ..scoring.scorer import Scorer
from ..scoring.spec import ScorerSpec
from ..suite.rules import check_choice
from .row_filter import RowFilter
from .rows import Columns, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Nulls = Literal["error", "null"]
Location = Callable[[int | None], str]
"""Returns the location of a row of a batch for error messages; for None, that of the table."""


@dataclass(frozen=True)
class Scored:
    """The scores of the rows that pass the filter; `passing` has a value for each row (None: all rows pass)."""

    scores: Scores
    passing: NDArray[np.bool_] | None


@dataclass(frozen=True)
class TableJob:
    """The checked options of `score_table` and `score_batches`. It can be pickled and sent to workers."""

    spec: ScorerSpec | Scorer
    question_column: str = "question"
    answer_column: str = "answer"
    columns: Sequence[str] | None = None
    nulls: Nulls = "error"
    where: str | None = None
    encoding: str | None = None
    reasoning: ReasoningChoice = "keep"
    row_filter: RowFilter = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("reasoning", self.reasoning, ("keep", "strip"))
        check_choice("nulls", self.nulls, ("error", "null"))
        there = self._score_columns
        object.__setattr__(self, "columns", _checked(self.columns, there))
        object.__setattr__(self, "row_filter", RowFilter.parsed(self.where, there))

    @property
    def _score_columns(self) -> tuple[str, ...]:
        if isinstance(self.spec, ScorerSpec):
            return self.spec.columns
        if isinstance(self.spec, Scorer):
            return self.spec.score((), ()).columns[1:]
        raise PfgenError(f"spec: expected a ScorerSpec, such as ScorerSpec('mini'), or a Scorer, not {self.spec!r:.80}")

    @cached_property
    def names(self) -> Columns:
        """The columns to read and to append."""
        scores = tuple(self.columns or ())
        return Columns(self.question_column, self.answer_column, scores, may_lack_answers=self.nulls == "null")

    @cached_property
    def description(self) -> Mapping[str, str]:
        """Everything except the source that determines an output: equal descriptions produce equal outputs."""
        return {
            "signature": self.spec.signature,
            "question column": self.question_column,
            "answer column": self.answer_column,
            "columns": ", ".join(self.names.scores),
            "nulls": self.nulls,
            "filter": "" if self.where is None else " ".join(self.where.split()),
            "encoding": self.encoding or "",
            **({"reasoning": "strip"} if self.reasoning == "strip" else {}),
        }

    def score(self, questions: Any, answers: Any, location: Location) -> Scored:
        """Scores a batch."""
        scorer = self.spec.scorer if isinstance(self.spec, ScorerSpec) else self.spec
        if self.reasoning == "strip":
            texts = answers.to_pylist() if hasattr(answers, "to_pylist") else answers
            answers = [without_reasoning(text) if isinstance(text, str) else text for text in texts]
        try:
            table = scorer.score(questions, answers, nulls=self.nulls)
        except TrialsError as error:
            column = self.question_column if error.column == "questions" else self.answer_column
            raise TrialsError(f"{location(error.row)}, column {column!r}: {error.problem}") from None
        scores = {name: table[name] for name in self.names.scores}
        if not self.row_filter.comparisons:
            return Scored(scores, None)
        passing = self.row_filter.passing({name: table[name] for name in self.row_filter.columns}, len(table))
        return Scored({name: column[passing] for name, column in scores.items()}, passing)


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

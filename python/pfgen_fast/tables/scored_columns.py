"""What scoring adds to a table of any kind: which columns of scores, of which rows; errors name the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import PfgenError, TrialsError
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
"""Where a row of a batch is, for error messages; of None, the table."""


@dataclass(frozen=True)
class Scored:
    """The columns of scores of a batch, of the rows that stay; `passing` says which rows these are (None: all)."""

    scores: Scores
    passing: NDArray[np.bool_] | None


class ScoredColumns:
    """The columns of scores that a table gets."""

    def __init__(
        self,
        spec: ScorerSpec | Scorer,
        *,
        question_column: str,
        answer_column: str,
        columns: Sequence[str] | None,
        nulls: Nulls,
        where: str | None,
    ) -> None:
        check_choice("nulls", nulls, ("error", "null"))
        there = score_columns_of(spec)
        chosen = _checked(columns, there)
        self._spec, self._nulls = spec, nulls
        self._filter = None if where is None else RowFilter.parsed(where, there)
        self.columns = Columns(question_column, answer_column, chosen, may_lack_answers=nulls == "null")

    def score(self, questions: Any, answers: Any, location: Location) -> Scored:
        """Scores a batch."""
        scorer = self._spec.scorer if isinstance(self._spec, ScorerSpec) else self._spec
        try:
            table = scorer.score(questions, answers, nulls=self._nulls)
        except TrialsError as error:
            column = self.columns.question if error.column == "questions" else self.columns.answer
            raise TrialsError(f"{location(error.row)}, column {column!r}: {error.problem}") from None
        if self._filter is None:
            return Scored({name: table[name] for name in self.columns.scores}, None)
        passing = self._filter.passing({name: table[name] for name in self._filter.columns})
        return Scored({name: table[name][passing] for name in self.columns.scores}, passing)


def score_columns_of(spec: ScorerSpec | Scorer) -> tuple[str, ...]:
    """The columns of scores that there are."""
    if isinstance(spec, ScorerSpec):
        return spec.columns
    if isinstance(spec, Scorer):
        return spec.score((), ()).columns[1:]
    raise PfgenError(f"spec: expected a ScorerSpec, such as ScorerSpec('mini'), or a Scorer, not {spec!r:.80}")


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

"""Filters for the rows of a scored table: comparisons of scores with numbers, such as `average >= 0.6`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import PfgenError
from ..files.untrusted_text import in_one_line

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
    found = _COMPARISON.fullmatch(part)
    if not found or (found["column"] not in columns and _OF_NO_COLUMN.search(found["column"])):
        raise PfgenError(
            f"filter {_shown(text)}: expected comparisons such as 'average >= 0.6', joined by 'and', not {_shown(part)}"
        )
    if found["column"] not in columns:
        raise PfgenError(f"filter {_shown(text)}: no score {_shown(found['column'])}; there are {', '.join(columns)}")
    try:
        number = float(found["number"])
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise PfgenError(f"filter {_shown(text)}: expected a number, not {_shown(found['number'])}")
    return found["column"], found["operator"], number


def _shown(text: str) -> str:
    return in_one_line(repr(text), 80)

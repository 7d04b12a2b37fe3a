"""Which rows of a scored table stay: comparisons of scores with numbers, such as `average >= 0.6`."""

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
"""What shows that a text is no misspelt column but more than one comparison, or another kind of condition."""


@dataclass(frozen=True)
class Comparison:
    """One comparison of a column of scores with a number."""

    column: str
    operator: str
    number: float


@dataclass(frozen=True)
class RowFilter:
    """Comparisons that a row must meet, all of them.

    A row without a score (a missing answer, a set that its question lacks) meets none.
    """

    comparisons: tuple[Comparison, ...]

    @classmethod
    def parsed(cls, text: str, columns: Sequence[str]) -> RowFilter:
        """The filter that a text stands for."""
        return cls(tuple(_comparison(part, text, columns) for part in re.split(r"\s+and\s+", text.strip())))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are compared."""
        return tuple(dict.fromkeys(part.column for part in self.comparisons))

    def passing(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Which rows stay, of columns with NaN for missing scores."""
        import numpy as np

        checks = []
        for part in self.comparisons:
            column = scores[part.column]
            checks += [column == column, _OPERATORS[part.operator](column, part.number)]  # the first fails for NaN
        passing: NDArray[np.bool_] = np.logical_and.reduce(checks)
        return passing


def _comparison(part: str, text: str, columns: Sequence[str]) -> Comparison:
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
    return Comparison(found["column"], found["operator"], number)


def _shown(text: str) -> str:
    return in_one_line(repr(text), 80)

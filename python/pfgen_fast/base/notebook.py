"""Results that notebooks show as a table, and that become data frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from .native import optional
from .untrusted_text import html_text

_MOST_ROWS = 20
_MOST_CHARACTERS = 200


class Html(str):
    """A cell that is HTML already."""

    __slots__ = ()


class NotebookTable(ABC):
    """A result with named columns: a table in notebooks, a data frame of pandas or polars on demand."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns of the result, all of one length."""

    def _words(self) -> Sequence[str]:
        """Sentences above the table."""
        return ()

    def to_pandas(self) -> Any:
        """The columns as a pandas.DataFrame."""
        return self._library("pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """The columns as a polars.DataFrame."""
        return self._library("polars").DataFrame(self._columns())

    def _library(self, name: str) -> Any:
        return optional(name, extra=name, needed_for=f"{type(self).__name__}.to_{name}")

    def _shown(self) -> tuple[Sequence[str], Iterable[Sequence[Any]], int]:
        """The heads, rows and number of rows of the table that notebooks show."""
        columns = self._columns()
        rows = list(zip(*columns.values(), strict=True))
        return list(columns), rows, len(rows)

    def _repr_html_(self) -> str:
        """The table for notebooks: at most 20 rows, no script, texts as they are."""
        heads, rows, n_rows = self._shown()
        words = "".join(f"<p>{html_text(sentence)}</p>" for sentence in self._words())
        head = "".join(f"<th>{html_text(name)}</th>" for name in heads)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in islice(rows, _MOST_ROWS))
        more = f"<p>{n_rows - _MOST_ROWS:,} more rows</p>" if n_rows > _MOST_ROWS else ""
        return f"{words}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if isinstance(value, Html):
        return f'<td style="text-align:left">{value}</td>'
    if isinstance(value, float):
        return f"<td>{'' if value != value else f'{value:.4f}'}</td>"
    if value is None:
        return "<td></td>"
    text = str(value)
    return f"<td>{html_text(text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + '…')}</td>"

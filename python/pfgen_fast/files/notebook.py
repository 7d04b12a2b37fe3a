"""Results that notebooks show as a table, and that become data frames; pages of tables."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from .optional import optional
from .untrusted_text import html_text

_MOST_ROWS = 20
_MOST_CHARACTERS = 200

_STYLE = (
    ":root{color-scheme:light dark}body{font:16px sans-serif}"
    "table{border-collapse:collapse}td,th{padding:.3em .8em;border-bottom:1px solid #8885}"
)


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


def html_page(title: str, tables: Iterable[tuple[Sequence[str], Iterable[Sequence[str]]]]) -> str:
    """A minimal HTML page with tables, each given by its heads and rows of texts."""
    bodies = "".join(_html_table(heads, rows) for heads, rows in tables)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{html_text(title)}</title>\n<style>{_STYLE}</style>\n{bodies}</html>\n"
    )


def _html_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{html_text(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{html_text(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"

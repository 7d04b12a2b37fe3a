"""Tables as CSV, Markdown and HTML; `untrusted_text` escapes untrusted cells."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any

from .untrusted_text import csv_value, html_text, markdown_text

_STYLE = (
    ":root{color-scheme:light dark}body{font:16px sans-serif}"
    "table{border-collapse:collapse}td,th{padding:.3em .8em;border-bottom:1px solid #8885}"
)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV, with each cell converted by `csv_value`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(csv_value, row) for row in (columns, *rows))
    return text.getvalue()


def signed(value: float, n_digits: int) -> str:
    """A number with its sign and `n_digits` decimals; a number that rounds to zero has a plus sign."""
    text = f"{value:+.{n_digits}f}"
    return text if re.search("[1-9]", text) else f"+{text[1:]}"


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a Markdown table; the cells are already Markdown."""
    return f"| {' | '.join(cells)} |\n"


def markdown_table(heads: Iterable[str], rows: Iterable[Iterable[str]], texts: Container[int] | None = None) -> str:
    """A table of texts as Markdown; the columns in `texts`, by default all, are aligned to the left."""
    names = list(map(markdown_text, heads))
    marks = ["---" if texts is None or column in texts else "---:" for column in range(len(names))]
    return "".join(map(markdown_row, (names, marks, *(map(markdown_text, row) for row in rows))))


def place_cell(place: float | None) -> float | int | None:
    """A place for a table: a whole number unless it is shared."""
    return int(place) if place is not None and place.is_integer() else place


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

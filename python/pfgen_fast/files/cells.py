"""Tables as CSV and Markdown; `untrusted_text` escapes untrusted cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from .untrusted_text import csv_value


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


def place_cell(place: float | None) -> float | int | None:
    """A place for a table: a whole number unless it is shared."""
    return int(place) if place is not None and place.is_integer() else place

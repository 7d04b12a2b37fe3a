"""Fits lines to a terminal: long texts are shortened or folded. Redirected output is not changed."""

from __future__ import annotations

import shutil
import sys

from ..base.table import LEAST, Table, beginning, shortened, width_of
from .app import print_line, shown


def columns() -> int | None:
    """The width of the terminal for results; None if results are redirected, because they are not shortened then."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def rest(taken: int) -> int | None:
    """The width of the terminal minus the taken columns; None if results are redirected."""
    width = columns()
    return None if width is None else width - taken


def fitted(begin: str, name: object, end: str = "") -> str:
    """A line with a name that is shortened to fit the terminal."""
    return f"{begin}{shortened(shown(name), rest(width_of(begin) + width_of(end)))}{end}"


def cut(text: str, width: int | None) -> str:
    """Shortens a sentence to a width; the ellipsis is at its end.

    Example:
        >>> cut("Why does ice float?", 12)
        'Why does ic…'
    """
    if width is None or width_of(text) <= (width := max(width, LEAST)):
        return text
    return f"{beginning(text, width - 1)}…"


def folded(text: str, width: int | None, *, after: str, indent: str = "  ") -> list[str]:
    """Splits a text into as few lines as fit the width; each line except the last ends with `after`.

    Example:
        >>> folded("sum: naive|orders: 1-10|profile: paper", 24, after="|")
        ['sum: naive|orders: 1-10|', '  profile: paper']
    """
    first, *parts = text.split(after)
    lines = [first]
    for part in parts:
        if width is None or width_of(f"{lines[-1]}{after}{part}{after}") <= width:
            lines[-1] += after + part
        else:
            lines[-1] += after
            lines.append(indent + part)
    return lines


def print_table(table: Table) -> None:
    """Prints a table, fitted to the terminal, with its head in bold."""
    for number, line in enumerate(table.lines(columns())):
        text = shown(cut(line, columns()))
        print_line(text if number else (text, "bold"))

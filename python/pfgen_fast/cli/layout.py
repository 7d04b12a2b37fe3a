"""Fits lines to a terminal: long texts are shortened or folded. Redirected output is not changed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Sequence

LEAST = 12
"""The least width of a shortened text, so that different texts still look different."""


def columns() -> int | None:
    """The width of the terminal for results; None if results are redirected, because they are not shortened then."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def rest(taken: int) -> int | None:
    """The width of the terminal minus the taken columns; None if results are redirected."""
    width = columns()
    return None if width is None else width - taken


def shortened(text: str, width: int | None, *, share_of_end: float = 0.75) -> str:
    """Shortens a name or path to a width; the ellipsis is near its beginning, because its end is more specific.

    Example:
        >>> shortened("result/openai/gpt-4o-2024-08-06/5e1e9f4", 25)
        'result…2024-08-06/5e1e9f4'
    """
    if width is None or width_of(text) <= (width := max(width, LEAST)):
        return text
    end = _first(text[::-1], int((width - 1) * share_of_end))[::-1]
    return f"{_first(text, width - 1 - width_of(end))}…{end}"


def told_apart(names: Sequence[str], width: int | None) -> list[str]:
    """Shortens names to a width; the ellipsis is in their middle, or where more of the names still differ.

    Example:
        >>> told_apart(["org/model-7b-instruct-qa", "org/model-7b-instruct-chat"], 18)
        ['org/model…truct-qa', 'org/model…uct-chat']
    """
    candidates = [[shortened(name, width, share_of_end=share) for name in names] for share in (0.5, 0.75, 0.25)]
    return max(candidates, key=lambda shown: len(set(shown)))  # the first of those with as many different names


def aligned(rows: Sequence[Sequence[str]], *, to_left: Collection[int] = ()) -> list[str]:
    """The lines of a table whose columns are aligned to the right, except for those `to_left`."""
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            padded(cell, width, to_left=number in to_left)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def padded(text: str, width: int, *, to_left: bool = False) -> str:
    """Pads a text to a width."""
    blanks = " " * (width - width_of(text))
    return text + blanks if to_left else blanks + text


def cut(text: str, width: int | None) -> str:
    """Shortens a sentence to a width; the ellipsis is at its end.

    Example:
        >>> cut("Why does ice float?", 12)
        'Why does ic…'
    """
    if width is None or width_of(text) <= (width := max(width, LEAST)):
        return text
    return f"{_first(text, width - 1)}…"


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


def width_of(text: str) -> int:
    """The number of terminal columns of a text; East Asian characters take two columns.

    Example:
        >>> width_of("ice"), width_of("氷")
        (3, 2)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _first(text: str, width: int) -> str:
    n = 0
    while n < len(text) and width_of(text[: n + 1]) <= width:
        n += 1
    return text[:n]

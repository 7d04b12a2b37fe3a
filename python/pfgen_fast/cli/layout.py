"""Fits lines to a terminal: long texts are shortened or folded there, and written whole elsewhere."""

from __future__ import annotations

import shutil
import sys

_LEAST = 12
"""The fewest columns of a shortened text: shorter texts could not be told apart."""


def columns() -> int | None:
    """The width of the terminal that results are printed on; None if they are redirected, and so not cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def rest(taken: int) -> int | None:
    """The width that is left beside the taken columns; None as for `columns`."""
    width = columns()
    return None if width is None else width - taken


def shortened(text: str, width: int | None) -> str:
    """A name or path, shortened to a width by an ellipsis near its beginning, because its end says more.

    Example:
        >>> shortened("result/openai/gpt-4o-2024-08-06/5e1e9f4", 25)
        'result…2024-08-06/5e1e9f4'
    """
    if width is None or width_of(text) <= (width := max(width, _LEAST)):
        return text
    end = _last(text, (width - 1) * 3 // 4)
    return f"{_first(text, width - 1 - width_of(end))}…{end}"


def cut(text: str, width: int | None) -> str:
    """A sentence, shortened to a width by an ellipsis at its end.

    Example:
        >>> cut("Why does ice float?", 12)
        'Why does ic…'
    """
    if width is None or width_of(text) <= (width := max(width, _LEAST)):
        return text
    return f"{_first(text, width - 1)}…"


def folded(text: str, width: int | None, *, after: str, indent: str = "  ") -> list[str]:
    """A text in lines that end with `after`, as few as fit the width.

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
    """The columns of a text; characters of East Asia take two.

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


def _last(text: str, width: int) -> str:
    n = 0
    while n < len(text) and width_of(text[-n - 1 :]) <= width:
        n += 1
    return text[len(text) - n :]

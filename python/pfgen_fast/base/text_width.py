"""The width of texts in terminal columns, and texts that are shortened to a width."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category, east_asian_width

LEAST = 12
"""The least width of a shortened text, so that different texts still look different."""


def width_of(text: str) -> int:
    """The number of terminal columns of a text; East Asian characters take two columns.

    Example:
        >>> width_of("ice"), width_of("氷")
        (3, 2)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def padded(text: str, width: int, *, to_left: bool = False) -> str:
    """Pads a text to a width."""
    blanks = " " * (width - width_of(text))
    return text + blanks if to_left else blanks + text


def shortened(text: str, width: int | None, *, share_of_end: float = 0.75) -> str:
    """Shortens a name or path to a width; the ellipsis is near its beginning, because its end is more specific.

    Example:
        >>> shortened("result/openai/gpt-4o-2024-08-06/5e1e9f4", 25)
        'result…2024-08-06/5e1e9f4'
    """
    if width is None or width_of(text) <= (width := max(width, LEAST)):
        return text
    end = beginning(text[::-1], int((width - 1) * share_of_end))[::-1]
    return f"{beginning(text, width - 1 - width_of(end))}…{end}"


def told_apart(names: Sequence[str], width: int | None) -> list[str]:
    """Shortens names to a width; the ellipsis is in their middle, or where more of the names still differ.

    Example:
        >>> told_apart(["org/model-7b-instruct-qa", "org/model-7b-instruct-chat"], 18)
        ['org/model…truct-qa', 'org/model…uct-chat']
    """
    candidates = [[shortened(name, width, share_of_end=share) for name in names] for share in (0.5, 0.75, 0.25)]
    return max(candidates, key=lambda shown: len(set(shown)))  # the first of those with as many different names


def beginning(text: str, width: int) -> str:
    """The longest beginning of a text that fits a width."""
    n = taken = 0
    while n < len(text) and (taken := taken + _width(text[n])) <= width:
        n += 1
    return text[:n]

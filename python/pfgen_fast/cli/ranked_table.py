"""Prints ranked tables and scores by subject, with as many columns as fit the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..files.untrusted_text import few_names
from ..item_scores.by_subject import few_items, subject_lines, subject_table
from .app import shown, stdout
from .layout import aligned, columns, told_apart, width_of

if TYPE_CHECKING:
    from ..statistics.mean_interval import MeanInterval

_N_FIXED = 4
_GAP = 2
_WIDTH_OF_MARK = 3
_LONGEST_NAME = 40
"""Longer names are cut if otherwise other columns did not fit."""

_ASCII = {"±": "+/-", "–": "-", "…": "..."}


def print_subjects(
    found: Sequence[Mapping[str, MeanInterval]],
    names: Sequence[str],
    *,
    items: str = "items",
    name: str = "model",
    plain: bool = False,
) -> None:
    """Prints the scores by subject of models with these names, and sentences about subjects with few items."""
    print_lines([""], None, plain=plain)
    if len(found) == 1:
        head, *lines = aligned([["subject", items, "score", "±95 %"], *subject_lines(found[0])], to_left=[0])
        print_lines([head], "bold", plain=plain)
        print_lines(map(shown, lines), None, plain=plain)
    else:
        heads, rows = subject_table(found)
        print_ranked(list(map(shown, heads)), rows, names, [""] * len(names), n_fixed=0, plain=plain, name=name)
    print_lines(few_items(found[0], items), "dim", plain=plain)


def print_ranked(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    marks: Sequence[str],
    *,
    n_fixed: int = _N_FIXED,
    plain: bool,
    name: str = "model",
) -> None:
    """Prints a table whose names follow its first columns; the columns after the names are shown if they fit."""
    rows = [heads, *rows]
    widths = [max(map(width_of, column)) + _GAP for column in zip(*rows, strict=True)]
    width = columns()
    room = None if width is None else width - sum(widths[:n_fixed]) - (_WIDTH_OF_MARK if any(marks) else 0)
    longest = min(max(map(width_of, names)), _LONGEST_NAME)
    n_shown = n_fixed
    while n_shown < len(heads) and (room is None or room - widths[n_shown] >= longest):
        room = None if room is None else room - widths[n_shown]
        n_shown += 1
    cells = [
        [*row[:n_fixed], of if plain or not mark else f"{mark} {of}", *row[n_fixed:n_shown]]
        for mark, of, row in zip(["", *marks], [name, *told_apart(names, room)], rows, strict=True)
    ]
    head, *lines = aligned(cells, to_left=[n_fixed])
    print_lines([head], "bold", plain=plain)
    print_lines(lines, None, plain=plain)
    if n_fixed == 0 and n_shown < len(heads):
        few = few_names(heads[n_shown:], n_code_points=300)
        print_lines([f"columns that do not fit (--format csv has them): {few}"], "dim", plain=plain)


def print_lines(lines: Iterable[str], style: str | None, *, plain: bool) -> None:
    """Prints lines in a style."""
    for line in lines:
        stdout().print(_in_ascii(line) if plain else line, style=style)


def _in_ascii(text: str) -> str:
    for character, replacement in _ASCII.items():
        text = text.replace(character, replacement)
    return text.encode("ascii", "backslashreplace").decode()

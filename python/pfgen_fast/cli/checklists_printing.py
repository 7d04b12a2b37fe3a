"""Prints tables of checklist scores: aligned, and in blocks of columns on a narrow terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .app import print_line
from .layout import columns, padded, shortened, width_of

if TYPE_CHECKING:
    from ..checklists.scoring.text_tables import TextTable

MARK = "*"
"""Marks a figure with a footnote."""

_GAP = 2
_NARROWEST_HEAD = 9
_SHARE_OF_NAMES = 0.4


def print_tables(tables: Iterable[TextTable]) -> None:
    """Prints tables that have rows below their titles; a narrow terminal gets several blocks of columns."""
    for table in tables:
        if table.rows:
            print_line((table.title, "bold"))
            for line in lines_of(table, columns()):
                print_line(line)
            print_line("")


def lines_of(table: TextTable, width: int | None) -> list[str]:
    """The lines of a table, within a width if each of its columns is narrower; None means any width."""
    shown = _with_fitting_texts(table, width)
    names = list(range(table.n_names))
    split = [list(names)]
    taken = sum(_width(shown, column) + _GAP for column in names)
    used = taken
    for column in range(table.n_names, len(table.heads)):
        needed = _width(shown, column) + _GAP
        if width is not None and used + needed - _GAP > width and len(split[-1]) > len(names):
            split.append(list(names))
            used = taken
        split[-1].append(column)
        used += needed
    blocks = [_block(shown, block, table.n_names) for block in split]
    return [line for number, block in enumerate(blocks) for line in ([""] if number else []) + block]


_Columns = Sequence[tuple[Sequence[str], Sequence[str]]]
"""The lines of the head and the cells of each column."""


def _with_fitting_texts(table: TextTable, width: int | None) -> _Columns:
    cells = [[row[column] for row in table.rows] for column in range(len(table.heads))]
    if width is not None:
        for column in range(table.n_names):
            most = int(width * _SHARE_OF_NAMES / table.n_names)
            cells[column] = [shortened(cell, most) for cell in cells[column]]
    heads = [
        _folded(head, max([_NARROWEST_HEAD, *map(width_of, of_column)]))
        for head, of_column in zip(table.heads, cells, strict=True)
    ]
    return list(map(_with_room_for_marks, heads, cells))


def _with_room_for_marks(head: list[str], cells: list[str]) -> tuple[list[str], list[str]]:
    """The head and the cells; if any cell has a mark, all other lines get a blank, so that digits are aligned."""
    if not any(cell.endswith(MARK) for cell in cells):
        return head, cells
    return [f"{line} " for line in head], [cell if cell.endswith(MARK) else f"{cell} " for cell in cells]


def _folded(head: str, width: int) -> list[str]:
    """A head in lines of about this width, broken after a blank or an underscore."""
    lines = [""]
    for part in re.findall(r"[^ _]+[ _]*|[ _]+", head):
        if lines[-1] and width_of((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip(" ") for line in lines]


def _width(shown: _Columns, column: int) -> int:
    head, cells = shown[column]
    return max(map(width_of, (*head, *cells)))


def _block(shown: _Columns, block: Sequence[int], n_names: int) -> list[str]:
    height = max(len(shown[column][0]) for column in block)
    heads = [[""] * (height - len(shown[column][0])) + list(shown[column][0]) for column in block]
    texts = [[*head, *shown[column][1]] for head, column in zip(heads, block, strict=True)]
    aligned = [
        [padded(text, _width(shown, column), to_left=place < n_names) for text in of_column]
        for place, (column, of_column) in enumerate(zip(block, texts, strict=True))
    ]
    return [(" " * _GAP).join(line).rstrip() for line in zip(*aligned, strict=True)]

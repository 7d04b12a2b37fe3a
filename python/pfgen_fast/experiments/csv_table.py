"""A CSV file of somebody else as rows with their line numbers, and its cells as numbers; what is wrong is named."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from ..errors import ExperimentError
from ..files.reading import read_text
from ..files.untrusted_text import from_csv_value, in_one_line

_MAX_BYTES = 1 << 26


def read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """The rows that hold anything, each with the number of its line; the first is the header."""
    text = read_text(path, error=ExperimentError, limit=_MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ExperimentError(f"{path}, line {reader.line_num}: not CSV: {error}") from None
    for number, row in rows:
        if len(row) != len(rows[0][1]):
            raise ExperimentError(f"{path}, line {number}: expected {len(rows[0][1])} cells, not {len(row)}")
    return rows


def header_of(path: Path, rows: list[tuple[int, list[str]]]) -> list[str]:
    """The names of the columns."""
    header = [from_csv_value(cell.strip()) for cell in rows[0][1]] if rows else []
    if len(set(header)) < len(header) or not all(header[1:]):
        raise ExperimentError(f"{path}, line 1: expected distinct column names")
    return header


def number_in(cell: str, where: str) -> float:
    """The finite number in a cell; ExperimentError if there is none."""
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ExperimentError(f"{where}: expected a number, not {in_one_line(cell, 40)!r}; leave a missing score empty")
    return value

"""The result of an experiment as data: words, tables and charts. `pfgen_fast.report.findings` writes it to files."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..files.cells import csv_text, markdown_row
from ..files.foreign_text import in_one_line, markdown_link, markdown_text
from .charts import Chart

Cell = str | int | float | None
"""The value of a table cell; None is an empty cell."""

_N_CSV_DIGITS = 12


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes:
        name: Part of the file name.
        title: The title, a few words.
        columns: The names of the columns.
        rows: The cells. Floats are finite; a value that cannot be computed is None, and the finding explains why.
        n_digits: Digits after the decimal point in readable form; CSV files have 12 significant digits.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_digits: int = 4

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row)} cells under {len(self.columns)} columns")
            if any(isinstance(cell, float) and not math.isfinite(cell) for cell in row):
                raise ValueError(f"table {self.name}: a cell that is no number in {row}")

    def texts(self) -> list[list[str]]:
        """The cells in readable form, bounded in length and safe to print."""
        return [[_text(cell, self.n_digits) for cell in row] for row in self.rows]

    def to_csv(self) -> str:
        """The table as CSV; None is an empty cell."""
        return csv_text(self.columns, ([_shortest(cell) for cell in row] for row in self.rows))

    def to_markdown(self) -> str:
        """The table as Markdown."""
        marks = ["---" if self.is_text(column) else "---:" for column in range(len(self.columns))]
        rows = [list(self.columns), marks, *self.texts()]
        cells = [[*map(markdown_text, row)] if row is not marks else row for row in rows]
        return "".join(map(markdown_row, cells))

    def is_text(self, column: int) -> bool:
        """Whether a column contains any text."""
        return any(isinstance(row[column], str) for row in self.rows)


@dataclass(frozen=True)
class Picture:
    """A chart with a name and a caption.

    Attributes:
        name: Part of the file names.
        title: The caption.
        chart: The chart.
    """

    name: str
    title: str
    chart: Chart


@dataclass(frozen=True)
class Finding:
    """The outcome of an experiment.

    Attributes:
        name: The name of the experiment.
        answer: The result in one sentence, which is shown first.
        paragraph: More of the result in short sentences, with its numbers.
        tables: One or more tables.
        pictures: One or more pictures.
        notes: What limits the result, such as runs that were left out, one sentence each.
        question: The question that the experiment answers.
        runs: The names of the runs; pages link to them.
    """

    name: str
    answer: str
    paragraph: str
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    notes: tuple[str, ...] = ()
    question: str = ""
    runs: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """The finding as Markdown, with links to pictures in the same folder."""
        blocks = [f"# {markdown_text(self.name)}", f"**{markdown_text(self.answer)}**"]
        if self.notes:
            blocks.append("\n".join(f"* {markdown_text(in_one_line(note, 400))}" for note in self.notes))
        blocks.append(markdown_text(self.paragraph))
        for picture in self.pictures:
            title = markdown_text(picture.title)
            blocks += [f"## {title}", f"!{markdown_link(picture.title, self.file_name(picture) + '.svg')}"]
        for table in self.tables:
            blocks += [f"## {markdown_text(table.title)}", table.to_markdown().rstrip("\n")]
        return "\n\n".join(blocks) + "\n"

    def file_name(self, part: Table | Picture) -> str:
        """The file name of a table or picture, without its ending."""
        return f"{self.name}-{part.name}"


def _shortest(cell: Cell) -> Cell:
    return f"{cell:.{_N_CSV_DIGITS}g}" if isinstance(cell, float) else cell


def _text(cell: Cell, n_digits: int) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.{n_digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else in_one_line(cell, 80)

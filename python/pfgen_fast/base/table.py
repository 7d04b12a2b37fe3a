"""The one table: typed columns and rows of values, which terminals, files, pages and notebooks show alike.

A column has a name for files and a title for readers, and decides digits and alignment: figures are aligned to the
right, texts to the left. Files contain the values with full precision; readers see rounded, bounded, escaped texts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, TypeVar

from .errors import optional
from .text_width import LEAST, padded, told_apart, width_of
from .untrusted_text import csv_text, html_text, in_one_line, json_text, markdown_table

T = TypeVar("T")

READABLE = 30
"""The width of a shortened text below which optional columns are left out first."""

NOTHING = "–"
"""What readers see in place of a value that does not exist."""

_MOST_CHARACTERS, _MOST_IN_HEADS = 1000, 80  # a terminal shortens texts to its width, so that they still differ
_MOST_ROWS_IN_NOTEBOOKS = 20
_PICTURE_WIDTH = 140
_BLUE, _ORANGE, _RED, _GREY = "#4a8fdd", "#d97a1e", "#d9534f", "#8c8c8c"  # on white and on black pages


class Html(str):
    """A cell that is HTML already, for notebooks."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: The key in CSV, JSON and data frames.
        title: The head for readers; by default the name.
        digits: The digits of floats after the decimal point, for readers.
        is_signed: Whether positive numbers have a plus sign, as differences do.
        form: Makes the text that readers see of a value other than None, in place of the rules for its type.
        view: Who sees the column: everyone, only readers (terminal, Markdown, pages), or only files.
        is_optional: Whether a terminal that is too narrow leaves it out.
        is_text: Whether it is aligned to the left; by default if any value is a text.
        picture: What notebooks draw: in place of the text a bar from zero, or one whose positive values are losses;
            beside the text the interval of a value with `mean`, `low` and `high`. Values with the same `unit`, if they
            have one, share an axis; signed intervals have the colour of their sign unless they include zero.
    """

    name: str
    title: str = ""
    digits: int = 4
    is_signed: bool = False
    form: Callable[[Any], str] | None = None
    view: Literal["all", "readers", "files"] = "all"
    is_optional: bool = False
    is_text: bool | None = None
    picture: Literal["", "bar", "loss", "interval"] = ""

    @property
    def head(self) -> str:
        """The title for readers, bounded in length and safe to print."""
        return in_one_line(self.title or self.name, _MOST_IN_HEADS)

    def shown(self, value: Any) -> str:
        """A value as readers see it, bounded in length and safe to print."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return NOTHING
        if self.form is not None:
            return self.form(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return figure(value, self.digits, is_signed=self.is_signed)
        if isinstance(value, int):
            return f"{value:+,}" if self.is_signed else f"{value:,}"
        return in_one_line(value, _MOST_CHARACTERS)


@dataclass(frozen=True)
class Table:
    """A table of values.

    Attributes:
        columns: The columns.
        rows: The rows, each with one value for each column: text, number, bool, list of texts, or None without a value.
        title: The title for readers.
        name: A part of the names of its files.
        significant: The significant digits of floats in CSV; None for full precision.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    name: str = ""
    significant: int | None = None

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row)} cells under {len(self.columns)} columns")

    @classmethod
    def of_records(cls, cells: Sequence[tuple[Column, Callable[[T], Any]]], records: Iterable[T], **more: Any) -> Table:
        """Creates a table of records; each column comes with the function that takes its value from a record."""
        rows = [tuple(value(record) for _, value in cells) for record in records]
        return cls([column for column, _ in cells], rows, **more)

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, name: str) -> list[Any]:
        """The values of a column."""
        place = [column.name for column in self.columns].index(name)
        return [row[place] for row in self.rows]

    def for_readers(self) -> Table:
        """The table with the columns that readers see."""
        return self._without("files")

    def for_files(self) -> Table:
        """The table with the columns of CSV, JSON and data frames."""
        return self._without("readers")

    def _without(self, view: str) -> Table:
        places = [place for place, column in enumerate(self.columns) if column.view != view]
        rows = [[row[place] for place in places] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in places], rows=rows)

    def texts(self) -> list[list[str]]:
        """The rows as readers see them."""
        table = self.for_readers()
        return [[column.shown(value) for column, value in zip(table.columns, row, strict=True)] for row in table.rows]

    def heads(self) -> list[str]:
        """The heads of the columns that readers see."""
        return [column.head for column in self.for_readers().columns]

    def text_columns(self) -> list[int]:
        """The places of the columns that are aligned to the left, among those that readers see."""
        table = self.for_readers()
        return [place for place, column in enumerate(table.columns) if table._is_text(place, column)]

    def _is_text(self, place: int, column: Column) -> bool:
        if column.is_text is not None:
            return column.is_text
        return any(isinstance(row[place], str) for row in self.rows)

    def lines(self, width: int | None = None) -> list[str]:
        """The lines of the table, the head first; in a given width, texts are shortened and optional columns left out.

        Args:
            width: The number of terminal columns; None if the text is not for a terminal.
        """
        cells, to_left = [self.heads(), *self.texts()], self.text_columns()
        places = list(range(len(cells[0])))
        widths = [max(width_of(row[place]) for row in cells) for place in places]
        optional_places = [place for place, column in enumerate(self.for_readers().columns) if column.is_optional]
        readable = [min(n, READABLE) if place in to_left else n for place, n in enumerate(widths)]
        while width is not None and optional_places and _total(readable[place] for place in places) > width:
            places.remove(optional_places.pop())
        longest_first = sorted((place for place in places if place in to_left), key=lambda place: -widths[place])
        long_texts = [place for place in longest_first if widths[place] > READABLE] or longest_first[:1]  # no intervals
        for least, place in product((READABLE, LEAST), long_texts if width is not None else ()):
            surplus = _total(widths[shown] for shown in places) - (width or 0)
            if surplus > 0 and widths[place] > least:
                names = told_apart([row[place] for row in cells], max(widths[place] - surplus, least))
                cells = [[*row[:place], name, *row[place + 1 :]] for row, name in zip(cells, names, strict=True)]
                widths[place] = max(map(width_of, names))
        return [
            "  ".join(padded(row[place], widths[place], to_left=place in to_left) for place in places).rstrip()
            for row in cells
        ]

    def to_text(self) -> str:
        """The table as text, with its columns aligned."""
        return "\n".join(self.lines(None))

    def to_markdown(self) -> str:
        """The table as Markdown."""
        return markdown_table(self.heads(), self.texts(), self.text_columns())

    def to_csv(self) -> str:
        """The table as CSV; a value that does not exist is an empty cell."""
        table = self.for_files()
        return csv_text([column.name for column in table.columns], (list(map(self._stored, row)) for row in table.rows))

    def _stored(self, value: Any) -> Any:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float):
            exact = repr(value) if self.significant is None else f"{value:.{self.significant}g}"
            return None if math.isnan(value) else exact
        return "; ".join(map(str, value)) if isinstance(value, list) else value

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries by column name, with full precision."""
        table = self.for_files()
        names = [column.name for column in table.columns]
        return [dict(zip(names, map(_finite, row), strict=True)) for row in table.rows]

    def to_json(self) -> str:
        """The rows as JSON."""
        return json_text(self.to_dicts(), indent=2) + "\n"

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame."""
        return self._frame("pandas")

    def to_polars(self) -> Any:
        """The rows as a polars.DataFrame."""
        return self._frame("polars")

    def _frame(self, library: str) -> Any:
        table = self.for_files()
        columns = {column.name: [row[place] for row in table.rows] for place, column in enumerate(table.columns)}
        return optional(library, extra=library, needed_for=f"Table.to_{library}").DataFrame(columns)

    def _repr_html_(self) -> str:
        """The table for notebooks: at most 20 rows, no script, texts as they are."""
        table, to_left = self.for_readers(), self.text_columns()
        left = ' style="text-align:left"'
        heads = "".join(f"<th{left * (n in to_left)}>{html_text(head)}</th>" for n, head in enumerate(self.heads()))
        first = table.rows[:_MOST_ROWS_IN_NOTEBOOKS]
        pictures = [_pictures(column, [row[place] for row in first]) for place, column in enumerate(table.columns)]
        rows = []
        for number, row in enumerate(first):
            cells = []
            for place, (column, value) in enumerate(zip(table.columns, row, strict=True)):
                align = "right;white-space:nowrap" if column.picture else "left" if place in to_left else ""
                style = f' style="text-align:{align}"' if align else ""
                text = value if isinstance(value, Html) else html_text(column.shown(value))
                text = text if column.picture in ("", "interval") else ""
                cells.append(f"<td{style}>{pictures[place][number]}{text}</td>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
        n_more = len(self.rows) - _MOST_ROWS_IN_NOTEBOOKS
        more = f"<p>{n_more:,} more rows</p>" if n_more > 0 else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _pictures(column: Column, values: Sequence[Any]) -> list[str]:
    """A picture for each value of a column, as inline SVG; empty texts if the column or the value has no picture."""
    spans: dict[int, tuple[str, float, float, float]] = {}
    axes: dict[str, list[float]] = {}
    for number, value in enumerate(values if column.picture else ()):
        unit, mean = getattr(value, "unit", ""), getattr(value, "mean", value)
        if mean is not None and math.isfinite(mean):
            zero = [0.0] if column.is_signed or column.picture != "interval" else []
            ends = zero if column.picture != "interval" else [value.low, value.high]
            known = [end for end in (mean, *ends) if end is not None]
            spans[number] = unit, min(known), mean, max(known)
            axes.setdefault(unit, zero).extend(known)
    return [
        _picture(column, *spans[number][1:], axes[spans[number][0]]) if number in spans else ""
        for number in range(len(values))
    ]


def _picture(column: Column, low: float, mean: float, high: float, axis: Sequence[float]) -> str:
    """A value on an axis with all of these values; a line marks zero."""
    start, end = min(axis), max(axis)
    left, middle, right, zero = (
        4 + (_PICTURE_WIDTH - 8) * (value - start) / ((end - start) or 1) for value in (low, mean, high, 0.0)
    )
    is_interval, colour = column.picture == "interval", _BLUE
    if column.picture == "loss":
        colour = _RED if mean > 0 else _BLUE
    elif column.is_signed:
        colour = _BLUE if low > 0 else _ORANGE if high < 0 else _GREY
    marks = f'<path d="M{left:.1f} 8H{right:.1f}" stroke="{colour}" stroke-width="{2 if is_interval else 9}"/>'
    marks += f'<circle cx="{middle:.1f}" cy="8" r="3.5" fill="{colour}"/>' if is_interval else ""
    marks += f'<path d="M{zero:.1f} 0V16" stroke="{_GREY}"/>' if start <= 0 <= end else ""
    style = "vertical-align:middle;margin-right:8px"
    return f'<svg aria-hidden="true" width="{_PICTURE_WIDTH}" height="16" style="{style}">{marks}</svg>'


class TableResult(ABC):
    """A result that notebooks show as a table below some sentences, `print` as text, and that becomes a data frame."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """The result as a table."""

    @property
    def shown(self) -> Table:
        """The table that readers see; by default the whole table."""
        return self.table

    def words(self) -> Sequence[str]:
        """The sentences above the table."""
        return ()

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """The table as a polars.DataFrame."""
        return self.table.to_polars()

    def _repr_html_(self) -> str:
        words = "".join(f"<p>{html_text(sentence)}</p>" for sentence in self.words())
        return words + self.shown._repr_html_()

    def __str__(self) -> str:
        return "\n".join([*self.words(), *([""] if self.words() else []), self.shown.to_text()])


def figure(value: float, digits: int = 4, *, is_signed: bool = False) -> str:
    """A number with `digits` decimals; a number that rounds to zero is never negative.

    Example:
        >>> figure(-0.00001), figure(0.5, 2, is_signed=True)
        ('0.0000', '+0.50')
    """
    text = f"{value:+.{digits}f}"
    if math.isfinite(value) and not any(character in "123456789" for character in text):
        text = f"+{text[1:]}"
    return text if is_signed else text.removeprefix("+")


def signed(value: float, digits: int = 4) -> str:
    """A difference: a number with its sign; a number that rounds to zero has a plus sign."""
    return figure(value, digits, is_signed=True)


def bearing_digits(half_width: float | None) -> int:
    """The decimals that a figure bears whose interval has this half width: those of its first two significant digits.

    Example:
        >>> bearing_digits(0.0123), bearing_digits(0.21), bearing_digits(None)
        (3, 2, 4)
    """
    if half_width is None or not 0 < half_width < math.inf:
        return 4
    return min(4, max(0, 1 - math.floor(math.log10(half_width))))


def _total(widths: Iterator[int]) -> int:
    return sum(n + 2 for n in widths) - 2


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def place_cell(place: float | None) -> float | int | None:
    """A place for a table: a whole number unless it is shared."""
    return int(place) if place is not None and place.is_integer() else place

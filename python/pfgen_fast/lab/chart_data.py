"""Charts of experiments as data; `pfgen_fast.report.charts` draws them.

A chart has values and texts, without sizes, colours or fonts. Texts may be untrusted; the drawing code escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..base.arrays import Floats

MAX_ROWS = 120
"""The maximum number of rows in a chart with a row for each run."""


@dataclass(frozen=True, eq=False)
class Points:
    """A panel of points in a plane."""

    x: Floats  # horizontal coordinates of the points
    y: Floats  # vertical coordinates of the points
    x_label: str  # label of the x axis
    y_label: str  # label of the y axis
    title: str = ""  # title of the panel
    labels: tuple[str, ...] = ()  # label of each point, if points have names; the drawing labels the extreme points
    runs: tuple[str, ...] = ()  # run of each point, if each point stands for a run; pages link to it
    # whether both axes have the same unit; they then have the same limits, and the diagonal is drawn
    has_diagonal: bool = False


@dataclass(frozen=True, eq=False)
class Scatter:
    """Panels of points, each with its own axes."""

    panels: tuple[Points, ...]


@dataclass(frozen=True, eq=False)
class Density:
    """Panels with too many points to distinguish, coloured by their density."""

    panels: tuple[Points, ...]
    unit: str  # plural noun for the things that points stand for


@dataclass(frozen=True, eq=False)
class Matrix:
    """A heat map with its values written into the cells."""

    rows: tuple[str, ...]  # names of the rows
    columns: tuple[str, ...]  # names of the columns
    values: Floats  # values, row by row
    label: str  # name of the values
    lowest: float  # value at the start of the colour scale
    highest: float = 1.0  # value at the end of the colour scale
    n_digits: int = 5  # digits after the decimal point


@dataclass(frozen=True)
class HeatCell:
    """A coloured cell with a text."""

    value: float  # value that the colour stands for; NaN if undefined
    text: str
    meaning: str  # what the cell stands for, with its figures
    is_hatched: bool = False
    is_fault: bool = False  # whether the cell is red


@dataclass(frozen=True)
class Threshold:
    """A cell that shows from which place on, of a scale from 0 to 1, something holds."""

    text: str
    meaning: str  # what the cell stands for, with its figures
    tested: tuple[float, float] | None = None  # first and last tested place of the scale
    start: float | None = None  # None if it holds nowhere
    is_fault: bool = False  # whether the cell is red
    drop: float | None = None  # mean drop of the score there


@dataclass(frozen=True)
class CellRow:
    """A row of cells: for each column, one or more cells, which share its width."""

    name: str
    columns: tuple[tuple[HeatCell | Threshold, ...], ...]
    kind: str = ""  # kind of the examples that the row leads to
    degrees: tuple[str, ...] = ()  # names of the cells of a column


@dataclass(frozen=True)
class CellGroup:
    """Rows under a title."""

    title: str
    rows: tuple[CellRow, ...]


@dataclass(frozen=True)
class HeatMap:
    """Cells whose colours show the sign of a value and its distance from 0."""

    columns: tuple[str, ...]  # names of the columns
    groups: tuple[CellGroup, ...]  # rows from the top
    legend: Mapping[str, str]  # explanations of `fault`, which is a colour, and of other looks
    highest: float  # value at the end of the colour scale


@dataclass(frozen=True)
class Thresholds:
    """Cells of thresholds, all on the same scale."""

    columns: tuple[str, ...]  # names of the columns
    groups: tuple[CellGroup, ...]  # rows from the top
    ticks: tuple[tuple[float, str], ...]  # places of the scale and their names
    legend: Mapping[str, str]  # explanations of `holds`, `tested` and `fault`, which are colours, and of other looks


@dataclass(frozen=True, eq=False)
class Ranges:
    """A row for each name, with a value and the range in which it moves."""

    names: tuple[str, ...]  # names of the rows, from the top
    values: Floats
    low: Floats | None  # lower ends of the ranges; None if there are none
    high: Floats | None
    x_label: str  # name of the values
    runs: tuple[str, ...] = ()  # run of each row, if each row stands for a run; pages link to it
    n_all: int | None = None  # total number of rows; if not all are drawn, the drawing says so


@dataclass(frozen=True, eq=False)
class Line:
    """A line, with a band around it if it has bounds."""

    name: str  # name in the legend
    x: Floats  # x values, in ascending order
    y: Floats  # y values; NaN interrupts the line
    low: Floats | None = None  # lower edge of the band
    high: Floats | None = None


@dataclass(frozen=True, eq=False)
class LinePanel:
    """A panel of lines. Lines of the same number look alike in all panels."""

    title: str  # title of the panel
    lines: tuple[Line, ...]
    levels: tuple[float | None, ...]  # value of the y axis to mark for each line, in its colour; None for no mark
    ticks: tuple[str, ...] = ()  # names of the points of the x axis, in order; empty if the axis shows numbers


@dataclass(frozen=True, eq=False)
class LinePanels:
    """Panels of lines."""

    panels: tuple[LinePanel, ...]  # panels; the first panel has all lines
    x_label: str  # label of the x axes
    y_label: str  # label of the y axis
    level_label: str = ""  # label of the marked levels; empty without levels


Chart = Scatter | Density | Matrix | HeatMap | Thresholds | Ranges | LinePanels

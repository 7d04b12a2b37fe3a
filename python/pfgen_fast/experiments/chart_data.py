"""Kinds of charts, as data, that experiments show; `pfgen_fast.report.charts` draws them.

A chart has values and texts, but no sizes, colours or fonts. Texts may be untrusted; the drawing code escapes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..statistics.correlation import Floats

MAX_ROWS = 120
"""The maximum number of rows in a chart with one row per run."""


@dataclass(frozen=True, eq=False)
class Points:
    """A panel of points in a plane.

    Attributes:
        x: Horizontal coordinates of the points.
        y: Vertical coordinates of the points.
        x_label: The label of the x axis.
        y_label: The label of the y axis.
        title: The title of the panel.
        labels: The label of each point, if points have names; the drawing shows those of the extremes.
        runs: The run that each point stands for, if it stands for one; pages link to it.
        has_diagonal: Whether both axes have the same unit: they get the same limits, and the diagonal is drawn.
    """

    x: Floats
    y: Floats
    x_label: str
    y_label: str
    title: str = ""
    labels: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    has_diagonal: bool = False


@dataclass(frozen=True, eq=False)
class Scatter:
    """Panels of points, each with axes of its own."""

    panels: tuple[Points, ...]


@dataclass(frozen=True, eq=False)
class Density:
    """Panels with too many points to tell apart, coloured by their density.

    Attributes:
        panels: The points.
        unit: The name of what a point stands for, in the plural.
    """

    panels: tuple[Points, ...]
    unit: str


@dataclass(frozen=True, eq=False)
class Matrix:
    """A heat map with its values written into the cells.

    Attributes:
        rows: The names of the rows.
        columns: The names of the columns.
        values: The values, row by row.
        label: The name of the values.
        lowest: The value at the start of the colour scale, so that almost equal values have equal colours.
        highest: The value at its end.
        n_digits: Digits after the decimal point.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    label: str
    lowest: float
    highest: float = 1.0
    n_digits: int = 5


@dataclass(frozen=True, eq=False)
class HeatPanel:
    """A panel of coloured cells with texts.

    Attributes:
        title: The title of the panel.
        rows: The names of the rows, from the top.
        columns: The names of the columns.
        values: The values that the colours stand for, from -1 to 1, row by row; NaN where they are undefined.
        texts: The texts of the cells, row by row.
        is_hatched: Which cells are hatched.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    texts: tuple[tuple[str, ...], ...]
    is_hatched: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Panels of cells whose colours tell how far a value is from 0, and on which side.

    Attributes:
        panels: The panels.
        label: The name of the values.
        legend: What texts and hatches mean, each in a line.
    """

    panels: tuple[HeatPanel, ...]
    label: str
    legend: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Ranges:
    """A row for each name, with a value and the range in which it moves.

    Attributes:
        names: The names of the rows, from the top.
        values: The values.
        low: Lower ends of the ranges; None if there are none.
        high: Upper ends.
        x_label: The name of the values.
        runs: The run that each row stands for, if it stands for one; pages link to it.
        n_all: How many rows there are if only the first are drawn, which the drawing then says.
    """

    names: tuple[str, ...]
    values: Floats
    low: Floats | None
    high: Floats | None
    x_label: str
    runs: tuple[str, ...] = ()
    n_all: int | None = None


@dataclass(frozen=True, eq=False)
class Intervals:
    """A row for each name, with a value and its interval, and a bar beside the rows of each group.

    Attributes:
        names: The names of the rows, from the top.
        values: The values.
        low: Lower ends of the intervals.
        high: Upper ends.
        x_label: The name of the values.
        groups: First and last row of each group with at least two rows.
        groups_label: What the rows of a group have in common.
        without_groups: The text to show if there are no groups.
        runs: The run that each row stands for, if it stands for one; pages link to it.
        n_all: How many rows there are if only the first are drawn, which the drawing then says.
    """

    names: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    x_label: str
    groups: tuple[tuple[int, int], ...]
    groups_label: str
    without_groups: str
    runs: tuple[str, ...] = ()
    n_all: int | None = None


@dataclass(frozen=True, eq=False)
class Band:
    """A panel with a line within a band, over a logarithmic axis.

    Attributes:
        x: The x values, in ascending order.
        middle: The line.
        low: Lower edge of the band.
        high: Upper edge.
        x_label: What the x values count.
    """

    x: NDArray[np.int_]
    middle: Floats
    low: Floats
    high: Floats
    x_label: str


@dataclass(frozen=True, eq=False)
class Bands:
    """Panels side by side that share their vertical axis.

    Attributes:
        panels: The panels.
        y_label: The label of the vertical axis.
        threshold: A value to mark on that axis.
    """

    panels: tuple[Band, ...]
    y_label: str
    threshold: float


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve that summarizes many lines.

    Attributes:
        name: The name in the legend.
        x: The x values.
        summary: The values of the curve; NaN where it is undefined.
        lines: The lines: one row per point, one column per line.
    """

    name: str
    x: Floats
    summary: Floats
    lines: Floats


@dataclass(frozen=True, eq=False)
class CurvePanel:
    """Curves over a common horizontal axis.

    Attributes:
        title: The title of the panel.
        curves: The curves.
        usual_x: The default value of `x`, which is marked.
        is_logarithmic: Whether the horizontal axis is logarithmic.
    """

    title: str
    curves: tuple[Curve, ...]
    usual_x: float
    is_logarithmic: bool = False


@dataclass(frozen=True, eq=False)
class Curves:
    """Panels, each with its curves above and the lines that they summarize below.

    Attributes:
        panels: The panels.
        summary_label: The label of the curves.
        lines_label: The label of the lines.
        threshold: A value of the curves to mark.
        legend_title: What distinguishes the curves of a panel.
    """

    panels: tuple[CurvePanel, ...]
    summary_label: str
    lines_label: str
    threshold: float
    legend_title: str


@dataclass(frozen=True, eq=False)
class Line:
    """A line, with a band around it if it has bounds.

    Attributes:
        name: The name in the legend.
        x: The x values, in ascending order.
        y: The y values; NaN where it is interrupted.
        low: Lower edge of the band.
        high: Upper edge.
    """

    name: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines over common axes.

    Attributes:
        lines: The lines.
        x_label: The label of the x axis.
        y_label: The label of the y axis.
        threshold: A value of the y axis to mark.
        legend_title: What distinguishes the lines.
    """

    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    threshold: float | None = None
    legend_title: str = ""


@dataclass(frozen=True, eq=False)
class LinePanel:
    """A panel of lines. Lines of the same number look alike in all panels.

    Attributes:
        title: The title of the panel.
        lines: The lines.
        levels: A value of the y axis to mark for each line, in its colour; None where there is none.
        ticks: The names of the points of the x axis, in their order; empty if the axis shows numbers.
    """

    title: str
    lines: tuple[Line, ...]
    levels: tuple[float | None, ...]
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class LinePanels:
    """Panels of lines that share their vertical axis.

    Attributes:
        panels: The panels. The first has all lines.
        x_label: The label of the x axes.
        y_label: The label of the y axis.
        level_label: What the marked levels are; empty if there are none.
    """

    panels: tuple[LinePanel, ...]
    x_label: str
    y_label: str
    level_label: str = ""


@dataclass(frozen=True, eq=False)
class BarSeries:
    """Bars that look alike, one in each group.

    Attributes:
        name: The name in the legend.
        values: The values; NaN where there is no bar.
        low: Lower ends of the intervals; NaN where there is none.
        high: Upper ends.
    """

    name: str
    values: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class BarPanel:
    """A panel of bars.

    Attributes:
        title: The title of the panel.
        groups: The names of the groups of bars.
        series: The bars, in each group side by side.
    """

    title: str
    groups: tuple[str, ...]
    series: tuple[BarSeries, ...]


@dataclass(frozen=True, eq=False)
class Bars:
    """Panels of bars.

    Attributes:
        panels: The panels. The first has all series.
        y_label: The label of the vertical axis.
        threshold: A value to mark on that axis.
    """

    panels: tuple[BarPanel, ...]
    y_label: str
    threshold: float


Chart = Scatter | Density | Matrix | HeatMap | Ranges | Intervals | Bands | Curves | Lines | LinePanels | Bars


def correlation_floor(values: Floats) -> float:
    """Where the colour scale of correlations starts: a round number that no correlation is below."""
    return next(floor for floor in (0.9, 0.5, 0.0, -1.0) if floor <= values.min() or floor == -1.0)

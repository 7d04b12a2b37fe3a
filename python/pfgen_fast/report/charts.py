"""Draws charts: one function for each kind of chart, which returns a matplotlib figure.

A text on a colour has the id `ON_LEVEL` or `ON_DIVERGING` and the number of the colour. A heat map has rows of cells on
a scale with a neutral middle; its sizes, in inches, are computed before drawing, so that all cells are equally high.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from ..lab import chart_data
from ..lab.chart_data import CellRow, HeatCell, Threshold
from . import drawing
from .drawing import DIVERGING, FAULT, LEVELS, QUIET, UNDEFINED, WHITE_ON_LEVELS, bounded, look, new_figure, plain

ON_LEVEL, ON_DIVERGING = "on-level-", "on-diverging-"

_PANELS_SIDE_BY_SIDE, _SMALL_PANELS_SIDE_BY_SIDE = 3, 4
_N_LABELS, _N_LABELS_ALONE = 8, 24
_LONGEST_LEVEL_NAME = 12  # characters that fit below a cell of a matrix

# Of maps of cells, in inches.
_CELL_WIDTH, _CELL_HEIGHT, _BAR_WIDTH = 0.4, 0.21, 2.0
_SMALL_LETTER = 0.062  # of the font size 7
_LONGEST_ROW = 60
_MARGIN = 0.15
_GAP = 0.04  # between columns, as a share of their width
_LOOKS = {"holds": "blue: ", "tested": "grey: ", "fault": "red: "}  # colours of legends


@singledispatch
def drawn(chart: object) -> Any:
    """Draws a chart as a figure."""
    raise TypeError(f"expected a chart, not {type(chart).__name__}")


@drawn.register
def _scatter(chart: chart_data.Scatter) -> Any:
    is_alone = len(chart.panels) == 1
    figure, panels = _grid(len(chart.panels), *((8, 6) if is_alone else (5.8, 5)))
    for axes, points in zip(panels, chart.panels, strict=True):
        # The thin white edge keeps points apart where there are many.
        axes.plot(points.x, points.y, "o", markersize=6, markeredgecolor="white", markeredgewidth=0.4)
        axes.margins(0.12)
        if points.has_diagonal:
            _draw_diagonal(axes)
        _name(axes, points)
    for axes, points in zip(panels, chart.panels, strict=True):
        if points.labels:
            at_most = _N_LABELS_ALONE if is_alone else _N_LABELS
            drawing.label_extremes(axes, points.x, points.y, points.labels, at_most=at_most)
    return figure


def _draw_diagonal(axes: Any) -> None:
    ends = (*axes.get_xlim(), *axes.get_ylim())
    limits = (min(ends), max(ends))
    axes.plot(limits, limits, "-", color=QUIET, linewidth=0.8, zorder=1)
    axes.set(xlim=limits, ylim=limits, aspect="equal")


@drawn.register
def _density(chart: chart_data.Density) -> Any:
    figure, panels = _grid(len(chart.panels), 4.6, 3.8)
    for axes, points in zip(panels, chart.panels, strict=True):
        ends = (points.x.min(), points.x.max(), points.y.min(), points.y.max())
        options = {"extent": (min(ends), max(ends)) * 2} if points.has_diagonal and min(ends) < max(ends) else {}
        # The lightest cells are told from the ground by their edges.
        edges = {"linewidths": 0.4, "edgecolors": QUIET}
        look_of_cells = {"gridsize": 40, "bins": "log", "cmap": drawing.color_map(LEVELS), **edges}
        cells = axes.hexbin(points.x, points.y, mincnt=1, **look_of_cells, **options)
        if points.has_diagonal:
            _draw_diagonal(axes)
        _name(axes, points)
        axes.grid(False)
        figure.colorbar(cells, ax=axes, label=plain(chart.unit), format="{x:,.0f}")
    return figure


@drawn.register
def _matrix(chart: chart_data.Matrix) -> Any:
    n_rows, n_columns = chart.values.shape
    figure, ((axes,),) = new_figure(2 + 0.9 * n_columns, 1.3 + 0.32 * n_rows)
    scale = {"cmap": drawing.color_map(LEVELS), "vmin": chart.lowest, "vmax": chart.highest}
    cells = axes.pcolormesh(chart.values, edgecolors="white", linewidth=1.5, **scale)
    axes.grid(False)
    axes.set_ylim(n_rows, 0)
    axes.xaxis.tick_top()
    slanted = {"rotation": 25, "ha": "left"} if max(map(len, chart.columns)) > _LONGEST_LEVEL_NAME else {}
    axes.set_xticks(np.arange(n_columns) + 0.5, list(map(plain, chart.columns)), **slanted)
    axes.set_yticks(np.arange(n_rows) + 0.5, list(map(plain, chart.rows)))
    for (row, column), value in np.ndenumerate(chart.values):
        level = 0 if np.isnan(value) else int(np.clip(cells.norm(value), 0, 1 - 1e-9) * len(LEVELS))
        text = "–" if np.isnan(value) else f"{value:.{chart.n_digits}f}"
        color = "white" if level in WHITE_ON_LEVELS else "black"
        place = {"ha": "center", "va": "center", "fontsize": 9}
        axes.text(column + 0.5, row + 0.5, text, gid=f"{ON_LEVEL}{level}", color=color, **place)
    axes.set_xlabel(plain(f"{chart.label} (colours from {chart.lowest:g} to {chart.highest:g})"))
    return figure


@drawn.register
def _ranges(chart: chart_data.Ranges) -> Any:
    figure, ((axes,),) = new_figure(9, 1.2 + 0.24 * len(chart.names))
    rows = np.arange(len(chart.names))
    if chart.low is not None and chart.high is not None:
        axes.hlines(rows, chart.low, chart.high, linewidth=2.5, alpha=0.6)
    axes.plot(chart.values, rows, "o", markersize=6)
    axes.set_yticks(rows, list(map(plain, chart.names)))
    axes.set(xlabel=plain(chart.x_label), ylim=(len(rows) - 0.5, -0.5))  # the first name at the top
    if chart.n_all is not None and chart.n_all > len(rows):
        axes.set_title(f"the first {len(rows):,} of {chart.n_all:,}")
    return figure


@drawn.register
def _line_panels(chart: chart_data.LinePanels) -> Any:
    figure, panels = _grid(len(chart.panels), 3.4, 2.5, at_most=_SMALL_PANELS_SIDE_BY_SIDE, sharey=True)
    for axes, panel in zip(panels, chart.panels, strict=True):
        _draw_panel(axes, panel)
    handles, names = panels[0].get_legend_handles_labels()
    if chart.level_label:
        handles.append(panels[0].plot([], [], linestyle="--", color=QUIET, linewidth=1)[0])
        names.append(plain(chart.level_label))
    figure.legend(handles, names, loc="outside upper left", ncols=len(names), frameon=False)
    figure.supxlabel(plain(chart.x_label), fontsize=10.5)
    figure.supylabel(plain(chart.y_label), fontsize=10.5)
    return figure


def _draw_panel(axes: Any, panel: chart_data.LinePanel) -> None:
    for number, (line, level) in enumerate(zip(panel.lines, panel.levels, strict=True)):
        _draw_line(axes, line, number)
        if level is not None:
            axes.axhline(level, color=look(number)["color"], linestyle="--", linewidth=0.8)
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), list(map(bounded, panel.ticks)))
    axes.set_title(plain(panel.title))
    axes.tick_params(labelsize=8)


def _draw_line(axes: Any, line: chart_data.Line, number: int) -> None:
    """A line, within a light band whose edges can be seen if it has bounds."""
    if line.low is not None and line.high is not None:
        color = look(number)["color"]
        axes.fill_between(line.x, line.low, line.high, color=color, alpha=0.2, linewidth=0)
        for edge in (line.low, line.high):
            axes.plot(line.x, edge, "-", color=color, linewidth=0.5)
    axes.plot(line.x, line.y, label=plain(line.name), **look(number))


def _grid(
    n: int, width: float, height: float, *, at_most: int = _PANELS_SIDE_BY_SIDE, **options: Any
) -> tuple[Any, list[Any]]:
    """A figure with `n` panels of equal size, at most so many per row, and their axes."""
    columns = min(at_most, n)
    rows = -(-n // columns)
    figure, axes = new_figure(width * columns, height * rows, rows, columns, **options)
    for unused in axes.flat[n:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:n])


def _name(axes: Any, points: chart_data.Points) -> None:
    axes.set(xlabel=plain(points.x_label), ylabel=plain(points.y_label), title=plain(points.title))


# --- maps of cells


class _Place(NamedTuple):
    """A cell and its place: rows from the top, columns from the left."""

    cell: HeatCell | Threshold
    y: int
    x: float
    width: float


@drawn.register(chart_data.HeatMap)
@drawn.register(chart_data.Thresholds)
def _map(chart: chart_data.HeatMap | chart_data.Thresholds) -> Any:
    """Draws all rows below the names of the columns, with the scale and the legend below them."""
    rows: list[CellRow | str] = []
    for group in chart.groups:
        rows += [group.title, *group.rows]
    names = _width([row if isinstance(row, str) else row.name for row in rows])
    n_cells = max((len(columns) for line in rows if isinstance(line, CellRow) for columns in line.columns), default=1)
    least = _CELL_WIDTH * n_cells if isinstance(chart, chart_data.HeatMap) else _BAR_WIDTH
    column = max(least, _width([name[: drawing.LONGEST_NAME] for name in chart.columns])) * (1 + _GAP)
    legend = [_LOOKS.get(look, "") + words for look, words in chart.legend.items()]
    foot = 0.3 + 0.17 * len(legend)
    field = len(chart.columns) * column, len(rows) * _CELL_HEIGHT
    width, height = max(names + field[0] + 2 * _MARGIN, 4.5), field[1] + _CELL_HEIGHT * 2.5 + foot
    with drawing.style():
        figure = drawing.empty_figure(width, height)
        figure.set_layout_engine(None)
        sizes = ((names + _MARGIN) / width, foot / height, field[0] / width, field[1] / height)
        axes = figure.add_axes(sizes)
        _draw_frame(axes, chart, rows)
        if isinstance(chart, chart_data.HeatMap):
            _draw_cells(axes, list(_places(rows)), chart.highest)
        else:
            _draw_thresholds(axes, list(_places(rows)), chart.ticks)
        middle = {"ha": "center", "va": "center", "fontsize": 7.5}
        for number, line in enumerate(legend):
            figure.text(0.5, (foot - 0.2 - 0.17 * number) / height, plain(line), **middle)
    return figure


def level_of(value: float, highest: float = 1.0) -> int | None:
    """The number of the colour that stands for a value; None if the value is undefined."""
    return None if math.isnan(value) else int(min(max((value / highest + 1) / 2, 0), 1 - 1e-9) * len(DIVERGING))


def _places(rows: Sequence[CellRow | str]) -> Iterator[_Place]:
    for y, row in enumerate(rows):
        for column, cells in enumerate(row.columns if isinstance(row, CellRow) else ()):
            width = (1 - _GAP) / max(1, len(cells))
            yield from (_Place(cell, y, column + width * number, width) for number, cell in enumerate(cells))


def _draw_frame(axes: Any, chart: chart_data.HeatMap | chart_data.Thresholds, rows: Sequence[CellRow | str]) -> None:
    axes.grid(False)
    axes.set_xlim(0, len(chart.columns))
    axes.set_ylim(len(rows), 0)
    axes.xaxis.tick_top()
    middles = [number + (1 - _GAP) / 2 for number in range(len(chart.columns))]
    axes.set_xticks(middles, list(map(bounded, chart.columns)), fontsize=8, fontweight="bold")
    named = [(y + 0.5, plain(row.name[:_LONGEST_ROW])) for y, row in enumerate(rows) if isinstance(row, CellRow)]
    axes.set_yticks([y for y, _ in named], [name for _, name in named], fontsize=7)
    for y, row in enumerate(rows):
        if isinstance(row, str):
            beside = {"xycoords": ("axes fraction", "data"), "xytext": (-3, 0), "textcoords": "offset points"}
            axes.annotate(plain(row), (0, y + 0.6), ha="right", va="center", fontsize=8, fontweight="bold", **beside)


def _draw_cells(axes: Any, places: Sequence[_Place], highest: float) -> None:
    for place in places:
        cell = cast(HeatCell, place.cell)
        level = level_of(cell.value, highest)
        color = FAULT if cell.is_fault else UNDEFINED if level is None else DIVERGING[level]
        box = {"y": place.y + 0.5, "width": place.width, "height": 0.94, "left": place.x}
        axes.barh(**box, color=color, edgecolor="white", linewidth=0.5)
        if cell.is_hatched:
            axes.barh(**box, color="none", edgecolor=QUIET, linewidth=0, hatch="////")
        is_white = cell.is_fault or level in drawing.WHITE_ON
        text = {"ha": "center", "va": "center", "fontsize": 7, "color": "white" if is_white else "black"}
        identity = None if level is None else f"{ON_DIVERGING}{'fault' if cell.is_fault else level}"
        axes.text(place.x + place.width / 2, place.y + 0.5, plain(cell.text), gid=identity, **text)


def _draw_thresholds(axes: Any, places: Sequence[_Place], ticks: Sequence[tuple[float, str]]) -> None:
    """Draws the text of each cell, then a bar for what was tested, filled from the threshold on."""
    for place in places:
        cell, begin, length = cast(Threshold, place.cell), place.x + 0.4 * place.width, 0.52 * place.width
        middle, look_of_text = place.y + 0.5, {"fontsize": 7, "color": FAULT if cell.is_fault else "black"}
        axes.text(begin - 0.03, middle, plain(cell.text), ha="right", va="center", **look_of_text)
        if cell.tested is not None:
            low, high = cell.tested
            for start, fill in ((low, FAULT if cell.is_fault else UNDEFINED), (cell.start, DIVERGING[7])):
                if start is not None:
                    wide = max(high - start, 0.03)  # of one degree, a mark at its place
                    axes.barh(middle, wide * length, 0.5, begin + (start + high - wide) / 2 * length, color=fill)
    for column, (start, name) in product(range(len({int(place.x) for place in places})), ticks):
        x = column + (0.4 + 0.52 * start) * (1 - _GAP)
        axes.text(x, 0.75, name, ha="center", va="center", fontsize=6, color=QUIET)


def _width(names: Sequence[str]) -> float:
    """The width of the longest name; Japanese letters count twice."""
    return 0.1 + _SMALL_LETTER * max(
        (sum(1 if character < "\u1100" else 2 for character in name[:_LONGEST_ROW]) for name in names), default=0
    )

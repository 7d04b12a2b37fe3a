"""Draws heat maps on a scale with a neutral middle: groups of rows, whose columns have one or more cells with texts.

All sizes are in inches and are computed before drawing, so that all cells have the same height.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..lab.experiments.chart_data import HeatCell, HeatMap, HeatRow
from . import drawing
from .drawing import DIVERGING, QUIET, UNDEFINED, bounded, plain

ON_DIVERGING = "on-diverging-"
"""The id of a text on a colour of the scale, with the number of the colour."""

_CELL_WIDTH, _CELL_HEIGHT = 0.4, 0.21
_LETTER = 0.062  # of the font size 7
_LONGEST_ROW = 60
_MARGIN = 0.15
_GAP = 0.04  # between columns, as a share of their width
_SCALE_HEIGHT = 0.15


class _Place(NamedTuple):
    """A cell and its place: rows from the top, columns from the left."""

    cell: HeatCell
    y: int
    x: float
    width: float


def draw_heat_map(chart: HeatMap) -> Any:
    """Draws all rows below the names of the columns, with the scale below them."""
    rows: list[HeatRow | str] = []
    for group in chart.groups:
        rows += [group.title, *group.rows]
    cells, titles = list(_places(rows)), [group.title for group in chart.groups]
    names = _width([*titles, *(row.name for row in rows if isinstance(row, HeatRow))])
    n_cells = max((len(columns) for line in rows if isinstance(line, HeatRow) for columns in line.columns), default=1)
    column = max(_CELL_WIDTH * n_cells, _width([name[: drawing.LONGEST_NAME] for name in chart.columns])) * (1 + _GAP)
    foot = 0.75 + 0.17 * len(chart.legend) + _SCALE_HEIGHT
    field = len(chart.columns) * column, len(rows) * _CELL_HEIGHT
    width, height = max(names + field[0] + 2 * _MARGIN, 4.5), field[1] + _CELL_HEIGHT * 1.5 + foot
    with drawing.style():
        figure = drawing.empty_figure(width, height)
        figure.set_layout_engine(None)
        axes = _axes(figure, names + _MARGIN, foot, *field)
        _draw_frame(axes, chart, rows)
        _draw_cells(axes, cells)
        _draw_scale(figure, axes, chart, foot)
    return figure


def level_of(value: float) -> int | None:
    """The number of the colour that stands for a value; None if the value is undefined."""
    return None if math.isnan(value) else int(min(max((value + 1) / 2, 0), 1 - 1e-9) * len(DIVERGING))


def _places(rows: Sequence[HeatRow | str]) -> Iterator[_Place]:
    for y, row in enumerate(rows):
        for column, cells in enumerate(row.columns if isinstance(row, HeatRow) else ()):
            width = (1 - _GAP) / max(1, len(cells))
            yield from (_Place(cell, y, column + width * number, width) for number, cell in enumerate(cells))


def _draw_frame(axes: Any, chart: HeatMap, rows: Sequence[HeatRow | str]) -> None:
    axes.grid(False)
    axes.set_xlim(0, len(chart.columns))
    axes.set_ylim(len(rows), 0)
    axes.xaxis.tick_top()
    middles = [number + (1 - _GAP) / 2 for number in range(len(chart.columns))]
    axes.set_xticks(middles, list(map(bounded, chart.columns)), fontsize=8, fontweight="bold")
    named = [(y + 0.5, plain(row.name[:_LONGEST_ROW])) for y, row in enumerate(rows) if isinstance(row, HeatRow)]
    axes.set_yticks([y for y, _ in named], [name for _, name in named], fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for y, row in enumerate(rows):
        if isinstance(row, str):
            beside = {"xycoords": ("axes fraction", "data"), "xytext": (-3, 0), "textcoords": "offset points"}
            axes.annotate(plain(row), (0, y + 0.6), ha="right", va="center", fontsize=8, fontweight="bold", **beside)


def _draw_cells(axes: Any, places: Sequence[_Place]) -> None:
    for place in places:
        level = level_of(place.cell.value)
        color = UNDEFINED if level is None else DIVERGING[level]
        box = {"y": place.y + 0.5, "width": place.width, "height": 0.94, "left": place.x}
        axes.barh(**box, color=color, edgecolor="white", linewidth=0.5)
        if place.cell.is_hatched:
            axes.barh(**box, color="none", edgecolor=QUIET, linewidth=0, hatch="////")
        text = {
            "ha": "center",
            "va": "center",
            "fontsize": 7,
            "color": "white" if level in drawing.WHITE_ON else "black",
        }
        identity = None if level is None else f"{ON_DIVERGING}{level}"
        axes.text(place.x + place.width / 2, place.y + 0.5, plain(place.cell.text), gid=identity, **text)


def _draw_scale(figure: Any, axes: Any, chart: HeatMap, foot: float) -> None:
    width, height = figure.get_size_inches()
    length = min(width - 4 * _MARGIN, 5.0)
    bottom = foot - 0.25 - _SCALE_HEIGHT
    below = _axes(figure, (width - length) / 2, bottom, length, _SCALE_HEIGHT)
    colors = axes.scatter([], [], c=[], cmap=drawing.diverging(), vmin=-1, vmax=1)
    scale = figure.colorbar(colors, cax=below, orientation="horizontal")
    scale.outline.set_visible(False)
    scale.ax.tick_params(labelsize=7)
    for number, line in enumerate((chart.label, *chart.legend)):
        y = (bottom - 0.35 - 0.17 * number) / height
        figure.text(0.5, y, plain(line), ha="center", va="center", fontsize=7.5)


def _width(names: Sequence[str]) -> float:
    """The width of the longest name; Japanese letters count twice."""
    return 0.1 + _LETTER * max(
        (sum(1 if character < "\u1100" else 2 for character in name[:_LONGEST_ROW]) for name in names), default=0
    )


def _axes(figure: Any, left: float, bottom: float, width: float, height: float) -> Any:
    """Axes at a place in a figure, in inches."""
    all_width, all_height = figure.get_size_inches()
    return figure.add_axes((left / all_width, bottom / all_height, width / all_width, height / all_height))

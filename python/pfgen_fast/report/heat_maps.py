"""Draws heat maps on a scale with a neutral middle: panels of cells with texts, packed into columns.

All sizes are in inches and are computed before drawing, so that cells have the same size in all panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..experiments.chart_data import HeatMap, HeatPanel
from . import drawing
from .drawing import DIVERGING, QUIET, UNDEFINED, bounded, plain

ON_DIVERGING = "on-diverging-"
"""The id of a text on a colour of the scale, with the number of the colour."""

_COLUMNS = 3
_CELL_HEIGHT = 0.21
_HEAD_ROWS = 3  # title and names of the columns above a panel, in rows
_LETTER = 0.062  # of the font size 7
_MARGIN = 0.15
_SCALE_HEIGHT = 0.15


def draw_heat_map(chart: HeatMap) -> Any:
    """Draws the panels with one scale below them."""
    heights = [len(panel.rows) + _HEAD_ROWS for panel in chart.panels]
    columns = _packed(heights)
    n_rows = max(sum(heights[number] for number in column) for column in columns)
    names = _width([name for panel in chart.panels for name in panel.rows])
    cell = max(0.5, _width([name for panel in chart.panels for name in panel.columns]))
    column_width = names + cell * max(len(panel.columns) for panel in chart.panels) + 2 * _MARGIN
    foot = 0.75 + 0.17 * len(chart.legend) + _SCALE_HEIGHT
    width, height = max(len(columns) * column_width, 4.5), n_rows * _CELL_HEIGHT + foot
    with drawing.style():
        figure = drawing.empty_figure(width, height)
        figure.set_layout_engine(None)
        for place, column in enumerate(columns):
            top = height
            for number in column:
                panel = chart.panels[number]
                top -= (len(panel.rows) + _HEAD_ROWS) * _CELL_HEIGHT
                size = cell * len(panel.columns), len(panel.rows) * _CELL_HEIGHT
                cells = _draw_panel(_axes(figure, place * column_width + names + _MARGIN, top, *size), panel)
        _draw_scale(figure, cells, chart, foot)
    return figure


def _draw_panel(axes: Any, panel: HeatPanel) -> Any:
    scale = {"cmap": drawing.diverging(), "vmin": -1, "vmax": 1}
    axes.set_facecolor(UNDEFINED)
    cells = axes.pcolormesh(np.ma.masked_invalid(panel.values), edgecolors="white", linewidth=1, **scale)
    axes.grid(False)
    axes.set_ylim(len(panel.rows), 0)
    axes.set_title(plain(panel.title), fontsize=9, fontweight="bold")
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(panel.columns)) + 0.5, list(map(bounded, panel.columns)), fontsize=7)
    axes.set_yticks(np.arange(len(panel.rows)) + 0.5, list(map(bounded, panel.rows)), fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for row, column in zip(*np.nonzero(panel.is_hatched), strict=True):
        hatched = {"facecolor": "none", "edgecolor": QUIET, "linewidth": 0, "hatch": "////"}
        axes.fill_between([column, column + 1], row, row + 1, **hatched)
    for (row, column), value in np.ndenumerate(panel.values):
        if panel.texts[row][column]:
            _write_on(axes, row, column, value, panel.texts[row][column])
    return cells


def _write_on(axes: Any, row: int, column: int, value: float, text: str) -> None:
    level = None if np.isnan(value) else int(np.clip((value + 1) / 2, 0, 1 - 1e-9) * len(DIVERGING))
    color = "white" if level in drawing.WHITE_ON else "black"
    identity = None if level is None else f"{ON_DIVERGING}{level}"
    place = {"ha": "center", "va": "center", "fontsize": 7}
    axes.text(column + 0.5, row + 0.5, plain(text), gid=identity, color=color, **place)


def _draw_scale(figure: Any, cells: Any, chart: HeatMap, foot: float) -> None:
    width, height = figure.get_size_inches()
    length = min(width - 4 * _MARGIN, 5.0)
    bottom = foot - 0.25 - _SCALE_HEIGHT
    below = _axes(figure, (width - length) / 2, bottom, length, _SCALE_HEIGHT)
    scale = figure.colorbar(cells, cax=below, orientation="horizontal")
    scale.outline.set_visible(False)
    scale.ax.tick_params(labelsize=7)
    for number, line in enumerate((chart.label, *chart.legend)):
        y = (bottom - 0.35 - 0.17 * number) / height
        figure.text(0.5, y, plain(line), ha="center", va="center", fontsize=7.5)


def _packed(heights: Sequence[int]) -> list[list[int]]:
    """Panels in columns of about the same height, in their order."""
    n_columns = min(_COLUMNS, len(heights))
    at_most = max([*heights, -(-sum(heights) // n_columns)])
    columns: list[list[int]] = [[]]
    for number, height in enumerate(heights):
        is_full = sum(heights[other] for other in columns[-1]) + height > at_most
        if columns[-1] and is_full and len(columns) < n_columns:
            columns.append([])
        columns[-1].append(number)
    return columns


def _width(names: Sequence[str]) -> float:
    """The width of the longest name; Japanese letters count twice."""
    return 0.1 + _LETTER * max(
        sum(1 if one < "\u1100" else 2 for one in name[: drawing.LONGEST_NAME]) for name in names
    )


def _axes(figure: Any, left: float, bottom: float, width: float, height: float) -> Any:
    """Axes at a place in a figure, in inches."""
    all_width, all_height = figure.get_size_inches()
    return figure.add_axes((left / all_width, bottom / all_height, width / all_width, height / all_height))

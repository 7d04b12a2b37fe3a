"""Draws heat maps on a scale with a neutral middle: panels of cells with texts, packed into columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..experiments.charts import HeatMap, HeatPanel
from .drawing import (
    DIVERGING,
    LONGEST_NAME,
    QUIET,
    UNDEFINED,
    WHITE_ON,
    bounded,
    diverging,
    empty_figure,
    plain,
    style,
)

ON_DIVERGING = "on-diverging-"
"""The id of a text on a colour of the scale, with the number of the colour."""

_COLUMNS = 3
_ROWS_OF_TITLE = 3


def draw_heat_map(chart: HeatMap) -> Any:
    """Draws the panels with one scale below them."""
    heights = [len(panel.rows) + _ROWS_OF_TITLE for panel in chart.panels]
    columns = _packed(heights)
    tallest = max(sum(heights[number] for number in column) for column in columns)
    n_cells = max(len(panel.columns) for panel in chart.panels)
    n_letters = max(min(len(name), LONGEST_NAME) for panel in chart.panels for name in panel.rows)
    width = (0.4 + 0.07 * n_letters + 0.6 * n_cells) * len(columns)
    with style():
        figure = empty_figure(max(width, 5), 0.22 * tallest + 0.2 * len(chart.legend) + 0.9)
        grid = figure.add_gridspec(1, len(columns))
        for place, column in enumerate(columns):
            rest = tallest - sum(heights[number] for number in column)
            shares = [*(heights[number] for number in column), rest]
            rows = grid[place].subgridspec(len(shares), 1, height_ratios=[max(share, 1e-3) for share in shares])
            for row, number in enumerate(column):
                cells = _draw_heat(figure.add_subplot(rows[row]), chart.panels[number])
    figure.colorbar(
        cells,
        ax=figure.axes,
        location="bottom",
        label="\n".join(map(plain, (chart.label, *chart.legend))),
        aspect=50,
        pad=0.02,
    )
    return figure


def _draw_heat(axes: Any, panel: HeatPanel) -> Any:
    scale = {"cmap": diverging(), "vmin": -1, "vmax": 1}
    axes.set_facecolor(UNDEFINED)
    cells = axes.pcolormesh(np.ma.masked_invalid(panel.values), edgecolors="white", linewidth=1, **scale)
    axes.grid(False)
    axes.set(ylim=(len(panel.rows), 0), title=plain(panel.title))
    axes.set_xticks(np.arange(len(panel.columns)) + 0.5, [bounded(name) for name in panel.columns], fontsize=7)
    axes.set_yticks(np.arange(len(panel.rows)) + 0.5, [bounded(name) for name in panel.rows], fontsize=7)
    axes.tick_params(length=0)
    for row, column in zip(*np.nonzero(panel.is_hatched), strict=True):
        hatched = {"facecolor": "none", "edgecolor": QUIET, "linewidth": 0, "hatch": "////"}
        axes.fill_between([column, column + 1], row, row + 1, **hatched)
    for (row, column), value in np.ndenumerate(panel.values):
        if panel.texts[row][column]:
            _write_on(axes, row, column, value, panel.texts[row][column])
    return cells


def _write_on(axes: Any, row: int, column: int, value: float, text: str) -> None:
    """Writes a text on the colour of its cell."""
    level = None if np.isnan(value) else int(np.clip((value + 1) / 2, 0, 1 - 1e-9) * len(DIVERGING))
    color = "white" if level in WHITE_ON else "black"
    identity = None if level is None else f"{ON_DIVERGING}{level}"
    place = {"ha": "center", "va": "center", "fontsize": 7}
    axes.text(column + 0.5, row + 0.5, plain(text), gid=identity, color=color, **place)


def _packed(heights: Sequence[int]) -> list[list[int]]:
    """Panels in at most three columns of about the same height, in their order."""
    n_columns = min(_COLUMNS, len(heights))
    at_most = max(*heights, 0, -(-sum(heights) // n_columns)) if len(heights) > 1 else heights[0]
    columns: list[list[int]] = [[]]
    for number, height in enumerate(heights):
        is_full = sum(heights[other] for other in columns[-1]) + height > at_most
        if columns[-1] and is_full and len(columns) < n_columns:
            columns.append([])
        columns[-1].append(number)
    return columns

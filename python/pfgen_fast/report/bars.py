"""Draws groups of bars with their values and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..experiments.chart_data import BarPanel, Bars, BarSeries
from .drawing import COLORS, bounded, mark_threshold, new_figure, plain

_HATCHES = ("", "///", "...", "xxx")
_MIN_GROUPS = 3
_NARROWEST, _WIDEST = 6.0, 24.0  # inches, as all below
_BAR = 0.32
_VALUE = 0.22
_LETTER = 0.075


def draw_bars(chart: Bars) -> Any:
    """Draws the panels one below the other."""
    n_bars = max(len(panel.groups) * len(panel.series) for panel in chart.panels)
    width = min(max(_NARROWEST, _BAR * n_bars + 1.5), _WIDEST)
    figure, axes_of_all = new_figure(width, 3.2 * len(chart.panels) + 0.4, len(chart.panels))
    for axes, panel in zip(axes_of_all.flat, chart.panels, strict=True):
        _draw_panel(axes, panel, width)
        mark_threshold(axes, chart.threshold)
        axes.set(ylabel=plain(chart.y_label), title=plain(panel.title))
    figure.legend(*axes_of_all[0, 0].get_legend_handles_labels(), fontsize=8, loc="outside upper left", ncols=4)
    return figure


def _draw_panel(axes: Any, panel: BarPanel, figure_width: float) -> None:
    width = 0.8 / len(panel.series)
    n_groups = max(len(panel.groups), _MIN_GROUPS)
    has_room = figure_width / (n_groups * len(panel.series)) >= _VALUE
    for number, series in enumerate(panel.series):
        places = np.arange(len(panel.groups)) + (number - (len(panel.series) - 1) / 2) * width
        looks = {"color": COLORS[number % len(COLORS)], "edgecolor": "white", "hatch": _HATCHES[number % len(_HATCHES)]}
        axes.bar(places, np.nan_to_num(series.values), width, label=plain(series.name), linewidth=0.5, **looks)
        ends = np.stack([series.values - series.low, series.high - series.values]).clip(0)
        known = ~np.isnan(ends).any(axis=0)
        interval = {"fmt": "none", "ecolor": "black", "elinewidth": 1, "capsize": 2}
        axes.errorbar(places[known], series.values[known], yerr=ends[:, known], **interval)
        if has_room:
            _write_values(axes, places, series)
    longest = max(map(len, panel.groups))
    slanted = {"rotation": 25, "ha": "right"} if _LETTER * longest * n_groups > figure_width - 1 else {}
    axes.set_xticks(np.arange(len(panel.groups)), list(map(bounded, panel.groups)), fontsize=8, **slanted)
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.12)
    if len(panel.groups) < _MIN_GROUPS:  # so that bars do not become walls
        axes.set_xlim(-0.5, _MIN_GROUPS - 0.5)


def _write_values(axes: Any, places: Any, series: BarSeries) -> None:
    for place, value, high in zip(places, series.values, series.high, strict=True):
        text = "–" if np.isnan(value) else f"{value:.1f}"
        top = np.nanmax([0.0, value, high])
        axes.annotate(text, (place, top), (0, 2), textcoords="offset points", ha="center", fontsize=6)

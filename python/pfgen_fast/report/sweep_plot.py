"""The picture of a sweep as PNG or SVG, with matplotlib (the extra `plots`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import PfgenError
from ..files.writing import write_whole
from ..suite.rules import SCORES
from .drawing import LIMIT, empty_figure, library, look, plain, stored, style
from .sweeps import axis, lines, plain_values, point_name

if TYPE_CHECKING:
    from ..generation.sweep import Measured

FORMATS = (".png", ".svg")
_MAX_NAMED = 12


def check_picture(path: Path) -> None:
    """Raises PfgenError if a picture of this name cannot be drawn; call it before hours of work."""
    if path.suffix not in FORMATS:
        raise PfgenError(f"{path}: expected a picture's name that ends in {' or '.join(FORMATS)}")
    library("matplotlib")


def write_picture(measured: Sequence[Measured], path: Path, *, until_interval: float | None = None) -> None:
    """Draws every score against every swept parameter with its interval, and the interval against the trials."""
    check_picture(path)
    shown = [point for point in measured if point.intervals]
    if not shown:
        raise PfgenError(f"{path}: not drawn, because no point has scores")
    with style():
        figure = _figure(shown, until_interval)
    write_whole(path, stored(figure, path.suffix[1:]))


def _figure(shown: Sequence[Measured], until_interval: float | None) -> Any:
    parameters = list(shown[0].point.values)
    n_parts = len(parameters) + 1
    figure = empty_figure(13, 3.3 * n_parts)
    parts = figure.subfigures(n_parts, 1, squeeze=False)[:, 0]
    for parameter, part in zip(parameters, parts, strict=False):
        _draw_parameter(part, shown, parameter)
    _draw_trials(parts[-1], shown, until_interval)
    return figure


def _draw_parameter(part: Any, shown: Sequence[Measured], parameter: str) -> None:
    points = [plain_values(point.point.values) for point in shown]
    values = axis(points, parameter)
    in_numbers = all(isinstance(value, float) for value in values)
    position: dict[float | str, Any] = {value: value if in_numbers else number for number, value in enumerate(values)}
    drawn = lines(points, parameter)
    for axes, metric in zip(part.subplots(1, len(SCORES)), SCORES, strict=True):
        for number, line in enumerate(drawn):
            intervals = [shown[point].intervals[metric] for point in line.points]
            axes.errorbar(
                [position[points[point][parameter]] for point in line.points],
                [interval.value for interval in intervals],
                yerr=[interval.half_width or 0 for interval in intervals],
                label=plain(line.name),
                **{**look(number), "capsize": 3, "linewidth": 1.2},
            )
        if not in_numbers:
            axes.set_xticks(range(len(values)), [plain(point_name({"": value}).strip()) for value in values])
        elif len(values) <= _MAX_NAMED:
            axes.set_xticks(values)
        axes.set(title=metric, xlabel=plain(parameter))
    _name(part, drawn[0].name != "" and len(drawn) <= _MAX_NAMED)


def _draw_trials(part: Any, shown: Sequence[Measured], until_interval: float | None) -> None:
    of_score, of_interval = part.subplots(1, 2)
    curves = [(point, [step for step in point.curve if step.half_width is not None]) for point in shown]
    drawn = [(point, known) for point, known in curves if known]
    for number, (point, known) in enumerate(drawn):
        # A curve of one step has no line to see.
        trials, looks = [step.n_trials for step in known], look(number) | ({"marker": ""} if len(known) > 1 else {})
        means, halves = (np.array(of) for of in zip(*((one.value, one.half_width or 0) for one in known), strict=True))
        of_score.plot(trials, means, **looks)
        if len(known) > 1:
            of_score.fill_between(trials, means - halves, means + halves, color=looks["color"], alpha=0.2, linewidth=0)
        else:
            of_score.vlines(trials, means - halves, means + halves, color=looks["color"])
        of_interval.plot(trials, halves, label=plain(point.point.name), **looks)
    if until_interval is not None:
        of_interval.axhline(until_interval, color=LIMIT, linestyle="--", linewidth=1)
    of_score.set(title="score with its 95 % interval over trials", xlabel="trials", xscale="log" if drawn else "linear")
    logarithmic = any(step.half_width for _, known in drawn for step in known)
    wanted = "" if until_interval is None else f"; dashed: ±{until_interval:g}"
    scales = {"xscale": "log" if drawn else "linear", "yscale": "log" if logarithmic else "linear"}
    of_interval.set(title=f"half of the interval{wanted}", xlabel="trials", **scales)
    along = [of_score.xaxis, of_interval.xaxis] if drawn else []
    ticker = library("matplotlib.ticker")
    for scaled in (*along, *([of_interval.yaxis] if logarithmic else [])):
        # 1, 2, 5, 10, 20, ...
        scaled.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        scaled.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        scaled.set_minor_formatter(ticker.NullFormatter())
    _name(part, 1 < len(drawn) <= _MAX_NAMED)


def _name(part: Any, wanted: bool) -> None:
    if wanted:
        handles, labels = part.axes[-1].get_legend_handles_labels()
        part.legend(handles, labels, loc="outside right center")

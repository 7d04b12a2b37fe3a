"""The pictures of a test of evaluators, as data: heat maps, curves and bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...base.untrusted_text import in_one_line
from ...lab import chart_data
from ...lab.discernment.discernment_result import Curve
from ...lab.discernment.kinds import LEVELS
from ...lab.evaluators.evaluator import Metric
from ...lab.finding import Picture
from .discernment_tables import Result, Row, having, number_text, weighted_by, words_of

_ONE_SCALE = 5.0
_REWARDED = " ↑"
_NOTHING = np.array([])
_DROP = ("mean_drop", "drop_low", "drop_high")


def pictures(results: Sequence[Result]) -> list[Picture]:
    """All pictures."""
    by = weighted_by([result.test for result in results])
    on_common = ", on the kinds and degrees that all have" if any(result.common for result in results) else ""
    heat = "What {} notices: d by kind of damage, light on the left, heavy on the right"
    charts: list[tuple[str, str, chart_data.Chart]] = [
        *(("heat", heat.format(result.title), _heat(result)) for result in results),
        *(curves for result in results for curves in _curves(result)),
        ("bars", f"Average and minimum of d{by}{on_common}", _bars(results)),
    ]
    seen: Counter[str] = Counter()
    numbered = []
    for name, title, chart in charts:
        seen[name] += 1
        numbered.append(Picture(name if seen[name] == 1 else f"{name}-{seen[name]}", title, chart))
    return numbered


# --- heat map


def _heat(result: Result) -> chart_data.HeatMap:
    groups = []
    for level in LEVELS:
        cells = result.rows("cells", level=level)
        kinds = dict.fromkeys(row["kind"] for row in cells)
        rows = tuple(_heat_row(having(cells, kind=kind), result.metrics) for kind in kinds)
        if rows:
            groups.append(
                chart_data.HeatGroup(
                    "changes that should not matter: a fall is a fault" if level == "control" else f"{level}s", rows
                )
            )
    return chart_data.HeatMap(
        result.metrics,
        tuple(groups),
        "colour: 1 if all scores fall, -1 if all rise (rank-biserial correlation)",
        (
            "number: d, which is 1 at p = 0.05;  ≥ at the ceiling;  ↑ rewarded (reverse d of 1 or more)",
            "grey: undefined;  hatched: only 1 to 4 scores change",
        ),
    )


def _heat_row(rows: Sequence[Row], metrics: Sequence[str]) -> chart_data.HeatRow:
    """The row of a kind, with a cell for each degree below each metric."""
    columns = tuple(tuple(map(_heat_cell, having(rows, metric=metric))) for metric in metrics)
    first, last = rows[0], rows[-1]
    if first["degree"] == last["degree"]:
        return chart_data.HeatRow(first.words, columns)
    rates = first["permille"] is not None and last["permille"] is not None
    ends = [f"{row['permille'] / 10:g}" if rates else str(row["degree"]).removeprefix("k") for row in (first, last)]
    span = f"{ends[0]} to {ends[1]}{' %' if rates else ''}"
    return chart_data.HeatRow(f"{words_of(first['kind'])}, {in_one_line(span, 40)}", columns)


def _heat_cell(row: Row) -> chart_data.HeatCell:
    cell = f"{row.words}, {in_one_line(row['metric'], 40)}"
    if row["d"] is None:
        n_texts = row["n_items"] + row["n_impossible"]
        return chart_data.HeatCell(
            float("nan"), "–", f"{cell}: undefined, possible for {row['n_items']:,} of {n_texts:,} texts"
        )
    drop, low, high = (None if row[name] is None else number_text(row[name]) for name in _DROP)
    within = "" if low is None else f" ({low} to {high})"
    figures = f"mean drop {drop}{within}, d {row.d_text} ({row['d_low']:.1f} to {row['d_high']:.1f})"
    changed = f"{row['n']:,} of {row['n_items']:,} scores change"
    text = row.d_text + (_REWARDED if row.is_rewarded else "")
    fall = 0.0 if row["n"] == 0 else float(row["rank_biserial"])
    return chart_data.HeatCell(fall, text, f"{cell}: {figures}, {changed}", bool(row["few"]) and row["n"] > 0)


# --- curves


def _curves(result: Result) -> list[tuple[str, str, chart_data.Chart]]:
    own = [curve for curve in result.test.curves if curve.task == result.task]
    if not own:
        return []
    charts: list[tuple[str, str, chart_data.Chart]] = []
    for metrics in _scales(result.test.scored.metrics, own):
        title = f"Mean scores by {result.title} against the degree of damage, with 95 % intervals"
        charts.append(("curves", title, _panels(own, [metric.name for metric in metrics])))
    return charts


def _panels(curves: Sequence[Curve], metrics: Sequence[str]) -> chart_data.LinePanels:
    by_kind: dict[str, dict[str, Curve]] = {}
    for curve in curves:
        if curve.metric in metrics:
            by_kind.setdefault(curve.kind, {})[curve.metric] = curve
    panels = []
    for kind, by_metric in by_kind.items():
        # A metric without a curve here still has its place, so that its colour is its own.
        lines = [chart_data.Line(name, _NOTHING, _NOTHING) for name in metrics]
        for name, curve in by_metric.items():
            lines[metrics.index(name)] = chart_data.Line(
                name, curve.permille, curve.mean, curve.mean_low, curve.mean_high
            )
        first = next(iter(by_metric.values()))
        # Degrees that are no rates are numbered, and have names.
        ticks = first.names if np.array_equal(first.permille, np.arange(len(first.names))) else ()
        title = f"{words_of(kind)} (n = {first.n_items:,})"
        panels.append(chart_data.LinePanel(title, tuple(lines), (None,) * len(lines), ticks))
    is_rate = any(not panel.ticks for panel in panels)
    return chart_data.LinePanels(tuple(panels), "damaged sites in per mille" if is_rate else "degree", "mean score")


def _scales(metrics: Sequence[Metric], curves: Sequence[Curve]) -> list[list[Metric]]:
    """The metrics in groups whose scores are of similar size, so that they can share an axis."""
    sizes = dict.fromkeys((metric.name for metric in metrics), 0.0)
    for curve in curves:
        sizes[curve.metric] = max(sizes[curve.metric], float(np.nanmax(np.abs(curve.mean))))
    groups: list[list[Metric]] = []
    for metric in metrics:
        for group in groups:
            size, other = sizes[metric.name], sizes[group[0].name]
            if max(size, other) <= _ONE_SCALE * min(size, other) or size == other:
                group.append(metric)
                break
        else:
            groups.append([metric])
    return groups


# --- bars


def _bars(results: Sequence[Result]) -> chart_data.Bars:
    tasks = list(dict.fromkeys(result.task for result in results))
    panels = []
    for task in tasks:
        own = [result for result in results if result.task == task]
        title = in_one_line(task) if len(tasks) > 1 else ""
        panels.append(chart_data.BarPanel(title, tuple(result.label for result in own), _of_scores(own)))
    return chart_data.Bars(tuple(panels), "discernment score d", 1.0)


def _of_scores(results: Sequence[Result]) -> tuple[chart_data.BarSeries, ...]:
    series = []
    for statistic in ("average", "minimum"):
        for score, name in (("d", statistic), ("weighted_d", f"weighted {statistic}")):
            rows = [result.average(score) for result in results]
            if score == "d" or any(row and row[statistic] is not None for row in rows):
                series.append(_series(name, rows, statistic))
    return tuple(series)


def _series(name: str, rows: Sequence[Row | None], statistic: str) -> chart_data.BarSeries:
    columns = [
        np.array([_or_nan(None if row is None else row.get(f"{statistic}{end}")) for row in rows])
        for end in ("", "_low", "_high")
    ]
    return chart_data.BarSeries(name, *columns)


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)

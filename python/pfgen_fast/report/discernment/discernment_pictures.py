"""The pictures of a test of evaluators, as data: the lightest damage that is noticed, heat maps, curves, averages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

import numpy as np

from ...base.untrusted_text import few_names, in_one_line
from ...lab import chart_data
from ...lab.chart_data import CellGroup, CellRow, HeatCell, Threshold
from ...lab.discernment.combined_metrics import response_styles
from ...lab.discernment.discernment_result import Curve, Discernment
from ...lab.discernment.kinds import LEVELS
from ...lab.evaluators.evaluator import Metric
from ...lab.finding import Picture
from .discernment_tables import Result, Row, defined, having, labels, numbered, weighted_by, words_of

_ONE_SCALE = 5.0
_STRONGEST = 5.0  # d from which on the colour of a heat map stays the same
_LIGHTEST = 10  # per mille, at the begin of the scale of degrees
_NOTHING = np.array([])
_UNTESTED = HeatCell(math.nan, "–", "not tested")
_TITLES = {level: "harmless changes: a fall is a fault" if level == "control" else f"{level}s" for level in LEVELS}
_LEGEND = {
    "holds": "noticed, with all heavier degrees (p < 0.05)",
    "tested": "tested, but not noticed",
    "fault": "fault: damage never noticed or rewarded, harmless change penalised",
    "some": "some: only degrees are noticed that are not the heaviest",
    "unclear": "unclear: too few scores change to tell",
    "combined": "of an evaluator with several metrics, the test combines all of them",
}
"""The legend of the verdicts, by their colour or, if it needs an explanation, their text."""


def pictures(results: Sequence[Result]) -> list[Picture]:
    """All pictures, the lightest damage that is noticed first."""
    by = weighted_by([result.test for result in results])
    on_common = ", on the kinds and degrees that all have" if any(result.common for result in results) else ""
    who = results[0].title if len(results) == 1 else "each evaluator"
    heat = f"How clearly {who} notices each degree of damage: d, light on the left, heavy on the right"
    charts: list[tuple[str, str, chart_data.Chart]] = [
        ("lightest", lightest_title(results), _lightest(results)),
        *((f"{name.replace(' ', '-')}s", f"{name.capitalize()} d{by}{on_common}, with 95 % intervals", chart)
          for name, chart in _averages(results)),
        ("heat", heat, _heat(results)),
        *(curves for result in results for curves in _curves(result)),
        *_styles([*{id(result.test): result.test for result in results}.values()]),
    ]  # fmt: skip
    names = numbered([name for name, *_ in charts], "{}-{}")
    return [Picture(name, title, chart) for name, (_, title, chart) in zip(names, charts, strict=True)]


# --- the lightest damage that is noticed


def lightest_title(results: Sequence[Result]) -> str:
    """The title of the verdicts."""
    whose = f"each score of {results[0].title}" if len(results) == 1 else "each evaluator"
    return f"The lightest damage that {whose} notices"


def verdicts(results: Sequence[Result]) -> tuple[list[str], dict[str, list[Threshold]]]:
    """The names of the columns, which are metrics or, of several results, the results; and by kind their verdicts."""
    columns = {result.title: (result.rows("perturbations"), result.rows("cells"), _means(result)) for result in results}
    if len(results) == 1:
        columns = {metric: (cells,) * 3 for metric, cells in _cells(results).items()}
    kinds = dict.fromkeys(row["kind"] for _, cells, _ in columns.values() for row in cells)
    shown = {kind: [_verdict(*(having(rows, kind=kind) for rows in own)) for own in columns.values()] for kind in kinds}
    return [in_one_line(name, 40) for name in columns], shown


def _cells(results: Sequence[Result]) -> dict[str, list[Row]]:
    """The cells of each metric or, of several results, of each result, whose metrics are combined."""
    if len(results) == 1:
        return {metric: results[0].rows("cells", metric=metric) for metric in results[0].metrics}
    return {result.title: result.rows("perturbations" if result.metrics[1:] else "cells") for result in results}


def _means(result: Result) -> list[Row]:
    """The cells of the only metric or, of several, of their mean."""
    metrics = result.test.scored.metrics
    means = [metric.name for metric in metrics if len(metrics) == 1 or not metric.combined]
    return result.rows("cells", metric=means[0]) if means else []


def _verdict(rows: Sequence[Row], cells: Sequence[Row], means: Sequence[Row]) -> Threshold:
    """The degree from which a kind is noticed, or why there is none; the degrees of the rows rise."""
    known = defined(rows)
    if not known:
        return Threshold("–", "undefined")
    is_noticed, is_control = any(row["noticed"] for row in known), known[0].is_control
    noticed = [] if is_control else list(takewhile(lambda row: bool(row["noticed"]), reversed(known)))
    shown = noticed[-1] if noticed else known[-1]
    drop = next((cell["mean_drop"] for cell in means if cell.name == shown.name), None)
    text, start, tested = "never", None, (_place(known[0], rows), _place(known[-1], rows))
    if is_control:
        text, tested = "penalised" if is_noticed else "ignored", (1.0, 1.0)
    elif noticed:
        text, start = "yes" if len(rows) == 1 else shown.degree_text, _place(shown, rows)
    elif any(cell.is_rewarded for cell in cells):
        text = "rewarded"
    elif is_noticed or _is_unclear(cells):
        text = "some" if is_noticed else "unclear"
    is_fault = text in ("never", "rewarded", "penalised")
    return Threshold(text, f"d {shown.d_text} of {shown.words}", tested, start, is_fault, drop)


def _place(row: Row, rows: Sequence[Row]) -> float:
    """The place of a degree on the logarithmic scale from 1 to 100 %; those that are no rates have equal distances."""
    if row["permille"] is None:
        return rows.index(row) / (len(rows) - 1) if len(rows) > 1 else 1.0
    return min(max(math.log10(max(row["permille"], 1) / _LIGHTEST) / 2, 0.0), 1.0)


def _is_unclear(cells: Iterable[Row]) -> bool:
    """Whether scores only fell, but too few of them for the damage to count as noticed."""
    return any(cell["few"] and cell["n"] and cell.is_at_ceiling for cell in cells)


def _lightest(results: Sequence[Result]) -> chart_data.Thresholds:
    columns, by_kind = verdicts(results)
    rows = [row for result in results for row in result.rows("cells")]
    lines = {kind: CellRow(_with_degrees(having(rows, kind=kind)), tuple((cell,) for cell in cells), kind)
             for kind, cells in by_kind.items()}  # fmt: skip
    looks = {"holds", "tested", *("fault" if cell.is_fault else cell.text for row in by_kind.values() for cell in row)}
    return chart_data.Thresholds(
        tuple(columns),
        _grouped(lines, rows),
        ((0.0, "1 %"), (0.5, "10 %"), (1.0, "100 %")),
        {look: words for look, words in _LEGEND.items() if look in looks or (look == "combined" and len(results) > 1)},
    )


def _grouped(lines: Mapping[str, CellRow], rows: Sequence[Row]) -> tuple[CellGroup, ...]:
    """The lines of kinds, by level."""
    levels = {row["kind"]: row["level"] for row in rows}
    groups = {level: tuple(line for kind, line in lines.items() if levels[kind] == level) for level in LEVELS}
    return tuple(CellGroup(_TITLES[level], lines) for level, lines in groups.items() if lines)


def _with_degrees(rows: Sequence[Row]) -> str:
    """The kind of the rows with its degrees."""
    first, last = rows[0], max(rows, key=lambda row: row["permille"] or 0)
    if len({row["degree"] for row in rows}) == 1:
        return first.words
    rates = first["permille"] is not None and last["permille"] is not None
    ends = [f"{row['permille'] / 10:g}" if rates else str(row["degree"]).removeprefix("k") for row in (first, last)]
    return f"{words_of(first['kind'])}, {in_one_line(f'{ends[0]} to {ends[1]}', 40)}{' %' if rates else ''}"


# --- heat map


def _heat(results: Sequence[Result]) -> chart_data.HeatMap:
    columns, lines = _cells(results), dict[str, CellRow]()
    rows = [row for own in columns.values() for row in own]
    highest = [row["ceiling_d"] for result in results for row in result.rows("cells") if row["ceiling_d"]]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        of_kind = having(rows, kind=kind)
        degrees = {row["degree"]: row.degree_text for row in of_kind}
        cells = [{row["degree"]: _heat_cell(row) for row in having(own, kind=kind)} for own in columns.values()]
        aligned = tuple(tuple(own.get(degree, _UNTESTED) for degree in degrees) for own in cells)
        lines[kind] = CellRow(_with_degrees(of_kind), aligned, kind, tuple(degrees.values()))
    return chart_data.HeatMap(
        tuple(columns),
        _grouped(lines, rows),
        {
            "d": "number and colour: d, from 1 on noticed (p < 0.05), below 0 if scores rise; ≥: as high as possible",
            "few": "–: undefined; hatched: only 1 to 4 scores change",
            "fault": "damage that is rewarded, or a harmless change that is penalised",
        },
        min(max(highest, default=1.0), _STRONGEST),
    )


def _heat_cell(row: Row) -> HeatCell:
    """A cell whose number and colour are d or, if scores rise more than they fall, minus the d of rises."""
    cell = f"{row.words}, {in_one_line(row.get('metric', 'all metrics combined'), 40)}"
    if row["d"] is None:
        n_texts = row["n_items"] + row["n_impossible"]
        return HeatCell(math.nan, "–", f"{cell}: undefined, possible for {row['n_items']:,} of {n_texts:,} texts")
    if "metric" not in row:
        return HeatCell(row["d"], row.d_text, f"{cell}: d {row.d_text}", False, row.is_control and bool(row["noticed"]))
    within = "" if row["drop_low"] is None else f" ({row['drop_low']:.3f} to {row['drop_high']:.3f})"
    drop = f"mean drop {row['mean_drop']:.3f}{within}"
    figures = f"{drop}, d {row.d_text} ({row['d_low']:.1f} to {row['d_high']:.1f})"
    changed = f"{row['n']:,} of {row['n_items']:,} scores change"
    rise = (row["reverse_d"] or 0.0) if row["n"] else 0.0
    is_rise = rise > max(row["d"], 0.05)
    value, text = (-rise, f"{-rise:.1f}") if is_rise else (float(row["d"]), row.d_text)
    is_few, is_fault = bool(row["few"]) and row["n"] > 0, bool(row["noticed"]) if row.is_control else row.is_rewarded
    return HeatCell(value, text, f"{cell}: {figures}, {changed}", is_few, is_fault)


# --- curves


def _curves(result: Result) -> Iterator[tuple[str, str, chart_data.Chart]]:
    own = [curve for curve in result.test.curves if curve.task == result.task]
    scales = _scales(result.test.scored.metrics, own) if own else []
    for metrics in scales:
        names = f": {few_names([metric.name for metric in metrics], 3, 100)}," if len(scales) > 1 else ""
        title = f"Mean scores by {result.title}{names} against the degree of damage, with 95 % intervals"
        yield "curves", title, _panels(own, [metric.name for metric in metrics])


def _panels(curves: Sequence[Curve], metrics: Sequence[str]) -> chart_data.LinePanels:
    by_kind: dict[str, dict[str, Curve]] = {}
    for curve in curves:
        if curve.metric in metrics:
            by_kind.setdefault(curve.kind, {})[curve.metric] = curve
    panels = []
    for kind, by_metric in by_kind.items():
        # A metric without a curve here still has its place, so that its colour is its own.
        lines = [chart_data.Line(name, _NOTHING, _NOTHING) for name in metrics]
        first = next(iter(by_metric.values()))
        # Degrees that are no rates are numbered, and have names.
        ticks = first.names if np.array_equal(first.permille, np.arange(len(first.names))) else ()
        for name, curve in by_metric.items():
            degrees = curve.permille if ticks else curve.permille / 10
            lines[metrics.index(name)] = chart_data.Line(name, degrees, curve.mean, curve.mean_low, curve.mean_high)
        title = f"{words_of(kind)} (n = {first.n_items:,})"
        panels.append(chart_data.LinePanel(title, tuple(lines), (None,) * len(lines), ticks))
    is_rate = any(not panel.ticks for panel in panels)
    return chart_data.LinePanels(tuple(panels), "damaged sites in %" if is_rate else "degree", "mean score")


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


# --- averages


_N_BINS = 10


def _styles(tests: Sequence[Discernment]) -> list[tuple[str, str, chart_data.Chart]]:
    """How evaluators' scores correlate, and how often they give each score: of originals, and of a kind of damage."""
    styles = list(response_styles(tests))
    shown = [*styles[:1], *sorted(styles[1:], key=lambda style: not style[0].startswith("fictional_entity"))[:1]]
    if len(shown) < 2:
        return []
    names, edges = tuple(labels(tests)), np.histogram_bin_edges(np.hstack([scores for _, scores, _ in shown]), _N_BINS)
    charts: list[tuple[str, str, chart_data.Chart]] = []
    panels, middles = [], (edges[1:] + edges[:-1]) / 2
    for damage, scores, correlations in shown:
        matrix = chart_data.Matrix(names, names, correlations, "Pearson", -1.0, n_digits=2)
        charts.append(("correlations", f"Response styles: Pearson's correlations, {in_one_line(damage, 60)}", matrix))
        shares = [np.histogram(own, edges)[0] / len(own) for own in scores]
        lines = [chart_data.Line(name, middles, share) for name, share in zip(names, shares, strict=True)]
        panels.append(chart_data.LinePanel(in_one_line(damage, 60), tuple(lines), (None,) * len(lines)))
    panel_chart = chart_data.LinePanels(tuple(panels), "mean score over metrics", "share of texts")
    return [*charts, ("styles", "Response styles: how often evaluators give each mean score", panel_chart)]


def _averages(results: Sequence[Result]) -> list[tuple[str, chart_data.Ranges]]:
    """The average d of each result, and the weighted average if there is one."""
    charts = []
    for score, name in (("d", "average"), ("weighted_d", "weighted average")):
        rows = [(result.title, row) for result in results if (row := result.average(score))]
        known = [(title, row) for title, row in rows if row["average"] is not None]
        if len(known) > 1:
            ends = ("average", "average_low", "average_high")
            values, low, high = (np.array([row[end] for _, row in known], float) for end in ends)
            charts.append((name, chart_data.Ranges(tuple(title for title, _ in known), values, low, high, "d")))
    return charts

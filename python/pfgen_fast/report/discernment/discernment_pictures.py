"""The pictures of a test of evaluators, as data: heat maps, curves, bars, distributions and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ...base.arrays import Floats
from ...base.untrusted_text import in_one_line
from ...lab import chart_data
from ...lab.chart_data import (
    Bars,
    BarSeries,
    Chart,
    Density,
    HeatCell,
    HeatGroup,
    HeatMap,
    HeatRow,
    Line,
    LinePanel,
    LinePanels,
    Points,
)
from ...lab.discernment.discernment_result import Curve
from ...lab.discernment.kinds import LEVELS
from ...lab.evaluators.evaluator import Metric
from ...lab.finding import Picture
from ...lab.statistics.correlation import MIN_VALUES, coefficient, is_constant
from .discernment_tables import (
    Result,
    Row,
    d_text,
    having,
    is_rewarded,
    name_of,
    number_text,
    weighted_by,
    words_of,
)

_ONE_SCALE = 5.0
_REWARDED = " ↑"
_NOTHING = np.array([])
_DROP = ("mean_drop", "drop_low", "drop_high")


def pictures(results: Sequence[Result]) -> list[Picture]:
    """All pictures."""
    by = weighted_by([result.test for result in results])
    on_common = ", on the kinds and degrees that all have" if any(result.common_share for result in results) else ""
    heat = "What {} notices: d by kind of damage, light on the left, heavy on the right"
    side_by_side = on_common if any(result.is_compared for result in results) else ""
    charts: list[tuple[str, str, Chart | None]] = [
        *(("heat", heat.format(result.title), _heat(result)) for result in results),
        *(curves for result in results for curves in _curves(result)),
        ("bars", f"Average and minimum of d{by}{on_common}", _bars(results)),
        *(
            (f"{scope}s", f"Average d by {scope}{side_by_side}", _by_scope(results, scope))
            for scope in ("level", "degree")
        ),
        *(("distributions", f"Distributions of the scores by {part.title}", distributions(part)) for part in results),
        *(("scores", f"Scores of originals and damaged texts by {part.title}", score_pairs(part)) for part in results),
    ]
    seen: Counter[str] = Counter()
    numbered = []
    for name, title, chart in charts:
        if chart is not None:
            seen[name] += 1
            numbered.append(Picture(name if seen[name] == 1 else f"{name}-{seen[name]}", title, chart))
    return numbered


# --- heat map


def _heat(result: Result) -> HeatMap:
    groups = []
    for level in LEVELS:
        cells = result.rows("cells", level=level)
        kinds = dict.fromkeys(row["kind"] for row in cells)
        rows = tuple(_heat_row(having(cells, kind=kind), result.metrics) for kind in kinds)
        if rows:
            groups.append(
                HeatGroup(
                    "changes that should not matter: a fall is a fault" if level == "control" else f"{level}s", rows
                )
            )
    return HeatMap(
        result.metrics,
        tuple(groups),
        "colour: 1 if all scores fall, -1 if all rise (rank-biserial correlation)",
        (
            "number: d, which is 1 at p = 0.05;  ≥ at the ceiling;  ↑ rewarded (reverse d of 1 or more)",
            "grey: undefined;  hatched: only 1 to 4 scores change",
        ),
    )


def _heat_row(rows: Sequence[Row], metrics: Sequence[str]) -> HeatRow:
    """The row of a kind, with a cell for each degree below each metric."""
    columns = tuple(tuple(map(_heat_cell, having(rows, metric=metric))) for metric in metrics)
    first, last = rows[0], rows[-1]
    if first["degree"] == last["degree"]:
        return HeatRow(name_of(first), columns)
    rates = first["permille"] is not None and last["permille"] is not None
    ends = [f"{row['permille'] / 10:g}" if rates else str(row["degree"]).removeprefix("k") for row in (first, last)]
    span = f"{ends[0]} to {ends[1]}{' %' if rates else ''}"
    return HeatRow(f"{words_of(first['kind'])}, {in_one_line(span, 40)}", columns)


def _heat_cell(row: Row) -> HeatCell:
    cell = f"{name_of(row)}, {in_one_line(row['metric'], 40)}"
    if row["d"] is None:
        n_texts = row["n_items"] + row["n_impossible"]
        return HeatCell(float("nan"), "–", f"{cell}: undefined, possible for {row['n_items']:,} of {n_texts:,} texts")
    drop, low, high = (None if row[name] is None else number_text(row[name]) for name in _DROP)
    within = "" if low is None else f" ({low} to {high})"
    figures = f"mean drop {drop}{within}, d {d_text(row)} ({row['d_low']:.1f} to {row['d_high']:.1f})"
    changed = f"{row['n']:,} of {row['n_items']:,} scores change"
    text = d_text(row) + (_REWARDED if is_rewarded(row) else "")
    fall = 0.0 if row["n"] == 0 else float(row["rank_biserial"])
    return HeatCell(fall, text, f"{cell}: {figures}, {changed}", bool(row["few"]) and row["n"] > 0)


# --- curves


def _curves(result: Result) -> list[tuple[str, str, Chart]]:
    own = [curve for curve in result.test.curves if curve.task == result.task]
    if not own:
        return []
    charts: list[tuple[str, str, Chart]] = []
    for metrics in _scales(result.test.scored.metrics, own):
        levels = {metric.name: _control_level(result, metric) for metric in metrics}
        lines = [Line(curve.metric, curve.permille, curve.mean, curve.mean_low, curve.mean_high) for curve in own]
        chart = _panels(own, lines, levels, "mean score", "the control that costs most")
        charts.append(
            ("curves", f"Mean scores by {result.title} against the degree of damage, with 95 % intervals", chart)
        )
    names = {metric.name: None for metric in result.test.scored.metrics}
    lines = [Line(curve.metric, curve.permille, curve.share_lower) for curve in own]
    chart = _panels(own, lines, names, "share of lower scores", "")
    charts.append(("shares", f"Share of scores by {result.title} that fall", chart))
    return charts


def _panels(
    curves: Sequence[Curve], lines: Sequence[Line], levels: Mapping[str, float | None], label: str, control: str
) -> LinePanels:
    by_kind: dict[str, tuple[Curve, dict[str, Line]]] = {}
    for curve, line in zip(curves, lines, strict=True):
        if curve.metric in levels:
            by_kind.setdefault(curve.kind, (curve, {}))[1][curve.metric] = line
    panels = []
    for kind, (first, by_metric) in by_kind.items():
        # A metric without a curve here still has its place, so that its colour is its own.
        shown = tuple(by_metric.get(name, Line(name, _NOTHING, _NOTHING)) for name in levels)
        title = f"{words_of(kind)} (n = {first.n_items:,})"
        # Degrees that are no rates are numbered, and have names.
        ticks = first.names if np.array_equal(first.permille, np.arange(len(first.names))) else ()
        panels.append(chart_data.LinePanel(title, shown, tuple(levels.values()), ticks))
    has_level = any(level is not None for level in levels.values())
    is_rate = any(not panel.ticks for panel in panels)
    x_label = "damaged sites in per mille" if is_rate else "degree"
    return LinePanels(tuple(panels), x_label, label, control if has_level else "")


def _control_level(result: Result, metric: Metric) -> float | None:
    """The mean of all originals after the control that costs most; None if no control costs anything."""
    drop = max((row["mean_drop"] or 0 for row in result.rows("controls", metric=metric.name)), default=0)
    means = (row["mean_original"] for row in result.damage(metric=metric.name))
    original = next((mean for mean in means if mean is not None), None)
    if drop <= 0 or original is None:
        return None
    return float(original - drop if metric.higher_is_better else original + drop)


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


def _bars(results: Sequence[Result]) -> Bars:
    tasks = list(dict.fromkeys(result.task for result in results))
    panels = []
    for task in tasks:
        own = [result for result in results if result.task == task]
        title = in_one_line(task) if len(tasks) > 1 else ""
        panels.append(chart_data.BarPanel(title, tuple(result.label for result in own), _of_scores(own)))
    return Bars(tuple(panels), "discernment score d", 1.0)


def _of_scores(results: Sequence[Result]) -> tuple[BarSeries, ...]:
    series = []
    for statistic in ("average", "minimum"):
        for score, name in (("d", statistic), ("weighted_d", f"weighted {statistic}")):
            rows = [result.in_common(score, "all") for result in results]
            if score == "d" or any(row and row[statistic] is not None for row in rows):
                series.append(_series(name, rows, statistic))
    return tuple(series)


def _by_scope(results: Sequence[Result], scope: str) -> Bars | None:
    """The averages of each level, or each degree, with the evaluators side by side; None if there is only one."""
    rows = [row for result in results for row in _compared(result) if row["average"] is not None]
    scopes = dict.fromkeys(row["scope"].partition(":")[::2] for row in rows)
    names = [name for kind, name in scopes if kind == scope]
    if len(names) < 2:
        return None
    if scope == "degree":
        names.sort(key=lambda name: (0, int(name)) if name.isdecimal() else (1, 0))
    series = tuple(
        _series(
            result.title,
            [next(iter(having(_compared(result), scope=f"{scope}:{name}")), None) for name in names],
            "average",
        )
        for result in results
    )
    return Bars((chart_data.BarPanel("", tuple(names), series),), "average d", 1.0)


def _compared(result: Result) -> list[Row]:
    """The averages of d by scope: on common perturbations if several evaluators are compared."""
    return having(result.common, score="d") if result.is_compared else result.rows("summary", score="d")


def _series(name: str, rows: Sequence[Row | None], statistic: str) -> BarSeries:
    columns = [
        np.array([_or_nan(None if row is None else row.get(f"{statistic}{end}")) for row in rows])
        for end in ("", "_low", "_high")
    ]
    return BarSeries(name, *columns)


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)


_MAX_PAIRS = 200_000
_N_BINS = 20
_FEW_VALUES = 12


# --- one evaluator


def distributions(result: Result) -> LinePanels | None:
    """The shares of texts by score: of the originals, of damaged texts by level, and of harmless changes."""
    items, scored = _items(result), result.test.scored
    groups = {"originals": scored.originals[None]}
    for level in LEVELS:
        name = "harmless changes" if level == "control" else f"{level}s damaged"
        groups[name] = scored.damaged[[change.level == level for change in scored.plan.perturbations]]
    panels = []
    for place, metric in enumerate(result.metrics):
        values = {name: _known(group[:, place][:, items].ravel()) for name, group in groups.items()}
        everything = np.concatenate(list(values.values()))
        if everything.size:
            lines = tuple(_shares(name, group, everything) for name, group in values.items())
            panels.append(LinePanel(in_one_line(metric, 40), lines, (None,) * len(lines)))
    return LinePanels(tuple(panels), "score", "share of texts", is_scale_shared=False) if panels else None


def _shares(name: str, values: Floats, everything: Floats) -> Line:
    """The shares of the values at each score if there are few different scores, or else in each bin."""
    places = np.unique(everything)
    if len(places) <= _FEW_VALUES:
        counts = np.array([(values == place).sum() for place in places])
    else:
        edges = np.linspace(places[0], places[-1], _N_BINS + 1)
        counts, places = np.histogram(values, edges)[0], (edges[:-1] + edges[1:]) / 2
    return Line(name, places, counts / len(values)) if len(values) else Line(name, places[:0], places[:0])


def score_pairs(result: Result) -> Density | None:
    """The scores of damaged texts against those of their originals, by metric."""
    items, scored = _items(result), result.test.scored
    damaged = scored.damaged[[not change.is_control for change in scored.plan.perturbations]][:, :, items]
    panels = []
    for place, metric in enumerate(result.metrics):
        y = damaged[:, place].ravel()
        x = np.tile(scored.originals[place, items], len(damaged))
        known = np.isfinite(x) & np.isfinite(y)
        x, y = x[known], y[known]
        if len(x):
            has_correlation = len(x) >= MIN_VALUES and not is_constant(x) and not is_constant(y)
            correlation = f"Pearson {coefficient('Pearson', x, y):.3f}" if has_correlation else "no correlation"
            step = -(-len(x) // _MAX_PAIRS)
            title = f"{in_one_line(metric, 40)}: {correlation} ({len(x):,} pairs)"
            panels.append(Points(x[::step], y[::step], "original", "damaged", title, has_diagonal=True))
    return Density(tuple(panels), "pairs") if panels else None


def _items(result: Result) -> np.ndarray:
    return np.array([item.task == result.task for item in result.test.scored.collection.items])


def _known(values: Floats) -> Floats:
    return values[np.isfinite(values)]

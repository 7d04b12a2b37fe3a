"""`calibrate`: the mean score by a dear evaluator, from its scores of some items and cheap scores of all items.

Method: `statistics.prediction_powered`; the items with a dear score must be a random sample of the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ExperimentError
from ..files.untrusted_text import counted, few_names, in_one_line
from ..item_scores.table import Floats, ItemScores
from ..statistics.prediction_powered import MIN_MARKS, PredictionPowered, prediction_powered_mean
from .chart_data import MAX_ROWS, Ranges
from .finding import Cell, Finding, Picture, Table
from .scored_runs import RunFigures


@dataclass(frozen=True)
class _Row:
    model: str
    cheap: float  # mean cheap score over all items
    found: PredictionPowered

    def cells(self, half_width: float | None) -> tuple[Cell, ...]:
        """The cells of the table."""
        found, alone = self.found, self.found.alone
        needed = () if half_width is None else (found.marks_for(half_width), found.marks_alone_for(half_width))
        return (
            *(self.model, self.cheap, found.n + found.n_others, found.n, found.mean, found.low, found.high),
            *(alone.mean, alone.low, alone.high, found.correlation, found.effective_marks, *needed),
        )


_COLUMNS = (
    *("model", "cheap score", "items", "dear scores", "calibrated", "low", "high"),
    *("dear alone", "dear alone, low", "dear alone, high", "correlation", "effective dear scores"),
)


def scores_of_runs(figures: RunFigures, models: Sequence[str]) -> ItemScores:
    """The scores of runs as a table: by the names of runs, or by their models if only these are among `models`."""
    names = figures.names
    if not set(names) & set(models) and len(set(figures.models)) == len(names):
        names = figures.models
    items = tuple(question.question_id for question in figures.suite)
    return ItemScores(tuple(names), items, figures.question_scores, notes=tuple(figures.problems))


def calibrate(
    cheap: ItemScores,
    dear: ItemScores,
    *,
    metric: str | None = None,
    against_metric: str | None = None,
    half_width: float | None = None,
) -> Finding:
    """Estimates the mean dear score of each model over all items.

    Args:
        cheap: Scores of all items by the cheap evaluator.
        dear: Scores of some items by the dear evaluator, with the same names of models and items.
        metric: The metric of the cheap scores; needed if there are several.
        against_metric: The metric of the dear scores; needed if there are several.
        half_width: A half width of the interval, for which the number of dear scores is estimated.

    Raises:
        ExperimentError: A metric is not named, or no model has both scores for an item.
    """
    of_cheap, of_dear = _metric(cheap, metric, "--metric"), _metric(dear, against_metric, "--against-metric")
    is_opposite = _is_better_if_higher(cheap, of_cheap) != _is_better_if_higher(dear, of_dear)
    models = [model for model in cheap.models if model in dear.models]
    places = {item: place for place, item in enumerate(cheap.items)}
    rows, without = [], []
    for model in models:
        values = cheap.of(model, of_cheap)
        truth = _in_order(dear, dear.of(model, of_dear), places)
        is_there = ~np.isnan(values)
        marked, others = is_there & ~np.isnan(truth), is_there & np.isnan(truth)
        if marked.any():
            proxy = -values if is_opposite else values
            found = prediction_powered_mean(truth[marked].tolist(), proxy[marked].tolist(), proxy[others].tolist())
            rows.append(_Row(model, float(values[is_there].mean()), found))
        else:
            without.append(model)
    if not rows:
        raise ExperimentError(
            "no model has a cheap and a dear score for the same item; expected the same names of models and items in "
            f"both (cheap: {_named(cheap)}; dear: {_named(dear)})"
        )
    names = _COLUMNS if half_width is None else (*_COLUMNS, f"needed for ±{half_width:g}", "needed without the cheap")
    shown = rows[:MAX_ROWS]
    mean, low, high = (np.array([_end(row.found, name) for row in shown]) for name in ("mean", "low", "high"))
    figures = Ranges(tuple(row.model for row in shown), mean, low, high, f"mean {in_one_line(of_dear, 60)}")
    table = Table("models", "The models", names, tuple(row.cells(half_width) for row in rows))
    return Finding(
        "calibrate",
        _answer(rows),
        _words(rows),
        (table,),
        (Picture("models", f"Calibrated mean {in_one_line(of_dear, 60)} with its 95 % interval", figures),),
        tuple(_notes(cheap, dear, models, without, rows)),
        question="What would a dear evaluator say, if it scored all items?",
        runs=tuple(row.model for row in rows),
    )


def _metric(scores: ItemScores, metric: str | None, option: str) -> str:
    if metric is None and len(scores.metrics) > 1:
        raise ExperimentError(
            f"the table has {len(scores.metrics)} metrics ({few_names(scores.metrics, 8)}): name one ({option})"
        )
    return scores.only(metrics=[metric or scores.metrics[0]]).metrics[0]


def _is_better_if_higher(scores: ItemScores, metric: str) -> bool:
    return scores.higher_is_better.get(metric, True)


def _in_order(scores: ItemScores, values: Floats, places: dict[str, int]) -> Floats:
    """The values by the places of the items of another table; NaN without a value."""
    found = np.full(len(places), np.nan)
    for item, value in zip(scores.items, values.tolist(), strict=True):
        if item in places:
            found[places[item]] = value
    return found


def _end(found: PredictionPowered, name: str) -> float:
    value = getattr(found, name)
    return found.mean if value is None else float(value)


def _answer(rows: Sequence[_Row]) -> str:
    known = [row for row in rows if row.found.effective_marks is not None]
    if not known:
        return "There are no intervals: expected two different dear scores or more of a model."
    marks = sum(row.found.n for row in known)
    effective = sum(row.found.effective_marks or 0.0 for row in known)
    helped = sum(row.found.weight > 0 for row in known)
    return (
        f"With the cheap scores, {marks:,} dear scores count like {effective:,.0f}: they narrow the interval of "
        f"{helped} of {counted(len(known), 'model')}."
    )


def _words(rows: Sequence[_Row]) -> str:
    first = rows[0]
    found, alone = first.found, first.found.alone
    if found.low is None or alone.low is None:
        return f"{in_one_line(first.model, 60)}: {found.mean:.4f}, without an interval."
    return (
        f"{in_one_line(first.model, 60)}: {found.mean:.4f} ({found.low:.4f} to {found.high:.4f}), and by the dear "
        f"scores alone {alone.mean:.4f} ({alone.low:.4f} to {alone.high:.4f})."
    )


def _notes(
    cheap: ItemScores, dear: ItemScores, models: Sequence[str], without: Sequence[str], rows: Sequence[_Row]
) -> list[str]:
    notes = [*cheap.notes, *dear.notes]
    for which, scores in (("dear", cheap), ("cheap", dear)):
        alone = [model for model in scores.models if model not in models]
        if alone:
            notes.append(f"left out, because they have no {which} scores: {few_names(alone)}")
    if without:
        notes.append(f"left out, because no item has both scores: {few_names(list(without))}")
    useless = [row.model for row in rows if row.found.n >= MIN_MARKS and not row.found.weight]
    if useless:
        notes.append(f"the cheap evaluator is as good as none for {few_names(useless)}: it narrows no interval")
    few = [row.model for row in rows if row.found.n < MIN_MARKS]
    if few:
        notes.append(f"fewer than {MIN_MARKS} dear scores, so they stand alone: {few_names(few)}")
    if any(cluster is not None for cluster in (*cheap.clusters, *dear.clusters)):
        notes.append("clusters of items are not used; intervals are too narrow if items depend on one another")
    return notes


def _named(scores: ItemScores) -> str:
    return f"{few_names(scores.models, 2)} on {few_names(scores.items, 2)}"

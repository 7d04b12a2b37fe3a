"""The pictures of scores: their distributions, originals against damaged texts, and correlations of evaluators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from ...base.untrusted_text import in_one_line
from ...lab.discernment.discernment_result import PerturbedScores
from ...lab.discernment.kinds import LEVELS
from ...lab.discernment.task_scores import by_task
from ...lab.experiments.chart_data import Density, Line, LinePanel, LinePanels, Matrix, Points
from ...lab.statistics.correlation import MIN_VALUES, Floats, coefficient, is_constant, kendall, spearman
from .discernment_rows import Result, raw_name

_MAX_PAIRS = 200_000
_MAX_METRICS = 24
_N_BINS = 20
_FEW_VALUES = 12


# --- one evaluator


def distributions(result: Result) -> LinePanels | None:
    """The shares of texts by score: of the originals, of damaged texts by level, and of harmless changes."""
    items = _items(result)
    groups = {"originals": [result.test.scored.originals]}
    for level in LEVELS:
        name = "harmless changes" if level == "control" else f"{level}s damaged"
        groups[name] = [part.scores for part in result.test.scored.perturbed if part.perturbation.level == level]
    panels = []
    for metric in result.metrics:
        columns = {name: [scores[metric][items] for scores in group] for name, group in groups.items()}
        values = {name: _known(np.concatenate(group) if group else np.array([])) for name, group in columns.items()}
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
    items = _items(result)
    damaged = [part for part in result.test.scored.perturbed if not part.perturbation.is_control]
    panels = [
        panel
        for metric in result.metrics
        if (panel := _pairs(metric, result.test.scored.originals[metric], damaged, items)) is not None
    ]
    return Density(tuple(panels), "pairs") if panels else None


def _pairs(metric: str, originals: Floats, damaged: Sequence[PerturbedScores], items: np.ndarray) -> Points | None:
    """The scores of originals and damaged texts as points; None if there are none."""
    columns = [part.scores[metric] for part in damaged]
    y = np.concatenate([column[items] for column in columns]) if columns else np.array([])
    x = np.tile(originals[items], len(columns))
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if not len(x):
        return None
    has_correlation = len(x) >= MIN_VALUES and not is_constant(x) and not is_constant(y)
    correlation = f"Pearson {coefficient('Pearson', x, y):.3f}" if has_correlation else "no correlation"
    step = -(-len(x) // _MAX_PAIRS)
    title = f"{in_one_line(metric, 40)}: {correlation} ({len(x):,} pairs)"
    return Points(x[::step], y[::step], "original", "damaged", title, has_diagonal=True)


def _items(result: Result) -> np.ndarray:
    return np.array([item.task == result.task for item in result.test.scored.collection.items])


def _known(values: Floats) -> Floats:
    return values[np.isfinite(values)]


# --- several evaluators


def correlations_of_scores(results: Sequence[Result]) -> Matrix | None:
    """Spearman's correlation of the scores of originals and damaged texts, for each pair of scores of a task."""
    first = results[0].test.scored
    if len(results) < 2 or len({result.test.scored.collection.hash for result in results}) > 1:
        return None
    task_scores = [
        next(scores for scores in by_task(result.test.scored, like=first.collection) if scores.task == result.task)
        for result in results
    ]
    named = [
        {perturbation.name: i for i, perturbation in enumerate(scores.perturbations) if not perturbation.is_control}
        for scores in task_scores
    ]
    common = [name for name in named[0] if all(name in names for names in named)]
    columns = []
    for result, scores, names in zip(results, task_scores, named, strict=True):
        rows = np.array([names[name] for name in common], dtype=np.intp)
        texts = np.concatenate([scores.originals[None], scores.damaged(rows)])
        step = -(-len(texts) * scores.n_items // _MAX_PAIRS)
        for j, metric in enumerate(scores.metrics):
            columns.append((_name(result, metric.name), texts[:, j].ravel()[::step]))
    return _matrix(columns, spearman, "Spearman's correlation of scores")


def correlations_of_d(results: Sequence[Result]) -> Matrix | None:
    """Kendall's correlation of d over kinds and degrees, for each pair of scores of a task."""
    if len(results) < 2:
        return None
    names = dict.fromkeys(raw_name(row) for result in results for row in result.damage())
    places = {name: i for i, name in enumerate(names)}
    columns = []
    for result in results:
        for metric in result.metrics:
            column = np.full(len(places), np.nan)
            columns.append((_name(result, metric), column))
            for row in result.damage(metric=metric):
                column[places[raw_name(row)]] = np.nan if row["d"] is None else row["d"]
    return _matrix(columns, kendall, "Kendall's correlation of d")


def _name(result: Result, metric: str) -> str:
    is_alone = len(result.metrics) == 1
    return in_one_line(result.label, 40) if is_alone else f"{in_one_line(result.label, 20)}: {in_one_line(metric, 20)}"


def _matrix(
    columns: Sequence[tuple[str, Floats]], how: Callable[[Floats, Floats], float | None], label: str
) -> Matrix | None:
    """The correlations of each pair of columns over the values that both have; NaN if they are undefined."""
    names = tuple(name for name, _ in columns[:_MAX_METRICS])
    values = np.eye(len(names))
    for i, j in combinations(range(len(names)), 2):
        x, y = columns[i][1], columns[j][1]
        both = np.isfinite(x) & np.isfinite(y)
        correlation = how(x[both], y[both]) if both.sum() >= MIN_VALUES else None
        values[i, j] = values[j, i] = np.nan if correlation is None else correlation
    label += f" (the first {len(names)} of {len(columns)})" if len(names) < len(columns) else ""
    return Matrix(names, names, values, label, -1.0, 1.0, 2) if names else None

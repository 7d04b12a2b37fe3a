"""The discernment of each perturbation, from the combined p-values of its metrics.

Metrics that are means of other metrics are left out. If one metric of a perturbation is undefined, so is the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.discernment_scores import (
    CONTROL,
    NOTICED,
    average,
    calibrated,
    combine,
    discernment_score,
    level_weights,
)
from ..statistics.rank_intervals import RankIntervals, Scores, combined_scores, interval_of_sum
from .discernment_cells import TaskCells
from .discernment_plan import Perturbation
from .discernment_result import TableRow, number
from .kinds import LEVELS
from .weights import Weights


@dataclass(frozen=True, eq=False)
class TaskCombined:
    """The combined scores of one task."""

    cells: TaskCells  # cells that are combined
    log_p: Floats  # by perturbation, the logarithm of the combined p-value; NaN if undefined
    # by perturbation, the discernment: `d`, `printed_d` and, with weights, `weighted_d`
    scores: Mapping[str, Scores]
    calibrated_d: Floats  # discernment that is valid under any dependence of the metrics
    # by perturbation, whether the metric with the smallest p-value has too few items whose scores differ
    few: NDArray[np.bool_]
    notes: tuple[str, ...]  # notes for readers, one sentence each


def combined_of(cells: TaskCells, weights: Weights | None) -> TaskCombined:
    """Combines the metrics of each perturbation of a task."""
    scores = cells.scores
    counts = np.array([metric.combined for metric in scores.metrics], dtype=np.bool_)
    metrics = [metric.name for metric in scores.metrics if metric.combined]
    log_p, few = cells.figures["log_p"][:, counts], cells.few[:, counts]
    intervals = RankIntervals(*(part[:, counts] for part in cells.intervals))
    notes: tuple[str, ...] = ()
    how: dict[str, dict[str, Any]] = {"d": {}, "printed_d": {"printed": True}}
    if not metrics:  # all scores are undefined
        log_p, few = np.full((len(scores.perturbed), 1), np.nan), np.zeros((len(scores.perturbed), 1), np.bool_)
        intervals = RankIntervals(log_p, log_p, np.full((*log_p.shape, 1), np.nan))
    elif weights is not None:
        how["weighted_d"] = {}
        how["weighted_d"]["weights"], notes = weights.matrix(scores.task, scores.perturbations, metrics)
    together = combine(log_p)
    scores_by_name = {name: combined_scores(log_p, intervals, **options) for name, options in how.items()}
    calibrated_d = discernment_score(calibrated(together, len(metrics) or 1))
    # The metric with the smallest p-value decides the combination.
    decides = np.where(np.isnan(log_p), np.inf, log_p).argmin(axis=1)
    few = np.take_along_axis(few, decides[:, None], axis=1)[:, 0]
    return TaskCombined(cells, together, scores_by_name, calibrated_d, few, notes)


def perturbation_rows(evaluator: str, tasks: Sequence[TaskCombined]) -> Iterator[TableRow]:
    """The rows of all perturbations, by task, in the order of the plan."""
    for task in tasks:
        scores, undefined = task.cells.scores, np.full(len(task.log_p), np.nan)
        figures = {"weighted_d": undefined, **{name: scores.d for name, scores in task.scores.items()}}
        figures |= {"log_p": task.log_p, "calibrated_d": task.calibrated_d}
        figures |= {"d_low": task.scores["d"].low, "d_high": task.scores["d"].high}
        for i, perturbed in enumerate(scores.perturbed):
            row = scores.described(evaluator, i)
            d = number(task.scores["d"].d[i])
            yield {
                **row,
                "reason": perturbed.reason if row["n_impossible"] else None,
                "n_changed": int(perturbed.differs_from_lower[scores.rows].sum()),
                "edit_share": perturbed.edit_share,
                **{name: number(column[i]) for name, column in figures.items()},
                "noticed": None if d is None else d >= NOTICED and not task.few[i],
            }


def summary_rows(evaluator: str, tasks: Sequence[TaskCombined]) -> Iterator[TableRow]:
    """The averages and minima of each task, over all perturbations, each level and each degree, without controls."""
    for task in tasks:
        for score in task.scores:
            for scope, rows in _scopes(task):
                described = {"evaluator": evaluator, "task": task.cells.scores.task, "score": score, "scope": scope}
                yield described | figures_of(task.scores[score], task.cells.scores.perturbations, rows)


def _scopes(task: TaskCombined) -> Iterator[tuple[str, list[int]]]:
    damages = {i: change for i, change in enumerate(task.cells.scores.perturbations) if not change.is_control}
    (_, everything), *others = scopes_of(damages)
    yield "all", everything
    if (weighted := task.scores.get("weighted_d")) is not None:
        # Some kinds and degrees have no weights. The plain figures next to the weighted figures leave them out, too.
        rows = [i for i in damages if not np.isnan(weighted.d[i])]
        if 0 < len(rows) < sum(not np.isnan(task.scores["d"].d[i]) for i in damages):
            yield "weighted", rows
    yield from others


def scopes_of(damages: Mapping[int, Perturbation]) -> Iterator[tuple[str, list[int]]]:
    """Yields the scopes of averages with the numbers of their perturbations: `all`, each level and each degree."""
    yield "all", list(damages)
    for level in LEVELS[:-1]:
        rows = [i for i, change in damages.items() if change.level == level]
        if rows:
            yield f"level:{level}", rows
    degrees = dict.fromkeys(change.degree for change in damages.values() if change.degree)
    # Numbers in ascending order, then other names in order of appearance.
    for degree in sorted(degrees, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0)):
        yield f"degree:{degree}", [i for i, change in damages.items() if change.degree == degree]


def figures_of(scores: Scores, perturbations: Sequence[Perturbation], rows: Sequence[int]) -> TableRow:
    """The average of some perturbations' scores with its interval, and their minimum."""
    levels, own = [perturbations[row].level for row in rows], scores.at(rows)
    weights = level_weights(own.d, levels)
    mean, minimum = average(own.d, levels)
    low, high = interval_of_sum(weights, own)
    at = int(np.where(weights > 0, own.d, np.inf).argmin()) if weights.any() else None
    return {
        "n_perturbations": sum(level != CONTROL for level in levels),
        "n_defined": int((weights > 0).sum()),
        "average": number(mean),
        "average_low": low,
        "average_high": high,
        "minimum": number(minimum),
        "minimum_at": None if at is None else perturbations[rows[at]].name,
    }

"""The discernment of each perturbation, from the combined p-values of its metrics.

Metrics that are means of other metrics are left out. If one metric of a perturbation is undefined, so is the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.discernment_scores import NOTICED, averages, calibrated, combine, discernment_score
from .cells import TaskCells
from .kinds import LEVELS
from .plan import Perturbation
from .result import TableRow, number
from .task_scores import interval_of
from .weights import Weights


@dataclass(frozen=True, eq=False)
class TaskCombined:
    """The combined scores of one task."""

    cells: TaskCells  # cells that are combined
    log_p: Floats  # by perturbation, the logarithm of the combined p-value; NaN if undefined
    # by perturbation, the discernment: `d`, `printed_d` and, with weights, `weighted_d`
    scores: Mapping[str, Floats]
    calibrated_d: Floats  # discernment that is valid under any dependence of the metrics
    # by perturbation, whether the metric with the smallest p-value has too few items whose scores differ
    few: NDArray[np.bool_]
    # by name, the scores in each bootstrap draw (draws × perturbations); None without a bootstrap
    draws: Mapping[str, Floats] | None
    notes: tuple[str, ...]  # notes for readers, one sentence each


def combined_of(cells: TaskCells, weights: Weights | None) -> TaskCombined:
    """Combines the metrics of each perturbation of a task."""
    scores, drawn = cells.scores, cells.drawn
    counts = np.array([metric.combined for metric in scores.metrics], dtype=np.bool_)
    metrics = [metric.name for metric in scores.metrics if metric.combined]
    matrix: Floats | None = None
    notes: tuple[str, ...] = ()
    draws: Mapping[str, Floats] | None = None
    # If there is no metric to combine, all scores are undefined.
    log_p, few = cells.figures["log_p"][:, counts], cells.few[:, counts]
    if not metrics:
        log_p, few = np.full((len(scores.perturbed), 1), np.nan), np.zeros((len(scores.perturbed), 1), np.bool_)
    elif weights is not None:
        matrix, notes = weights.matrix(scores.task, scores.perturbations, metrics)
    if drawn is not None and metrics:
        # An undefined cell has no draws, even if single draws would be defined.
        draws = _scores(np.where(np.isnan(log_p), np.nan, drawn.log_p[:, :, counts]), matrix)
    if drawn is not None and len(drawn.d) < drawn.n_asked:
        note = f"Intervals use {len(drawn.d):,} instead of {drawn.n_asked:,} bootstrap draws to save time."
        notes = (*notes, note)
    together = combine(log_p)
    calibrated_d = discernment_score(calibrated(together, len(metrics) or 1))
    return TaskCombined(cells, together, _scores(log_p, matrix), calibrated_d, _few(few, log_p), draws, notes)


def _few(few: NDArray[np.bool_], log_p: Floats) -> NDArray[np.bool_]:
    """Whether the metric with the smallest p-value, which decides the combination, has few items that differ."""
    decides = np.where(np.isnan(log_p), np.inf, log_p).argmin(axis=1)
    return np.take_along_axis(few, decides[:, None], axis=1)[:, 0]


def _scores(log_p: Floats, weights: Floats | None) -> dict[str, Floats]:
    found = {"d": combine(log_p), "printed_d": combine(log_p, printed=True)}
    if weights is not None:
        found["weighted_d"] = combine(log_p, weights=weights)
    return {name: discernment_score(value) for name, value in found.items()}


def perturbation_rows(evaluator: str, tasks: Sequence[TaskCombined]) -> Iterator[TableRow]:
    """The rows of all perturbations, by task, in the order of the plan."""
    for task in tasks:
        scores, undefined = task.cells.scores, np.full(len(task.log_p), np.nan)
        figures = {"weighted_d": undefined, **task.scores, "log_p": task.log_p, "calibrated_d": task.calibrated_d}
        figures["d_low"], figures["d_high"] = (
            (undefined, undefined) if task.draws is None else interval_of(task.draws["d"], task.scores["d"])
        )
        for i, perturbed in enumerate(scores.perturbed):
            row = scores.described(evaluator, i)
            d = number(task.scores["d"][i])
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
                draws = None if task.draws is None else task.draws[score]
                yield described | figures_of(task.scores[score], draws, task.cells.scores.perturbations, rows)


def _scopes(task: TaskCombined) -> Iterator[tuple[str, list[int]]]:
    damages = {i: each for i, each in enumerate(task.cells.scores.perturbations) if not each.is_control}
    (_, everything), *others = scopes_of(damages)
    yield "all", everything
    if (weighted := task.scores.get("weighted_d")) is not None:
        # Some kinds and degrees have no weights. The plain figures next to the weighted figures leave them out, too.
        rows = [i for i in damages if not np.isnan(weighted[i])]
        if 0 < len(rows) < sum(not np.isnan(task.scores["d"][i]) for i in damages):
            yield "weighted", rows
    yield from others


def scopes_of(damages: Mapping[int, Perturbation]) -> Iterator[tuple[str, list[int]]]:
    """Yields the scopes of averages with the numbers of their perturbations: `all`, each level and each degree."""
    yield "all", list(damages)
    for level in LEVELS[:-1]:
        rows = [i for i, each in damages.items() if each.level == level]
        if rows:
            yield f"level:{level}", rows
    for degree in _degrees([each.degree for each in damages.values()]):
        yield f"degree:{degree}", [i for i, each in damages.items() if each.degree == degree]


def _degrees(names: Sequence[str]) -> list[str]:
    """The names of degrees: numbers in ascending order, then other names in order of appearance."""
    distinct = dict.fromkeys(name for name in names if name)
    return sorted(distinct, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0))


def figures_of(
    scores: Floats, draws: Floats | None, perturbations: Sequence[Perturbation], rows: Sequence[int]
) -> TableRow:
    """The average and the minimum of some perturbations' scores, with their intervals by the draws."""
    perturbations = [perturbations[row] for row in rows]
    levels = [each.level for each in perturbations]
    of_all = averages(scores[rows], levels)
    at, n_defined = int(of_all.minimum_at), int(of_all.n_defined)
    found: TableRow = {"n_perturbations": of_all.n, "n_defined": n_defined}
    drawn = None if draws is None or not n_defined else averages(draws[:, rows], levels)
    for name in ("average", "minimum"):
        figure = getattr(of_all, name)
        low, high = (np.nan, np.nan) if drawn is None else interval_of(getattr(drawn, name), figure)
        found |= {name: number(figure), f"{name}_low": number(float(low)), f"{name}_high": number(float(high))}
    return {**found, "minimum_at": perturbations[at].name if at >= 0 else None}

"""The discernment of each perturbation: that of its metrics, combined into one.

Metrics that are means of others do not take part. If one metric of a perturbation is undefined, so is the combination.
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
from .result import Cell, described, number
from .task_scores import TaskScores, interval_of

SCORES = ("d", "printed_d", "weighted_d")
"""The discernment scores that are averaged."""


@dataclass(frozen=True, eq=False)
class TaskCombined:
    """The combined scores of one task."""

    cells: TaskCells  # cells that they are made of
    log_p: Floats  # by perturbation, the logarithm of the combined p-value; NaN where undefined
    # by name (`SCORES`; `weighted_d` only with weights), the discernment of each perturbation
    scores: Mapping[str, Floats]
    calibrated_d: Floats  # discernment that holds whatever the dependence of the metrics
    # by perturbation, whether its metric with the smallest p-value has too few items whose scores differ
    few: NDArray[np.bool_]
    # by name, draws × perturbations: the scores in each bootstrap draw; None without a bootstrap
    draws: Mapping[str, Floats] | None


def combined_of(cells: TaskCells, weights: Floats | None, log_p_draws: Floats | None) -> TaskCombined:
    """Combines the metrics of each perturbation of a task; a row of weights that is NaN has no weights."""
    counts = np.array([metric.combined for metric in cells.metrics], dtype=np.bool_)
    n_perturbations = len(cells.perturbations)
    if not counts.any():
        undefined = np.full(n_perturbations, np.nan)
        names = SCORES if weights is not None else SCORES[:2]
        return TaskCombined(
            cells, undefined, dict.fromkeys(names, undefined), undefined, np.zeros(n_perturbations, np.bool_), None
        )
    log_p = cells.figures["log_p"][:, counts]
    together = combine(log_p)
    draws = None
    if log_p_draws is not None:
        # A cell that is undefined has no draws either, even where those of single draws are.
        draws = _scores(np.where(np.isnan(log_p), np.nan, log_p_draws[:, :, counts]), weights)
    n_metrics = int(counts.sum())
    return TaskCombined(
        cells,
        together,
        _scores(log_p, weights),
        discernment_score(calibrated(together, n_metrics)),
        _few(cells.few[:, counts], log_p),
        draws,
    )


def _few(few: NDArray[np.bool_], log_p: Floats) -> NDArray[np.bool_]:
    """Whether the metric that decides the combination, the one with the smallest p-value, is of few items."""
    decides = np.where(np.isnan(log_p), np.inf, log_p).argmin(axis=1)
    return np.take_along_axis(few, decides[:, None], axis=1)[:, 0]


def _scores(log_p: Floats, weights: Floats | None) -> dict[str, Floats]:
    found = {"d": combine(log_p), "printed_d": combine(log_p, printed=True)}
    if weights is not None:
        found["weighted_d"] = combine(log_p, weights=weights)
    return {name: discernment_score(value) for name, value in found.items()}


def perturbation_rows(evaluator: str, tasks: Sequence[tuple[TaskScores, TaskCombined]]) -> Iterator[dict[str, Cell]]:
    """The rows of all perturbations, by task, in the order of the plan."""
    for scores, combined in tasks:
        cells = combined.cells
        undefined = np.full(len(cells.perturbations), np.nan)
        interval = None
        if combined.draws is not None:
            interval = interval_of(combined.draws["d"], combined.scores["d"], ~np.isnan(combined.log_p))
        for i, perturbation in enumerate(cells.perturbations):
            perturbed = scores.perturbed[i]
            d = number(combined.scores["d"][i])
            yield {
                **described(evaluator, cells.task, perturbation),
                "method": perturbation.method,
                "n_items": int(cells.n_items[i]),
                "n_impossible": int(cells.n_impossible[i]),
                "reason": perturbed.reason if cells.n_impossible[i] else None,
                "n_changed": int(perturbed.differs_from_lower[scores.rows].sum()),
                "edit_share": perturbed.edit_share,
                "log_p": number(combined.log_p[i]),
                "d": d,
                "d_low": None if interval is None else number(interval.low[i]),
                "d_high": None if interval is None else number(interval.high[i]),
                "printed_d": number(combined.scores["printed_d"][i]),
                "weighted_d": number(combined.scores.get("weighted_d", undefined)[i]),
                "calibrated_d": number(combined.calibrated_d[i]),
                "noticed": None if d is None else d >= NOTICED and not combined.few[i],
            }


def summary_rows(evaluator: str, tasks: Sequence[TaskCombined]) -> Iterator[dict[str, Cell]]:
    """The averages and minima of each task, over all perturbations, each level and each degree, without controls."""
    for task in tasks:
        for score in task.scores:
            for scope, rows in _scopes(task):
                figures = _figures(task, score, rows)
                yield {"evaluator": evaluator, "task": task.cells.task, "score": score, "scope": scope, **figures}


def _scopes(task: TaskCombined) -> Iterator[tuple[str, NDArray[np.intp]]]:
    damages = [(i, each) for i, each in enumerate(task.cells.perturbations) if not each.is_control]
    yield "all", np.array([i for i, _ in damages], dtype=np.intp)
    if (weighted := task.scores.get("weighted_d")) is not None:
        # Some kinds and degrees have no weights: the plain figures beside the weighted ones are those of the others.
        rows = [i for i, _ in damages if not np.isnan(weighted[i])]
        if 0 < len(rows) < sum(not np.isnan(task.scores["d"][i]) for i, _ in damages):
            yield "weighted", np.array(rows, dtype=np.intp)
    for level in LEVELS[:-1]:
        rows = [i for i, each in damages if each.level == level]
        if rows:
            yield f"level:{level}", np.array(rows, dtype=np.intp)
    for degree in _degrees([each.degree for _, each in damages]):
        yield f"degree:{degree}", np.array([i for i, each in damages if each.degree == degree], dtype=np.intp)


def _degrees(names: Sequence[str]) -> list[str]:
    """The names of degrees, rising numbers first, then the others as they come."""
    distinct = dict.fromkeys(name for name in names if name)
    return sorted(distinct, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0))


def _figures(task: TaskCombined, score: str, rows: NDArray[np.intp]) -> dict[str, Cell]:
    perturbations = [task.cells.perturbations[row] for row in rows]
    levels = [each.level for each in perturbations]
    of_all = averages(task.scores[score][rows], levels)
    at = int(of_all.minimum_at)
    ends: dict[str, Cell] = dict.fromkeys(("average_low", "average_high", "minimum_low", "minimum_high"))
    if task.draws is not None and int(of_all.n_defined):
        drawn = averages(task.draws[score][:, rows], levels)
        for name in ("average", "minimum"):
            interval = interval_of(getattr(drawn, name), getattr(of_all, name))
            ends |= {f"{name}_low": number(float(interval.low)), f"{name}_high": number(float(interval.high))}
    return {
        "n_perturbations": of_all.n,
        "n_defined": int(of_all.n_defined),
        "average": number(float(of_all.average)),
        "minimum": number(float(of_all.minimum)),
        "minimum_at": perturbations[at].name if at >= 0 else None,
        **ends,
    }

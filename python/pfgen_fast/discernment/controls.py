"""Controls: changes that should not matter, and how much they lower the scores all the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bootstrap import Interval
from .cells import TaskCells
from .result import CONTROL_COLUMNS, Cell, Columns
from .rows import described, number

_FIGURES = ("d", "reverse_d", "mean_drop", "share_lower")


def control_columns(evaluator: str, tasks: Sequence[TaskCells], intervals: Sequence[Interval | None]) -> Columns:
    """The table of controls, by task, in the order of the plan."""
    found: dict[str, list[Cell]] = {name: [] for name in CONTROL_COLUMNS}
    for task, interval in zip(tasks, intervals, strict=True):
        lightest = [_lightest_drop(task, j) for j in range(len(task.metrics))]
        for i, perturbation in enumerate(task.perturbations):
            if not perturbation.is_control:
                continue
            for j, metric in enumerate(task.metrics):
                row = described(evaluator, task.task, perturbation) | {
                    "metric": metric.name,
                    "n_items": int(task.n_items[i]),
                    "n_impossible": int(task.n_impossible[i]),
                    **{name: number(task.figures[name][i, j]) for name in _FIGURES},
                    "d_low": None if interval is None else number(interval.low[i, j]),
                    "d_high": None if interval is None else number(interval.high[i, j]),
                    "relative_drop": number(task.figures["mean_drop"][i, j] / lightest[j]),
                    "noticed": bool(task.noticed[i, j]) if task.is_defined[i, j] else None,
                }
                for name, values in found.items():
                    values.append(row[name])
    return found


def _lightest_drop(task: TaskCells, metric: int) -> float:
    """The smallest mean drop of any damage that is noticed; NaN if none is."""
    is_damage = np.array([not perturbation.is_control for perturbation in task.perturbations], dtype=np.bool_)
    drops = task.figures["mean_drop"][:, metric]
    drops = drops[is_damage & task.noticed[:, metric] & (drops > 0)]
    return float(drops.min()) if drops.size else float("nan")


def specificity(tasks: Sequence[TaskCells]) -> dict[str, float | None]:
    """By metric, the share of the controls that are not noticed, over all tasks; None if there is no control."""
    n_quiet: dict[str, int] = {}
    n_defined: dict[str, int] = {}
    for task in tasks:
        is_control = np.array([perturbation.is_control for perturbation in task.perturbations], dtype=np.bool_)
        for j, metric in enumerate(task.metrics):
            counted = is_control & task.is_defined[:, j]
            n_defined[metric.name] = n_defined.get(metric.name, 0) + int(counted.sum())
            n_quiet[metric.name] = n_quiet.get(metric.name, 0) + int((counted & ~task.noticed[:, j]).sum())
    return {name: n_quiet[name] / n if n else None for name, n in n_defined.items()}

"""Averages and minima over perturbations, each level with the same weight. Controls take no part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..statistics.discernment_scores import averages
from .bootstrap import interval_of
from .combined import TaskCombined
from .kinds import LEVELS
from .result import SUMMARY_COLUMNS, Cell, Columns
from .rows import number


def summary_columns(evaluator: str, tasks: Sequence[TaskCombined]) -> Columns:
    """The averages and minima of each task: over all perturbations, over each level, and over each degree."""
    found: dict[str, list[Cell]] = {name: [] for name in SUMMARY_COLUMNS}
    for task in tasks:
        for score in task.scores:
            for scope, rows in _scopes(task):
                row: dict[str, Cell] = {"evaluator": evaluator, "task": task.cells.task, "score": score, "scope": scope}
                row.update(_figures(task, score, rows))
                for name, values in found.items():
                    values.append(row[name])
    return found


def _scopes(task: TaskCombined) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """The groups of perturbations that are averaged, with their names."""
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

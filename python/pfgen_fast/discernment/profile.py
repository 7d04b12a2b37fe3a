"""The sensitivity profile: for each kind of damage and metric, how much damage it takes until it is noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .cells import TaskCells
from .gradation import Gradation, kinds_of
from .result import PROFILE_COLUMNS, Cell, Columns
from .rows import number, whole
from .task_scores import TaskScores

NUMBERS_OF_ITEMS = (100, 20)
"""For how many items it is said from which degree on a damage is noticed."""

Noticed = Mapping[int, NDArray[np.bool_]]
"""By number of items: perturbations × metrics, whether a damage is noticed with so many; absent if there are fewer."""


def profile_columns(evaluator: str, tasks: Sequence[tuple[TaskScores, TaskCells]]) -> Columns:
    """The profile of each task: a row for each kind and metric, in the order of the plan.

    Args:
        evaluator: The evaluator's name.
        tasks: The scores and the cells of each task.
    """
    found: dict[str, list[Cell]] = {name: [] for name in PROFILE_COLUMNS}
    for scores, cells in tasks:
        noticed = noticed_with(scores, cells)
        for kind, rows in kinds_of(cells.perturbations):
            gradation = Gradation(scores, rows)
            for j, metric in enumerate(cells.metrics):
                row: dict[str, Cell] = {
                    "evaluator": evaluator,
                    "task": cells.task,
                    "level": cells.perturbations[rows[0]].level,
                    "kind": kind,
                    "metric": metric.name,
                    **{f"detectable_at_{n}": _first_degree(cells, rows, j, noticed.get(n)) for n in NUMBERS_OF_ITEMS},
                    "n80": _n80(cells, rows, j),
                    "monotonicity": number(gradation.monotonicity(j)),
                    "drop_per_100_permille": number(gradation.per_100_permille(j)),
                    "verdict": verdict(cells, rows, j),
                }
                for name, values in found.items():
                    values.append(row[name])
    return found


def noticed_with(scores: TaskScores, cells: TaskCells) -> Noticed:
    """Whether each damage is noticed with certain numbers of items; numbers above that of the items are left out."""
    found = {}
    for n_items in NUMBERS_OF_ITEMS:
        if n_items == scores.n_items:
            found[n_items] = cells.noticed
    return found


def verdict(cells: TaskCells, rows: NDArray[np.intp], metric: int) -> str | None:
    """What a metric makes of a kind of damage, with all items: `notices`, `needs much`, `blind` or `rewards`.

    `notices`: from a degree in the lower half of the ladder on, its middle included. `needs much`: only from a higher
    degree on, or only here and there. `rewards`: scores rise at the highest degree, or at another if no degree is
    noticed throughout. None if no degree is defined.
    """
    rows = rows[cells.is_defined[rows, metric]]
    if not rows.size:
        return None
    noticed, rewarded = cells.noticed[rows, metric], cells.rewarded[rows, metric]
    first = _first(noticed)
    if rewarded[-1] or (first is None and rewarded.any()):
        return "rewards"
    if first is None:
        return "needs much" if noticed.any() else "blind"
    return "notices" if first < (len(rows) + 1) // 2 else "needs much"


def _first(noticed: NDArray[np.bool_]) -> int | None:
    """The first degree from which on all are noticed."""
    missed = np.flatnonzero(~noticed)
    first = int(missed[-1]) + 1 if missed.size else 0
    return first if first < len(noticed) else None


def _first_degree(
    cells: TaskCells, rows: NDArray[np.intp], metric: int, noticed: NDArray[np.bool_] | None
) -> str | None:
    """The name of the first degree from which on all that are defined are noticed."""
    if noticed is None:
        return None
    rows = rows[cells.is_defined[rows, metric]]
    first = _first(noticed[rows, metric])
    return None if first is None else cells.perturbations[rows[first]].degree


def _n80(cells: TaskCells, rows: NDArray[np.intp], metric: int) -> int | None:
    """How many items notice the lightest degree that is noticed with all items, or if none is, the heaviest."""
    rows = rows[cells.is_defined[rows, metric]]
    if not rows.size:
        return None
    first = _first(cells.noticed[rows, metric])
    return whole(cells.figures["n80"][rows[-1 if first is None else first], metric])

"""The sensitivity profile: for each kind of damage and metric, how much damage it takes until it is noticed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..statistics.detectability import noticed_from
from ..statistics.signed_rank import Zeros
from .cells import TaskCells
from .gradation import Gradation, kinds_of
from .result import PROFILE_COLUMNS, Cell, Columns
from .rows import number, whole
from .task_scores import TaskScores

NUMBERS_OF_ITEMS = (100, 20)
"""For how many items it is said from which degree on a damage is noticed."""


def profile_columns(evaluator: str, tasks: Sequence[tuple[TaskScores, TaskCells]], zeros: Zeros) -> Columns:
    """The profile of each task: a row for each kind and metric, in the order of the plan."""
    found: dict[str, list[Cell]] = {name: [] for name in PROFILE_COLUMNS}
    for scores, cells in tasks:
        for kind, rows in kinds_of(cells.perturbations):
            for j, metric in enumerate(cells.metrics):
                gradation = Gradation(scores, rows[cells.is_defined[rows, j]])
                row: dict[str, Cell] = {
                    "evaluator": evaluator,
                    "task": cells.task,
                    "level": cells.perturbations[rows[0]].level,
                    "kind": kind,
                    "metric": metric.name,
                    **{f"detectable_at_{n}": gradation.noticed_from_with(n, j, zeros) for n in NUMBERS_OF_ITEMS},
                    "n80": _n80(cells, rows, j),
                    "monotonicity": number(gradation.monotonicity(j)),
                    "drop_per_100_permille": number(gradation.per_100_permille(j)),
                    "verdict": verdict(cells, rows, j),
                }
                for name, values in found.items():
                    values.append(row[name])
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
    first = int(noticed_from(noticed))
    is_noticed = first < len(rows)
    if rewarded[-1] or (rewarded.any() and not is_noticed):
        return "rewards"
    if not is_noticed:
        return "needs much" if noticed.any() else "blind"
    return "notices" if first < (len(rows) + 1) // 2 else "needs much"


def _n80(cells: TaskCells, rows: NDArray[np.intp], metric: int) -> int | None:
    """How many items notice the lightest degree that is noticed with all items, or if none is, the heaviest."""
    rows = rows[cells.is_defined[rows, metric]]
    if not rows.size:
        return None
    first = int(noticed_from(cells.noticed[rows, metric]))
    return whole(cells.figures["n80"][rows[min(first, len(rows) - 1)], metric])

"""Bootstrap draws of a task's items: the same draw for all cells, and the items of one question drawn together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.signed_rank import Zeros
from .intervals import Interval, interval_of
from .task_scores import TaskScores


@dataclass(frozen=True, eq=False)
class Drawn:
    """Bootstrap draws.

    Attributes:
        n_draws: How many there are.
        d: Draws × perturbations × metrics: the discernment in each draw.
        counts: Draws × items: how often each item is drawn.
    """

    n_draws: int
    d: Floats
    counts: NDArray[np.float64]

    @property
    def log_p(self) -> Floats:
        """The logarithms of the p-values in each draw."""
        return np.asarray(self.d * -math.log(20.0))

    def interval(self, is_defined: NDArray[np.bool_]) -> Interval:
        """The interval of d of each cell."""
        return interval_of(self.d, is_defined)

    def mean_interval(self, values: Floats, rows: NDArray[np.bool_]) -> Interval:
        """The intervals of the means of some items.

        Args:
            values: Any × those items.
            rows: Which items they are.
        """
        counts = self.counts[:, rows]
        n_drawn = counts.sum(axis=1)
        with np.errstate(invalid="ignore"):
            means = counts @ values.T / n_drawn[:, None]
        return interval_of(means)


def drawn_from(scores: TaskScores, *, draws: int, zeros: Zeros) -> Drawn | None:
    """Draws the items of a task."""
    return None

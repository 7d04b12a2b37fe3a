"""Bootstrap draws of a task's items: the same draw for all cells, and the items of one question drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.resampling import Counts, affordable_draws, bootstrap_counts, interval, resampled, resampled_means
from ..statistics.signed_rank import Zeros
from .task_scores import TaskScores


@dataclass(frozen=True, eq=False)
class Interval:
    """The ends of 95 % intervals, NaN where undefined."""

    low: Floats
    high: Floats


def interval_of(draws: Floats, figures: Any, is_defined: NDArray[np.bool_] | bool = True) -> Interval:
    """The interval of each figure: the 2.5th and the 97.5th percentile of the draws that define it, and the figure.

    Items that are drawn twice are ties, which raise d: where nearly all scores fall, all draws lie above the figure.
    """
    low, high = interval(draws)
    ends = (
        np.fmin(low, np.where(np.isnan(low), np.nan, figures)),
        np.fmax(high, np.where(np.isnan(high), np.nan, figures)),
    )
    return Interval(*(np.where(is_defined, end, np.nan) for end in ends))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Bootstrap draws of the items of a task."""

    log_p: Floats  # draws × perturbations × metrics: the logarithms of the p-values; 0 where no score differs
    d: Floats
    counts: Counts  # draws × items: how often each item is drawn

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return len(self.counts)

    def interval(self, d: Floats, is_defined: NDArray[np.bool_]) -> Interval:
        """The interval of d of each cell, given d of all items."""
        return interval_of(self.d, d, is_defined)

    def mean_interval(self, values: Floats, rows: NDArray[np.bool_]) -> Interval:
        """The intervals of means over some items."""
        return interval_of(resampled_means(values, self.counts[:, rows]), values.mean(axis=-1))


def drawn_from(scores: TaskScores, *, draws: int, zeros: Zeros, seed: int = 0) -> Drawn:
    """Draws the items of a task, and tests each cell in each draw."""
    n_cells = len(scores.perturbed) * len(scores.metrics)
    n_draws = affordable_draws(draws, scores.n_items, n_cells)
    counts = bootstrap_counts(scores.n_items, n_draws, seed=seed, groups=scores.groups.tolist())
    log_p, d = np.empty((2, n_draws, len(scores.perturbed), len(scores.metrics)))
    for chunk in scores.chunks():
        damaged = scores.damaged(chunk)
        originals = np.broadcast_to(scores.originals, damaged.shape).reshape(-1, scores.n_items)
        found = resampled(originals, damaged.reshape(-1, scores.n_items), counts, zeros=zeros)
        log_p[:, chunk] = found.log_p.reshape(n_draws, -1, len(scores.metrics))
        d[:, chunk] = found.d.reshape(n_draws, -1, len(scores.metrics))
    return Drawn(log_p, d, counts)

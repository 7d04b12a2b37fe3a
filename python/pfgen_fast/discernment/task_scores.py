"""The scores of the items of one task as matrices, all metrics turned so that higher is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats, Metric
from ..statistics.resampling import Counts, affordable_draws, bootstrap_counts, interval, resampled, resampled_means
from ..statistics.signed_rank import Zeros
from .damaged import groups_of
from .plan import Perturbation
from .result import PerturbedScores, Scored
from .scoring import rows_of_tasks

_NUMBERS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class TaskScores:
    """The scores of one task."""

    task: str
    rows: NDArray[np.intp]  # which items of the collection they are
    groups: NDArray[np.intp]  # by item, the number of its question; items of one question are drawn together
    metrics: tuple[Metric, ...]  # metrics that have a score for at least one original of the task
    originals: Floats  # metrics × items: the scores of the originals; of metrics where lower is better, their negatives
    perturbed: tuple[PerturbedScores, ...]  # scores of each perturbation, of all tasks

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.rows)

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The perturbations, in the order of the plan."""
        return tuple(each.perturbation for each in self.perturbed)

    @property
    def signs(self) -> Floats:
        """By metric: 1 where higher is better, else -1."""
        return np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])

    def is_possible(self) -> NDArray[np.bool_]:
        """Perturbations × items: whether the perturbation is possible."""
        return np.array([each.is_possible[self.rows] for each in self.perturbed]).reshape(-1, self.n_items)

    def damaged(self, numbers: slice | NDArray[np.intp]) -> Floats:
        """Perturbations × metrics × items: the scores of some perturbations, turned as those of the originals."""
        chosen = np.arange(len(self.perturbed))[numbers]
        found = np.empty((len(chosen), len(self.metrics), self.n_items))
        for row, number in enumerate(chosen):
            for column, metric in enumerate(self.metrics):
                found[row, column] = self.perturbed[number].scores[metric.name][self.rows]
        found *= self.signs[:, None]
        return found

    def chunks(self) -> Iterator[slice]:
        """The perturbations in chunks whose scores do not take much memory."""
        size = max(1, _NUMBERS_AT_A_TIME // max(1, len(self.metrics) * self.n_items))
        for begin in range(0, len(self.perturbed), size):
            yield slice(begin, min(begin + size, len(self.perturbed)))


def by_task(scored: Scored) -> list[TaskScores]:
    """The scores of each task, tasks in the order of their first items."""
    items = scored.collection.items
    groups = np.array(groups_of(items), dtype=np.intp)
    found = []
    for task, rows in rows_of_tasks(items).items():
        metrics = _metrics_of(scored.metrics, scored.originals, rows)
        originals = np.array([scored.originals[metric.name][rows] for metric in metrics]).reshape(-1, len(rows))
        signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in metrics])
        found.append(TaskScores(task, rows, groups[rows], metrics, originals * signs[:, None], scored.perturbed))
    return found


def _metrics_of(
    metrics: tuple[Metric, ...], originals: Mapping[str, Floats], rows: NDArray[np.intp]
) -> tuple[Metric, ...]:
    """The metrics that belong to a task: those that score its originals. Judges have other metrics for other tasks."""
    return tuple(metric for metric in metrics if not np.isnan(originals[metric.name][rows]).all())


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
    """Bootstrap draws of the items of a task, the same for all cells; the items of one question are drawn together."""

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

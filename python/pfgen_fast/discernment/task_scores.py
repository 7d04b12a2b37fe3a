"""The scores of the items of one task as matrices, all metrics turned so that higher is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats, Metric
from .damaged import groups_of
from .examples import rows_of_tasks
from .plan import Perturbation
from .result import PerturbedScores, Scored

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

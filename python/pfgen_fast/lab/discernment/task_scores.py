"""The scores of the items of one task as matrices, with signs such that higher is better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats, Metric
from .discernment_items import Collection
from .discernment_plan import Perturbation
from .discernment_result import PerturbedScores, Scored, TableRow
from .discernment_scoring import rows_of_tasks

_NUMBERS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class TaskScores:
    """The scores of one task."""

    task: str
    rows: NDArray[np.intp]  # indices of the items in the collection
    codes: NDArray[np.int_]  # number of each item's question; items without a question have one each
    metrics: tuple[Metric, ...]  # metrics that have a score for at least one original of the task
    originals: Floats  # metrics × items: the scores of the originals, negative if lower is better
    perturbed: tuple[PerturbedScores, ...]  # scores of each perturbation, of all tasks

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.rows)

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The perturbations, in the order of the plan."""
        return tuple(part.perturbation for part in self.perturbed)

    @property
    def signs(self) -> Floats:
        """By metric: 1 if higher is better, or else -1."""
        return np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])

    @cached_property
    def n_possible(self) -> NDArray[np.intp]:
        """By perturbation, the number of items for which it is possible."""
        return np.array([part.is_possible[self.rows].sum() for part in self.perturbed], dtype=np.intp)

    def described(self, evaluator: str, number: int) -> TableRow:
        """The columns that describe the perturbation of a row, with its number of items."""
        change, n_items = self.perturbed[number].perturbation, int(self.n_possible[number])
        return {
            "evaluator": evaluator,
            "task": self.task,
            **{name: getattr(change, name) for name in ("level", "kind", "degree", "permille", "k", "method")},
            "n_items": n_items,
            "n_impossible": self.n_items - n_items,
        }

    def damaged(self, numbers: slice | NDArray[np.intp]) -> Floats:
        """Perturbations × metrics × items: the scores of some perturbations, with the signs of `originals`."""
        chosen = np.arange(len(self.perturbed))[numbers]
        scores = np.empty((len(chosen), len(self.metrics), self.n_items))
        for row, number in enumerate(chosen):
            for column, metric in enumerate(self.metrics):
                scores[row, column] = self.perturbed[number].scores[metric.name][self.rows]
        scores *= self.signs[:, None]
        return scores

    def chunks(self) -> Iterator[slice]:
        """The perturbations in chunks whose scores do not take much memory."""
        size = max(1, _NUMBERS_AT_A_TIME // max(1, len(self.metrics) * self.n_items))
        for begin in range(0, len(self.perturbed), size):
            yield slice(begin, min(begin + size, len(self.perturbed)))


def by_task(scored: Scored, *, like: Collection | None = None) -> list[TaskScores]:
    """The scores of each task, in the order of the items, or of the same items in another collection.

    A task is left out if no original of it has a score.
    """
    items = scored.collection.items
    places = {item.id: row for row, item in enumerate(items)}
    order = np.array([places[item.id] for item in (like or scored.collection).items], dtype=np.intp)
    tasks = []
    for task, own_rows in rows_of_tasks([items[row] for row in order]).items():
        rows = order[own_rows]
        # Judges have different metrics for each task.
        metrics = tuple(metric for metric in scored.metrics if not np.isnan(scored.originals[metric.name][rows]).all())
        if not metrics:
            continue
        originals = np.array([scored.originals[metric.name][rows] for metric in metrics]).reshape(-1, len(rows))
        clusters = [(items[row].question is None, items[row].question or items[row].id) for row in rows]
        numbers = {cluster: number for number, cluster in enumerate(sorted(set(clusters)))}  # in any order of the items
        codes = np.array([numbers[cluster] for cluster in clusters], dtype=np.int_)
        scores = TaskScores(task, rows, codes, metrics, originals, scored.perturbed)
        tasks.append(replace(scores, originals=originals * scores.signs[:, None]))
    return tasks

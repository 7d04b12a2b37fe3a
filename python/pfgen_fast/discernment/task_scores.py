"""The scores of the items of one task as matrices, with signs such that higher is better."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats, Metric
from ..statistics.resampling import Counts, affordable_draws, bootstrap_counts, interval, resampled
from ..statistics.signed_rank import Zeros
from .items import Collection
from .plan import Perturbation
from .result import PerturbedScores, Scored, TableRow
from .scoring import rows_of_tasks

_NUMBERS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class TaskScores:
    """The scores of one task."""

    task: str
    rows: NDArray[np.intp]  # indices of the items in the collection
    groups: Sequence[Hashable]  # question of each item, or its row without a question; a group is drawn as a whole
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
        return tuple(each.perturbation for each in self.perturbed)

    @property
    def signs(self) -> Floats:
        """By metric: 1 if higher is better, or else -1."""
        return np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])

    @cached_property
    def n_possible(self) -> NDArray[np.intp]:
        """By perturbation, the number of items for which it is possible."""
        return np.array([each.is_possible[self.rows].sum() for each in self.perturbed], dtype=np.intp)

    def described(self, evaluator: str, number: int) -> TableRow:
        """The columns that describe the perturbation of a row, with its number of items."""
        one, n_items = self.perturbed[number].perturbation, int(self.n_possible[number])
        return {
            "evaluator": evaluator,
            "task": self.task,
            **{name: getattr(one, name) for name in ("level", "kind", "degree", "permille", "k", "method")},
            "n_items": n_items,
            "n_impossible": self.n_items - n_items,
        }

    def damaged(self, numbers: slice | NDArray[np.intp]) -> Floats:
        """Perturbations × metrics × items: the scores of some perturbations, with the signs of `originals`."""
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


def by_task(scored: Scored, *, like: Collection | None = None) -> list[TaskScores]:
    """The scores of each task, in the order of the items, or of the same items in another collection.

    A task is left out if no original of it has a score.
    """
    items = scored.collection.items
    places = {item.id: row for row, item in enumerate(items)}
    order = np.array([places[item.id] for item in (like or scored.collection).items], dtype=np.intp)
    found = []
    for task, own_rows in rows_of_tasks([items[row] for row in order]).items():
        rows = order[own_rows]
        # Judges have different metrics for each task.
        metrics = tuple(each for each in scored.metrics if not np.isnan(scored.originals[each.name][rows]).all())
        if not metrics:
            continue
        originals = np.array([scored.originals[metric.name][rows] for metric in metrics]).reshape(-1, len(rows))
        groups = [int(row) if items[row].question is None else items[row].question for row in rows]
        one = TaskScores(task, rows, groups, metrics, originals, scored.perturbed)
        found.append(replace(one, originals=originals * one.signs[:, None]))
    return found


def interval_of(draws: Floats, figures: Any) -> tuple[Floats, Floats]:
    """The 95 % interval of each figure: percentiles of its defined draws, widened to contain the figure.

    Items that are drawn twice are ties, which raise d: if nearly all scores fall, all draws lie above the figure.
    """
    low, high = interval(draws)
    return (
        np.fmin(low, np.where(np.isnan(low), np.nan, figures)),
        np.fmax(high, np.where(np.isnan(high), np.nan, figures)),
    )


@dataclass(frozen=True, eq=False)
class Drawn:
    """Bootstrap draws of the items of a task, the same for all cells; the items of one question are drawn together."""

    log_p: Floats  # draws × perturbations × metrics: the logarithms of the p-values; 0 if no score differs
    d: Floats
    counts: Counts  # draws × items: how often each item is drawn
    n_asked: int  # requested number of draws; fewer are taken if they would take too long


def drawn_from(scores: TaskScores, *, draws: int, zeros: Zeros, seed: int = 0) -> Drawn:
    """Draws the items of a task, and tests each cell in each draw."""
    n_cells = len(scores.perturbed) * len(scores.metrics)
    n_draws = affordable_draws(draws, scores.n_items, n_cells)
    counts = bootstrap_counts(scores.n_items, n_draws, seed=seed, groups=scores.groups)
    log_p, d = np.empty((2, n_draws, len(scores.perturbed), len(scores.metrics)))
    for chunk in scores.chunks():
        damaged = scores.damaged(chunk)
        originals = np.broadcast_to(scores.originals, damaged.shape).reshape(-1, scores.n_items)
        found = resampled(originals, damaged.reshape(-1, scores.n_items), counts, zeros=zeros)
        log_p[:, chunk] = found.log_p.reshape(n_draws, -1, len(scores.metrics))
        d[:, chunk] = found.d.reshape(n_draws, -1, len(scores.metrics))
    return Drawn(log_p, d, counts, draws)

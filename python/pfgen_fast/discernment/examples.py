"""The examples of a test: of each cell the item whose score fell most, and the one whose score fell least.

They are picked while the texts are scored, because the damaged texts are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..evaluators.evaluator import Floats, Item, Metric
from .damaged import Damaged
from .result import Example


class Examples:
    """Picks examples, a task at a time."""

    def __init__(self, items: Sequence[Item], metrics: Sequence[Metric], originals: Mapping[str, Floats]) -> None:
        self._items, self._metrics, self._originals = items, metrics, originals
        self._rows = rows_of_tasks(items)
        self._found: dict[str, list[Example]] = {task: [] for task in self._rows}

    def add(self, damaged: Damaged, scores: Mapping[str, Floats]) -> None:
        """Picks the examples of one perturbation; items whose text is the original again are none."""
        for metric in self._metrics:
            drop = self._originals[metric.name] - scores[metric.name]
            if not metric.higher_is_better:
                drop = -drop
            for task, rows in self._rows.items():
                there = rows[~np.isnan(drop[rows])]
                if len(there):
                    self._add(task, damaged, metric.name, scores[metric.name], "largest", there[np.argmax(drop[there])])
                if len(there) > 1:
                    self._add(
                        task, damaged, metric.name, scores[metric.name], "smallest", there[np.argmin(drop[there])]
                    )

    def _add(self, task: str, damaged: Damaged, metric: str, scores: Floats, which: str, row: int) -> None:
        item, text = self._items[row], damaged.texts[int(row)]
        if text is None:  # a finished table has scores of texts that nobody knows
            return
        self._found[task].append(
            Example(
                damaged.perturbation.name,
                metric,
                which,
                item.id,
                item.text,
                text,
                float(self._originals[metric][row]),
                float(scores[row]),
            )
        )

    def found(self) -> tuple[Example, ...]:
        """The examples, by task, in the order of the plan."""
        return tuple(example for examples in self._found.values() for example in examples)


def rows_of_tasks(items: Sequence[Item]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """The rows of the items of each task, tasks in the order of their first items."""
    tasks = list(dict.fromkeys(item.task for item in items))
    names = np.array([tasks.index(item.task) for item in items], dtype=np.intp)
    return {task: np.flatnonzero(names == number) for number, task in enumerate(tasks)}

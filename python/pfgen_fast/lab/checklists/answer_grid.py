"""Answers of models to tasks as columns of numbers, draws of their tasks, and figures with intervals from the draws.

In an average, all areas have the same weight. A part is left out if a model has no answer to its tasks. Tasks are drawn
within their part; the draws are the same for all models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...base.arrays import Counts, Floats, Ints
from ..statistics.intervals_of_draws import Scale, bootstrap_counts, interval_of_draws
from .checklist_suite import ChecklistSuite
from .tasks import AnswerKey, ChecklistTask

_SEEDS = 1 << 16
"""The seed differs by part, so that parts of the same size have different draws."""


@dataclass(frozen=True, eq=False)
class AnswerGrid:
    """Answers, with the numbers of their models and tasks, and how often tasks are drawn for intervals."""

    models: tuple[str, ...]
    tasks: tuple[ChecklistTask, ...]
    model_of: Ints
    task_of: Ints
    n_draws: int = 0
    seed: int = 0

    @classmethod
    def of(
        cls,
        suite: ChecklistSuite,
        places: Sequence[tuple[str, AnswerKey]],
        tasks: Iterable[ChecklistTask],
        **drawn: int,
    ) -> AnswerGrid:
        """Makes a grid: `places` are the answers with their models, `tasks` the order of the tasks."""
        numbers = {task: number for number, task in enumerate(tasks)}
        models = {model: number for number, model in enumerate(dict.fromkeys(model for model, _ in places))}
        model_of = np.array([models[model] for model, _ in places], dtype=np.int64)
        task_of = np.array([numbers[suite.by_key[key[:2]]] for _, key in places], dtype=np.int64)
        return cls(tuple(models), tuple(numbers), model_of, task_of, **drawn)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of the suite that the tasks belong to: areas, and areas of a length."""
        return tuple(dict.fromkeys(map(part_of, self.tasks)))

    @cached_property
    def part_of_task(self) -> Ints:
        """The number of each task's part."""
        return np.array([self.parts.index(part_of(task)) for task in self.tasks], dtype=np.int64)

    @cached_property
    def answers_of_parts(self) -> dict[str, Ints]:
        """The numbers of the answers to each part of the suite."""
        part_of_answer = self.part_of_task[self.task_of]
        return {part: np.flatnonzero(part_of_answer == number) for number, part in enumerate(self.parts)}

    @cached_property
    def counts(self) -> Counts:
        """How often each task (column) is in each draw (row) of tasks within their part."""
        counts = np.zeros((self.n_draws, len(self.tasks)), dtype=np.int32)
        for part in range(len(self.parts)):
            tasks = np.flatnonzero(self.part_of_task == part)
            counts[:, tasks] = bootstrap_counts(len(tasks), self.n_draws, seed=self.seed * _SEEDS + part)
        return counts

    def estimate(
        self,
        value: float | None,
        draws: Floats,
        tasks: Ints | None = None,
        *,
        scale: Scale = "fisher",
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> Estimate:
        """A figure of some tasks (by default all) with its interval from draws of tasks within their part."""
        if value is None or math.isnan(value):
            return Estimate(None)
        parts = self.part_of_task if tasks is None else self.part_of_task[tasks]
        ends = interval_of_draws(value, draws, len(parts), len(np.unique(parts)), scale=scale, bounds=bounds)
        return Estimate(float(value), *ends)

    @property
    def words(self) -> str:
        """Where intervals come from; empty without draws."""
        if not self.n_draws:
            return ""
        return (
            f" Intervals (95 %) are from {self.n_draws:,} draws of whole tasks within each area; figures of too few "
            "tasks, or without spread, have none."
        )

    def averages(self, values: Floats) -> tuple[Ints, Floats, Floats]:
        """The means of the models over the parts that all models have, and these means in each draw.

        The parts are the areas, or the parts with a length if there are no areas. Their tasks come first.
        """
        n_models, n_tasks, part_of_task = len(self.models), len(self.tasks), self.part_of_task
        cells = self.model_of * n_tasks + self.task_of
        totals, counts = (
            np.bincount(cells, column, n_models * n_tasks).astype(np.float64).reshape(n_models, n_tasks)
            for column in (values, np.ones(len(cells)))
        )
        main = [number for task, number in zip(self.tasks, part_of_task.tolist(), strict=True) if task.length is None]
        parts = [part_of_task == part for part in dict.fromkeys(main or part_of_task.tolist())]
        parts = [inside for inside in parts if (counts[:, inside].sum(axis=1) > 0).all()]
        if not parts:
            return np.array([], np.int64), np.full(n_models, np.nan), np.full((self.n_draws, n_models), np.nan)
        means, draws = [], []
        for inside in parts:
            total, drawn = np.array([math.fsum(row) for row in totals[:, inside].tolist()]), self.counts[:, inside]
            means.append(total / counts[:, inside].sum(axis=1))
            with np.errstate(invalid="ignore"):
                draws.append((drawn @ totals[:, inside].T) / (drawn @ counts[:, inside].T))
        return np.flatnonzero(np.any(parts, axis=0)), np.mean(means, axis=0), np.mean(draws, axis=0)


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval over tasks; None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def cells(self) -> tuple[float | None, float | None, float | None]:
        """The three numbers for a row of a table."""
        return self.value, self.low, self.high

    def times(self, factor: float) -> Estimate:
        """The figure in another unit."""
        return Estimate(*(None if cell is None else factor * cell for cell in self.cells))

    def between(self, n_digits: int) -> str:
        """The interval in parentheses, after a blank; empty without an interval."""
        return "" if self.low is None else f" ({self.low:.{n_digits}f} to {self.high:.{n_digits}f})"


def with_ends(names: Iterable[str]) -> tuple[str, ...]:
    """The columns of figures with their intervals, for the cells of estimates."""
    return tuple(column for name in names for column in (name, f"{name}, low", f"{name}, high"))


def part_of(task: ChecklistTask) -> str:
    """The name of the part of the suite that a task belongs to: its area, with its length if it has one."""
    return task.area if task.length is None else f"{task.area} {task.length}"

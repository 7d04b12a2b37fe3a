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
from ..statistics.intervals_of_draws import bootstrap_counts, interval_of_draws
from .checklist_suite import ChecklistSuite
from .tasks import AnswerKey, ChecklistTask


@dataclass(frozen=True, eq=False)
class AnswerGrid:
    """Answers, with the numbers of their models and tasks, and how often tasks are drawn for intervals."""

    models: tuple[str, ...]
    tasks: tuple[ChecklistTask, ...]
    model_of: Ints
    task_of: Ints
    n_draws: int = 0

    @classmethod
    def of(
        cls,
        suite: ChecklistSuite,
        places: Sequence[tuple[str, AnswerKey]],
        tasks: Iterable[ChecklistTask],
        n_draws: int,
    ) -> AnswerGrid:
        """Makes a grid: `places` are the answers with their models, `tasks` the order of the tasks."""
        numbers = {task: number for number, task in enumerate(tasks)}
        models = {model: number for number, model in enumerate(dict.fromkeys(model for model, _ in places))}
        model_of = np.array([models[model] for model, _ in places], dtype=np.int64)
        task_of = np.array([numbers[suite.by_key[key[:2]]] for _, key in places], dtype=np.int64)
        return cls(tuple(models), tuple(numbers), model_of, task_of, n_draws)

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
            # Parts of the same size have different draws.
            counts[:, tasks] = bootstrap_counts(len(tasks), self.n_draws, seed=part)
        return counts

    def estimate(self, value: float | None, draws: Floats, tasks: Ints) -> Estimate:
        """A figure of some tasks, from -1 to 1, with its interval from draws of tasks within their part."""
        if value is None or math.isnan(value):
            return Estimate(None)
        parts = self.part_of_task[tasks]
        return Estimate(float(value), *interval_of_draws(value, draws, len(parts), len(np.unique(parts))))

    @property
    def words(self) -> str:
        """Where intervals come from; empty without draws."""
        if not self.n_draws:
            return ""
        return (
            f" Intervals (95 %) are from {self.n_draws:,} draws of whole tasks within each area; figures of too few "
            "tasks, or without spread, have none."
        )

    def averages(self, values: Floats) -> list[float]:
        """The means of the models over the parts that all models have; empty without such parts.

        The parts are the areas, or the parts with a length if there are no areas.
        """
        parts = np.array([part_of(task) for task in self.tasks])[self.task_of]
        main = {part_of(task) for task in self.tasks if task.length is None} or set(parts.tolist())
        means = [
            [values[(self.model_of == model) & (parts == part)] for model in range(len(self.models))]
            for part in self.parts
            if part in main
        ]
        by_part = [[math.fsum(own) / len(own) for own in part] for part in means if all(map(len, part))]
        return [math.fsum(column) / len(column) for column in zip(*by_part, strict=True)]


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

    def between(self, n_digits: int) -> str:
        """The interval in parentheses, after a blank; empty without an interval."""
        return "" if self.low is None else f" ({self.low:.{n_digits}f} to {self.high:.{n_digits}f})"


def with_ends(names: Iterable[str]) -> tuple[str, ...]:
    """The columns of figures with their intervals, for the cells of estimates."""
    return tuple(column for name in names for column in (name, f"{name}, low", f"{name}, high"))


def part_of(task: ChecklistTask) -> str:
    """The name of the part of the suite that a task belongs to: its area, with its length if it has one."""
    return task.area if task.length is None else f"{task.area} {task.length}"

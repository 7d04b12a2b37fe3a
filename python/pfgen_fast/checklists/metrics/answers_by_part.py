"""Answers by the parts of a suite: those to the tasks of the main table, by area, and those of each wanted length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from ..judgements import AnswerKey
from ..suite import ChecklistSuite
from ..tasks import Task


class OfTask(Protocol):
    """What was found of an answer."""

    @property
    def task(self) -> Task:
        """The task of the answer."""


A = TypeVar("A", bound=OfTask)
T = TypeVar("T")


def by_part(
    answers: Sequence[A], suite: ChecklistSuite, summary: Callable[[Sequence[A]], T]
) -> tuple[T, dict[str, T], dict[str, T]]:
    """Sums up the main table, each area of it, and each length; areas and lengths without any answer are left out."""
    main = [one for one in answers if one.task.length is None]
    areas = {area: [one for one in main if one.task.area == area] for area in suite.areas}
    lengths = {length: [one for one in answers if one.task.length == length] for length in suite.lengths}
    of_areas, of_lengths = ({name: summary(part) for name, part in parts.items() if part} for parts in (areas, lengths))
    return summary(main), of_areas, of_lengths


def keys_in_order(suite: ChecklistSuite, keys: Iterable[AnswerKey]) -> list[tuple[Task, AnswerKey]]:
    """Answers with their tasks, in the order of the suite."""
    places = {task.key: place for place, task in enumerate(suite.tasks)}
    ordered = sorted((places[id, length], trial) for id, length, trial in keys)
    return [(suite.tasks[place], (*suite.tasks[place].key, trial)) for place, trial in ordered]

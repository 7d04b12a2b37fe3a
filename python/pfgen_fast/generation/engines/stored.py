"""Engines with stored answers: the k-th answer to a question belongs to trial k."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence

from ...errors import EngineError
from ..prompts import Task

UNKNOWN = dict.fromkeys(
    ("instructions", "max_tokens", "num_examples", "prefix", "seed", "stop", "temperature", "top_k", "top_p")
)
"""Parameters of a run that no stored answer depends on, or whose values are unknown, so that none is recorded."""


class StoredAnswers:
    """Yields stored answers, unchanged."""

    def __init__(self, source: str, answers: Mapping[str, Sequence[str]]) -> None:
        self._source, self._answers = source, answers

    @property
    def n_trials(self) -> int:
        """The number of trials for which every question has an answer."""
        return min(map(len, self._answers.values()), default=0)

    async def answers(self, tasks: Sequence[Task]) -> AsyncGenerator[tuple[int, str], None]:
        """Yields the k-th answer to each question, where k is the task's trial number."""
        for task in tasks:  # before the first answer, so that no run is incomplete
            if len(self._answers[task.question]) < task.trial:
                n = len(self._answers[task.question])
                raise EngineError(
                    f"{self._source}: {n} answer{'s' * (n != 1)} to {task.question_id}, too few for trial {task.trial}"
                )
        for index, task in enumerate(tasks):
            await asyncio.sleep(0)  # lets the event loop handle Ctrl-C
            yield index, self._answers[task.question][task.trial - 1]

    async def close(self) -> None:
        """Does nothing; there are no resources to release."""

"""Engines with stored answers: the k-th answer to a question belongs to trial k.

`ground-truth` and `reference` make runs of the answers in a suite, for comparison in leaderboards. Their config.json is
that of the published rows `system/ground-truth` and `system/criteria`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from hashlib import sha1
from typing import Any

from ...base.errors import EngineError
from ...scoring.reply_text import Mode
from ...suite.questions import Question
from ...suite.suite import Suite
from ..prompts import Task
from . import Sampling

_OF_PROMPTS = ("context", "instruction", "instructions", "num_examples", "prefix")
UNKNOWN = dict.fromkeys((*_OF_PROMPTS, "max_tokens", "seed", "stop", "temperature", "top_k", "top_p"))
"""Parameters that config.json does not record, because stored answers do not depend on them or they are unknown."""


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
        for task in tasks:  # checked before the first answer, so that no run is incomplete
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


class _SystemEngine(StoredAnswers):
    def __init__(self, source: str, answers: Mapping[str, Sequence[str]], mode: Mode) -> None:
        if mode != "completion":  # other modes would cut answers at "A:"
            raise EngineError(f"--mode {mode}: this engine uses no prompts; omit --mode")
        super().__init__(source, answers)
        self.parameters: Mapping[str, Any] = {**UNKNOWN, "engine": "system", "mode": "system"}


class GroundTruthEngine(_SystemEngine):
    """Yields the sample answers in the suite's `questions.jsonl`, which people wrote."""

    name = "ground-truth"

    def __init__(self, *, suite: Suite, model: str, mode: Mode, sampling: Sampling) -> None:
        answers: dict[str, list[str]] = {question.question: [] for question in suite}
        for sample in suite.samples:
            if sample.question in answers:
                answers[sample.question].append(sample.answer)
        for question in suite:
            if not answers[question.question]:
                raise EngineError(
                    f"suite {suite.name}: no sample answer to {question.question_id}, but the engine ground-truth "
                    "needs one for every question"
                )
        super().__init__(f"the sample answers of suite {suite.name}", answers, mode)


class ReferenceEngine(_SystemEngine):
    """Yields the reference answers, set by set in the order of their names; each set begins with a random sample."""

    name = "reference"

    def __init__(
        self, *, suite: Suite, model: str, mode: Mode, sampling: Sampling, sets: Sequence[str] | None = None
    ) -> None:
        chosen = sorted(suite.set_names if sets is None else set(sets))
        for question in suite:
            if not set(chosen) & set(question.answers):
                raise EngineError(
                    f"suite {suite.name}: {question.question_id} has no reference set {' or '.join(chosen)}; "
                    f"it has {', '.join(question.answers)}"
                )
        answers = {question.question: _shuffled(question, chosen) for question in suite}
        super().__init__(f"the reference answers of suite {suite.name}", answers, mode)
        self.parameters = {**self.parameters, "sets": None if sets is None else chosen}


def _shuffled(question: Question, sets: Sequence[str]) -> list[str]:
    """The answers of the question's sets, without blank answers, which a run cannot have."""
    shuffled: list[str] = []
    for name in sets:
        answers = [answer for answer in question.answers.get(name, ()) if answer.strip()]
        shuffled += sorted(answers, key=lambda answer: sha1(answer.encode("utf-8", "surrogatepass")).digest())
    return shuffled

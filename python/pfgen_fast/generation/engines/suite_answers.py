"""The engines `ground-truth` and `reference`: the answers in a suite as runs, for comparison in leaderboards.

Their config.json is that of the published rows `system/ground-truth` and `system/criteria`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha1
from typing import Any

from ...errors import EngineError
from ...suite.questions import Question
from ...suite.suite import Suite
from ..prompts import Mode
from . import Sampling
from .stored import UNKNOWN, StoredAnswers


class _SystemEngine(StoredAnswers):
    def __init__(self, source: str, answers: Mapping[str, Sequence[str]], mode: Mode) -> None:
        if mode != "completion":  # other modes would cut an answer at "A:"
            raise EngineError(f"--mode {mode}: this engine uses no prompts; omit --mode")
        super().__init__(source, answers)
        self.parameters: Mapping[str, Any] = {**UNKNOWN, "engine": "system", "mode": "system"}


class GroundTruthEngine(_SystemEngine):
    """Yields the human sample answers in the suite's `questions.jsonl`."""

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
    """Yields the reference answers, one set after another in the order of their names.

    The answers of a set are sorted by their hashes, so that the first trials are a fair sample of the set.
    """

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
    """The answers of the sets that the question has; blank ones, which no run can hold, are left out."""
    shuffled: list[str] = []
    for name in sets:
        answers = [answer for answer in question.answers.get(name, ()) if answer.strip()]
        shuffled += sorted(answers, key=lambda answer: sha1(answer.encode("utf-8", "surrogatepass")).digest())
    return shuffled

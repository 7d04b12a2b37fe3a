"""The parts of a checklist suite: tasks, the checklists of their categories with weights, and a judge's prompts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from ...base.errors import ChecklistError
from ...base.untrusted_text import first_names, utf8
from ..words import Counter

Method = Literal["checklist", "llm-eval", "llm-eval-c"]
"""A verdict on each question, or one overall rating of 0 to 10, without or with the questions in the prompt."""

METHODS: tuple[Method, ...] = get_args(Method)

Profile = Literal["plain", "upstream"]
"""How an answer is shown to a judge and how the reply is parsed: by our rules, or as in HelloBench's code."""

READING: Mapping[Profile, tuple[str, ...]] = {"plain": ("one list at the end",)}
"""The rules for parsing replies, where they have changed: verdicts by other rules are stale."""

AnswerKey = tuple[str, str | None, int]
"""The ID and the length of a task, and the number of the trial."""

Missing = Literal["skip", "zero"]
"""Whether an answer without a judgement is left out or counts as zero."""

TaskKey = tuple[str, str | None]
"""The ID and the length of a task: a unique pair."""

LEVELS: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class ChecklistTask:
    """An instruction that models answer."""

    id: str
    area: str
    category: str
    instruction: str | None = None
    length: str | None = None
    wanted_words: int | None = None
    reference: str | None = None
    sha256: str | None = None

    @property
    def key(self) -> TaskKey:
        """The ID and the length."""
        return self.id, self.length

    @property
    def place(self) -> tuple[str, str]:
        """The area and the category."""
        return self.area, self.category

    @property
    def is_whole(self) -> bool:
        """Whether the suite has the whole instruction, so that a model or a judge can be asked."""
        return self.instruction is not None and self.sha256 in (None, sha256_of(self.instruction))

    @property
    def instruction_sha256(self) -> str:
        """The hash of the whole instruction; judgements contain it."""
        return self.sha256 or sha256_of(self.instruction or "")


@dataclass(frozen=True)
class Checklist:
    """The questions of a category, numbered from 0, and their weights."""

    area: str
    category: str
    questions: tuple[str, ...]
    weights: tuple[float, ...]
    has_weights: bool = True

    @cached_property
    def sha256(self) -> str:
        """The hash of the questions; judgements contain it."""
        return sha256_of(json.dumps(self.questions, ensure_ascii=False))


@dataclass(frozen=True)
class Rescaling:
    """How a score of 0 to 100 is printed: `(score - centre) * factor`."""

    centre: float = 75.0
    factor: float = 4.0  # above 0

    def __call__(self, score: float) -> float:
        """The rescaled score."""
        return (score - self.centre) * self.factor


@dataclass(frozen=True)
class JudgePrompts:
    """The prompts of a judge."""

    user: str
    system: str | None = None
    overall_system: str | None = None
    overall_user: str | None = None
    overall_with_checklist_user: str | None = None

    def of(self, method: Method) -> tuple[str | None, str | None]:
        """The system and the user message of a method; None for a message that the suite lacks."""
        if method == "checklist":
            return self.system, self.user
        if method == "llm-eval":
            return self.overall_system, self.overall_user
        return None, self.overall_with_checklist_user

    def sha256(self, method: Method, profile: Profile, counter: Counter) -> str:
        """The hash of everything that determines a verdict, except the texts of the task; judgements contain it."""
        return sha256_of(json.dumps([method, profile, counter, *self.of(method), *READING.get(profile, ())]))


def check_instructions(tasks: Iterable[ChecklistTask], where: str) -> None:
    """Raises ChecklistError if the suite lacks the whole instruction of a task: no model or judge can be asked."""
    lacking = list(dict.fromkeys(task.id for task in tasks if not task.is_whole))
    if lacking:
        raise ChecklistError(
            f"{where}: the suite lacks the whole instruction of {len(lacking):,} tasks, {first_names(lacking)}; "
            "expected the whole instruction of each task that is answered or judged (--area chooses areas)"
        )


def sha256_of(text: str) -> str:
    """The SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(utf8(text)).hexdigest()

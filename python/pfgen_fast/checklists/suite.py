"""A checklist suite in memory: tasks, the checklists of their categories with weights, and how scores are rescaled.

Everything is checked when a suite is read (`suite_files`); a suite is immutable. Rules: docs/checklists.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from ..errors import ChecklistError
from ..files.untrusted_text import in_one_line, utf8
from ..judging.template import Template
from .judgements import METHODS, READING, Method, Profile
from .words import Counter

Missing = Literal["skip", "zero"]
"""What an answer without a judgement counts: nothing, or zero."""

TaskKey = tuple[str, str | None]
"""The ID and the length of a task, which together are unique."""

LEVELS: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Task:
    """An instruction that models answer.

    Attributes:
        id: The ID; unique together with the length.
        area: The name of its area.
        category: The name of its category within the area.
        instruction: The instruction; None if the suite does not have it.
        length: The name of the wanted length, such as `2k`; None for a task of the main table.
        wanted_words: How long the answer should be at least, in words of the suite's counter.
        reference: A good answer.
        sha256: The hash of the whole instruction, of which `instruction` may be a shortened form.
    """

    id: str
    area: str
    category: str
    instruction: str | None
    length: str | None = None
    wanted_words: int | None = None
    reference: str | None = None
    sha256: str | None = None

    @property
    def key(self) -> TaskKey:
        """The ID and the length."""
        return self.id, self.length

    @property
    def is_whole(self) -> bool:
        """Whether the suite has the whole instruction, so that a judge can be asked."""
        if self.instruction is None:
            return False
        return self.sha256 is None or self.sha256 == sha256_of(self.instruction)

    @property
    def instruction_sha256(self) -> str:
        """The hash of the whole instruction: a judgement belongs to it."""
        return self.sha256 or sha256_of(self.instruction or "")


@dataclass(frozen=True)
class Checklist:
    """The questions of a category, numbered from 0, and their weights.

    Attributes:
        area: The name of the area.
        category: The name of the category.
        questions: The questions.
        weights: The weight of each question; their sum is 100.
        has_weights: Whether the suite has weights for the category; otherwise they are equal.
    """

    area: str
    category: str
    questions: tuple[str, ...]
    weights: tuple[float, ...]
    has_weights: bool = True

    @cached_property
    def sha256(self) -> str:
        """The hash of the questions: a judgement belongs to it."""
        return sha256_of(json.dumps(self.questions, ensure_ascii=False))


@dataclass(frozen=True)
class Rescaling:
    """How a score of 0 to 100 is printed: `(score - centre) * factor`."""

    centre: float = 75.0
    factor: float = 4.0

    def __call__(self, score: float) -> float:
        """The rescaled score."""
        return (score - self.centre) * self.factor


@dataclass(frozen=True)
class Prompts:
    """What a judge is sent; see `prompts`.

    Attributes:
        system: The system message of the checklist request; None for none.
        user: The user message of the checklist request.
        overall_system: The system message of the request for one overall rating; None for none.
        overall_user: The user message of it.
        overall_with_checklist_user: The user message of the request for one rating with the questions shown.
    """

    user: Template
    system: Template | None = None
    overall_system: Template | None = None
    overall_user: Template | None = None
    overall_with_checklist_user: Template | None = None

    def of(self, method: Method) -> tuple[Template | None, Template | None]:
        """The system and the user message of a method; None for one that there is not."""
        if method == "checklist":
            return self.system, self.user
        if method == "llm-eval":
            return self.overall_system, self.overall_user
        return None, self.overall_with_checklist_user

    def sha256(self, method: Method, profile: Profile, counter: Counter) -> str:
        """The hash of everything but the texts of a task that a verdict depends on: a judgement belongs to it."""
        texts = [None if template is None else template.text for template in self.of(method)]
        return sha256_of(json.dumps([method, profile, counter, *texts, *READING.get(profile, ())]))


@dataclass(frozen=True, eq=False)
class ChecklistSuite:
    """Tasks and checklists.

    Attributes:
        name: Its name in tables.
        language: The language of its instructions, such as `en`.
        areas: The names of the areas in the order of tables.
        tasks: The tasks in the order of the file.
        checklists: The checklist of each category, by area and category.
        prompts: What a judge is sent.
        levels: The verdicts that there are, ascending.
        rescaling: How scores are printed.
        words: How words are counted.
        missing: What an answer without a judgement counts by default.
        folder: The folder that it was read from.
        notes: What a reader of its scores must know, one sentence each.
    """

    name: str
    language: str
    areas: tuple[str, ...]
    tasks: tuple[Task, ...]
    checklists: Mapping[tuple[str, str], Checklist]
    prompts: Prompts
    levels: tuple[float, ...] = LEVELS
    rescaling: Rescaling = field(default_factory=Rescaling)
    words: Counter = "regex"
    missing: Missing = "skip"
    folder: Path | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def load(cls, source: str | Path) -> ChecklistSuite:
        """Reads a suite from its folder, or a packaged one by its name.

        Raises:
            ChecklistError: The suite breaks the rules; the message names the file and the place.
        """
        from .suite_files import read_suite

        return read_suite(source)

    @cached_property
    def by_key(self) -> Mapping[TaskKey, Task]:
        """The tasks by ID and length."""
        return {task.key: task for task in self.tasks}

    @cached_property
    def n_questions(self) -> Mapping[TaskKey, int]:
        """The number of questions that are asked about the answer to each task."""
        return {task.key: len(self.checklist(task).questions) for task in self.tasks}

    def checklist(self, task: Task) -> Checklist:
        """The checklist of a task's category."""
        return self.checklists[task.area, task.category]

    def task(self, id: str, length: str | None, where: str) -> Task:
        """The task with this ID and length.

        Raises:
            ChecklistError: There is none; the message begins with `where`.
        """
        from ..evaluators.naming import unknown_name

        found = self.by_key.get((id, length))
        if found is None:
            lengths = [one for name, one in self.by_key if name == id]
            if lengths:
                said = "is only there with a length" if length is None else f"has no length '{in_one_line(length, 40)}'"
                expected = " or ".join("none" if one is None else f"'{in_one_line(one, 40)}'" for one in lengths)
                raise ChecklistError(f"{where}: the task {in_one_line(id)} {said}; expected {expected}")
            raise ChecklistError(f"{where}: {unknown_name('task', id, dict.fromkeys(task.id for task in self.tasks))}")
        return found

    @property
    def lengths(self) -> tuple[str, ...]:
        """The names of the lengths, in the order of the tasks."""
        return tuple(dict.fromkeys(task.length for task in self.tasks if task.length is not None))

    @property
    def has_weights(self) -> bool:
        """Whether every category has weights of its own."""
        return all(checklist.has_weights for checklist in self.checklists.values())

    @cached_property
    def checklists_hash(self) -> str:
        """The hash of all questions and weights."""
        listed = [[*key, one.questions, one.weights] for key, one in sorted(self.checklists.items())]
        return _hash_of(listed)

    @cached_property
    def hash(self) -> str:
        """The hash of everything that scores depend on: tasks, checklists, weights, levels and rescaling."""
        tasks = [[task.id, task.length, task.area, task.category, task.instruction_sha256] for task in self.tasks]
        scale = [self.levels, self.rescaling.centre, self.rescaling.factor, self.areas]
        return _hash_of([tasks, self.checklists_hash, scale])


@dataclass(frozen=True)
class Hashes:
    """The hashes that a judgement names if it is of a suite's tasks as they are.

    Attributes:
        tasks: By task, those of its instruction and of its checklist.
        prompts: By method, those of the ways in which a judge can be asked.
    """

    tasks: Mapping[TaskKey, tuple[str, str]]
    prompts: Mapping[Method, frozenset[str]]


@lru_cache(maxsize=8)
def hashes_of(suite: ChecklistSuite) -> Hashes:
    """The hashes of a suite as it is."""
    own = counter_of_requests(suite)
    ways: list[tuple[Profile, Counter]] = [("plain", own), ("upstream", own), ("upstream", "nltk")]
    return Hashes(
        {task.key: (task.instruction_sha256, suite.checklist(task).sha256) for task in suite.tasks},
        {method: frozenset(suite.prompts.sha256(method, *way) for way in ways) for method in METHODS},
    )


def counter_of_requests(suite: ChecklistSuite) -> Counter:
    """By which words a long answer is cut for a judge, where that is not done by NLTK's."""
    return "characters" if suite.words == "characters" else "regex"


def sha256_of(text: str) -> str:
    """The SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(utf8(text)).hexdigest()


def _hash_of(value: Any) -> str:
    return sha256_of(json.dumps(value, ensure_ascii=False))

"""A checklist suite in memory: immutable, and checked when it is read (`suite_files`). Rules: docs/checklists.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ...base.errors import ChecklistError
from ...base.file_reading import read_stored
from ...base.file_writing import check_folder, write_whole
from ...base.untrusted_json import json_bytes
from ...base.untrusted_text import in_one_line, unknown_name
from ..words import Counter
from .line_files import write_objects
from .suite_files import CHECKLISTS_FILE, FORMAT, GUIDELINE_FILE, SETTINGS_FILE, WEIGHTS_FILE, by_area, read_suite
from .tasks import (
    LEVELS,
    METHODS,
    AnswerKey,
    Checklist,
    ChecklistTask,
    JudgePrompts,
    Method,
    Profile,
    Rescaling,
    TaskKey,
    sha256_of,
)


@dataclass(frozen=True, eq=False)
class ChecklistSuite:
    """Tasks and checklists.

    Attributes:
        language: The language of its instructions, such as `en`.
        areas: The names of the areas in the order of tables.
        checklists: The checklist of each category, by area and category.
        levels: The valid verdicts, ascending.
        rescaling: How scores are printed.
        words: How words are counted.
        notes: Notes for readers of the suite's scores, one sentence each.
    """

    name: str
    language: str
    areas: tuple[str, ...]
    tasks: tuple[ChecklistTask, ...]
    checklists: Mapping[tuple[str, str], Checklist]
    prompts: JudgePrompts
    levels: tuple[float, ...] = LEVELS
    rescaling: Rescaling = field(default_factory=Rescaling)
    words: Counter = "regex"
    folder: Path | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def load(cls, source: str | Path) -> ChecklistSuite:
        """Reads a suite from its directory, or a packaged suite by its name."""
        return cls(**read_suite(source))

    @cached_property
    def by_key(self) -> Mapping[TaskKey, ChecklistTask]:
        """The tasks by ID and length."""
        return {task.key: task for task in self.tasks}

    @cached_property
    def n_questions(self) -> Mapping[TaskKey, int]:
        """The number of questions about the answer to each task."""
        return {task.key: len(self.checklist(task).questions) for task in self.tasks}

    def checklist(self, task: ChecklistTask) -> Checklist:
        """The checklist of a task's category."""
        return self.checklists[task.place]

    def task(self, id: str, length: str | None, where: str) -> ChecklistTask:
        """The task with this ID and length; an error message for an unknown task begins with `where`."""
        task = self.by_key.get((id, length))
        if task is None:
            lengths = [size for name, size in self.by_key if name == id]
            if lengths:
                fault = "exists only with a length" if length is None else f"has no length '{in_one_line(length, 40)}'"
                expected = " or ".join(
                    "no length" if size is None else f"'{in_one_line(size, 40)}'" for size in lengths
                )
                raise ChecklistError(f"{where}: the task {in_one_line(id)} {fault}; expected {expected}")
            raise ChecklistError(f"{where}: {unknown_name('task', id, dict.fromkeys(task.id for task in self.tasks))}")
        return task

    @property
    def lengths(self) -> tuple[str, ...]:
        """The names of the lengths, in the order of the tasks."""
        return tuple(dict.fromkeys(task.length for task in self.tasks if task.length is not None))

    @cached_property
    def category_names(self) -> dict[tuple[str, str], str]:
        """The names of categories in the order of areas and tasks, with the area where several have the same name."""
        keys = sorted({task.place: None for task in self.tasks}, key=lambda key: self.areas.index(key[0]))
        names = [category for _, category in keys]
        return {key: key[1] if names.count(key[1]) == 1 else f"{key[0]}/{key[1]}" for key in keys}

    @property
    def has_weights(self) -> bool:
        """Whether every category has weights."""
        return all(checklist.has_weights for checklist in self.checklists.values())

    @cached_property
    def checklists_hash(self) -> str:
        """The hash of all questions and weights."""
        listed = [[*key, checklist.questions, checklist.weights] for key, checklist in sorted(self.checklists.items())]
        return _hash_of(listed)

    @cached_property
    def hash(self) -> str:
        """The hash of everything that determines scores: tasks, checklists, weights, levels and rescaling."""
        tasks = [[task.id, task.length, task.area, task.category, task.instruction_sha256] for task in self.tasks]
        scale = [self.levels, self.rescaling.centre, self.rescaling.factor, self.areas]
        return _hash_of([tasks, self.checklists_hash, scale])


@dataclass(frozen=True)
class Hashes:
    """The present hashes of a suite; a judgement with other hashes is stale."""

    tasks: Mapping[TaskKey, tuple[str, str]]
    prompts: Mapping[Method, frozenset[str]]


@lru_cache(maxsize=8)
def hashes_of(suite: ChecklistSuite) -> Hashes:
    """Computes the present hashes of a suite."""
    own = counter_of_requests(suite)
    ways: list[tuple[Profile, Counter]] = [("plain", own), ("upstream", own), ("upstream", "nltk")]
    return Hashes(
        {task.key: (task.instruction_sha256, suite.checklist(task).sha256) for task in suite.tasks},
        {method: frozenset(suite.prompts.sha256(method, *way) for way in ways) for method in METHODS},
    )


def counter_of_requests(suite: ChecklistSuite) -> Counter:
    """The word counter that cuts long answers for a judge, where NLTK is not used."""
    return "characters" if suite.words == "characters" else "regex"


def _hash_of(value: Any) -> str:
    return sha256_of(json.dumps(value, ensure_ascii=False))


class OfTask(Protocol):
    """A finding on an answer."""

    @property
    def task(self) -> ChecklistTask:
        """The task of the answer."""


class Summary(Protocol):
    """Figures of some answers."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""


A = TypeVar("A", bound=OfTask)
S = TypeVar("S", bound=Summary)


@dataclass(frozen=True)
class OfModel(Generic[A, S]):
    """Findings on the answers of a model, summed up for the main table, its areas, and each wanted length."""

    model: str
    answers: tuple[A, ...]
    total: S
    areas: Mapping[str, S]
    lengths: Mapping[str, S]

    @classmethod
    def of(
        cls, model: str, answers: Sequence[A], suite: ChecklistSuite, summary: Callable[[Sequence[A]], S]
    ) -> OfModel[A, S]:
        """Sums up the answers by part; areas and lengths without answers are left out."""
        areas, lengths = by_part(answers, "area"), by_part(answers, "length")
        total = summary([answer for answer in answers if answer.task.length is None])
        by_area = {area: summary(areas[area]) for area in suite.areas if area in areas}
        by_length = {length: summary(lengths[length]) for length in suite.lengths if length in lengths}
        return cls(model, tuple(answers), total, by_area, by_length)

    def parts(self, *, with_areas: bool) -> Iterator[tuple[str, S]]:
        """The parts that have a row in a table, with their names."""
        if any(answer.task.length is None for answer in self.answers) or not self.lengths:
            yield in_one_line(self.model), self.total
        named = {**(self.areas if with_areas else {}), **self.lengths}
        yield from ((in_one_line(f"{self.model}, {name}"), part) for name, part in named.items())

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {
            "model": self.model,
            "total": self.total.to_dict(),
            "areas": {area: summary.to_dict() for area, summary in self.areas.items()},
            "lengths": {length: summary.to_dict() for length, summary in self.lengths.items()},
        }


PARTS: Mapping[str, Callable[[ChecklistTask], Any]] = {
    "area": lambda task: task.area if task.length is None else None,
    "category": lambda task: task.place if task.length is None else None,
    "length": lambda task: task.length,
}
"""The parts of a suite by keys of tasks; tasks with a length belong to no area or category of the main table."""


def by_part(answers: Iterable[A], part: str) -> dict[Any, list[A]]:
    """Groups findings on answers by area, category or length; groups are in the order of their first answers."""
    groups: dict[Any, list[A]] = {}
    for answer in answers:
        groups.setdefault(PARTS[part](answer.task), []).append(answer)
    groups.pop(None, None)
    return groups


def keys_in_order(suite: ChecklistSuite, keys: Iterable[AnswerKey]) -> list[tuple[ChecklistTask, AnswerKey]]:
    """Answers with their tasks, in the order of the suite."""
    places = {task.key: place for place, task in enumerate(suite.tasks)}
    ordered = sorted((places[id, length], trial) for id, length, trial in keys)
    return [(suite.tasks[place], (*suite.tasks[place].key, trial)) for place, trial in ordered]


def write_suite(suite: ChecklistSuite, folder: Path) -> None:
    """Writes the files of a suite, each atomically, and replaces an earlier suite; suite.json is written last."""
    check_suite_folder(folder)
    guideline = suite.folder and suite.folder / GUIDELINE_FILE
    rules = read_stored(guideline) if guideline is not None and guideline.exists() else None
    (folder / SETTINGS_FILE).unlink(missing_ok=True)
    prompts: dict[str, str | None] = vars(suite.prompts)
    for name, prompt in prompts.items():
        path = folder / "prompts" / f"{name}.txt"
        if prompt is None:
            path.unlink(missing_ok=True)
        else:
            write_whole(path, prompt.encode())
    for former in folder.glob("tasks.jsonl*"):
        former.unlink()
    rows = (asdict(task).items() for task in suite.tasks)
    write_objects(
        folder / "tasks.jsonl",
        ({name: cell for name, cell in row if cell is not None or name == "instruction"} for row in rows),
    )
    if rules is not None:
        write_whole(folder / GUIDELINE_FILE, rules)
    questions = {key: checklist.questions for key, checklist in suite.checklists.items()}
    weights = {key: checklist.weights for key, checklist in suite.checklists.items() if checklist.has_weights}
    write_whole(folder / CHECKLISTS_FILE, json_bytes(by_area(questions)))
    (folder / WEIGHTS_FILE).unlink(missing_ok=True)
    if weights:
        write_whole(folder / WEIGHTS_FILE, json_bytes(by_area(weights)))
    settings = {
        "format": FORMAT,
        "name": suite.name,
        "language": suite.language,
        "levels": list(suite.levels),
        "rescale": asdict(suite.rescaling),
        "areas": list(suite.areas),
        "words": suite.words,
        "prompts": {name: None if prompt is None else f"prompts/{name}.txt" for name, prompt in prompts.items()},
        **({"notes": list(suite.notes)} if suite.notes else {}),
    }
    write_whole(folder / SETTINGS_FILE, json_bytes(settings))


def check_suite_folder(folder: Path) -> None:
    """Raises PfgenError if a suite cannot be written to a directory, which may be missing."""
    check_folder(folder)
    if not folder.exists():
        return
    own = (SETTINGS_FILE, "tasks.jsonl", CHECKLISTS_FILE, WEIGHTS_FILE, "prompts")
    is_suite = (folder / SETTINGS_FILE).exists() or all(path.name in own for path in folder.iterdir())
    if not is_suite:
        raise ChecklistError(f"{folder}: is not the folder of a suite; expected a new folder, or a suite")

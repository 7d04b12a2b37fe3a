"""Reads the directory of a checklist suite: suite.json, tasks.jsonl, checklists.json, weights.json, prompts.

Rules: docs/checklists.md. Every error is one sentence that names the file and the place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import Any, TypeVar

from ...base.errors import ChecklistError
from ...base.file_reading import read_text
from ...base.untrusted_json import MAX_NUMBER, Fault, entries, finite, items, member, one_of, text, unexpected
from ...base.untrusted_text import did_you_mean, in_one_line, unknown_name
from ..words import COUNTERS
from .line_files import checked_objects, data_file, fields_of, filled, json_file, number_from_one, whole_text
from .tasks import LEVELS, Checklist, ChecklistTask, JudgePrompts, Rescaling, TaskKey

T = TypeVar("T")

CHECKLISTS_FILE = "checklists.json"
WEIGHTS_FILE = "weights.json"

Categories = dict[tuple[str, str], T]
"""By area and category."""

_question = filled("a question")
_MAX_QUESTIONS = 1000
_EXACT_SUM = 1e-12
"""Weights whose sum differs from 100 by at most this stay unchanged, so writing and reading does not change them."""


def read_checklists(folder: Path, areas: tuple[str, ...] | None) -> Categories[Checklist]:
    """The checklists of a suite."""
    path = folder / CHECKLISTS_FILE
    questions = json_file(path, by_category(questions_of))
    for area, category in questions:
        if areas is not None and area not in areas:
            raise ChecklistError(f"{path}: {shown_category((area, category))}: {unknown_name('area', area, areas)}")
    if not questions:
        raise ChecklistError(f"{path}: no checklists; expected an object of areas, categories and questions")
    path = folder / WEIGHTS_FILE
    weights = json_file(path, by_category(weights_of)) if path.exists() else {}
    return with_weights(questions, weights, str(path))


def with_weights(
    questions: Categories[tuple[str, ...]], weights: Categories[tuple[float, ...]], where: str
) -> Categories[Checklist]:
    """Makes the checklists of questions and weights, whose sum becomes 100; by default they are equal."""
    for key, own in weights.items():
        if key not in questions:
            known = map(shown_category, questions)
            raise ChecklistError(f"{where}: {unknown_name('category', shown_category(key), known)}")
        if len(own) != len(questions[key]):
            expected = f"expected {len(questions[key])} weights, one for each question, not {len(own)}"
            raise ChecklistError(f"{where}, {shown_category(key)}: {expected}")
    checklists = {}
    for key, asked in questions.items():
        shares = weights.get(key, (100 / len(asked),) * len(asked))
        total = math.fsum(shares)
        if key in weights and abs(total - 100) > _EXACT_SUM:
            shares = tuple(weight / total * 100 for weight in shares)
        checklists[key] = Checklist(*key, asked, shares, has_weights=key in weights)
    return checklists


def by_area(categories: Mapping[tuple[str, str], T]) -> dict[str, dict[str, T]]:
    """Values of categories in the form of files: by area, then by category."""
    areas: dict[str, dict[str, T]] = {}
    for (area, category), value in categories.items():
        areas.setdefault(area, {})[category] = value
    return areas


def shown_category(key: tuple[str, str]) -> str:
    """A category with its area, for messages."""
    return "/".join(in_one_line(part, 60) for part in key)


def weights_of(value: Any) -> tuple[float, ...]:
    """A check of a list of weights."""

    def weight(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_NUMBER:
            raise unexpected("a weight above 0", value)
        return float(value)

    return items(value, weight)


def questions_of(value: Any) -> tuple[str, ...]:
    """A check of a list of questions."""
    questions = items(value, _question)
    if not 0 < len(questions) <= _MAX_QUESTIONS:
        raise Fault(f"expected at least one question, and at most {_MAX_QUESTIONS}, not {len(questions)}")
    return questions


def by_category(check: Callable[[Any], T]) -> Callable[[Any], Categories[T]]:
    """A check of values by area and category."""

    def check_areas(value: Any) -> Categories[T]:
        areas = entries(value, lambda area: entries(area, check))
        return {(area, category): value for area, inner in areas.items() for category, value in inner.items()}

    return check_areas


PLACES = ("instruction", "response", "checklists", "num_checklist")
"""The placeholders in prompts: the task, the answer, the questions as JSON, and their number."""

PROMPTS = tuple(field.name for field in fields(JudgePrompts))
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "user": ("response", "checklists"),
    "overall_user": ("response",),
    "overall_with_checklist_user": ("response", "checklists"),
}
_PACKAGED = Path(__file__).with_name("prompts")
_MAX_BYTES = 1 << 20


def read_prompt(path: Path, name: str) -> str:
    """Reads a prompt from its file."""
    return prompt_of(read_text(path, error=ChecklistError, limit=_MAX_BYTES), name, str(path))


def prompt_of(content: str, name: str, where: str) -> str:
    """Makes a prompt of its text, and checks its placeholders."""
    places = []
    try:
        for _, place, form, conversion in Formatter().parse(content):
            if place is not None:
                if form or conversion:
                    raise ValueError(f"the placeholder {in_one_line(place, 40)} has a format")
                places.append(place)
    except ValueError as error:
        raise ChecklistError(
            f"{where}: not a format string: {error}; double each brace that does not enclose a placeholder"
        ) from None
    for place in places:
        if place not in PLACES:
            raise ChecklistError(f"{where}: {unknown_name('placeholder', place, PLACES)}")
    for place in _NEEDED.get(name, ()):
        if place not in places:
            raise ChecklistError(f"{where}: expected the placeholder {{{place}}} in the prompt")
    return content


@cache
def packaged_prompts(language: str) -> JudgePrompts:
    """The packaged prompts in Japanese or, for any other language, English."""
    folder = prompt_folder(language)
    return JudgePrompts(**{name: read_prompt(folder / f"{name}.txt", name) for name in PROMPTS})


def prompt_folder(language: str) -> Path:
    """The directory of the packaged prompts in Japanese or, for any other language, English."""
    return _PACKAGED / ("ja" if language.partition("-")[0].lower() == "ja" else "en")


def prompt_names(value: Any) -> dict[str, str | None]:
    """A check of the prompts in suite.json: by name, a file in the suite's directory, or null."""
    names = entries(value, _file_name)
    for name in names:
        if name not in PROMPTS:
            raise Fault(unknown_name("prompt", name, PROMPTS))
    if "user" in names and names["user"] is None:
        raise Fault("expected the name of a file, not null").inside(".user")
    return names


def _file_name(value: Any) -> str | None:
    if value is None:
        return None
    path = PurePosixPath(whole_text(value))
    if not value or path.is_absolute() or ".." in path.parts or "\\" in value or "\0" in value:
        raise Fault(f"expected a file in the folder of the suite, not '{in_one_line(value, 60)}'")
    return str(value)


PACKAGED = Path(__file__).parents[2] / "data" / "checklists"
FORMAT = 1
SETTINGS_FILE = "suite.json"
GUIDELINE_FILE = "guideline.md"  # for annotators; no part of the suite's hash
_SETTINGS = ("format", "name", "language", "levels", "rescale", "areas", "words", "prompts", "notes", "lengths")
_REQUIREMENTS = {"en": "Write at least {words} words.", "ja": "{words}字以上で書くこと。"}
_MAX_TASKS = 1_000_000


def read_suite(source: str | Path) -> dict[str, Any]:
    """The fields of a `ChecklistSuite`, from its directory or the name of a packaged suite."""
    folder = _folder(source)
    path = folder / SETTINGS_FILE
    settings = json_file(path, settings_of)
    checklists = read_checklists(folder, settings["areas"])
    prompts: dict[str, Any] = {
        name: None if file is None else read_prompt(folder / file, name) for name, file in settings["prompts"].items()
    }
    there = tuple(dict.fromkeys(area for area, _ in checklists))
    lengths: LengthTests | None = settings.pop("lengths")
    for area in (*(settings["areas"] or ()), *(lengths.areas if lengths else ())):
        if area not in there:
            raise ChecklistError(f"{path}: areas: '{in_one_line(area)}' has no checklist in {CHECKLISTS_FILE}")
    tasks = _read_tasks(folder, checklists)
    if lengths is not None:
        if len(tasks) * len(lengths.words) > _MAX_TASKS:
            raise ChecklistError(f"{path}: lengths: more than {_MAX_TASKS:,} tasks, which is the limit")
        tasks = tuple(replace(lengths, areas=lengths.areas or there).with_variants(tasks))
    return {
        **settings,
        "name": settings["name"] or folder.resolve().name,
        "areas": settings["areas"] or there,
        "prompts": replace(packaged_prompts(settings["language"]), **prompts),
        "tasks": tasks,
        "checklists": checklists,
        "folder": folder,
    }


def packaged_suites() -> list[str]:
    """The names of the packaged suites."""
    return sorted(path.parent.name for path in PACKAGED.glob(f"*/{SETTINGS_FILE}"))


def _folder(source: str | Path) -> Path:
    packaged = packaged_suites()
    if str(source) in packaged:
        return PACKAGED / str(source)
    folder = Path(source)
    if (folder / SETTINGS_FILE).is_file():
        return folder
    shown = in_one_line(source, 300)
    if folder.exists():
        expected = f"expected the folder of a checklist suite, with {SETTINGS_FILE}"
        raise ChecklistError(f"{shown}: {expected}; 'pfgen-fast checklists import' makes one of HelloBench")
    hint = did_you_mean(shown, packaged)
    raise ChecklistError(f"{shown}: no such folder, and no packaged suite of that name ({', '.join(packaged)}){hint}")


def settings_of(value: Any) -> dict[str, Any]:
    """A check of suite.json."""
    if member(value, "format", lambda format: format) != FORMAT:
        raise Fault(f"expected {FORMAT}, the only format").inside(".format")
    for name in value:
        if name not in _SETTINGS:
            raise Fault(unknown_name("key", name, _SETTINGS))
    language = member(value, "language", whole_text, "en")
    settings: dict[str, Any] = {
        "levels": LEVELS,
        "areas": None,
        "words": "characters" if language == "ja" else COUNTERS[0],
        "name": "",
        "prompts": {},
        "notes": (),
    }
    settings |= {name: member(value, name, _CHECKS[name]) for name in settings if name in value}
    settings["lengths"] = member(value, "lengths", partial(_length_tests, language=language), None)
    return {**settings, "language": language, "rescaling": member(value, "rescale", _rescaling, Rescaling())}


@dataclass(frozen=True)
class LengthTests:
    """Adds a variant of a task for each wanted length; its requirement replaces one that differs only in the number."""

    words: tuple[int, ...]
    areas: tuple[str, ...]  # empty: all areas
    requirement: str  # a sentence with {words}

    def with_variants(self, tasks: Sequence[ChecklistTask]) -> Iterator[ChecklistTask]:
        """The tasks, each followed by its variants; a task of the same ID and length replaces a variant."""
        yield from tasks
        known = {task.key for task in tasks}
        number = re.compile(re.escape(self.requirement).replace(re.escape("{words}"), r"\d[\d,]*"))
        for task, words in product(tasks, self.words):
            length = f"{words // 1000}k" if words % 1000 == 0 else str(words)
            if task.length is None and task.is_whole and task.area in self.areas and (task.id, length) not in known:
                wanted = self.requirement.replace("{words}", str(words))
                parts = number.split(task.instruction or "")
                instruction = wanted.join(parts) if len(parts) > 1 else f"{parts[0]}\n\n{wanted}"
                yield replace(task, length=length, wanted_words=words, instruction=instruction, sha256=None)


def _length_tests(value: Any, language: str) -> LengthTests:
    value = {"words": value} if isinstance(value, list) else value
    default = _REQUIREMENTS.get(language.partition("-")[0].lower(), "")
    words = member(value, "words", lambda words: items(words, number_from_one))
    requirement = member(value, "requirement", whole_text, default)
    if not words or len(set(words)) < len(words):
        raise unexpected("at least one number of words, and each once", list(words)).inside(".words")
    if "{words}" not in requirement:
        raise unexpected("a sentence with {words}", requirement).inside(".requirement")
    return LengthTests(words, member(value, "areas", _areas, ()), requirement)


def _areas(value: Any) -> tuple[str, ...]:
    areas = items(value, _name)
    if not areas or len(set(areas)) < len(areas):
        raise unexpected("at least one area, and each once", value)
    return areas


def _levels(value: Any) -> tuple[float, ...]:
    levels = items(value, finite)
    if len(levels) < 2 or levels[0] < 0 or levels[-1] > 1 or any(level >= next for level, next in pairwise(levels)):
        raise unexpected("at least two numbers from 0 to 1, ascending", value)
    return levels


def _rescaling(value: Any) -> Rescaling:
    rescaling = Rescaling(member(value, "centre", finite, 75.0), member(value, "factor", finite, 4.0))
    if rescaling.factor <= 0:
        raise Fault(f"expected a number above 0, not {rescaling.factor:g}").inside(".factor")
    return rescaling


def _read_tasks(folder: Path, checklists: Mapping[tuple[str, str], Checklist]) -> tuple[ChecklistTask, ...]:
    path = data_file(folder, "tasks")
    if path is None:
        raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed")
    tasks = checked_tasks(checked_objects(path, task_of), checklists)
    if not tasks:
        raise ChecklistError(f"{path}: no tasks; expected a task in each line")
    return tasks


def checked_tasks(
    rows: Iterable[tuple[str, ChecklistTask]], checklists: Mapping[tuple[str, str], Checklist]
) -> tuple[ChecklistTask, ...]:
    """Checks that tasks differ and have a checklist. Each task comes with its place for error messages."""
    known: dict[TaskKey, ChecklistTask] = {}
    for where, task in rows:
        if task.place not in checklists:
            fault = unknown_name("category", shown_category(task.place), map(shown_category, checklists))
            raise ChecklistError(f"{where}: {fault}")
        if task.key in known:
            raise ChecklistError(f"{where}: the task {in_one_line(task.id)} appears twice; expected each task once")
        if len(known) == _MAX_TASKS:
            raise ChecklistError(f"{where}: more than {_MAX_TASKS:,} tasks, which is the limit")
        known[task.key] = task
    return tuple(known.values())


def task_of(value: Any, *, area: str = "area") -> ChecklistTask:
    """A check of a task; `area` is the key of its area."""
    return ChecklistTask(area=member(value, area, _name), **fields_of(value, _TASK, ("id", "category")))


def _sha256(value: Any) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text(value)):
        raise unexpected("64 hexadecimal digits", value)
    return str(value)


_name = filled("a name")
_TASK = {
    **dict.fromkeys(("id", "category", "length"), _name),
    **dict.fromkeys(("instruction", "reference"), whole_text),
    "wanted_words": number_from_one,
    "sha256": _sha256,
}
_CHECKS = {
    "name": whole_text,
    "levels": _levels,
    "areas": _areas,
    "words": one_of(COUNTERS),
    "prompts": prompt_names,
    "notes": lambda notes: items(notes, whole_text),
}

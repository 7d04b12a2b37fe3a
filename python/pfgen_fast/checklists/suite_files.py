"""Reads and writes the folder of a checklist suite: suite.json, tasks.jsonl, checklists.json, weights.json, prompts.

Rules: docs/checklists.md. Every fault is one sentence that names the file and the place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from ..errors import ChecklistError
from ..evaluators.naming import unknown_name
from ..files.compression import compressing
from ..files.foreign_json import Fault, checked, count, entries, items, member, number, read_json, text, unexpected
from ..files.journal import json_line
from ..files.json_writing import json_bytes
from ..files.writing import write_whole, writing_whole
from ..judging.template import Template
from .line_files import data_file, numbered_objects
from .suite import LEVELS, Checklist, ChecklistSuite, Missing, Prompts, Rescaling, Task
from .words import COUNTERS

PACKAGED = Path(__file__).parents[1] / "data" / "checklists"
FORMAT = 1
PLACES = ("instruction", "response", "checklists", "num_checklist")
_FURTHER_PROMPTS = ("overall_system", "overall_user", "overall_with_checklist_user")


def read_suite(source: str | Path) -> ChecklistSuite:
    """Reads a suite from its folder, or a packaged one by its name."""
    folder = _folder(source)
    settings_path = folder / "suite.json"
    settings = read_json(settings_path, error=ChecklistError)
    checklists, notes = _read_checklists(folder)

    def check(value: Any) -> ChecklistSuite:
        if member(value, "format", count) != FORMAT:
            raise Fault(f"format: expected {FORMAT}")
        return ChecklistSuite(
            name=member(value, "name", text),
            language=member(value, "language", text, "en"),
            areas=member(value, "areas", lambda areas: items(areas, text)),
            tasks=(),
            checklists=checklists,
            prompts=_prompts(folder, member(value, "prompts", lambda prompts: entries(prompts, _file_name), {})),
            levels=member(value, "levels", _levels, LEVELS),
            rescaling=member(value, "rescale", _rescaling, Rescaling()),
            words=member(value, "words", lambda name: _one_of(name, COUNTERS), COUNTERS[0]),
            missing=member(value, "missing", lambda name: _one_of(name, get_args(Missing)), "skip"),
            folder=folder,
            notes=tuple(notes),
        )

    suite = checked(settings, check, str(settings_path), error=ChecklistError)
    for area, category in checklists:
        if area not in suite.areas:
            raise ChecklistError(f"{folder / 'checklists.json'}: {category}: {unknown_name('area', area, suite.areas)}")
    object.__setattr__(suite, "tasks", tuple(_tasks(folder, suite)))
    return suite


def write_suite(suite: ChecklistSuite, folder: Path) -> None:
    """Writes the files of a suite; suite.json, without which it is none, comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    prompts: dict[str, str | None] = {}
    for name in ("system", "user", *_FURTHER_PROMPTS):
        template: Template | None = getattr(suite.prompts, name)
        prompts[name] = None if template is None else f"prompts/{name}.txt"
        if template is not None:
            (folder / "prompts").mkdir(exist_ok=True)
            write_whole(folder / "prompts" / f"{name}.txt", template.text.encode())
    tasks_path = folder / "tasks.jsonl.xz"
    with writing_whole(tasks_path) as file, compressing(file, tasks_path) as packed:
        for task in suite.tasks:
            packed.write(json_line({name: getattr(task, name) for name in Task.__slots__}))
    questions: dict[str, dict[str, Any]] = {}
    weights: dict[str, dict[str, Any]] = {}
    for (area, category), checklist in suite.checklists.items():
        questions.setdefault(area, {})[category] = list(checklist.questions)
        if checklist.has_weights:
            weights.setdefault(area, {})[category] = list(checklist.weights)
    write_whole(folder / "checklists.json", json_bytes(questions))
    if weights:
        write_whole(folder / "weights.json", json_bytes(weights))
    settings = {
        "format": FORMAT,
        "name": suite.name,
        "language": suite.language,
        "levels": list(suite.levels),
        "rescale": {"centre": suite.rescaling.centre, "factor": suite.rescaling.factor},
        "areas": list(suite.areas),
        "words": suite.words,
        "prompts": prompts,
        "missing": suite.missing,
    }
    write_whole(folder / "suite.json", json_bytes(settings))


def normalised(weights: tuple[float, ...]) -> tuple[float, ...]:
    """Weights with the sum 100."""
    total = math.fsum(weights)
    return tuple(weight / total * 100 for weight in weights)


def _folder(source: str | Path) -> Path:
    folder = Path(source)
    if folder.is_dir():
        return folder
    packaged = sorted(path.name for path in PACKAGED.iterdir() if path.is_dir()) if PACKAGED.is_dir() else []
    if str(source) in packaged:
        return PACKAGED / str(source)
    raise ChecklistError(
        f"{source}: no checklist suite: expected a folder with suite.json, or one of {', '.join(packaged)}"
    )


def _read_checklists(folder: Path) -> tuple[dict[tuple[str, str], Checklist], list[str]]:
    path, weights_path = folder / "checklists.json", folder / "weights.json"
    questions = checked(
        read_json(path, error=ChecklistError),
        lambda areas: entries(areas, lambda area: entries(area, _questions)),
        str(path),
        error=ChecklistError,
    )
    weights: Mapping[str, Mapping[str, tuple[float, ...]]] = {}
    if weights_path.exists():
        weights = checked(
            read_json(weights_path, error=ChecklistError),
            lambda areas: entries(areas, lambda area: entries(area, _weights)),
            str(weights_path),
            error=ChecklistError,
        )
    notes = _check_weights(weights, questions, weights_path)
    found = {}
    for area, categories in questions.items():
        for category, asked in categories.items():
            given = weights.get(area, {}).get(category)
            equal = (100 / len(asked),) * len(asked)
            weights_of = equal if given is None else _kept_or_normalised(given)
            found[area, category] = Checklist(area, category, asked, weights_of, given is not None)
    return found, notes


def _kept_or_normalised(weights: tuple[float, ...]) -> tuple[float, ...]:
    return weights if math.fsum(weights) == 100 else normalised(weights)


def _check_weights(weights: Mapping[str, Any], questions: Mapping[str, Any], path: Path) -> list[str]:
    notes = []
    for area, categories in weights.items():
        for category, given in categories.items():
            asked = questions.get(area, {}).get(category)
            if asked is None:
                raise ChecklistError(f"{path}: ['{area}']['{category}']: there is no such checklist")
            if len(given) != len(asked):
                raise ChecklistError(
                    f"{path}: ['{area}']['{category}']: {len(given)} weights for {len(asked)} questions; "
                    "expected one for each"
                )
            if abs(math.fsum(given) - 100) > 1e-6:
                notes.append(
                    f"the weights of {area}/{category} had the sum {math.fsum(given):g}, and were divided by it"
                )
    return notes


def _questions(value: Any) -> tuple[str, ...]:
    found = items(value, text)
    if not found:
        raise unexpected("at least one question", value)
    return found


def _weights(value: Any) -> tuple[float, ...]:
    def positive(entry: Any) -> float:
        weight = number(entry)
        if not weight > 0:
            raise unexpected("a weight above 0", entry)
        return weight

    return items(value, positive)


def _levels(value: Any) -> tuple[float, ...]:
    levels = items(value, number)
    if not levels or levels[0] < 0 or levels[-1] > 1 or any(a >= b for a, b in pairwise(levels)):
        raise unexpected("numbers from 0 to 1, ascending", value)
    return levels


def _rescaling(value: Any) -> Rescaling:
    return Rescaling(member(value, "centre", number, 75.0), member(value, "factor", number, 4.0))


def _one_of(value: Any, known: Any) -> Any:
    if value not in known:
        raise unexpected(f"one of {', '.join(known)}", value)
    return value


def _file_name(value: Any) -> str | None:
    return None if value is None else text(value)


def _prompts(folder: Path, names: Mapping[str, str | None]) -> Prompts:
    def read(name: str, needed: tuple[str, ...] = ()) -> Template | None:
        file = names.get(name)
        return None if file is None else Template.read(folder / file, placeholders=PLACES, needed=needed)

    user = read("user", ("response",))
    if user is None:
        raise Fault("prompts: expected the name of a file at 'user'")
    return Prompts(user, read("system"), *(read(name) for name in _FURTHER_PROMPTS))


def _tasks(folder: Path, suite: ChecklistSuite) -> list[Task]:
    path = data_file(folder, "tasks")
    if path is None:
        raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed")
    found: dict[tuple[str, str | None], Task] = {}
    for where, value in numbered_objects(path):
        task = checked(value, _task, where, error=ChecklistError)
        if (task.area, task.category) not in suite.checklists:
            known = [category for area, category in suite.checklists if area == task.area]
            raise ChecklistError(f"{where}: {task.area}: {unknown_name('category', task.category, known)}")
        if task.key in found:
            raise ChecklistError(f"{where}: the task {task.id} appears twice; expected each once")
        found[task.key] = task
    return list(found.values())


def _task(value: Any) -> Task:
    def optional_text(entry: Any) -> str | None:
        return None if entry is None else text(entry)

    return Task(
        id=member(value, "id", text),
        area=member(value, "area", text),
        category=member(value, "category", text),
        instruction=member(value, "instruction", optional_text, None),
        length=member(value, "length", optional_text, None),
        wanted_words=member(value, "wanted_words", lambda entry: None if entry is None else count(entry), None),
        reference=member(value, "reference", optional_text, None),
        sha256=member(value, "sha256", optional_text, None),
    )

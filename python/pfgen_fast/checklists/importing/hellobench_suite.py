"""Imports the suite of HelloBench (arXiv 2409.16191) from a checkout of its repository, or from its compact form.

The compact form is `checklists.json`, `weights.json`, `tasks.jsonl` and `prompts/`: regular files for everything that
the repository holds in JSON lines of its own, a dictionary in a script and strings in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import ChecklistError
from ...files.untrusted_json import checked, member
from ..checklist_files import CHECKLISTS_FILE, read_checklists
from ..line_files import data_file, numbered_objects, whole_text, whole_text_or_none
from ..prompt_files import packaged_prompts, read_prompt
from ..suite import ChecklistSuite
from ..suite_files import check_category, sha256_or_none
from ..tasks import Checklist, Prompts, Task, TaskKey
from .hellobench_checkout import read_checkout

AREAS = ("open_ended_qa", "summarization", "chat", "text_completion", "heuristic_text_generation")
"""The areas in the order of the published tables."""

_LENGTH = re.compile(r"([1-9][0-9]{0,3})k")
_PROMPTS = {
    "system": "checklist.system",
    "user": "checklist.user",
    "overall_system": "overall.system",
    "overall_user": "overall.user",
    "overall_with_checklist_user": "overall_with_checklist.user",
}


def import_suite(folder: str | Path) -> ChecklistSuite:
    """Reads the suite from a checkout of HelloBench's repository, or from a folder with its data in compact form."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ChecklistError(f"{folder}: {'expected a folder, not a file' if folder.exists() else 'no such folder'}")
    if (folder / CHECKLISTS_FILE).is_file():
        compact, notes = read_checklists(folder, None)
        checklists: Mapping[tuple[str, str], Checklist] = compact
        tasks = _compact_tasks(folder)
        prompts = _compact_prompts(folder / "prompts")
    else:
        found = read_checkout(folder, AREAS)
        checklists, prompts, notes = found.checklists, found.prompts, list(found.notes)
        tasks = (
            (where, Task(row.id, row.area, row.category, row.instruction, row.length, wanted_words(row.length)))
            for where, row in found.rows
        )
    given: dict[TaskKey, Task] = {}
    for where, task in tasks:
        check_category(task, checklists, where)
        if given.setdefault(task.key, task) is not task:
            raise ChecklistError(f"{where}: the task {task.id} appears twice; expected each once")
    there = dict.fromkeys(area for area, _ in checklists)
    return ChecklistSuite(
        name="hellobench",
        language="en",
        areas=tuple(sorted(there, key=lambda area: AREAS.index(area) if area in AREAS else len(AREAS))),
        tasks=tuple(given.values()),
        checklists=checklists,
        prompts=prompts,
        words="nltk",
        notes=tuple(notes),
    )


def wanted_words(length: str | None) -> int | None:
    """How many words the name of a length stands for."""
    found = _LENGTH.fullmatch(length or "")
    return 1000 * int(found[1]) if found else None


def _compact_tasks(folder: Path) -> Iterable[tuple[str, Task]]:
    path = data_file(folder, "tasks")
    if path is None:
        raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed, beside {CHECKLISTS_FILE}")
    for where, value in numbered_objects(path):
        yield where, checked(value, _compact_task, where, error=ChecklistError)


def _compact_task(value: Any) -> Task:
    length = member(value, "length", whole_text_or_none, None)
    return Task(
        id=member(value, "id", whole_text),
        area=member(value, "task", whole_text),
        category=member(value, "category", whole_text),
        instruction=member(value, "instruction", whole_text_or_none),
        length=length,
        wanted_words=wanted_words(length),
        sha256=member(value, "sha256", sha256_or_none, None),
    )


def _compact_prompts(folder: Path) -> Prompts:
    if not folder.is_dir():
        return packaged_prompts("en")
    return Prompts(**{name: read_prompt(folder / f"{file}.txt", name) for name, file in _PROMPTS.items()})

"""Imports the suite of HelloBench (arXiv 2409.16191) from a checkout of its repository, or from its compact form.

The compact form is `checklists.json`, `weights.json`, `tasks.jsonl` and `prompts/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...errors import ChecklistError
from ..checklist_files import CHECKLISTS_FILE, read_checklists
from ..line_files import check_is_folder, checked_objects, data_file
from ..prompt_files import packaged_prompts, read_prompt
from ..suite import ChecklistSuite
from ..suite_files import checked_tasks, task_of
from ..tasks import Prompts, Task
from .hellobench_checkout import read_checkout, wanted_words

AREAS = ("open_ended_qa", "summarization", "chat", "text_completion", "heuristic_text_generation")
"""The areas in the order of the published tables."""

_PROMPTS = {
    "system": "checklist.system",
    "user": "checklist.user",
    "overall_system": "overall.system",
    "overall_user": "overall.user",
    "overall_with_checklist_user": "overall_with_checklist.user",
}


def import_suite(folder: str | Path) -> ChecklistSuite:
    """Reads the suite from a checkout of HelloBench's repository, or from a directory in compact form."""
    folder = Path(folder)
    check_is_folder(folder)
    if (folder / CHECKLISTS_FILE).is_file():
        checklists, notes = read_checklists(folder, None)
        tasks, prompts = list(_compact_tasks(folder)), packaged_prompts("en")
        if (inside := folder / "prompts").is_dir():
            prompts = Prompts(**{name: read_prompt(inside / f"{file}.txt", name) for name, file in _PROMPTS.items()})
    else:
        tasks, checklists, prompts, notes = read_checkout(folder, AREAS)
    there = dict.fromkeys(area for area, _ in checklists)
    return ChecklistSuite(
        name="hellobench",
        language="en",
        areas=tuple(sorted(there, key=lambda area: AREAS.index(area) if area in AREAS else len(AREAS))),
        tasks=checked_tasks(tasks, checklists),
        checklists=checklists,
        prompts=prompts,
        words="nltk",
        notes=tuple(notes),
    )


def _compact_tasks(folder: Path) -> Iterator[tuple[str, Task]]:
    path = data_file(folder, "tasks")
    if path is None:
        raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed, beside {CHECKLISTS_FILE}")
    for where, task in checked_objects(path, partial(task_of, area="task")):
        yield where, replace(task, wanted_words=wanted_words(task.length))

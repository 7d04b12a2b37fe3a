"""Imports the suite of HelloBench: 647 tasks, 38 checklists, the published weights and prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import ChecklistError
from ..files.foreign_json import checked, entries, items, member, number, read_json, text
from ..judging.template import Template
from .line_files import data_file, numbered_objects
from .suite import Checklist, ChecklistSuite, Prompts, Task
from .suite_files import PLACES

AREAS = ("open_ended_qa", "summarization", "chat", "text_completion", "heuristic_text_generation")
_THOUSAND = {"2k": 2000, "4k": 4000, "8k": 8000, "16k": 16000}


def import_suite(folder: Path) -> ChecklistSuite:
    """Reads the suite from a folder with the data of HelloBench in their compact form.

    Raises:
        ChecklistError: The folder holds something else.
    """
    questions = _by_category(folder / "checklists.json", text)
    weights = _by_category(folder / "weights.json", number)
    checklists = {
        (area, category): Checklist(area, category, asked, weights[area][category])
        for area, categories in questions.items()
        for category, asked in categories.items()
    }
    path = data_file(folder, "tasks")
    if path is None:
        raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed")
    tasks = tuple(checked(value, _task, where, error=ChecklistError) for where, value in numbered_objects(path))
    return ChecklistSuite("hellobench", "en", AREAS, tasks, checklists, _prompts(folder / "prompts"), words="nltk")


def _by_category(path: Path, check: Any) -> Any:
    value = read_json(path, error=ChecklistError)
    return checked(
        value,
        lambda areas: entries(areas, lambda area: entries(area, lambda listed: items(listed, check))),
        str(path),
        error=ChecklistError,
    )


def _task(value: Any) -> Task:
    length = value.get("length")
    return Task(
        id=member(value, "id", text),
        area=member(value, "task", text),
        category=member(value, "category", text),
        instruction=member(value, "instruction", text),
        length=length,
        wanted_words=None if length is None else _THOUSAND[length],
        sha256=member(value, "sha256", text),
    )


def _prompts(folder: Path) -> Prompts:
    def read(name: str) -> Template:
        return Template.read(folder / f"{name}.txt", placeholders=PLACES)

    return Prompts(
        read("checklist.user"),
        read("checklist.system"),
        read("overall.system"),
        read("overall.user"),
        read("overall_with_checklist.user"),
    )

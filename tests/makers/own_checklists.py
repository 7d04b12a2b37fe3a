"""A checklist suite in our own words, small enough for a server in a test: two areas, three categories, five tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfgen_fast.checklists.checklist_files import checklist_of
from pfgen_fast.checklists.suite import ChecklistSuite, write_suite
from pfgen_fast.checklists.suite_files import PLACES
from pfgen_fast.checklists.tasks import Prompts, Task
from pfgen_fast.judging.template import Template

SYSTEM = "You judge answers by yes-or-no questions."
USER = (
    "Instruction: {instruction}\nAnswer: {response}\n(end of the answer)\nQuestions: {checklists}\n"
    'Reply with a list of {num_checklist} objects: [{{"checklist_id": 0, "reason": "...", "evaluation_score": 1}}]'
)
QUESTIONS = {
    ("letters", "thanks"): ("Does it thank somebody?", "Is it polite?", "Is it without any flaw?"),
    ("letters", "requests"): ("Does it ask for one thing?", "Is it without any flaw?"),
    ("reports", "weather"): ("Does it name a place?", "Are numbers given?", "Is it without any flaw?"),
}
WEIGHTS = {("letters", "thanks"): (50.0, 30.0, 20.0), ("letters", "requests"): (60.0, 40.0)}
TASKS = (
    Task("letter_1", "letters", "thanks", "Write a long letter that thanks a neighbour for a ladder."),
    Task("letter_2", "letters", "thanks", "Write a long letter that thanks a teacher."),
    Task("letter_3", "letters", "requests", "Write a letter that asks a library for a book."),
    Task("report_1", "reports", "weather", "Report the weather of a week in {Oslo}."),
    Task("report_1", "reports", "weather", "Report the weather of a week in Oslo, in 90 words.", "90", 90),
    Task("report_2", "reports", "weather", "Report a storm."),
)


def suite_of(
    name: str,
    questions: Mapping[tuple[str, str], Sequence[str]],
    weights: Mapping[tuple[str, str], tuple[float, ...]],
    tasks: Sequence[Task],
    **others: Any,
) -> ChecklistSuite:
    """A suite in memory; questions and weights are by area and category."""
    checklists = {key: checklist_of(key, tuple(asked), weights.get(key)) for key, asked in questions.items()}
    areas = tuple(dict.fromkeys(area for area, _ in questions))
    usual = {"language": "en", "prompts": Prompts(Template(USER, PLACES)), "areas": areas, "checklists": checklists}
    return ChecklistSuite(name, tasks=tuple(tasks), **{**usual, **others})


def own_suite(tasks: Sequence[Task] = TASKS, **others: Any) -> ChecklistSuite:
    prompts = Prompts(Template(USER, PLACES), Template(SYSTEM, PLACES))
    return suite_of("own", QUESTIONS, WEIGHTS, tasks, prompts=prompts, **others)


def written(suite: ChecklistSuite, folder: Path) -> Path:
    write_suite(suite, folder)
    return folder


def own_suite_in(folder: Path) -> ChecklistSuite:
    return ChecklistSuite.load(written(own_suite(), folder))

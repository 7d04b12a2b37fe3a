"""A checklist suite in our own words, small enough for a server in a test: two areas, three categories, five tasks."""

from __future__ import annotations

from pathlib import Path

from pfgen_fast.checklists.prompt_files import PLACES
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.suite_writing import write_suite
from pfgen_fast.checklists.tasks import Checklist, Prompts, Task
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


def own_suite(tasks: tuple[Task, ...] = TASKS, **others: object) -> ChecklistSuite:
    checklists = {
        key: Checklist(*key, asked, WEIGHTS.get(key, (100 / len(asked),) * len(asked)), key in WEIGHTS)
        for key, asked in QUESTIONS.items()
    }
    prompts = Prompts(Template(USER, PLACES), Template(SYSTEM, PLACES))
    return ChecklistSuite("own", "en", ("letters", "reports"), tasks, checklists, prompts, **others)  # type: ignore[arg-type]


def own_suite_in(folder: Path) -> ChecklistSuite:
    write_suite(own_suite(), folder)
    return ChecklistSuite.load(folder)

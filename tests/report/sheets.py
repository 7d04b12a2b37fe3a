"""Sheets of annotators with items of all kinds, in our own words."""

from collections.abc import Mapping
from typing import Any

from makers.own_checklists import own_suite
from pfgen_fast.lab.annotations.annotation_rows import Sheet
from pfgen_fast.lab.checklists.marks import questions_sha256

SUITE = own_suite()

GUIDELINE = """# Verdicts
Read the answer first.
Then decide.

- One error lowers one verdict.
- An empty answer gets 0.
"""

LEVELS = (
    {"value": 0, "text": "fails"},
    {"value": 0.25, "text": "a quarter"},
    {"value": 0.5, "text": "half"},
    {"value": 0.75, "text": "mostly"},
    {"value": 1, "text": "nothing to improve"},
)


def _about(kind: str, number: int, **others: Any) -> dict[str, Any]:
    task = SUITE.tasks[number]
    place = {"kind": kind, "id": task.id, "length": task.length}
    return {**place, **others, "instruction": task.instruction, "reference": None}


def mark_item(
    number: int = 0, response: str = "Dear neighbour,\n\nthank you.", sha256: str = "a1", **others: Any
) -> dict[str, Any]:
    """An answer to mark."""
    questions = list(SUITE.checklist(SUITE.tasks[number]).questions)
    about = _about("mark", number, response_sha256=sha256)
    return {**about, "response": response, "questions": questions, **others}


def items_of_all_kinds() -> list[Mapping[str, Any]]:
    """An item of each kind."""
    verdicts = [
        {"question": 1, "text": "Does it ask for one thing?", "verdict": 0.75, "reason": "It asks for a book."},
        {"question": 2, "text": "Is it without any flaw?", "verdict": 0, "reason": None},
    ]
    pair = {"first_sha256": "b1", "second_sha256": "b2"}
    texts = {"first": "Dear teacher,\nthank you.", "second": "Thanks.", "questions": ["Is it polite?"]}
    judged = {"response_sha256": "c1", "judgement": "j1"}
    metrics = [{"name": "fluency", "title": "Fluency", "text": "Is it well written?"}, {"name": "accuracy", "text": ""}]
    damage = {"description": "Translation: letters are swapped", "before": "Ice floats.", "after": "Ice flaots."}
    return [
        mark_item(reference="A letter with thanks."),
        {**_about("pair", 1, **pair), **texts},
        {**_about("judgement", 2, **judged), "response": "May I have a book?", "verdicts": verdicts},
        {**_about("instruction", 3), "question": "Should it be long?"},
        {"kind": "vote", "task": "translation", "perturbation": "char_swap", **damage, "metrics": metrics},
    ]


def sheet_of(items: list[Mapping[str, Any]] | None = None, *, language: str = "en", **others: Any) -> Sheet:
    """A sheet of the suite `own`."""
    usual = {
        "annotator": "ann",
        "suite": SUITE.name,
        "questions_sha256": questions_sha256(SUITE),
        "guideline": GUIDELINE,
        "levels": LEVELS,
        "items": items_of_all_kinds() if items is None else items,
        "content_language": "en",
    }
    return Sheet(language=language, **{**usual, **others})

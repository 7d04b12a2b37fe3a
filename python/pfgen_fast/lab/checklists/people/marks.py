"""What annotators said: marks of answers, choices between two answers, and opinions on verdicts of judges.

The rows are in exports or tables (`annotation_rows`). Verdicts of annotation tools run from 0 to 4, those of
guidelines from 0 to 1. The scale of a table must be given, because most verdicts are possible on both; an export has
the levels of its suite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ....base.untrusted_json import Fault, items, member, one_of, unexpected
from ....base.untrusted_text import in_one_line
from ..checklist_suite import ChecklistSuite
from ..judgements import Judgement
from ..line_files import number_in_cell, text_in_cell
from ..tasks import Task, sha256_of

HIGHEST_MARK = 10.0
"""The best overall mark of an answer."""

Scale = Literal["unit", "ui"]
"""The scale of verdicts: 0 to 1, or 0 to 4."""
SCALES: Mapping[Scale, float] = {"unit": 1.0, "ui": 4.0}
"""The highest verdict of each scale."""

MarkedAnswer = tuple[str, str | None, str]
"""The ID and the length of a task, and the hash of the answer."""

Choice = Literal["first", "second", "tie"]

_SEPARATORS = re.compile(r"[\s,;]+")
_TRUTHS: Mapping[Any, bool] = {True: True, False: False, "true": True, "false": False, "yes": True, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one annotator said about a task; the fields of `Mark`, `Pair` and `Opinion`."""

    id: str
    length: str | None
    annotator: str
    area: str
    category: str
    is_unclear: bool = field(default=False, compare=False)  # flagged by the annotator
    comment: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(Said):
    """The verdicts and the mark of one annotator for an answer."""

    response_sha256: str
    verdicts: tuple[float, ...]
    overall: float

    @property
    def answer(self) -> MarkedAnswer:
        """The answer that was marked."""
        return self.id, self.length, self.response_sha256

    @property
    def answers(self) -> tuple[MarkedAnswer, ...]:
        """The answers that the annotator saw."""
        return (self.answer,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Said):
    """The choice of one annotator between two answers to a task."""

    first_sha256: str
    second_sha256: str
    choice: Choice

    @property
    def answers(self) -> tuple[MarkedAnswer, ...]:
        """The answers that the annotator saw."""
        return (self.id, self.length, self.first_sha256), (self.id, self.length, self.second_sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion(Said):
    """Whether one annotator finds a verdict of a judge reasonable."""

    response_sha256: str
    judgement: str  # `judgement_key` of the judgement
    question: int  # from 1
    is_reasonable: bool

    @property
    def answers(self) -> tuple[MarkedAnswer, ...]:
        """The answers that the annotator saw."""
        return ((self.id, self.length, self.response_sha256),)


def judgement_key(judgement: Judgement) -> str:
    """A hash that stands for a judgement on a sheet, where the judge is not named."""
    row = judgement
    return sha256_of(
        json.dumps(
            [
                *(row.id, row.length, row.trial, row.response_sha256, row.judge, row.version, row.method, row.rating),
                *(row.prompt_sha256, row.profile, row.temperature, row.request, row.scores),
            ]
        )
    )


def questions_sha256(suite: ChecklistSuite) -> str:
    """The hash of what annotators are asked: tasks, questions and levels, but not weights, which follow from marks."""
    tasks = [[*task.key, *task.place, task.instruction_sha256] for task in suite.tasks]
    questions = [[*key, checklist.questions] for key, checklist in sorted(suite.checklists.items())]
    return sha256_of(json.dumps([tasks, questions, suite.levels], ensure_ascii=False))


def mark_of(row: Mapping[str, Any], task: Task, suite: ChecklistSuite, *, scale: Scale) -> Mark:
    """A check of a row with a mark."""
    highest, n_questions = SCALES[scale], suite.n_questions[task.key]

    def verdict(cell: Any) -> float:
        number = number_in_cell(cell)
        if not 0 <= number <= highest:
            hint = "; is this --scale ui?" if scale == "unit" and 1 < number <= SCALES["ui"] else ""
            raise Fault(f"the verdict {number:g}; expected 0 to {highest:g}{hint}")
        return number / highest

    def overall(cell: Any) -> float:
        number = number_in_cell(cell)
        if not 0 <= number <= HIGHEST_MARK:
            raise Fault(f"{number:g}; expected a mark from 0 to {HIGHEST_MARK:g}")
        return number

    place = _said(row, task)
    verdicts = member(row, "verdicts", lambda cell: items(_separated(cell), verdict))
    if len(verdicts) != n_questions:
        raise Fault(f"expected {n_questions}, one for each question, not {len(verdicts)}").inside(".verdicts")
    sha256 = member(row, "response_sha256", text_in_cell)
    return Mark(**place, response_sha256=sha256, verdicts=verdicts, overall=member(row, "overall", overall))


def level_of(suite: ChecklistSuite) -> Callable[[Any], float]:
    """A check that a verdict in an export is a level of the suite."""

    def check(cell: Any) -> float:
        number = number_in_cell(cell)
        if number not in suite.levels:
            listed = ", ".join(f"{level:g}" for level in suite.levels)
            raise Fault(f"the verdict {number:g} is not a level of the suite; expected one of {listed}")
        return number

    return check


def pair_of(row: Mapping[str, Any], task: Task) -> Pair:
    """A check of a row with a choice between two answers."""
    place = _said(row, task)
    first, second = (member(row, name, text_in_cell) for name in ("first_sha256", "second_sha256"))
    if first == second:
        raise Fault("the same answer twice; expected two different answers").inside(".second_sha256")
    choice = member(row, "choice", one_of(("first", "second", "tie")))
    return Pair(**place, first_sha256=first, second_sha256=second, choice=choice)


def opinion_of(row: Mapping[str, Any], task: Task, suite: ChecklistSuite) -> Opinion:
    """A check of a row with an opinion on a verdict."""
    n_questions = suite.n_questions[task.key]

    def question(cell: Any) -> int:
        number = number_in_cell(cell)
        if number not in range(1, n_questions + 1):
            raise unexpected(f"a question from 1 to {n_questions}", cell)
        return int(number)

    def truth(cell: Any) -> bool:
        word = cell.strip().casefold() if isinstance(cell, str) else cell
        if word not in _TRUTHS:
            raise unexpected("true or false", cell)
        return _TRUTHS[word]

    place = _said(row, task)
    sha256, judgement = (member(row, name, text_in_cell) for name in ("response_sha256", "judgement"))
    number = member(row, "question", question)
    is_reasonable = member(row, "is_reasonable", truth)
    return Opinion(**place, response_sha256=sha256, judgement=judgement, question=number, is_reasonable=is_reasonable)


def _said(row: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """The fields of `Said`."""
    if row.get("category") not in (None, "", task.category):
        expected = f"'{in_one_line(task.category)}', the category of {in_one_line(task.id)}"
        raise unexpected(expected, row["category"]).inside(".category")
    comment = row.get("comment")
    return {
        "id": task.id,
        "length": task.length,
        "annotator": member(row, "annotator", text_in_cell),
        "area": task.area,
        "category": task.category,
        "is_unclear": _TRUTHS.get(row.get("unclear"), False) if isinstance(row.get("unclear"), str | bool) else False,
        "comment": comment if isinstance(comment, str) else "",
    }


def _separated(cell: Any) -> Any:
    """The texts in a cell, which may be in brackets; other values unchanged."""
    return _SEPARATORS.split(cell.strip().strip("[]").strip()) if isinstance(cell, str) else cell

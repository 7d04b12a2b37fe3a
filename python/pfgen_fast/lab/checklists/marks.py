"""Annotations of people: marks of answers, choices between two answers, opinions on verdicts or on instructions.

The rows are in exports or tables (`annotation_rows`); verdicts are from 0 to 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ...base.errors import ChecklistError
from ...base.untrusted_json import Fault, checked, items, member, one_of, unexpected
from ...base.untrusted_text import counted, in_one_line
from ..annotations.annotation_rows import read_rows
from .checklist_suite import ChecklistSuite
from .judgements import HIGHEST_MARK, Judgement
from .line_files import number_in_cell, text_in_cell
from .tasks import ChecklistTask, sha256_of

MarkedAnswer = tuple[str, str | None, str]
"""The ID and the length of a task, and the hash of the answer."""

_SEPARATORS = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An annotation about a task: the common fields of `Mark`, `PairChoice` and `Opinion`."""

    id: str
    length: str | None
    annotator: str
    area: str
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(Annotation):
    """The verdicts and the mark of one annotator for an answer."""

    response_sha256: str
    verdicts: tuple[float, ...]
    overall: float

    @property
    def answer(self) -> MarkedAnswer:
        """The answer that was marked."""
        return self.id, self.length, self.response_sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChoice(Annotation):
    """The choice of one annotator between two answers to a task."""

    first_sha256: str
    second_sha256: str
    choice: Literal["first", "second", "tie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion(Annotation):
    """Whether one annotator finds a verdict of a judge reasonable, or says yes about an instruction."""

    response_sha256: str | None  # None about an instruction
    subject: str  # `judgement_key` of the judgement, or the question about the instruction
    question: int | None  # number of the verdict, from 1
    is_reasonable: bool


@dataclass(frozen=True)
class People:
    """The annotations about the answers of a suite."""

    marks: tuple[Mark, ...] = ()
    pairs: tuple[PairChoice, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    notes: tuple[str, ...] = ()


def judgement_key(judgement: Judgement) -> str:
    """A hash that stands for a judgement on a sheet, where the judge is not named."""
    row = judgement
    parts = [row.id, row.length, row.trial, row.response_sha256, row.judge, row.version, row.method, row.rating]
    return sha256_of(json.dumps([*parts, row.prompt_sha256, row.profile, row.temperature, row.request, row.verdicts]))


def questions_sha256(suite: ChecklistSuite) -> str:
    """The hash of what annotators are asked: tasks, questions and levels, but not weights, which follow from marks."""
    tasks = [[*task.key, *task.place, task.instruction_sha256] for task in suite.tasks]
    questions = [[*key, checklist.questions] for key, checklist in sorted(suite.checklists.items())]
    return sha256_of(json.dumps([tasks, questions, suite.levels], ensure_ascii=False))


def read_people(paths: Path | Iterable[Path], suite: ChecklistSuite) -> People:
    """Reads exports of annotators, and tables in any format that `score` reads."""
    kept: dict[Any, tuple[Annotation, str]] = {}
    notes: list[str] = []
    n_votes = 0
    for path in [paths] if isinstance(paths, Path) else paths:
        file = read_rows(path, error=ChecklistError)
        if file.header is not None and file.header.questions_sha256 not in ("", questions_sha256(suite)):
            raise ChecklistError(
                f"{path}: its page was made for the suite {in_one_line(file.header.suite, 40)} with other tasks, "
                f"questions or levels than those of {in_one_line(suite.name, 40)}; expected the version that the page "
                "was made for"
            )
        n_unfinished = 0
        for row in file.rows:
            if row.kind == "vote":
                n_votes += 1
            elif file.header is not None and not row.is_complete:
                n_unfinished += 1
            else:
                cells = {**row.cells, "annotator": row.annotator or None}
                check = partial(_CHECKS[row.kind], task=task_of_row(cells, suite, row.where), suite=suite)
                subject, entry = checked(cells, check, row.where, error=ChecklistError)
                former, place = kept.setdefault((row.kind, *subject), (entry, row.where))
                if former != entry:
                    name = in_one_line(entry.annotator, 40)
                    raise ChecklistError(f"{row.where}: {name} has already decided otherwise ({place}); expected one")
        if n_unfinished:
            notes.append(f"{path}: {counted(n_unfinished, 'row')} not finished by the annotator, left out")
    if n_votes:
        notes.append(f"{counted(n_votes, 'vote')} on kinds of damage not used here: 'discern votes' reads them")
    entries = [entry for entry, _ in kept.values()]
    return People(
        tuple(entry for entry in entries if isinstance(entry, Mark)),
        tuple(entry for entry in entries if isinstance(entry, PairChoice)),
        tuple(entry for entry in entries if isinstance(entry, Opinion)),
        tuple(notes),
    )


def read_marks(paths: Iterable[Path], suite: ChecklistSuite) -> People:
    """Reads exports and tables (see `read_people`); it is an error if they have no marks."""
    people = read_people(paths, suite)
    if not people.marks:
        listed = ", ".join(map(str, paths))
        raise ChecklistError(f"{listed}: no marks of answers: expected rows with verdicts and overall")
    return people


def task_of_row(row: Any, suite: ChecklistSuite, where: str) -> ChecklistTask:
    """The task that a row of a table names by `id` and, optionally, `length`."""
    id = checked(row, lambda cells: member(cells, "id", text_in_cell), where, error=ChecklistError)
    length = row.get("length")
    return suite.task(id, None if length in (None, "") else str(length), where)


def _mark(row: Mapping[str, Any], task: ChecklistTask, suite: ChecklistSuite) -> tuple[Any, Mark]:
    def texts(cell: Any) -> Any:  # they may be in brackets
        return _SEPARATORS.split(cell.strip().strip("[]").strip()) if isinstance(cell, str) else cell

    verdict = _number_to(1.0, "; divide verdicts of 0 to 4 by 4")
    verdicts = member(row, "verdicts", lambda cell: items(texts(cell), verdict))
    if len(verdicts) != suite.n_questions[task.key]:
        expected = f"expected {suite.n_questions[task.key]}, one for each question"
        raise Fault(f"{expected}, not {len(verdicts)}").inside(".verdicts")
    sha256, overall = member(row, "response_sha256", text_in_cell), member(row, "overall", _number_to(HIGHEST_MARK))
    mark = Mark(**place_of(task, row), response_sha256=sha256, verdicts=verdicts, overall=overall)
    return (mark.annotator, mark.answer), mark


def _pair(row: Mapping[str, Any], task: ChecklistTask, suite: ChecklistSuite) -> tuple[Any, PairChoice]:
    first, second = (member(row, name, text_in_cell) for name in ("first_sha256", "second_sha256"))
    if first == second:
        raise Fault("the same answer twice; expected two different answers").inside(".second_sha256")
    choice = member(row, "choice", one_of(("first", "second", "tie")))
    pair = PairChoice(**place_of(task, row), first_sha256=first, second_sha256=second, choice=choice)
    return (pair.annotator, *task.key, frozenset((first, second))), pair


def _opinion(row: Mapping[str, Any], task: ChecklistTask, suite: ChecklistSuite) -> tuple[Any, Opinion]:
    def question(cell: Any) -> int:
        number = number_in_cell(cell)
        if number not in range(1, suite.n_questions[task.key] + 1):
            raise unexpected(f"a question from 1 to {suite.n_questions[task.key]}", cell)
        return int(number)

    sha256, judgement = (member(row, name, text_in_cell) for name in ("response_sha256", "judgement"))
    number, is_reasonable = member(row, "question", question), member(row, "is_reasonable", _truth)
    decided = Opinion(
        **place_of(task, row), response_sha256=sha256, subject=judgement, question=number, is_reasonable=is_reasonable
    )
    return (decided.annotator, judgement, number), decided


def _instruction(row: Mapping[str, Any], task: ChecklistTask, suite: ChecklistSuite) -> tuple[Any, Opinion]:
    asked, is_yes = member(row, "question", text_in_cell), member(row, "is_yes", _truth)
    opinion = Opinion(**place_of(task, row), response_sha256=None, subject=asked, question=None, is_reasonable=is_yes)
    return (opinion.annotator, task.key, asked), opinion


def _truth(cell: Any) -> bool:
    return {"true": True, "false": False}[one_of(("true", "false"))(str(cell).lower())]


_CHECKS: Mapping[str, Callable[..., tuple[Any, Annotation]]] = {
    "instruction": _instruction,
    "mark": _mark,
    "pair": _pair,
    "judgement": _opinion,
}
"""The checks of rows; each returns what an annotator can only decide once, and the annotation."""


def place_of(task: ChecklistTask, row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `Annotation` on a task, by the annotator in a row."""
    place = {"id": task.id, "length": task.length, "area": task.area, "category": task.category}
    return {**place, "annotator": member(row, "annotator", text_in_cell)}


def _number_to(highest: float, hint: str = "") -> Callable[[Any], float]:
    def check(cell: Any) -> float:
        number = number_in_cell(cell)
        if not 0 <= number <= highest:
            raise Fault(f"{number:g}; expected a number from 0 to {highest:g}{hint}")
        return number

    return check

"""People's marks: verdicts on each question of an answer's checklist, and one mark for the whole answer.

A row has `id`, `response_sha256`, `annotator`, `verdicts` (one for each question, in one cell) and `overall`, and
optionally `length` and `category`. Verdicts of annotation tools run from 0 to 4, those of guidelines from 0 to 1. The
scale must be given, because most verdicts are possible on both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ...errors import ChecklistError
from ...files.untrusted_json import Fault, checked, items, member, unexpected
from ...files.untrusted_text import few_names, in_one_line
from ..line_files import number_in_cell, rows_of_table, text_in_cell
from ..runs import Run
from ..suite import ChecklistSuite
from ..tasks import Task
from .regression import HIGHEST_MARK

Scale = Literal["unit", "ui"]
"""The scale of verdicts: 0 to 1, or 0 to 4."""
SCALES: Mapping[Scale, float] = {"unit": 1.0, "ui": 4.0}
"""The highest verdict of each scale."""

MarkedAnswer = tuple[str, str | None, str]
"""The ID and the length of a task, and the hash of the answer."""

_SEPARATORS = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class Mark:
    """The verdicts and the mark of one annotator for an answer."""

    id: str
    length: str | None
    response_sha256: str
    annotator: str
    area: str
    category: str
    verdicts: tuple[float, ...]
    overall: float

    @property
    def answer(self) -> MarkedAnswer:
        """The answer that was marked."""
        return self.id, self.length, self.response_sha256


@dataclass(frozen=True)
class Marks:
    """The marks of a file."""

    listed: tuple[Mark, ...]
    notes: tuple[str, ...] = ()


def read_marks(path: Path, suite: ChecklistSuite, *, scale: Scale, runs: Iterable[Run] = ()) -> Marks:
    """Reads the marks of a table in any format that `score` reads."""
    found: dict[tuple[MarkedAnswer, str], tuple[Mark, str]] = {}
    for where, row in rows_of_table(path):
        task = task_of_row(row, suite, where)
        check = partial(_mark, task=task, n_questions=suite.n_questions[task.key], scale=scale)
        mark = checked(row, check, where, error=ChecklistError)
        before = found.setdefault((mark.answer, mark.annotator), (mark, where))
        if before[0] != mark:
            raise ChecklistError(
                f"{where}: {in_one_line(mark.annotator, 40)} has already given another mark to the same answer to "
                f"{in_one_line(mark.id)} ({before[1]}); expected one mark, or equal marks"
            )
    marks = [mark for mark, _ in found.values()]
    if not marks:
        raise ChecklistError(f"{path}: no marks: expected at least one row")
    listed = list(runs)
    answers = {(answer.id, answer.length, answer.sha256) for run in listed for answer in run.answers(suite).values()}
    kept = tuple(mark for mark in marks if mark.answer in answers or not listed)
    stale = tuple(mark.id for mark in marks if mark.answer not in answers and listed)
    if not kept:
        raise ChecklistError(f"{path}: no marks are left: the runs have none of the {len(marks)} answers")
    return Marks(kept, tuple(_notes(kept, stale, scale)))


def _notes(marks: Sequence[Mark], stale: Sequence[str], scale: Scale) -> list[str]:
    notes = []
    if stale:
        listed = few_names(list(dict.fromkeys(stale)))
        notes.append(f"{len(stale)} marks are not used, because no run has their answers: {listed}")
    n_broken = sum(not mark.overall.is_integer() for mark in marks)
    if n_broken:
        notes.append(f"{n_broken} of {len(marks)} overall marks are not whole numbers; they are used unrounded")
    if scale == "ui" and max(max(mark.verdicts) for mark in marks) <= 1 / SCALES["ui"]:
        notes.append("no verdict is above 1 of 4: is this --scale unit?")
    return notes


def _mark(row: Mapping[str, Any], task: Task, n_questions: int, scale: Scale) -> Mark:
    """A check of a row about a task."""
    highest = SCALES[scale]

    def verdict(cell: Any) -> float:
        found = number_in_cell(cell)
        if not 0 <= found <= highest:
            hint = "; is this --scale ui?" if scale == "unit" and 1 < found <= SCALES["ui"] else ""
            raise Fault(f"the verdict {found:g}; expected 0 to {highest:g}{hint}")
        return found / highest

    def overall(cell: Any) -> float:
        found = number_in_cell(cell)
        if not 0 <= found <= HIGHEST_MARK:
            raise Fault(f"{found:g}; expected a mark from 0 to {HIGHEST_MARK:g}")
        return found

    if row.get("category") not in (None, "", task.category):
        expected = f"'{in_one_line(task.category)}', the category of {in_one_line(task.id)}"
        raise unexpected(expected, row["category"]).inside(".category")
    verdicts = member(row, "verdicts", lambda cell: items(_separated(cell), verdict))
    if len(verdicts) != n_questions:
        raise Fault(f"expected {n_questions}, one for each question, not {len(verdicts)}").inside(".verdicts")
    sha256, annotator = (member(row, name, text_in_cell) for name in ("response_sha256", "annotator"))
    return Mark(*task.key, sha256, annotator, *task.place, verdicts, member(row, "overall", overall))


def task_of_row(row: Mapping[str, Any], suite: ChecklistSuite, where: str) -> Task:
    """The task that a row of a table names by `id` and, optionally, `length`."""
    id = checked(row, lambda cells: member(cells, "id", text_in_cell), where, error=ChecklistError)
    length = row.get("length")
    return suite.task(id, None if length in (None, "") else str(length), where)


def _separated(cell: Any) -> Any:
    """The texts in a cell, which may be in brackets; other values unchanged."""
    return _SEPARATORS.split(cell.strip().strip("[]").strip()) if isinstance(cell, str) else cell

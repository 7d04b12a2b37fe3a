"""People's marks: verdicts on each question of an answer's checklist, and one mark for the whole answer.

A row has `id`, `response_sha256`, `annotator`, `verdicts` (one for each question, in one cell) and `overall`, and
optionally `length` and `category`. Verdicts of annotation tools run from 0 to 4, those of guidelines from 0 to 1. The
scale must be given, because most verdicts are possible on both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ...errors import ChecklistError
from ...files.untrusted_json import parse_json
from ...files.untrusted_text import few_names, in_one_line, unknown_name
from ..line_files import rows_of_table
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
    scale: Scale
    stale: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_marks(path: Path, suite: ChecklistSuite, *, scale: Scale, runs: Iterable[Run] = ()) -> Marks:
    """Reads the marks of a table in any format that `score` reads."""
    if scale not in get_args(Scale):
        raise ChecklistError(f"the scale of the verdicts: {unknown_name('scale', scale, get_args(Scale))}")
    found: dict[tuple[MarkedAnswer, str], tuple[Mark, str]] = {}
    for where, row in rows_of_table(path):
        mark = _mark(row, where, suite, scale)
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
    return Marks(kept, scale, stale, tuple(_notes(kept, stale, scale)))


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


def _mark(row: Mapping[str, Any], where: str, suite: ChecklistSuite, scale: Scale) -> Mark:
    task = task_of_row(row, suite, where)
    category = row.get("category")
    if category not in (None, "", task.category):
        raise ChecklistError(
            f"{where}, category: expected {task.category!r}, the category of {in_one_line(task.id)}, not "
            f"{in_one_line(category, 40)!r}"
        )
    verdicts = _verdicts(row.get("verdicts"), f"{where}, verdicts")
    n_questions = len(suite.checklist(task).questions)
    if len(verdicts) != n_questions:
        raise ChecklistError(f"{where}, verdicts: expected {n_questions}, one for each question, not {len(verdicts)}")
    highest = SCALES[scale]
    for question, verdict in enumerate(verdicts):
        if not 0 <= verdict <= highest:
            hint = "; is this --scale ui?" if scale == "unit" and 1 < verdict <= SCALES["ui"] else ""
            raise ChecklistError(
                f"{where}, question {question}: the verdict {verdict:g}; expected 0 to {highest:g}{hint}"
            )
    overall = number(row.get("overall"), f"{where}, overall")
    if not 0 <= overall <= HIGHEST_MARK:
        raise ChecklistError(f"{where}, overall: {overall:g}; expected a mark from 0 to {HIGHEST_MARK:g}")
    return Mark(
        id=task.id,
        length=task.length,
        response_sha256=_text(row, "response_sha256", where),
        annotator=_text(row, "annotator", where),
        area=task.area,
        category=task.category,
        verdicts=tuple(verdict / highest for verdict in verdicts),
        overall=overall,
    )


def task_of_row(row: Mapping[str, Any], suite: ChecklistSuite, where: str) -> Task:
    """The task that a row of a table names by `id` and, optionally, `length`."""
    length = row.get("length")
    return suite.task(_text(row, "id", where), None if length in (None, "") else str(length), where)


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise ChecklistError(f"{where}, {name}: expected a text, not {_shown(value)}")
    return value


def _verdicts(value: Any, where: str) -> list[float]:
    if isinstance(value, str):
        text = value.strip()
        value = parse_json(text, where, error=ChecklistError) if text.startswith("[") else _SEPARATORS.split(text)
    if not isinstance(value, list):
        raise ChecklistError(f"{where}: expected a list of numbers, not {_shown(value)}")
    return [number(entry, f"{where}[{place}]") for place, entry in enumerate(value)]


def number(value: Any, where: str) -> float:
    """A finite number from a cell of a table."""
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ChecklistError(f"{where}: expected a number, not {_shown(value)}")
    return found


def _shown(value: Any) -> str:
    return "nothing" if value is None or value == "" else in_one_line(repr(value), 40)

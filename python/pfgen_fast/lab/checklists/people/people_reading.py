"""Reads what annotators said about the answers of a suite, from exports and tables together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ....base.errors import ChecklistError
from ....base.untrusted_json import checked, items, member
from ....base.untrusted_text import counted, few_names, in_one_line
from ...annotations.annotation_rows import AnnotationFile, Row, read_rows
from ..checklist_runs import Run
from ..checklist_suite import ChecklistSuite
from ..line_files import text_in_cell
from ..tasks import Task
from .marks import (
    SCALES,
    Mark,
    MarkedAnswer,
    Opinion,
    Pair,
    Said,
    Scale,
    level_of,
    mark_of,
    opinion_of,
    pair_of,
    questions_sha256,
)

S = TypeVar("S", bound=Mark | Pair | Opinion)


@dataclass(frozen=True)
class People:
    """What annotators said about the answers of a suite."""

    marks: tuple[Mark, ...] = ()
    pairs: tuple[Pair, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    notes: tuple[str, ...] = ()


def read_people(
    paths: Path | Iterable[Path], suite: ChecklistSuite, *, scale: Scale | None = None, runs: Iterable[Run] = ()
) -> People:
    """Reads exports of annotators, and tables in any format that `score` reads.

    With runs, rows about answers that no run has are left out, and counted in the notes.
    """
    listed = [paths] if isinstance(paths, Path) else list(paths)
    by_subject: dict[Any, tuple[Mark | Pair | Opinion, str]] = {}
    notes: list[str] = []
    n_votes = 0
    for path in listed:
        file = read_rows(path, error=ChecklistError)
        check = _check_of(file, suite, scale)
        incomplete = [row for row in file.rows if file.header is not None and not row.is_complete]
        if incomplete:
            notes.append(f"{path}: {counted(len(incomplete), 'row')} not finished by the annotator, left out")
        unfinished = set(map(id, incomplete))
        for row in file.rows:
            if row.kind == "vote":
                n_votes += 1
            elif id(row) not in unfinished:
                entry = check(row)
                before = by_subject.setdefault(_subject(entry), (entry, row.where))
                if before[0] != entry:
                    raise ChecklistError(_contradiction(entry, row.where, before[1]))
    people = [entry for entry, _ in by_subject.values()]
    if n_votes:
        notes.append(f"{counted(n_votes, 'vote')} on kinds of damage not used here: 'discern votes' reads them")
    if not people:
        raise ChecklistError(f"{', '.join(map(str, listed))}: no marks: expected at least one row")
    return _of_runs(people, suite, list(runs), notes, scale)


def read_marks(
    paths: Path | Iterable[Path], suite: ChecklistSuite, *, scale: Scale | None = None, runs: Iterable[Run] = ()
) -> People:
    """Reads exports and tables (see `read_people`); it is an error if they have no marks."""
    people = read_people(paths, suite, scale=scale, runs=runs)
    if not people.marks:
        named = paths if isinstance(paths, Path) else ", ".join(map(str, paths))
        raise ChecklistError(f"{named}: no marks of answers: expected rows with verdicts and overall")
    return people


def task_of_row(row: Any, suite: ChecklistSuite, where: str) -> Task:
    """The task that a row of a table names by `id` and, optionally, `length`."""
    id = checked(row, lambda cells: member(cells, "id", text_in_cell), where, error=ChecklistError)
    length = row.get("length")
    return suite.task(id, None if length in (None, "") else str(length), where)


def _check_of(file: AnnotationFile, suite: ChecklistSuite, scale: Scale | None) -> Any:
    """The function that turns a row of the file into what was said; checks the header first."""
    header = file.header
    if header is not None and header.questions_sha256 not in ("", questions_sha256(suite)):
        raise ChecklistError(
            f"{file.path}: its page was made for the suite {in_one_line(header.suite, 40)} with other tasks, questions "
            f"or levels than those of {in_one_line(suite.name, 40)}; expected the version that the page was made for"
        )
    if header is None and scale is None and any(row.kind == "mark" for row in file.rows):
        raise ChecklistError(
            f"{file.path}: the scale of its verdicts is unknown; expected --scale unit (0 to 1) or --scale ui (0 to 4)"
        )

    def entry(row: Row) -> Mark | Pair | Opinion:
        task = task_of_row(row.cells, suite, row.where)
        cells = {**row.cells, "annotator": row.annotator} if row.annotator else row.cells
        if header is not None and row.kind == "mark":
            check_levels = partial(member, name="verdicts", check=lambda cell: items(cell, level_of(suite)))
            checked(cells, check_levels, row.where, error=ChecklistError)
        checks: dict[str, Callable[[Any], Mark | Pair | Opinion]] = {
            "mark": partial(mark_of, task=task, suite=suite, scale="unit" if header is not None else scale or "unit"),
            "pair": partial(pair_of, task=task),
            "judgement": partial(opinion_of, task=task, suite=suite),
        }
        return checked(cells, checks[row.kind], row.where, error=ChecklistError)

    return entry


def _subject(entry: Mark | Pair | Opinion) -> Any:
    """What an annotator can only say once."""
    if isinstance(entry, Pair):
        return "pair", entry.annotator, entry.id, entry.length, frozenset((entry.first_sha256, entry.second_sha256))
    if isinstance(entry, Opinion):
        return "opinion", entry.annotator, entry.id, entry.length, entry.judgement, entry.question
    return "mark", entry.annotator, entry.answer


def _contradiction(entry: Said, where: str, before: str) -> str:
    name, id = in_one_line(entry.annotator, 40), in_one_line(entry.id)
    if isinstance(entry, Mark):
        return (
            f"{where}: {name} has already given another mark to the same answer to {id} ({before}); expected one mark, "
            "or equal marks"
        )
    what = "choice between the same answers" if isinstance(entry, Pair) else "opinion on the same verdict"
    return f"{where}: {name} has already given another {what} to {id} ({before}); expected one"


def _of_runs(
    people: Sequence[Mark | Pair | Opinion],
    suite: ChecklistSuite,
    runs: Sequence[Run],
    notes: list[str],
    scale: Scale | None,
) -> People:
    answers: set[MarkedAnswer] = {
        (answer.id, answer.length, answer.sha256) for run in runs for answer in run.answers(suite).values()
    }
    kept = [entry for entry in people if not runs or answers.issuperset(entry.answers)]
    if not kept:
        raise ChecklistError(f"no marks are left: the runs have none of the answers of {counted(len(people), 'mark')}")
    stale = Counter(entry.id for entry in people if runs and not answers.issuperset(entry.answers))
    if stale:
        n, named = sum(stale.values()), few_names(list(stale))
        notes.append(f"{counted(n, 'mark')} not used, because no run has the answers: {named}")

    def entries(kind: type[S]) -> tuple[S, ...]:
        return tuple(entry for entry in kept if isinstance(entry, kind))

    people_left = People(entries(Mark), entries(Pair), entries(Opinion))
    return replace(people_left, notes=(*notes, *_notes(people_left.marks, scale)))


def _notes(marks: Sequence[Mark], scale: Scale | None) -> list[str]:
    notes = []
    n_broken = sum(not mark.overall.is_integer() for mark in marks)
    if n_broken:
        notes.append(f"{n_broken} of {len(marks)} overall marks are not whole numbers; they are used unrounded")
    if scale == "ui" and max((max(mark.verdicts) for mark in marks), default=1.0) <= 1 / SCALES["ui"]:
        notes.append("no verdict is above 1 of 4: is this --scale unit?")
    return notes

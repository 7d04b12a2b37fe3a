"""What annotators said: marks of answers, choices between two answers, and opinions on verdicts of judges.

The rows are in exports or tables (`annotation_rows`). Verdicts of annotation tools run from 0 to 4, those of
guidelines from 0 to 1. The scale of a table must be given, because most verdicts are possible on both; an export has
the levels of its suite.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from ...base.errors import ChecklistError
from ...base.untrusted_json import Fault, checked, items, member, one_of, unexpected
from ...base.untrusted_text import counted, few_names, in_one_line
from ..annotations.annotation_rows import AnnotationFile, Row, read_rows
from .checklist_runs import Run
from .checklist_suite import ChecklistSuite
from .judgements import Judgement
from .line_files import number_in_cell, text_in_cell
from .tasks import Task, sha256_of

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

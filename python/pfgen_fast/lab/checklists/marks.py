"""Annotations of people: marks of answers, choices between two answers, and opinions on verdicts of judges.

The rows are in exports or tables (`annotation_rows`). Verdicts of annotation tools run from 0 to 4, those of
guidelines from 0 to 1. The scale of a table must be given, because most verdicts are possible on both; an export has
the levels of its suite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ...base.errors import ChecklistError
from ...base.untrusted_json import Fault, checked, items, member, one_of, unexpected
from ...base.untrusted_text import counted, few_names, in_one_line
from ..annotations.annotation_rows import AnnotationFile, Row, read_rows
from .checklist_runs import Run
from .checklist_suite import ChecklistSuite
from .judgements import HIGHEST_MARK, Judgement
from .line_files import number_in_cell, text_in_cell
from .tasks import ChecklistTask, sha256_of

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
class Annotation:
    """An annotation about a task: the common fields of `Mark`, `PairChoice` and `Opinion`."""

    id: str
    length: str | None
    annotator: str
    area: str
    category: str
    is_unclear: bool = field(default=False, compare=False)  # flagged by the annotator
    comment: str = field(default="", compare=False)


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

    @property
    def answers(self) -> tuple[MarkedAnswer, ...]:
        """The answers that the annotator saw."""
        return (self.answer,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChoice(Annotation):
    """The choice of one annotator between two answers to a task."""

    first_sha256: str
    second_sha256: str
    choice: Choice

    @property
    def answers(self) -> tuple[MarkedAnswer, ...]:
        """The answers that the annotator saw."""
        return (self.id, self.length, self.first_sha256), (self.id, self.length, self.second_sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion(Annotation):
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
                *(row.prompt_sha256, row.profile, row.temperature, row.request, row.verdicts),
            ]
        )
    )


def questions_sha256(suite: ChecklistSuite) -> str:
    """The hash of what annotators are asked: tasks, questions and levels, but not weights, which follow from marks."""
    tasks = [[*task.key, *task.place, task.instruction_sha256] for task in suite.tasks]
    questions = [[*key, checklist.questions] for key, checklist in sorted(suite.checklists.items())]
    return sha256_of(json.dumps([tasks, questions, suite.levels], ensure_ascii=False))


def mark_of(
    row: Mapping[str, Any], task: ChecklistTask, suite: ChecklistSuite, *, scale: Scale, is_export: bool = False
) -> Mark:
    """A check of a row with a mark; the verdicts in an export are levels of the suite."""
    highest, n_questions = SCALES[scale], suite.n_questions[task.key]

    def verdict(cell: Any) -> float:
        number = number_in_cell(cell)
        if is_export and number not in suite.levels:
            listed = ", ".join(f"{level:g}" for level in suite.levels)
            raise Fault(f"the verdict {number:g} is not a level of the suite; expected one of {listed}")
        if not 0 <= number <= highest:
            hint = "; is this --scale ui?" if scale == "unit" and 1 < number <= SCALES["ui"] else ""
            raise Fault(f"the verdict {number:g}; expected 0 to {highest:g}{hint}")
        return number / highest

    def overall(cell: Any) -> float:
        number = number_in_cell(cell)
        if not 0 <= number <= HIGHEST_MARK:
            raise Fault(f"{number:g}; expected a mark from 0 to {HIGHEST_MARK:g}")
        return number

    def texts(cell: Any) -> Any:  # they may be in brackets
        return _SEPARATORS.split(cell.strip().strip("[]").strip()) if isinstance(cell, str) else cell

    place = _annotation_fields(row, task)
    verdicts = member(row, "verdicts", lambda cell: items(texts(cell), verdict))
    if len(verdicts) != n_questions:
        raise Fault(f"expected {n_questions}, one for each question, not {len(verdicts)}").inside(".verdicts")
    sha256 = member(row, "response_sha256", text_in_cell)
    return Mark(**place, response_sha256=sha256, verdicts=verdicts, overall=member(row, "overall", overall))


def pair_of(row: Mapping[str, Any], task: ChecklistTask) -> PairChoice:
    """A check of a row with a choice between two answers."""
    place = _annotation_fields(row, task)
    first, second = (member(row, name, text_in_cell) for name in ("first_sha256", "second_sha256"))
    if first == second:
        raise Fault("the same answer twice; expected two different answers").inside(".second_sha256")
    choice = member(row, "choice", one_of(("first", "second", "tie")))
    return PairChoice(**place, first_sha256=first, second_sha256=second, choice=choice)


def opinion_of(row: Mapping[str, Any], task: ChecklistTask, suite: ChecklistSuite) -> Opinion:
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

    place = _annotation_fields(row, task)
    sha256, judgement = (member(row, name, text_in_cell) for name in ("response_sha256", "judgement"))
    number = member(row, "question", question)
    is_reasonable = member(row, "is_reasonable", truth)
    return Opinion(**place, response_sha256=sha256, judgement=judgement, question=number, is_reasonable=is_reasonable)


def _annotation_fields(row: Mapping[str, Any], task: ChecklistTask) -> dict[str, Any]:
    """The fields of `Annotation`."""
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


Entry = Mark | PairChoice | Opinion


@dataclass(frozen=True)
class People:
    """The annotations about the answers of a suite."""

    marks: tuple[Mark, ...] = ()
    pairs: tuple[PairChoice, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    notes: tuple[str, ...] = ()


def read_people(
    paths: Path | Iterable[Path], suite: ChecklistSuite, *, scale: Scale | None = None, runs: Iterable[Run] = ()
) -> People:
    """Reads exports of annotators, and tables in any format that `score` reads.

    With runs, rows about answers that no run has are left out, and counted in the notes.
    """
    listed = [paths] if isinstance(paths, Path) else list(paths)
    by_subject: dict[Any, tuple[Entry, str]] = {}
    notes: list[str] = []
    n_votes = 0
    for path in listed:
        file = read_rows(path, error=ChecklistError)
        check = _check_of(file, suite, scale)
        n_unfinished = 0
        for row in file.rows:
            if row.kind == "vote":
                n_votes += 1
            elif file.header is not None and not row.is_complete:
                n_unfinished += 1
            else:
                entry = check(row)
                what, _ = subject = _subject(entry)
                before, place = by_subject.setdefault(subject, (entry, row.where))
                if before != entry:
                    name, id = in_one_line(entry.annotator, 40), in_one_line(entry.id)
                    before_that = f"{name} has already given another {what} to {id} ({place})"
                    raise ChecklistError(f"{row.where}: {before_that}; expected one, or equal ones")
        if n_unfinished:
            notes.append(f"{path}: {counted(n_unfinished, 'row')} not finished by the annotator, left out")
    if n_votes:
        notes.append(f"{counted(n_votes, 'vote')} on kinds of damage not used here: 'discern votes' reads them")
    people, opened = [entry for entry, _ in by_subject.values()], list(runs)
    if not people:
        raise ChecklistError(f"{', '.join(map(str, listed))}: no marks: expected at least one row")
    answers = {(answer.id, answer.length, answer.sha256) for run in opened for answer in run.answers(suite).values()}
    stale = [entry for entry in people if opened and not answers.issuperset(entry.answers)]
    if len(stale) == len(people):
        raise ChecklistError(f"no marks are left: the runs have none of the answers of {counted(len(people), 'mark')}")
    if stale:
        named = few_names(list(dict.fromkeys(entry.id for entry in stale)))
        notes.append(f"{counted(len(stale), 'mark')} not used, because no run has the answers: {named}")
    kept = [entry for entry in people if not opened or answers.issuperset(entry.answers)]
    marks = tuple(entry for entry in kept if isinstance(entry, Mark))
    n_broken = sum(not mark.overall.is_integer() for mark in marks)
    if n_broken:
        notes.append(f"{n_broken} of {len(marks)} overall marks are not whole numbers; they are used unrounded")
    if scale == "ui" and max((max(mark.verdicts) for mark in marks), default=1.0) <= 1 / SCALES["ui"]:
        notes.append("no verdict is above 1 of 4: is this --scale unit?")
    pairs = tuple(entry for entry in kept if isinstance(entry, PairChoice))
    return People(marks, pairs, tuple(entry for entry in kept if isinstance(entry, Opinion)), tuple(notes))


def read_marks(
    paths: Path | Iterable[Path], suite: ChecklistSuite, *, scale: Scale | None = None, runs: Iterable[Run] = ()
) -> People:
    """Reads exports and tables (see `read_people`); it is an error if they have no marks."""
    people = read_people(paths, suite, scale=scale, runs=runs)
    if not people.marks:
        named = paths if isinstance(paths, Path) else ", ".join(map(str, paths))
        raise ChecklistError(f"{named}: no marks of answers: expected rows with verdicts and overall")
    return people


def task_of_row(row: Any, suite: ChecklistSuite, where: str) -> ChecklistTask:
    """The task that a row of a table names by `id` and, optionally, `length`."""
    id = checked(row, lambda cells: member(cells, "id", text_in_cell), where, error=ChecklistError)
    length = row.get("length")
    return suite.task(id, None if length in (None, "") else str(length), where)


def _check_of(file: AnnotationFile, suite: ChecklistSuite, scale: Scale | None) -> Callable[[Row], Entry]:
    """The function that turns a row of the file into an annotation; checks the header first."""
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

    def entry(row: Row) -> Entry:
        task = task_of_row(row.cells, suite, row.where)
        cells = {**row.cells, "annotator": row.annotator} if row.annotator else row.cells
        used, is_export = scale or "unit", header is not None
        checks: dict[str, Callable[[Any], Entry]] = {
            "mark": partial(mark_of, task=task, suite=suite, scale="unit" if is_export else used, is_export=is_export),
            "pair": partial(pair_of, task=task),
            "judgement": partial(opinion_of, task=task, suite=suite),
        }
        return checked(cells, checks[row.kind], row.where, error=ChecklistError)

    return entry


def _subject(entry: Entry) -> tuple[str, Any]:
    """What an annotator can only say once, in words and as a key."""
    if isinstance(entry, PairChoice):
        hashes = frozenset((entry.first_sha256, entry.second_sha256))
        return "choice between the same answers", (entry.annotator, entry.id, entry.length, hashes)
    if isinstance(entry, Opinion):
        place = (entry.judgement, entry.question)
        return "opinion on the same verdict", (entry.annotator, entry.id, entry.length, *place)
    return "mark to the same answer", (entry.annotator, entry.answer)

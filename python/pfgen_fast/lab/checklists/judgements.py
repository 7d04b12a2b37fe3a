"""Judgements: a judge's verdicts on an answer, question by question, and their files.

Judgements are derived from stored replies (`lab.judging.reply_store`), so a file of judgements can be deleted. A
judgement contains the hashes of its answer, instruction, checklist and prompt. If one of them has changed, it is stale.
Equal judgements count once; two different judgements of the same answer by the same judge are an error.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ...base.errors import ChecklistError
from ...base.untrusted_json import count, finite, items, one_of, or_none, text
from ...base.untrusted_text import in_one_line
from .checklist_suite import ChecklistSuite, hashes_of
from .line_files import OnFault, checked_objects, fields_of, number_from_one, whole_text, write_objects
from .tasks import METHODS, AnswerKey, Method


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts of one judge on one answer.

    Attributes:
        verdicts: One for each question, one of the suite's levels; or only the overall rating, 0 to 10. None if the
            answer is unjudged.
        trial: The number of the answer among several to the same task.
        judge: The model's name in requests.
        version: The model's name in replies, with the server's fingerprint; None if unknown.
        rating: The number of the rating among several of the same answer.
        reasons: The judge's reason for each verdict; None where there is no reason. Empty if they were not read.
        prompt_sha256: The hash of the prompts and the profile; None if unknown, like the other hashes.
        checklist_sha256: The hash of the questions.
        tries: The number of requests.
        fault: Why the last reply was unusable, if the answer is unjudged.
        cut: Whether the judge only saw the beginning of the answer.
        words: The number of words of the answer, if it was published with the judgement.
        most_repeated_sentence: The count of the most frequent sentence in the answer, if it was published.
        profile: How the answer was shown in the request, such as `plain`; None if unknown.
        request: The unusual parts of the request, such as its engine, as JSON; None without unusual parts.
    """

    id: str
    response_sha256: str
    verdicts: tuple[float, ...] | None
    length: str | None = None
    trial: int = 1
    judge: str = ""
    version: str | None = None
    method: Method = "checklist"
    rating: int = 1
    reasons: tuple[str | None, ...] = ()
    prompt_sha256: str | None = None
    checklist_sha256: str | None = None
    instruction_sha256: str | None = None
    tries: int = 1
    fault: str | None = None
    cut: bool = False
    words: int | None = None
    most_repeated_sentence: int | None = None
    profile: str | None = None
    temperature: float | None = None
    request: str | None = None

    @property
    def key(self) -> AnswerKey:
        """The answer that was judged."""
        return self.id, self.length, self.trial


_COUNTS = ("trial", "rating", "tries", "words", "most_repeated_sentence")
HIGHEST_MARK = 10.0
"""The best overall rating of an answer, by a judge or a person."""
_VERDICTS = "scores"  # the key of the verdicts in files


def _key(name: str) -> str:
    """The key of a field in files."""
    return _VERDICTS if name == "verdicts" else name


def read_judgements(
    path: Path, suite: ChecklistSuite, *, with_reasons: bool = True, on_fault: OnFault | None = None
) -> list[Judgement]:
    """The judgements of a file, in the order of the file."""
    checks = {name: check for name, check in _CHECKS.items() if with_reasons or name != "reasons"}

    def judgement_of(value: Any) -> Judgement:
        cells = fields_of(value, checks, ("id", "response_sha256", _VERDICTS))
        return Judgement(verdicts=cells.pop(_VERDICTS), **cells)

    kept: list[Judgement] = []
    first: dict[AnswerKey, Judgement] = {}
    several: dict[Hashable, Judgement] = {}  # of answers with several ratings or judges
    check = _check_of(suite)
    for where, judgement in checked_objects(path, judgement_of, on_fault=on_fault):
        check(judgement, where)
        earliest = first.setdefault(judgement.key, judgement)
        if earliest is not judgement:
            several.setdefault(identity(earliest), earliest)
            former = several.setdefault(identity(judgement), judgement)
            if former.verdicts != judgement.verdicts:
                second = f"{where}: a second judgement of {in_one_line(judgement.id)} by the same judge"
                raise ChecklistError(f"{second}, with other verdicts than the first; expected only one")
            if former is not judgement:
                continue
        kept.append(judgement)
    return kept


def write_judgements(path: Path, judgements: Iterable[Judgement]) -> None:
    """Writes a file of judgements atomically, compressed as its extension says; lines leave out default values."""
    usual = {field.name: field.default for field in fields(Judgement)}

    def row(judgement: Judgement) -> dict[str, Any]:
        values = ((name, getattr(judgement, name)) for name in usual)
        return {_key(name): value for name, value in values if name == "length" or value != usual[name]}

    write_objects(path, map(row, judgements))


def identity(judgement: Judgement) -> Hashable:
    """The values that two judgements of the same answer by the same judge share."""
    return (
        *(judgement.id, judgement.length, judgement.trial, judgement.response_sha256, judgement.checklist_sha256),
        *(judgement.judge, judgement.version, judgement.method, judgement.rating),
        *(judgement.prompt_sha256, judgement.instruction_sha256, judgement.profile, judgement.temperature),
        judgement.request,
    )


def _check_of(suite: ChecklistSuite) -> Callable[[Judgement, str], None]:
    valid_levels, all_questions, hashes = frozenset(suite.levels), suite.n_questions, hashes_of(suite).tasks

    def check(judgement: Judgement, where: str) -> None:
        n_questions, verdicts = all_questions.get((judgement.id, judgement.length)), judgement.verdicts
        if n_questions is None:
            suite.task(judgement.id, judgement.length, where)  # raises the error
            return
        if verdicts is None or judgement.checklist_sha256 not in (None, hashes[judgement.id, judgement.length][1]):
            return  # unjudged, or stale because the checklist has changed since
        n_expected = n_questions if judgement.method == "checklist" else 1
        if len(verdicts) != n_expected or len(judgement.reasons) not in (0, n_expected):
            listed, what = (verdicts, "verdicts") if len(verdicts) != n_expected else (judgement.reasons, "reasons")
            raise ChecklistError(f"{where}: {len(listed)} {what}; expected {n_expected}, one for each question")
        if judgement.method != "checklist":
            if not 0 <= verdicts[0] <= HIGHEST_MARK:
                raise ChecklistError(
                    f"{where}: the rating {verdicts[0]:g}; expected a number from 0 to {HIGHEST_MARK:g}"
                )
        elif not valid_levels.issuperset(verdicts):
            question, verdict = next(pair for pair in enumerate(verdicts) if pair[1] not in valid_levels)
            levels = ", ".join(f"{level:g}" for level in suite.levels)
            raise ChecklistError(
                f"{where}, question {question}: the verdict {verdict!r} is not a level of the suite; expected one of "
                f"{levels}"
            )

    return check


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys((_key(field.name) for field in fields(Judgement)), text),
    "id": whole_text,
    _VERDICTS: or_none(lambda value: items(value, finite)),
    "method": one_of(METHODS),
    "reasons": lambda value: items(value, or_none(text)),
    "cut": one_of((True, False)),
    "temperature": finite,
    **dict.fromkeys(_COUNTS, count),
    **dict.fromkeys(("trial", "rating"), number_from_one),
}

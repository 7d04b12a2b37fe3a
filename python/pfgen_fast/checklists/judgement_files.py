"""Reads and writes files of judgements: JSON lines, compressed or not, and Parquet.

Equal judgements count once; two different judgements of the same answer by the same judge are an error.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from ..errors import ChecklistError
from ..files.compression import compressing
from ..files.journal import json_line
from ..files.untrusted_json import Fault, count, items, member, number, or_none, text, unexpected
from ..files.untrusted_text import in_one_line
from ..files.writing import writing_whole
from .judgement_parquet import read_parquet, write_parquet
from .judgements import METHODS, AnswerKey, Judgement, Method
from .line_files import OnFault, checked_objects, number_from_one, whole_text
from .suite import ChecklistSuite, hashes_of

_NAMES = tuple(field.name for field in fields(Judgement))
_ALWAYS = ("id", "length", "response_sha256", "scores")
_BEST_RATING = 10.0


def read_judgements(
    path: Path, suite: ChecklistSuite, *, with_reasons: bool = True, on_fault: OnFault | None = None
) -> list[Judgement]:
    """The judgements of a file, in its order."""
    if path.suffix == ".parquet":
        rows: Iterable[tuple[str, Judgement]] = read_parquet(path, with_reasons=with_reasons)
    else:
        rows = checked_objects(path, _with_reasons if with_reasons else _judgement, on_fault=on_fault)
    check = _check_of(suite)
    found: list[Judgement] = []
    first: dict[AnswerKey, Judgement] = {}
    several: dict[Hashable, Judgement] = {}  # of answers with several ratings or judges
    for where, judgement in rows:
        check(judgement, where)
        of_answer = first.setdefault(judgement.key, judgement)
        if of_answer is not judgement:
            several.setdefault(_identity(of_answer), of_answer)
            former = several.setdefault(_identity(judgement), judgement)
            if former.scores != judgement.scores:
                raise ChecklistError(
                    f"{where}: another judgement of {in_one_line(judgement.id)} by the same judge came before, with "
                    "other verdicts; expected one"
                )
            if former is not judgement:
                continue
        found.append(judgement)
    return found


def write_judgements(path: Path, judgements: Iterable[Judgement]) -> None:
    """Writes a file of judgements atomically, in the format of its extension; lines leave out default values."""
    if path.suffix == ".parquet":
        with writing_whole(path) as file:
            write_parquet(file, list(judgements))
        return
    with writing_whole(path) as file, compressing(file, path) as packed:
        for judgement in judgements:
            packed.write(json_line(_entry(judgement)))


def _entry(judgement: Judgement) -> dict[str, Any]:
    values = ((name, getattr(judgement, name)) for name in _NAMES)
    return {name: value for name, value in values if name in _ALWAYS or value != _USUAL[name]}


_USUAL = {name: getattr(Judgement("", "", None), name) for name in _NAMES}


def _identity(judgement: Judgement) -> Hashable:
    """The values that two judgements of the same answer by the same judge share."""
    return (
        *(judgement.id, judgement.length, judgement.trial, judgement.response_sha256, judgement.checklist_sha256),
        *(judgement.judge, judgement.version, judgement.method, judgement.rating),
        *(judgement.prompt_sha256, judgement.instruction_sha256, judgement.profile, judgement.temperature),
    )


def _check_of(suite: ChecklistSuite) -> Callable[[Judgement, str], None]:
    valid_levels, all_questions, hashes = frozenset(suite.levels), suite.n_questions, hashes_of(suite).tasks

    def check(judgement: Judgement, where: str) -> None:
        n_questions, scores = all_questions.get((judgement.id, judgement.length)), judgement.scores
        if n_questions is None:
            suite.task(judgement.id, judgement.length, where)  # raises the error
            return
        if scores is None or judgement.checklist_sha256 not in (None, hashes[judgement.id, judgement.length][1]):
            return  # unjudged, or stale because the checklist has changed since
        n_expected = n_questions if judgement.method == "checklist" else 1
        if len(scores) != n_expected or len(judgement.reasons) not in (0, n_expected):
            listed, what = (scores, "verdicts") if len(scores) != n_expected else (judgement.reasons, "reasons")
            raise ChecklistError(f"{where}: {len(listed)} {what}; expected {n_expected}, one for each question")
        if judgement.method != "checklist":
            if not 0 <= scores[0] <= _BEST_RATING:
                raise ChecklistError(f"{where}: the rating {scores[0]:g}; expected a number from 0 to {_BEST_RATING:g}")
        elif not valid_levels.issuperset(scores):
            question, verdict = next(pair for pair in enumerate(scores) if pair[1] not in valid_levels)
            levels = ", ".join(f"{level:g}" for level in suite.levels)
            raise ChecklistError(
                f"{where}, question {question}: the verdict {verdict!r} is not a level of the suite; expected one of "
                f"{levels}"
            )

    return check


def _with_reasons(value: Any) -> Judgement:
    return _judgement(value, member(value, "reasons", lambda entry: items(entry, _text_or_none), ()))


def _judgement(value: Any, reasons: tuple[str | None, ...] = ()) -> Judgement:
    return Judgement(
        id=member(value, "id", whole_text),
        response_sha256=member(value, "response_sha256", text),
        scores=member(value, "scores", _scores),
        length=member(value, "length", _text_or_none, None),
        trial=member(value, "trial", number_from_one, 1),
        judge=member(value, "judge", text, ""),
        version=member(value, "version", _text_or_none, None),
        method=member(value, "method", _method, "checklist"),
        rating=member(value, "rating", number_from_one, 1),
        reasons=reasons,
        prompt_sha256=member(value, "prompt_sha256", _text_or_none, None),
        checklist_sha256=member(value, "checklist_sha256", _text_or_none, None),
        instruction_sha256=member(value, "instruction_sha256", _text_or_none, None),
        tries=member(value, "tries", count, 1),
        fault=member(value, "fault", _text_or_none, None),
        cut=member(value, "cut", _truth, False),
        words=member(value, "words", _count_or_none, None),
        most_repeated_sentence=member(value, "most_repeated_sentence", _count_or_none, None),
        profile=member(value, "profile", _text_or_none, None),
        temperature=member(value, "temperature", _verdict_or_none, None),
    )


def _verdict(value: Any) -> float:
    found = number(value)
    if found != found:
        raise Fault("expected a number, not NaN")
    return found


_text_or_none = or_none(text)
_count_or_none = or_none(count)
_verdict_or_none = or_none(_verdict)
_scores = or_none(lambda value: items(value, _verdict))


def _method(value: Any) -> Method:
    if value not in METHODS:
        raise unexpected("checklist, llm-eval or llm-eval-c", value)
    return cast(Method, value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise unexpected("true or false", value)
    return value

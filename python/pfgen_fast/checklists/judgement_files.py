"""Reads and writes files of judgements. The compact form of published judgements is the same with fewer keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import ChecklistError
from ..files.compression import compressing
from ..files.foreign_json import Fault, checked, count, items, member, number, text, unexpected
from ..files.journal import json_line
from ..files.writing import writing_whole
from .judgements import Judgement
from .line_files import numbered_objects
from .suite import ChecklistSuite

_NAMES = tuple(field.name for field in fields(Judgement))


def read_judgements(path: Path, suite: ChecklistSuite, *, with_reasons: bool = True) -> list[Judgement]:
    """The judgements of a file, in its order; equal ones once."""
    found: dict[tuple[object, ...], Judgement] = {}
    for where, value in numbered_objects(path):
        judgement = checked(value, _judgement, where, error=ChecklistError)
        task = suite.task(judgement.id, judgement.length, where)
        n_questions = len(suite.checklist(task).questions)
        if judgement.method == "checklist" and judgement.scores is not None:
            if len(judgement.scores) != n_questions:
                raise ChecklistError(f"{where}: {len(judgement.scores)} verdicts; expected {n_questions}")
            for question, score in enumerate(judgement.scores):
                if score not in suite.levels:
                    raise ChecklistError(
                        f"{where}, question {question}: the verdict {score:g} is no level of the suite"
                    )
        key = (judgement.key, judgement.judge, judgement.version, judgement.method, judgement.rating)
        if key in found and found[key].scores != judgement.scores:
            raise ChecklistError(f"{where}: another judgement of {judgement.id} by the same judge came before")
        found.setdefault(key, judgement)
    return list(found.values())


def write_judgements(path: Path, judgements: Iterable[Judgement]) -> None:
    """Writes a file of judgements atomically; what is not known is left out."""
    usual = Judgement("", "", None)
    with writing_whole(path) as file, compressing(file, path) as packed:
        for judgement in judgements:
            values = {name: getattr(judgement, name) for name in _NAMES}
            needed = ("id", "length", "response_sha256", "scores")
            packed.write(json_line({k: v for k, v in values.items() if k in needed or v != getattr(usual, k)}))


def _judgement(value: Any) -> Judgement:
    def optional_text(entry: Any) -> str | None:
        return None if entry is None else text(entry)

    def scores(entry: Any) -> tuple[float, ...] | None:
        return None if entry is None else items(entry, _score)

    return Judgement(
        id=member(value, "id", text),
        response_sha256=member(value, "response_sha256", text),
        scores=member(value, "scores", scores),
        length=member(value, "length", optional_text, None),
        trial=member(value, "trial", count, 1),
        judge=member(value, "judge", text, ""),
        version=member(value, "version", optional_text, None),
        method=member(value, "method", _method, "checklist"),
        rating=member(value, "rating", count, 1),
        reasons=member(value, "reasons", lambda entry: items(entry, optional_text), ()),
        prompt_sha256=member(value, "prompt_sha256", optional_text, None),
        checklist_sha256=member(value, "checklist_sha256", optional_text, None),
        tries=member(value, "tries", count, 1),
        fault=member(value, "fault", optional_text, None),
        cut=member(value, "cut", bool, False),
        words=member(value, "words", lambda entry: None if entry is None else count(entry), None),
        most_repeated_sentence=member(
            value, "most_repeated_sentence", lambda entry: None if entry is None else count(entry), None
        ),
        profile=member(value, "profile", optional_text, None),
        temperature=member(value, "temperature", lambda entry: None if entry is None else number(entry), None),
    )


def _score(value: Any) -> float:
    score = number(value)
    if score != score:
        raise Fault("expected a number")
    return score


def _method(value: Any) -> Any:
    if value not in ("checklist", "llm-eval", "llm-eval-c"):
        raise unexpected("checklist, llm-eval or llm-eval-c", value)
    return value

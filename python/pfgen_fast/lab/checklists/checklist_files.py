"""Reads the checklists of a suite and their weights: checklists.json and weights.json."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ...base.errors import ChecklistError
from ...base.untrusted_json import MAX_NUMBER, Fault, count, entries, items, member, unexpected
from ...base.untrusted_text import few_names, in_one_line, unknown_name
from .line_files import filled, json_file, whole_text
from .tasks import Checklist

T = TypeVar("T")

CHECKLISTS_FILE = "checklists.json"
WEIGHTS_FILE = "weights.json"
COMMON = "common"
"""The key of lists of questions that categories share, unless the suite has an area of this name."""

Categories = dict[tuple[str, str], T]
"""By area and category."""

_question = filled("a question")
_MAX_QUESTIONS = 1000
_SAID_SUM = 1e-6
_EXACT_SUM = 1e-12
"""Weights whose sum differs from 100 by at most this stay unchanged, so writing and reading does not change them."""


def read_checklists(folder: Path, areas: tuple[str, ...] | None) -> tuple[Categories[Checklist], list[str]]:
    """The checklists of a suite, and notes on their weights."""
    questions = _read_questions(folder / CHECKLISTS_FILE, areas)
    path = folder / WEIGHTS_FILE
    weights = json_file(path, _by_category(weights_of)) if path.exists() else {}
    return with_weights(questions, weights, str(path))


def with_weights(
    questions: Categories[tuple[str, ...]], weights: Categories[tuple[float, ...]], where: str
) -> tuple[Categories[Checklist], list[str]]:
    """Makes the checklists of questions and weights (equal by default), and notes on the weights."""
    for key, own in weights.items():
        if key not in questions:
            known = map(shown_key, questions)
            raise ChecklistError(f"{where}: {unknown_name('category', shown_key(key), known)}")
        if len(own) != len(questions[key]):
            raise ChecklistError(
                f"{where}, {shown_key(key)}: expected {len(questions[key])} weights, one for each question, "
                f"not {len(own)}"
            )
    checklists = {key: checklist_of(key, asked, weights.get(key)) for key, asked in questions.items()}
    sums = {shown_key(key): math.fsum(own) for key, own in weights.items()}
    others = [f"{key} ({total:g})" for key, total in sums.items() if abs(total - 100) > _SAID_SUM]
    listed = few_names(others, n_code_points=200)
    return checklists, [f"weights were divided by their sum, which was not 100: {listed}"] if others else []


def checklist_of(
    key: tuple[str, str], questions: tuple[str, ...], weights: tuple[float, ...] | None = None
) -> Checklist:
    """Makes the checklist of a category. The sum of its weights becomes 100; by default they are equal."""
    if weights is None:
        return Checklist(*key, questions, (100 / len(questions),) * len(questions), has_weights=False)
    total = math.fsum(weights)
    if abs(total - 100) > _EXACT_SUM:
        weights = tuple(weight / total * 100 for weight in weights)
    return Checklist(*key, questions, weights)


def by_area(categories: Mapping[tuple[str, str], T]) -> dict[str, dict[str, T]]:
    """Values of categories in the form of files: by area, then by category."""
    areas: dict[str, dict[str, T]] = {}
    for (area, category), value in categories.items():
        areas.setdefault(area, {})[category] = value
    return areas


def shown_key(key: tuple[str, str]) -> str:
    """A category with its area, for messages."""
    return "/".join(in_one_line(part, 60) for part in key)


def weights_of(value: Any) -> tuple[float, ...]:
    """A check of a list of weights."""
    return items(value, _weight)


def _weight(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_NUMBER:
        raise unexpected("a weight above 0", value)
    return float(value)


def questions_of(value: Any) -> tuple[str, ...]:
    """A check of a list of questions."""
    questions = items(value, _question)
    if not questions:
        raise Fault("expected at least one question, not an empty list")
    if len(questions) > _MAX_QUESTIONS:
        raise Fault(f"expected at most {_MAX_QUESTIONS} questions, not {len(questions)}")
    return questions


def _by_category(check: Callable[[Any], T]) -> Callable[[Any], Categories[T]]:
    def check_areas(value: Any) -> Categories[T]:
        areas = entries(value, lambda area: entries(area, check))
        return {(area, category): value for area, inner in areas.items() for category, value in inner.items()}

    return check_areas


def _read_questions(path: Path, areas: tuple[str, ...] | None) -> Categories[tuple[str, ...]]:
    def check(value: Any) -> Categories[tuple[str, ...]]:
        own, common = value, {}
        if isinstance(value, dict) and COMMON in value and COMMON not in (areas or ()):
            common = member(value, COMMON, lambda lists: entries(lists, questions_of))
            own = {area: inner for area, inner in value.items() if area != COMMON}
        return _by_category(lambda listed: _with_common(listed, common))(own)

    questions = json_file(path, check)
    for area, category in questions:
        if areas is not None and area not in areas:
            raise ChecklistError(f"{path}: {shown_key((area, category))}: {unknown_name('area', area, areas)}")
    if not questions:
        raise ChecklistError(f"{path}: no checklists; expected an object of areas, categories and questions")
    return questions


def _with_common(value: Any, common: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The questions of a category: a list, or its own questions inside a common list."""
    if not isinstance(value, dict):
        return questions_of(value)
    name = member(value, "common", whole_text)
    if name not in common:
        raise Fault(unknown_name("common list", name, common)).inside(".common")
    shared = common[name]
    own: tuple[str, ...] = member(value, "own", lambda listed: items(listed, _question), ())
    at = member(value, "at", count, len(shared))
    if at > len(shared):
        fault = Fault(f"expected a place from 0 to {len(shared)} in the list '{in_one_line(name)}', not {at}")
        raise fault.inside(".at")
    return (*shared[:at], *own, *shared[at:])

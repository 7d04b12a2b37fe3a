"""Tables of scores with full digits, as JSON and CSV; `text_tables` makes readable tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from ...files.cells import csv_text, place_cell
from ..suite import ChecklistSuite, by_part
from .scores import OF_LENGTH, Average, ModelScores, Part, Scores

_FIGURES = ("score", "rescaled", "rescaled_plain", "rescaled_missing_as_zero", "rescaled_missing_skipped", "words")


def to_dict(scores: Scores, *, with_questions: bool = False) -> dict[str, Any]:
    """The scores for JSON, with full digits; None for a missing value."""
    names = category_names(scores.suite)
    rows = [
        _row(model, place, names, scores.suite if with_questions else None)
        for model, place in zip(scores.models, scores.places, strict=True)
    ]
    return {
        "suite": scores.suite.name,
        "suite_sha256": scores.suite.hash,
        "method": scores.method,
        "weights": scores.weights,
        "missing": scores.missing,
        "draws": scores.draws,
        "rows": rows,
        "groups": [[model.model for model in scores.models[first : last + 1]] for first, last in scores.groups],
        "notes": list(scores.notes),
    }


def category_names(suite: ChecklistSuite) -> dict[tuple[str, str], str]:
    """The names of categories in the order of areas and tasks, with the area where several have the same name."""
    keys = dict.fromkeys(task.place for task in suite.tasks)
    ordered = sorted(keys, key=lambda key: suite.areas.index(key[0]))
    names = [category for _, category in ordered]
    return {key: key[1] if names.count(key[1]) == 1 else f"{key[0]}/{key[1]}" for key in ordered}


def question_means(model: ModelScores) -> dict[tuple[str, str], tuple[float, ...]]:
    """The mean verdict on each question of each category, over the judged answers to tasks without a length."""
    return {
        key: tuple(map(fmean, zip(*(answer.verdicts for answer in answers), strict=True)))
        for key, answers in by_part(model.answers, "category").items()
    }


def to_csv(scores: Scores) -> str:
    """The scores as CSV with full digits: a row for each model and part, and one for its average."""
    counts = ("n", "missing", "unjudged", "stale")
    figures = (*counts, *_FIGURES, "rescaled_over_answers", "low", "high", *OF_LENGTH)
    columns = ("place", "model", "kind", "part", *figures, "signature")
    names = category_names(scores.suite)
    rows: list[list[Any]] = []
    for model, place in zip(scores.models, scores.places, strict=True):
        parts: list[tuple[str, str, Part | Average]] = [("average", "", model.average)]
        parts += [("area", area, part) for area, part in model.areas.items()]
        parts += [("category", names[key], part) for key, part in model.categories.items()]
        parts += [("length", length, part) for length, part in model.lengths.items()]
        for kind, name, part in parts:
            values = [getattr(part, column, None) for column in figures]
            cells = (len(value) if isinstance(value, tuple) else value for value in values)
            rows.append([place_cell(place), model.model, kind, name, *cells, model.signature])
    return csv_text(columns, rows)


ANSWER_COLUMNS = {"item": str, "model": str, "trial": int, "subject": str, "score": float}
"""The columns of `answer_rows`, and their types."""


def answer_rows(scores: Scores) -> Iterator[tuple[str, str, int, str, float]]:
    """A row for each judged answer; `compare` and `leaderboard` read such tables."""
    for model in scores.models:
        for answer in model.answers:
            id, length, trial = answer.key
            yield id if length is None else f"{id}/{length}", model.model, trial, answer.task.area, answer.score


def _row(
    model: ModelScores,
    place: float | None,
    names: Mapping[tuple[str, str], str],
    suite: ChecklistSuite | None,
) -> dict[str, Any]:
    categories = {names[key]: _part(part) for key, part in model.categories.items()}
    for key, means in question_means(model).items():
        checklist = suite and suite.checklists[key]
        if checklist and len(means) == len(checklist.questions):
            columns = zip(checklist.questions, checklist.weights, means, strict=True)
            categories[names[key]]["questions"] = [
                dict(zip(("question", "weight", "mean"), x, strict=True)) for x in columns
            ]
    average = model.average
    return {
        "model": model.model,
        "name": model.name,
        "place": place_cell(place),
        "signature": model.signature,
        "areas": {area: _part(part) for area, part in model.areas.items()},
        "categories": categories,
        "average": {
            **{name: getattr(average, name) for name in _FIGURES if name != "score"},
            "rescaled_over_answers": average.rescaled_over_answers,
            "bootstrap_95": _ends(average),
        },
        "lengths": {
            length: _part(part) | {name: getattr(part, name) for name in OF_LENGTH}
            for length, part in model.lengths.items()
        },
    }


def _part(part: Part) -> dict[str, Any]:
    listed = {name: list(getattr(part, name)) for name in ("missing", "unjudged", "stale")}
    figures = {name: getattr(part, name) for name in _FIGURES}
    return {"n": part.n, **listed, **figures, "bootstrap_95": _ends(part)}


def _ends(part: Part | Average) -> list[float] | None:
    return None if part.low is None or part.high is None else [part.low, part.high]

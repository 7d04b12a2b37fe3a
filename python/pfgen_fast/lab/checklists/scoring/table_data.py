"""Tables of scores with full digits, as JSON and CSV; `text_tables` makes readable tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from ....base.untrusted_text import csv_text, place_cell
from ..checklist_suite import ChecklistSuite, by_part
from ..rejections import UNANSWERED
from .calibrated import CALIBRATED
from .scores import OF_LENGTH, ModelScores, Part, Scores

_FIGURES = ("score", "rescaled", "rescaled_plain", "rescaled_missing_as_zero", "rescaled_missing_skipped", "words")


_Names = Mapping[tuple[str, str], str]


def to_dict(scores: Scores, *, with_questions: bool = False) -> dict[str, Any]:
    """The scores for JSON, with full digits; None for a missing value."""
    names = category_names(scores.suite)
    rows = [
        {**_row(scores, model, place, names, with_questions=with_questions), "rank_range": ranks and list(ranks)}
        for model, place, ranks in zip(scores.models, scores.places, scores.ranks, strict=True)
    ]
    if scores.missing == "bounds":
        for row, places in zip(rows, scores.place_bounds, strict=True):
            row["place_bounds"] = places and list(map(place_cell, places))
    return {
        "suite": scores.suite.name,
        "suite_sha256": scores.suite.hash,
        "method": scores.method,
        "weights": scores.weights,
        "missing": scores.missing,
        "rows": rows,
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
    figures = (*_FIGURES, "rescaled_over_answers", "low", "high", *OF_LENGTH)
    bounds = ("worst", "best", *UNANSWERED)
    columns = ("place", "model", "kind", "part", *counts, *figures, "signature", *bounds, "best_place", "worst_place")
    columns += CALIBRATED if scores.calibrated else ()
    names = category_names(scores.suite)
    rows: list[list[Any]] = []
    for model, place, places in zip(scores.models, scores.places, scores.place_bounds, strict=True):
        parts: list[tuple[str, str, Part]] = [("average", "", model.average)]
        parts += [("area", area, part) for area, part in model.areas.items()]
        parts += [("category", names[key], part) for key, part in model.categories.items()]
        parts += [("length", length, part) for length, part in model.lengths.items()]
        for kind, name, part in parts:
            tasks = None if kind == "average" else part
            row = [place_cell(place), model.model, kind, name, *_cells(tasks, counts), *_cells(part, figures)]
            known = tasks if model.has_texts else None
            row += [model.signature, *_cells(part, bounds[:2]), *_cells(known, bounds[2:])]
            row += map(place_cell, places or (None, None))
            if scores.calibrated:
                mean = scores.calibrated[model.model].get(name) if kind in ("average", "area") else None
                row += [mean and mean.to_dict()[column] for column in CALIBRATED]
            rows.append(row)
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
    scores: Scores,
    model: ModelScores,
    place: float | None,
    names: Mapping[tuple[str, str], str],
    *,
    with_questions: bool,
) -> dict[str, Any]:
    part_of = partial(_part, model, scores)
    categories = {names[key]: part_of(part) for key, part in model.categories.items()}
    for key, means in question_means(model).items():
        checklist = scores.suite.checklists[key]
        if with_questions and len(means) == len(checklist.questions):
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
        "areas": {area: part_of(part) for area, part in model.areas.items()},
        "categories": categories,
        "average": {
            **{name: getattr(average, name) for name in _FIGURES if name != "score"},
            "rescaled_over_answers": average.rescaled_over_answers,
            "interval_95": _pair(average.low, average.high),
            **_bounds(scores, average),
        },
        "lengths": {
            length: part_of(part) | {name: getattr(part, name) for name in OF_LENGTH}
            for length, part in model.lengths.items()
        },
        **(
            {"calibrated": {part or "average": mean.to_dict() for part, mean in scores.calibrated[model.model].items()}}
            if scores.calibrated
            else {}
        ),
    }


def _part(model: ModelScores, scores: Scores, part: Part) -> dict[str, Any]:
    known = UNANSWERED if model.has_texts else ()
    listed = {name: list(getattr(part, name)) for name in ("missing", "unjudged", "stale", *known)}
    figures = {name: getattr(part, name) for name in _FIGURES}
    return {"n": part.n, **listed, **figures, "interval_95": _pair(part.low, part.high), **_bounds(scores, part)}


def _bounds(scores: Scores, part: Part) -> dict[str, Any]:
    return {"bounds": _pair(part.worst, part.best)} if scores.missing == "bounds" else {}


def _pair(low: float | None, high: float | None) -> list[float] | None:
    return None if low is None or high is None else [low, high]


def _cells(part: Any, columns: Sequence[str]) -> list[Any]:
    """The values of a part, and the numbers of values of its lists; empty cells without a part."""
    values = [getattr(part, column, None) for column in columns]
    return [len(value) if isinstance(value, tuple) else value for value in values]

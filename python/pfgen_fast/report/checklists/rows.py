"""The rows of the tables that the template writes without scripts: figures with their tints and remarks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...checklists.metrics.error_counts import MODES
from ...checklists.scoring.scores import Average, ModelScores, Part, Scores
from ...checklists.scoring.unanswered import UNANSWERED
from .evidence import ModelEvidence

N_TINTS = 9
"""The number of tints from the lowest to the highest figure."""


def model_rows(scores: Scores) -> list[dict[str, Any]]:
    """A row for each model of the table, in the order of the table."""
    return [
        {
            "key": model.model,
            "name": model.name,
            "place": place,
            "tied": _tied(scores, number),
            "average": model.average,
            "areas": [model.areas.get(area, Part(0)) for area in scores.suite.areas],
            "n_missing": sum(len(part.missing) for part in model.areas.values()),
            "places": bounds,
            "signature": model.signature,
        }
        for number, (model, place, bounds) in enumerate(
            zip(scores.models, scores.places, scores.place_bounds, strict=True)
        )
    ]


def _tied(scores: Scores, number: int) -> tuple[int, int] | None:
    """The first and last place of the models that do not differ significantly from a model; None if unknown."""
    groups = [group for group in scores.groups if group[0] <= number <= group[1]]
    return (min(group[0] for group in groups) + 1, max(group[1] for group in groups) + 1) if groups else None


def span_of(averages: Sequence[Average]) -> tuple[float, float]:
    """From the lowest to the highest end of all intervals; the axis of the bars."""
    ends = [value for one in averages for value in (one.low, one.high, one.rescaled) if value is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return (low, high) if high > low else (low - 1, high + 1)


def category_rows(scores: Scores) -> list[dict[str, Any]]:
    """A row for each category of the main table, with the rescaled score of each model and its tint."""
    keys = [key for key in scores.suite.checklists if any(key in model.categories for model in scores.models)]
    keys.sort(key=lambda key: scores.suite.areas.index(key[0]))
    values = sorted(
        part.rescaled for model in scores.models for part in model.categories.values() if part.rescaled is not None
    )
    numbers = {key: number for number, key in enumerate(scores.suite.checklists)}
    rows = []
    for key in keys:
        parts = [model.categories.get(key) for model in scores.models]
        cells = [(part, tint(None if part is None else part.rescaled, values)) for part in parts]
        rows.append({"area": key[0], "name": key[1], "number": numbers[key], "cells": cells})
    return rows


def tint(value: float | None, in_order: Sequence[float]) -> int | None:
    """The number of a tint, from 0 to `N_TINTS` - 1, by rank, so that a few very low values do not hide differences."""
    if value is None:
        return None
    return round(bisect_left(in_order, value) / max(1, len(in_order) - 1) * (N_TINTS - 1))


def length_rows(scores: Scores) -> list[tuple[str, list[tuple[ModelScores, Part]]]]:
    """For each length that any model was asked for, the models with their figures, best score first."""
    found = []
    for length in scores.suite.lengths:
        parts = [(model, model.lengths[length]) for model in scores.models if length in model.lengths]
        parts.sort(key=lambda one: -float("inf") if one[1].rescaled is None else one[1].rescaled, reverse=True)
        if parts:
            found.append((length, parts))
    return found


def marks_in_order(marks: Iterable[str]) -> list[str]:
    """Each mark once: the error modes in the order of tables, then the signals."""
    found = set(marks)
    return [*(mode for mode in MODES if mode in found), *sorted(found.difference(MODES))]


def mark_rows(models: Sequence[ModelEvidence], marks: Sequence[str]) -> list[tuple[ModelScores, int, list[int]]]:
    """For each model with answers, how many there are and how many of them have each mark."""
    rows = []
    for model in models:
        answers = [one for of_task in model.by_task.values() for one in of_task if one.answer is not None]
        if answers:
            rows.append((model.scores, len(answers), [sum(mark in one.marks for one in answers) for mark in marks]))
    return rows


def gap_rows(scores: Scores) -> list[tuple[ModelScores, list[tuple[str, str, tuple[str, ...]]]]]:
    """For each model with missing, unjudged, stale or refused answers: the part, the state and the IDs of the tasks."""
    rows = []
    for model in scores.models:
        parts: Mapping[str, Part] = {**model.areas, **model.lengths}
        gaps = [
            (place, state, ids)
            for place, part in parts.items()
            for state in ("missing", "unjudged", "stale", *UNANSWERED)
            if (ids := getattr(part, state))
        ]
        if gaps:
            rows.append((model, gaps))
    return rows

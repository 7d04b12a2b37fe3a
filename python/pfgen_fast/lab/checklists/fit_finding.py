"""A fit of weights as a finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple

import numpy as np

from ...base.table import Table
from ...base.untrusted_text import counted
from ..experiments.chart_data import MAX_ROWS, Points, Ranges, Scatter
from ..experiments.finding import Cell, Finding, Picture, finding_table
from .fitting import CategoryFit, Fit, FittedWeights


def fit_finding(fit: Fit) -> Finding:
    """The fitted weights with their figures."""
    return Finding(
        "checklist-weights",
        _answer(fit),
        _words(fit),
        (_fitted(fit), _categories(fit), _weights(fit)),
        tuple(_pictures(fit)),
        fit.notes,
        question="Which weights follow from people's marks, and how certain are they?",
    )


def _answer(fit: Fit) -> str:
    n_defined = sum(category.fitted.is_identified for category in fit.categories.values())
    at_bound = [is_at_bound for category in fit.categories.values() for is_at_bound in category.fitted.at_bound]
    annotators = {name for category in fit.categories.values() for name in category.annotators}
    n_rows = sum(category.fitted.n_rows for category in fit.categories.values())
    return (
        f"{n_rows:,} marks of {counted(len(annotators), 'annotator')} define the weights of "
        f"{n_defined} of {len(fit.categories)} categories; {sum(at_bound)} of {len(at_bound)} weights are at the bound."
    )


def _words(fit: Fit) -> str:
    perfect = [category.fitted.perfect_mark for category in fit.categories.values()]
    return (
        f"The fitted mark of an answer without any flaw is {min(perfect):.2f} to {max(perfect):.2f}; its score is 100."
    )


def _fitted(fit: Fit) -> Table:
    rows = tuple(
        (
            *(category.checklist.category, category.fitted.n_rows, category.fitted.r2, category.fitted.mse),
            *(max((spread.sd or 0.0 for spread in category.spreads), default=None), _in_short(category.fitted)),
        )
        for category in fit.categories.values()
    )
    columns = ("category", "marks", "R²", "MSE", "largest sd", "weights (* at the bound)")
    shown = columns if any(category.spreads for category in fit.categories.values()) else (*columns[:4], columns[-1])
    return finding_table("fitted", "The weights in short", columns, rows, digits=2, shown=shown)


def _in_short(fitted: FittedWeights) -> str:
    if not fitted.is_identified:
        return f"not defined: rank {fitted.rank} of {len(fitted.raw)}"
    pairs = zip(fitted.weights, fitted.at_bound, strict=True)
    return " ".join(f"{weight:.1f}{'*' if is_at_bound else ''}" for weight, is_at_bound in pairs)


def _categories(fit: Fit) -> Table:
    columns = (
        *("area", "category", "marks", "answers", "annotators", "questions", "rank", "R²", "MSE", "perfect mark"),
        *("at bound", "change without one", "annotator"),
    )
    rows = []
    for (area, category), category_fit in fit.categories.items():
        fitted = category_fit.fitted
        counts = (fitted.n_rows, category_fit.n_answers, len(category_fit.annotators), len(fitted.raw), fitted.rank)
        figures = (fitted.r2, fitted.mse, fitted.perfect_mark, sum(fitted.at_bound))
        rows.append((area, category, *counts, *figures, *(category_fit.largest_change or (None, None))))
    return finding_table("categories", "How well marks are fitted", columns, tuple(rows), 2)


def _weights(fit: Fit) -> Table:
    columns = (
        *("area", "category", "question", "weight", "coefficient", "at bound", "before", "mean", "sd", "low", "high"),
        *("draws at bound", "text"),
    )
    shown = columns if any(category.spreads for category in fit.categories.values()) else (*columns[:7], "text")
    rows = tuple(row for category in fit.categories.values() for row in _rows(category))
    title = "The weights, and their distribution over draws of the answers"
    return finding_table("weights", title, columns, rows, digits=2, shown=shown)


def _rows(category: CategoryFit) -> Iterator[tuple[Cell, ...]]:
    checklist, fitted = category.checklist, category.fitted
    for number, text in enumerate(checklist.questions):
        spread = astuple(category.spreads[number]) if category.spreads else (None,) * 5
        figures = (fitted.weights[number], fitted.raw[number], fitted.at_bound[number])
        before = checklist.weights[number] if checklist.has_weights else None
        yield (checklist.area, checklist.category, number + 1, *figures, before, *spread, text)


def _pictures(fit: Fit) -> Iterator[Picture]:
    rows = [(category, number) for category in fit.categories.values() for number in range(len(category.fitted.raw))]
    areas = dict.fromkeys(category.checklist.area for category, _ in rows)
    for number, area in enumerate(areas, start=1):
        own = [row for row in rows if row[0].checklist.area == area]
        title = f"The weights of {area}, and 95 % of the draws of the answers"
        yield Picture(f"weights-{number}", title, _ranges(own[:MAX_ROWS], len(own)))
    before = [(category, number) for category, number in rows if category.checklist.has_weights]
    if before:
        points = Points(
            np.array([category.checklist.weights[number] for category, number in before]),
            np.array([category.fitted.weights[number] for category, number in before]),
            x_label="weight before",
            y_label="fitted weight",
            title=f"{len(before)} weights",
            has_diagonal=True,
        )
        yield Picture("before", "The fitted weights against those of the suite", Scatter((points,)))


def _ranges(rows: list[tuple[CategoryFit, int]], n_all: int) -> Ranges:
    has_draws = all(category.spreads for category, _ in rows)
    return Ranges(
        tuple(f"{category.checklist.category} {number + 1}" for category, number in rows),
        np.array([category.fitted.weights[number] for category, number in rows]),
        np.array([category.spreads[number].low for category, number in rows]) if has_draws else None,
        np.array([category.spreads[number].high for category, number in rows]) if has_draws else None,
        x_label="weight, of 100",
        n_all=n_all if n_all > len(rows) else None,
    )

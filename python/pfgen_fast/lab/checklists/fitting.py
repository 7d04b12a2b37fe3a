"""Weights of all checklists of a suite from people's marks. Each category is fitted alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...base.arrays import Floats
from ...base.errors import ChecklistError
from ...base.file_writing import write_whole
from ...base.table import Table
from ...base.untrusted_json import json_bytes
from ...base.untrusted_text import counted
from ..finding import Cell, Finding, finding_table
from .checklist_suite import ChecklistSuite, write_suite
from .judgements import HIGHEST_MARK
from .marks import Mark, People
from .suite_files import by_area
from .tasks import Checklist

BOUND = 0.5
"""The smallest coefficient, in marks of 0 to 10."""

_BEYOND = 2.0
"""How far marks may be out of range: simulated rules with noise exceed both ends."""

_NO_DISTANCE = 1e-7  # from the bound, below which a coefficient is at the bound
_WEIGHT = 1e6  # of fitted values against distances from equal coefficients


@dataclass(frozen=True)
class FittedWeights:
    """The weights that fit marks best.

    Attributes:
        weights: The weights, whose sum is 100. If the marks do not determine them, these are the weights nearest to
            equal weights among all weights that fit equally well.
        raw: The coefficients, in marks: their sum is the fitted mark of a perfect answer.
        r2: The fitted share of the variance of the marks; None if all marks are equal. Without an intercept it can be
            negative.
        mse: The mean squared residual.
        at_bound: Whether each coefficient is at the bound.
        rank: The number of coefficients that the verdicts determine.
        n_rows: The number of marks.
    """

    weights: tuple[float, ...]
    raw: tuple[float, ...]
    r2: float | None
    mse: float
    at_bound: tuple[bool, ...]
    rank: int
    n_rows: int

    @property
    def is_identified(self) -> bool:
        """Whether the marks determine the weights."""
        return self.rank == len(self.raw)

    @property
    def perfect_mark(self) -> float:
        """The fitted mark of a perfect answer."""
        return math.fsum(self.raw)


def fit_weights(verdicts: Any, marks: Any, *, bound: float = BOUND) -> FittedWeights:
    """Fits the weights of one checklist.

    Args:
        verdicts: A row for each mark, with a verdict from 0 to 1 for each question.
        marks: The marks of the whole answers, from 0 to 10; simulated ones from -2 to 12.
        bound: The smallest coefficient.

    Raises:
        ChecklistError: There are no marks, rows have different lengths, or a value is missing or out of range.

    Example:
        >>> verdicts = [[1, 1, 0.5], [0.5, 1, 0], [0, 0.5, 1], [1, 0, 1]]
        >>> fitted = fit_weights(verdicts, [7.5, 4, 4, 7])
        >>> [round(weight, 3) for weight in fitted.weights], fitted.at_bound, fitted.rank
        ([44.444, 22.222, 33.333], (False, False, False), 3)
    """
    rows, values = _checked(verdicts, marks)
    if not 0 <= bound <= HIGHEST_MARK:
        raise ChecklistError(f"the bound {bound:g}: expected a number from 0 to {HIGHEST_MARK:g}")
    fitted = bounded_fit(rows, values, bound)
    if not fitted.weights:
        raise ChecklistError("all weights are 0: expected marks above 0, or a bound above 0")
    return fitted


def _checked(verdicts: Any, marks: Any) -> tuple[Floats, Floats]:
    """Verdicts and marks as arrays."""
    expected = "expected a row of verdicts from 0 to 1 for each mark, and marks from 0 to 10"
    try:
        rows, values = np.asarray(verdicts, dtype=np.float64), np.asarray(marks, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChecklistError(f"verdicts or marks are not numbers; {expected}") from None
    if rows.ndim != 2 or not rows.size or values.shape != rows.shape[:1]:
        raise ChecklistError(f"verdicts of the shape {rows.shape}, marks of the shape {values.shape}; {expected}")
    for name, array, low, high in (("verdict", rows, 0.0, 1.0), ("mark", values, -_BEYOND, HIGHEST_MARK + _BEYOND)):
        outside = array[~((array >= low) & (array <= high))]
        if outside.size:
            raise ChecklistError(f"the {name} {outside[0]:g}; {expected}")
    return rows, values


def bounded_fit(rows: Floats, values: Floats, bound: float) -> FittedWeights:
    """Minimises the sum of (values - rows w)^2 over all w that are not below the bound (SciPy's NNLS).

    Coefficients whose sum is zero have no weights.
    """
    from scipy.optimize import nnls

    rank = int(np.linalg.matrix_rank(rows))
    above = nnls(rows, values - bound * rows.sum(axis=1))[0]
    if rank < rows.shape[1]:
        above = _nearest_to_equal(rows, above, rank)
    above[above < _NO_DISTANCE] = 0.0
    coefficients = bound + above
    total = coefficients.sum()
    residuals = values - rows @ coefficients
    from_mean = (values - values.mean()) * bool(np.ptp(values))  # 0 for equal values, without rounding
    ss_residual, ss_total = float(residuals @ residuals), float(from_mean @ from_mean)
    return FittedWeights(
        weights=tuple((100 * coefficients / total).tolist()) if total else (),
        raw=tuple(coefficients.tolist()),
        r2=1 - ss_residual / ss_total if ss_total else None,
        mse=ss_residual / len(values),
        at_bound=tuple((above == 0).tolist()),
        rank=rank,
        n_rows=len(values),
    )


def _nearest_to_equal(rows: Floats, fitted: Floats, rank: int) -> Floats:
    """Of all coefficients from 0 on with the same fitted values, those nearest to their mean.

    The fitted values get a weight so large that the distance from the mean does not change them.
    """
    from scipy.optimize import lsq_linear

    n = len(fitted)
    if not rank:
        return np.zeros(n)
    known = _WEIGHT * np.linalg.svd(rows)[2][:rank]
    from_mean = np.eye(n) - 1 / n
    target = np.append(known @ fitted, np.zeros(n))
    shares: Floats = lsq_linear(np.vstack([known, from_mean]), target, (0, np.inf), "bvls").x
    return shares


CategoryKey = tuple[str, str]
"""Area and category."""


@dataclass(frozen=True, eq=False)
class CategoryFit:
    """The weights of a category."""

    checklist: Checklist
    fitted: FittedWeights
    n_answers: int
    annotators: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Fit:
    """The weights of a suite from people's marks."""

    suite: ChecklistSuite
    categories: Mapping[CategoryKey, CategoryFit]
    notes: tuple[str, ...]

    @property
    def weights(self) -> dict[CategoryKey, tuple[float, ...]]:
        """The fitted weights of the categories whose marks define them."""
        return {key: own.fitted.weights for key, own in self.categories.items() if own.fitted.is_identified}

    def applied(self) -> ChecklistSuite:
        """The suite with the fitted weights; other categories keep their weights."""
        fitted = self.weights
        checklists = {
            key: replace(checklist, weights=fitted[key], has_weights=True) if key in fitted else checklist
            for key, checklist in self.suite.checklists.items()
        }
        return replace(self.suite, checklists=checklists)


def fit_suite(suite: ChecklistSuite, people: People) -> Fit:
    """Fits the weights of each category that has marks."""
    by_category: dict[CategoryKey, list[Mark]] = {}
    for mark in people.marks:
        by_category.setdefault((mark.area, mark.category), []).append(mark)
    categories, notes = {}, list(people.notes)
    for key in (key for key in suite.checklists if key in by_category):
        marks, where = by_category[key], "/".join(key)
        try:
            fitted = fit_weights([mark.verdicts for mark in marks], [mark.overall for mark in marks])
        except ChecklistError as error:
            raise ChecklistError(f"{where}: {error}") from None
        annotators = tuple(dict.fromkeys(mark.annotator for mark in marks))
        categories[key] = CategoryFit(suite.checklists[key], fitted, len({mark.answer for mark in marks}), annotators)
        if not fitted.is_identified:
            defined = f"{fitted.n_rows} marks define only {fitted.rank} of {len(fitted.raw)} weights"
            notes.append(f"{where}: {defined}; it gets no weights")
    if n_unmarked := len(suite.checklists) - len(categories):
        notes.append(f"{n_unmarked} of {len(suite.checklists)} categories have no marks, and keep their weights")
    return Fit(suite, categories, tuple(notes))


def write_weights(fit: Fit, path: Path) -> None:
    """Writes the fitted weights to a .json file, in the form of weights.json, or the suite with them to a directory."""
    if not fit.weights:
        raise ChecklistError(f"{path}: no category has weights that its marks define; expected more marks")
    if path.suffix == ".json":
        write_whole(path, json_bytes(by_area(fit.weights)))
    else:
        write_suite(fit.applied(), path)


def fit_finding(fit: Fit) -> Finding:
    """The fitted weights with their figures; files have a row for each question, too."""
    own = fit.categories.values()
    at_bound = [is_at_bound for category in own for is_at_bound in category.fitted.at_bound]
    n_rows = sum(category.fitted.n_rows for category in own)
    n_defined = sum(category.fitted.is_identified for category in own)
    n_annotators = len({name for category in own for name in category.annotators})
    perfect = [category.fitted.perfect_mark for category in own]
    return Finding(
        "checklist-weights",
        f"{n_rows:,} marks of {counted(n_annotators, 'annotator')} define the weights of {n_defined} of {len(own)} "
        f"categories; {sum(at_bound)} of {len(at_bound)} weights are at the bound.",
        f"The fitted mark of an answer without any flaw is {min(perfect):.2f} to {max(perfect):.2f}; its score is 100.",
        (_fitted_table(fit), _weights(fit)),
        (),
        fit.notes,
        question="Which weights follow from people's marks?",
    )


def _fitted_table(fit: Fit) -> Table:
    columns = (
        *("area", "category", "marks", "answers", "annotators", "questions", "rank", "R²", "MSE", "perfect mark"),
        *("at bound", "weights (* at the bound)"),
    )
    rows: list[tuple[Cell, ...]] = []
    for key, category in fit.categories.items():
        fitted = category.fitted
        counts = (fitted.n_rows, category.n_answers, len(category.annotators), len(fitted.raw), fitted.rank)
        weights = f"not defined: rank {fitted.rank} of {len(fitted.raw)}"
        if fitted.is_identified:
            pairs = zip(fitted.weights, fitted.at_bound, strict=True)
            weights = " ".join(f"{weight:.1f}{'*' if is_at_bound else ''}" for weight, is_at_bound in pairs)
        rows.append((*key, *counts, fitted.r2, fitted.mse, fitted.perfect_mark, sum(fitted.at_bound), weights))
    shown = ("category", "marks", "R²", "MSE", columns[-1])
    return finding_table("fitted", "The weights in short", columns, rows, digits=2, shown=shown)


def _weights(fit: Fit) -> Table:
    columns = ("area", "category", "question", "weight", "coefficient", "at bound", "before", "text")
    rows: list[tuple[Cell, ...]] = []
    for key, category in fit.categories.items():
        checklist, fitted = category.checklist, category.fitted
        for number, text in enumerate(checklist.questions):
            figures = (fitted.weights[number], fitted.raw[number], fitted.at_bound[number])
            before = checklist.weights[number] if checklist.has_weights else None
            rows.append((*key, number + 1, *figures, before, text))
    return finding_table("weights", "The weights of all questions", columns, rows, digits=2, shown=())

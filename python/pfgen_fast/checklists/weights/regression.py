"""Weights of a checklist from people's verdicts on each question and marks for whole answers.

The weights are the coefficients of the marks on the verdicts, without an intercept, divided by their sum. No
coefficient is below a bound, so that each question counts. A perfect answer has the score 100, whatever its marks.
Rules: docs/checklists.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ChecklistError
from ...statistics.bounded_regression import bounded_fit
from ...statistics.correlation import Floats
from ..people.marks import HIGHEST_MARK

BOUND = 0.5
"""The smallest coefficient, in marks of 0 to 10."""

_BEYOND = 2.0
"""How far marks that are not whole numbers may be out of range: simulated rules with noise exceed both ends."""


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
        bound: The bound.
    """

    weights: tuple[float, ...]
    raw: tuple[float, ...]
    r2: float | None
    mse: float
    at_bound: tuple[bool, ...]
    rank: int
    n_rows: int
    bound: float = BOUND

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
        marks: The marks of the whole answers, from 0 to 10; simulated ones (not whole numbers) from -2 to 12.
        bound: The smallest coefficient.

    Raises:
        ChecklistError: There are no marks, rows have different lengths, or a value is missing or out of range.

    Example:
        >>> verdicts = [[1, 1, 0.5], [0.5, 1, 0], [0, 0.5, 1], [1, 0, 1]]
        >>> fitted = fit_weights(verdicts, [7.5, 4, 4, 7])
        >>> [round(weight, 3) for weight in fitted.weights], fitted.at_bound, fitted.rank
        ([44.444, 22.222, 33.333], (False, False, False), 3)
    """
    rows, values = checked_marks(verdicts, marks)
    if not 0 <= bound <= HIGHEST_MARK:
        raise ChecklistError(f"the bound {bound:g}: expected a number from 0 to {HIGHEST_MARK:g}")
    fit = bounded_fit(rows, values, bound=bound)
    if not fit.percent:
        raise ChecklistError("all weights are 0: expected marks above 0, or a bound above 0")
    return FittedWeights(
        weights=fit.percent,
        raw=fit.coefficients,
        r2=1 - fit.ss_residual / fit.ss_total if fit.ss_total else None,
        mse=fit.ss_residual / len(values),
        at_bound=fit.at_bound,
        rank=fit.rank,
        n_rows=len(values),
        bound=bound,
    )


def checked_marks(verdicts: Any, marks: Any) -> tuple[Floats, Floats]:
    """Verdicts and marks as arrays."""
    values = _numbers(marks, "marks", 1)
    if not len(values):
        raise ChecklistError("no marks: expected at least one")
    rows = _numbers(verdicts, "verdicts", 2)
    if len(rows) != len(values):
        raise ChecklistError(f"{len(rows)} rows of verdicts for {len(values)} marks: expected one for each")
    if not rows.shape[1]:
        raise ChecklistError("verdicts without a question: expected at least one")
    _check_range(rows, 1.0, "verdict", hint="; divide verdicts of 0 to 4 by 4")
    are_whole = bool((values == np.floor(values)).all())
    _check_range(values, HIGHEST_MARK, "mark", beyond=0.0 if are_whole else _BEYOND)
    return rows, values


def _numbers(given: Any, what: str, n_dimensions: int) -> Floats:
    shape = "a number for each" if n_dimensions == 1 else "rows with a number for each question"
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChecklistError(f"{what} are not a table of numbers: expected {shape}") from None
    if found.ndim != n_dimensions:
        raise ChecklistError(f"{what} of {found.ndim} dimensions: expected {shape}")
    return found


def _check_range(values: Floats, highest: float, what: str, *, beyond: float = 0.0, hint: str = "") -> None:
    wrong = np.argwhere(~((values >= -beyond) & (values <= highest + beyond)))
    if len(wrong):
        row, *question = wrong[0].tolist()
        place = f"row {row}" + "".join(f", question {number}" for number in question)
        shown = f"{values[tuple(wrong[0])]:g}"
        reason = "is missing or no number" if shown == "nan" else f"is {shown}"
        raise ChecklistError(f"{place}: the {what} {reason}; expected a number from 0 to {highest:g}{hint}")

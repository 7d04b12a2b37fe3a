"""Weights of all checklists of a suite from people's marks, and their uncertainty.

Each category is fitted alone. Draws take answers with replacement, with the marks of all annotators, because marks of
the same answer depend on each other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import reduce
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...base.arrays import Floats
from ...base.errors import ChecklistError
from ...base.file_writing import write_whole
from ...base.table import Table
from ...base.untrusted_json import json_bytes
from ...base.untrusted_text import counted
from ..finding import Cell, Finding, finding_table
from ..statistics.intervals_of_draws import bootstrap_counts
from ..statistics.least_squares import bounded_fit, bounded_fits
from .checklist_suite import ChecklistSuite, write_suite
from .judgements import HIGHEST_MARK
from .marks import Mark, People
from .suite_files import by_area
from .tasks import Checklist

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


def _numbers(values: Any, what: str, n_dimensions: int) -> Floats:
    shape = "a number for each" if n_dimensions == 1 else "rows with a number for each question"
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChecklistError(f"{what} are not a table of numbers: expected {shape}") from None
    if array.ndim != n_dimensions:
        raise ChecklistError(f"{what} of {array.ndim} dimensions: expected {shape}")
    return array


def _check_range(values: Floats, highest: float, what: str, *, beyond: float = 0.0, hint: str = "") -> None:
    wrong = np.argwhere(~((values >= -beyond) & (values <= highest + beyond)))
    if len(wrong):
        row, *question = wrong[0].tolist()
        place = f"row {row}" + "".join(f", question {number}" for number in question)
        shown = f"{values[tuple(wrong[0])]:g}"
        reason = "is missing or no number" if shown == "nan" else f"is {shown}"
        raise ChecklistError(f"{place}: the {what} {reason}; expected a number from 0 to {highest:g}{hint}")


CategoryKey = tuple[str, str]
"""Area and category."""


@dataclass(frozen=True)
class Spread:
    """The distribution of a weight over the draws that determine it."""

    mean: float
    sd: float | None
    low: float
    high: float
    at_bound: float


@dataclass(frozen=True, eq=False)
class CategoryFit:
    """The weights of a category."""

    checklist: Checklist
    fitted: FittedWeights
    n_answers: int
    annotators: tuple[str, ...]
    draws: Floats
    spreads: tuple[Spread, ...] = ()

    @property
    def n_undefined(self) -> int:
        """The number of draws that do not define the weights."""
        return int(np.isnan(self.draws[:, 0]).sum())


@dataclass(frozen=True, eq=False)
class Fit:
    """The weights of a suite from people's marks."""

    suite: ChecklistSuite
    categories: Mapping[CategoryKey, CategoryFit]
    allow_unidentified: bool
    notes: tuple[str, ...]

    @property
    def weights(self) -> dict[CategoryKey, tuple[float, ...]]:
        """The fitted weights of the categories whose marks define them, or of all if that is allowed."""
        return {
            key: category.fitted.weights
            for key, category in self.categories.items()
            if category.fitted.is_identified or self.allow_unidentified
        }

    def applied(self) -> ChecklistSuite:
        """The suite with the fitted weights; other categories keep their weights."""
        fitted = self.weights
        checklists = {
            key: replace(checklist, weights=fitted[key], has_weights=True) if key in fitted else checklist
            for key, checklist in self.suite.checklists.items()
        }
        return replace(self.suite, checklists=checklists)


def fit_suite(
    suite: ChecklistSuite,
    people: People,
    *,
    bound: float = BOUND,
    draws: int = 0,
    seed: int = 0,
    allow_unidentified: bool = False,
) -> Fit:
    """Fits the weights of each category that has marks."""
    if not 0 < bound <= HIGHEST_MARK:
        raise ChecklistError(
            f"the bound {bound:g}: expected a number above 0, because a suite has no weights of 0, and at most "
            f"{HIGHEST_MARK:g}"
        )
    by_category: dict[CategoryKey, list[Mark]] = {}
    for mark in people.marks:
        by_category.setdefault((mark.area, mark.category), []).append(mark)
    categories = {}
    for key, checklist in suite.checklists.items():
        if key in by_category:
            try:
                categories[key] = _fitted(checklist, by_category[key], bound, draws, seed)
            except ChecklistError as error:
                raise ChecklistError(f"{'/'.join(key)}: {error}") from None
    fit = Fit(suite, categories, allow_unidentified, people.notes)
    return replace(fit, notes=(*people.notes, *_notes(fit)))


def write_weights(fit: Fit, path: Path) -> None:
    """Writes the fitted weights to a .json file, in the form of weights.json, or the suite with them to a directory."""
    if not fit.weights:
        raise ChecklistError(
            f"{path}: no category has weights that its marks define; expected more marks, or --allow-unidentified"
        )
    if path.suffix == ".json":
        write_whole(path, json_bytes(by_area(fit.weights)))
    else:
        write_suite(fit.applied(), path)


def _fitted(checklist: Checklist, marks: Sequence[Mark], bound: float, draws: int, seed: int) -> CategoryFit:
    answers = [mark.answer for mark in marks]
    identity = repr((seed, checklist.area, checklist.category)).encode()
    own_seed = int.from_bytes(hashlib.sha256(identity).digest()[:8], "big")  # draws differ by category
    counts = bootstrap_counts(len(marks), draws, seed=own_seed, groups=answers)
    verdicts, overall = [mark.verdicts for mark in marks], [mark.overall for mark in marks]
    raw = bounded_fits(verdicts, overall, counts, bound=bound)
    drawn = 100 * raw / reduce(np.add, raw.T)[:, np.newaxis]
    return CategoryFit(
        checklist,
        fit_weights(verdicts, overall, bound=bound),
        n_answers=len(set(answers)),
        annotators=tuple(dict.fromkeys(mark.annotator for mark in marks)),
        draws=drawn,
        spreads=tuple(_spreads(raw, drawn, bound)),
    )


def _spreads(raw: Floats, drawn: Floats, bound: float) -> list[Spread]:
    is_defined = ~np.isnan(drawn[:, 0])
    if not is_defined.any():
        return []
    spreads = []
    for values, low, high, at_bound in zip(
        drawn[is_defined].T.tolist(),
        *np.quantile(drawn[is_defined], (0.025, 0.975), axis=0),
        (raw[is_defined] == bound).mean(axis=0),
        strict=True,
    ):
        mean, n = fmean(values), len(values)
        sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else None
        spreads.append(Spread(mean, sd, float(low), float(high), float(at_bound)))
    return spreads


def _notes(fit: Fit) -> list[str]:
    notes = []
    for key, own in fit.categories.items():
        fitted, where = own.fitted, "/".join(key)
        if not fitted.is_identified:
            outcome = "the weights nearest to equal ones are taken" if fit.allow_unidentified else "it gets no weights"
            notes.append(
                f"{where}: {fitted.n_rows} marks define only {fitted.rank} of {len(fitted.raw)} weights; {outcome}"
            )
        elif own.n_undefined:
            notes.append(f"{where}: {own.n_undefined} of {len(own.draws)} draws define no weights and are left out")
    n_unmarked = len(fit.suite.checklists) - len(fit.categories)
    if n_unmarked:
        notes.append(f"{n_unmarked} of {len(fit.suite.checklists)} categories have no marks, and keep their weights")
    return notes


def fit_finding(fit: Fit) -> Finding:
    """The fitted weights with their figures."""
    return Finding(
        "checklist-weights",
        _answer(fit),
        _words(fit),
        (_fitted_table(fit), _weights(fit)),
        (),
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


def _fitted_table(fit: Fit) -> Table:
    columns = (
        *("area", "category", "marks", "answers", "annotators", "questions", "rank", "R²", "MSE", "perfect mark"),
        *("at bound", "largest sd", "weights (* at the bound)"),
    )
    rows = []
    for (area, name), category in fit.categories.items():
        fitted = category.fitted
        counts = (fitted.n_rows, category.n_answers, len(category.annotators), len(fitted.raw), fitted.rank)
        figures = (fitted.r2, fitted.mse, fitted.perfect_mark, sum(fitted.at_bound))
        largest = max((spread.sd or 0.0 for spread in category.spreads), default=None)
        weights = f"not defined: rank {fitted.rank} of {len(fitted.raw)}"
        if fitted.is_identified:
            pairs = zip(fitted.weights, fitted.at_bound, strict=True)
            weights = " ".join(f"{weight:.1f}{'*' if is_at_bound else ''}" for weight, is_at_bound in pairs)
        rows.append((area, name, *counts, *figures, largest, weights))
    has_draws = any(category.spreads for category in fit.categories.values())
    shown = ("category", "marks", "R²", "MSE", *(["largest sd"] if has_draws else []), columns[-1])
    return finding_table("fitted", "The weights in short", columns, rows, digits=2, shown=shown)


def _weights(fit: Fit) -> Table:
    columns = (
        *("area", "category", "question", "weight", "coefficient", "at bound", "before", "mean", "sd", "low", "high"),
        *("draws at bound", "text"),
    )
    shown = columns if any(category.spreads for category in fit.categories.values()) else (*columns[:7], "text")
    rows = tuple(row for category in fit.categories.values() for row in _weight_rows(category))
    title = "The weights, and their distribution over draws of the answers"
    return finding_table("weights", title, columns, rows, digits=2, shown=shown)


def _weight_rows(category: CategoryFit) -> Iterator[tuple[Cell, ...]]:
    checklist, fitted = category.checklist, category.fitted
    for number, text in enumerate(checklist.questions):
        spread = astuple(category.spreads[number]) if category.spreads else (None,) * 5
        figures = (fitted.weights[number], fitted.raw[number], fitted.at_bound[number])
        before = checklist.weights[number] if checklist.has_weights else None
        yield (checklist.area, checklist.category, number + 1, *figures, before, *spread, text)

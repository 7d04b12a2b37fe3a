"""How much averages and places of models depend on weights, on missing answers, and on equal weights of areas.

Without people's marks the uncertainty of the weights is unknown; random weights around them show how much it matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from statistics import fmean
from typing import Any

import numpy as np

from ...errors import ChecklistError
from ...experiments.chart_data import Points, Scatter
from ...experiments.finding import Cell, Finding, Picture, Table
from ...statistics.correlation import COMPARED_DIGITS, SAME_RANKING, Floats, kendall_rows, places
from ..scoring.scores import Scores
from .fitting import CategoryKey, seed_of
from .table_stability import (
    Stability,
    VerdictSums,
    stability,
    stability_dict,
    stability_picture,
    stability_sentence,
    stability_table,
    verdict_sums,
)

CONCENTRATION = 100
"""Concentration of random weights around the usual ones: the deviation of w is the root of w (100 - w) / 101."""


@dataclass(frozen=True, eq=False)
class Variation:
    """The averages of the models after one changed decision."""

    name: str
    averages: Floats
    usual: Floats

    @property
    def kendall(self) -> float | None:
        """Kendall's tau-b with the usual averages; None for fewer than two different averages."""
        found = float(kendall_rows(self.usual, self.averages))
        return None if math.isnan(found) else found

    @property
    def shifts(self) -> Floats:
        """The change of each average."""
        return self.averages - self.usual

    @property
    def places(self) -> Floats:
        """The place of each model."""
        return places(self.averages)

    @property
    def moved(self) -> Floats:
        """The number of places that each model moves; down is positive."""
        return self.places - places(self.usual)


@dataclass(frozen=True)
class CategoryShift:
    """The effect of equal weights on one category."""

    area: str
    category: str
    lowest_weight: float
    highest_weight: float
    mean_shift: float
    largest_shift: float


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """How much a table depends on decisions."""

    sums: VerdictSums
    models: tuple[str, ...]
    usual: Floats
    variations: tuple[Variation, ...]
    categories: tuple[CategoryShift, ...]
    drawn: Stability | None
    concentration: int
    notes: tuple[str, ...]


def sensitivity(scores: Scores, *, draws: int = 1000, concentration: int = CONCENTRATION, seed: int = 0) -> Sensitivity:
    """Computes averages with equal weights, random weights, missing answers as zero, and the mean of all answers."""
    sums = verdict_sums(scores)
    if len(sums.models) < 2:
        raise ChecklistError(f"{sums.models[0]} is the only model with a judged answer in every area; expected two")
    weights = sums.weights
    equal = {key: (100 / len(of),) * len(of) for key, of in weights.items()}
    usual = sums.averages(weights)[0]
    order = np.argsort(-usual.round(COMPARED_DIGITS), kind="stable")
    others = {
        "equal weights": sums.averages(equal),
        "missing answers as zero": sums.averages(weights, missing_as_zero=True),
        "the mean of all answers": sums.over_answers(weights),
    }
    drawn = {
        key: drawn_weights(of_category, draws, concentration=concentration, seed=seed_of(seed, key))
        for key, of_category in weights.items()
    }
    return Sensitivity(
        sums,
        tuple(sums.models[place] for place in order),
        usual[order],
        tuple(Variation(name, averages[0][order], usual[order]) for name, averages in others.items()),
        tuple(_category_shift(sums, key, weights, equal) for key in sums.sums),
        stability(sums, weights, drawn) if draws else None,
        concentration,
        (*scores.notes, *scores.left_out, *_notes(sums)),
    )


def drawn_weights(
    weights: Sequence[float], n_draws: int, *, concentration: int = CONCENTRATION, seed: int = 0
) -> Floats:
    """Draws random weights whose mean is the given ones, from a Dirichlet distribution."""
    # A weight is a distance between sorted random numbers: the last digits of logarithms depend on the machine.
    raw = np.random.PCG64(seed).random_raw((n_draws, concentration - 1)) >> np.uint64(11)
    numbers = np.zeros((n_draws, concentration + 1))
    numbers[:, 1:-1] = np.sort(np.ldexp(raw.astype(np.float64), -53), axis=1)
    numbers[:, -1] = 1.0
    places = np.minimum(np.cumsum([0.0, *weights]) / 100 * concentration, concentration)
    places[-1] = concentration
    below = np.minimum(places.astype(np.int64), concentration - 1)
    bounds = numbers[:, below] + (places - below) * (numbers[:, below + 1] - numbers[:, below])
    return 100 * np.diff(bounds, axis=1)


def _category_shift(
    sums: VerdictSums, key: CategoryKey, weights: Mapping[CategoryKey, Any], equal: Mapping[CategoryKey, Any]
) -> CategoryShift:
    n = sums.n_of_category[key]
    difference = (sums.of_category(key, equal)[0] - sums.of_category(key, weights)[0])[n > 0] / n[n > 0]
    shifts = sums.suite.rescaling.factor * difference
    largest = float(shifts[np.argmax(np.abs(shifts))]) if len(shifts) else 0.0
    mean = fmean(shifts.tolist()) if len(shifts) else 0.0
    return CategoryShift(*key, min(weights[key]), max(weights[key]), mean, largest)


def _notes(sums: VerdictSums) -> list[str]:
    notes = []
    if sums.left_out:
        notes.append(f"left out, because an area has no judged answer: {', '.join(sums.left_out)}")
    if not any(sums.suite.checklists[key].has_weights for key in sums.sums):
        notes.append("the suite has equal weights already, so that equal weights change nothing")
    if not sums.n_missing.any():
        notes.append("no answer is missing")
    return notes


def sensitivity_finding(found: Sensitivity) -> Finding:
    """How much averages and places depend on decisions."""
    drawn = found.drawn
    return Finding(
        "checklist-sensitivity",
        _answer(found),
        _words(found),
        (_variations(found), _models(found), _categories(found), *([stability_table(drawn)] if drawn else [])),
        (_scatter(found), *([stability_picture(drawn)] if drawn else [])),
        found.notes,
        question="How much do averages and places depend on weights, missing answers and what counts alike?",
        runs=found.models,
    )


def sensitivity_to_dict(found: Sensitivity) -> dict[str, Any]:
    """The same as data for JSON, with full digits."""
    return {
        "suite": found.sums.suite.name,
        "suite_hash": found.sums.suite.hash,
        "usual": _rows(("model", "average", "place"), found.models, found.usual, places(found.usual)),
        "variations": {one.name: _variation_dict(found, one) for one in found.variations},
        "categories": [asdict(one) for one in found.categories],
        "draws": None if found.drawn is None else {"concentration": found.concentration, **stability_dict(found.drawn)},
        "notes": list(found.notes),
    }


def _variation_dict(found: Sensitivity, one: Variation) -> dict[str, Any]:
    columns = (found.models, one.averages, one.shifts, one.places)
    return {
        "kendall": one.kendall,
        "lowest_shift": float(one.shifts.min()),
        "highest_shift": float(one.shifts.max()),
        "most_places": float(abs(one.moved).max()),
        "models": _rows(("model", "average", "shift", "place"), *columns),
    }


def _rows(names: Sequence[str], models: Sequence[str], *columns: Floats) -> list[dict[str, Any]]:
    rows = zip(models, *(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _answer(found: Sensitivity) -> str:
    kept = [one for one in found.variations if (one.kendall or 0.0) > SAME_RANKING]
    farthest = max(found.variations, key=lambda one: float(abs(one.moved).max()))
    model, places = _moved_most(found, farthest)
    moved = f"at most {model} moves by {places:g} {'place' if places == 1 else 'places'} ({farthest.name})"
    return (
        f"In {len(kept)} of {len(found.variations)} variations the {len(found.models)} models keep their order "
        f"(Kendall's tau-b above {SAME_RANKING}); {moved if places else 'no model moves'}."
    )


def _moved_most(found: Sensitivity, one: Variation) -> tuple[str, float]:
    moved = abs(one.moved)
    return found.models[int(moved.argmax())], float(moved.max())


def _words(found: Sensitivity) -> str:
    parts = []
    for one in found.variations:
        tau = "undefined" if one.kendall is None else f"{one.kendall:.3f}"
        parts.append(
            f"With {one.name}, averages change by {one.shifts.min():+.2f} to {one.shifts.max():+.2f}, and Kendall's "
            f"tau-b with the usual table is {tau}."
        )
    if found.drawn is not None:
        parts.append(f"Weights were also drawn around the usual ones. {stability_sentence(found.drawn)}")
    return " ".join(parts)


def _variations(found: Sensitivity) -> Table:
    columns = ("decision", "models", "Kendall", "lowest shift", "highest shift", "most places moved", "model")
    rows: list[tuple[Cell, ...]] = []
    for one in found.variations:
        model, places = _moved_most(found, one)
        shifts = float(one.shifts.min()), float(one.shifts.max())
        rows.append((one.name, len(found.models), one.kendall, *shifts, f"{places:g}", model if places else None))
    return Table("variations", "Averages after one other decision", columns, tuple(rows), n_digits=3)


def _models(found: Sensitivity) -> Table:
    columns = ["place", "model", "usual"]
    for one in found.variations:
        columns += [one.name, f"place, {one.name}"]
    usual_places = places(found.usual).tolist()
    rows: list[tuple[Cell, ...]] = []
    for row, model in enumerate(found.models):
        others = [cell for one in found.variations for cell in (float(one.averages[row]), f"{one.places[row]:g}")]
        rows.append((f"{usual_places[row]:g}", model, float(found.usual[row]), *others))
    return Table("models", "The averages of the models", tuple(columns), tuple(rows), n_digits=2)


def _categories(found: Sensitivity) -> Table:
    columns = ("area", "category", "lowest weight", "highest weight", "mean shift", "largest shift")
    rows = tuple(map(astuple, found.categories))
    return Table("categories", "Rescaled scores of categories with equal weights", columns, rows, n_digits=2)


def _scatter(found: Sensitivity) -> Picture:
    panels = tuple(
        Points(
            found.usual,
            one.averages,
            x_label="usual average",
            y_label=one.name,
            title="" if one.kendall is None else f"tau-b {one.kendall:.3f}",
            labels=found.models,
            runs=found.models,
            has_diagonal=True,
        )
        for one in found.variations
    )
    return Picture("variations", "Averages after one other decision, against the usual ones", Scatter(panels))

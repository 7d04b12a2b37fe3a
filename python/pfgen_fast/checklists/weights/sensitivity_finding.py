"""The sensitivity of a table as a finding and as data."""

from __future__ import annotations

from dataclasses import asdict, astuple
from typing import Any

from ...experiments.chart_data import Points, Scatter
from ...experiments.finding import Cell, Finding, Picture, Table
from ...statistics.correlation import SAME_RANKING, places
from .sensitivity import Sensitivity, Variation
from .table_stability import stability_dict, stability_picture, stability_sentence, stability_table


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
        "usual": [
            {"model": model, "average": average, "place": place}
            for model, average, place in zip(
                found.models, found.usual.tolist(), places(found.usual).tolist(), strict=True
            )
        ],
        "variations": {one.name: _variation_dict(found, one) for one in found.variations},
        "categories": [asdict(one) for one in found.categories],
        "draws": None if found.drawn is None else {"concentration": found.concentration, **stability_dict(found.drawn)},
        "notes": list(found.notes),
    }


def _variation_dict(found: Sensitivity, one: Variation) -> dict[str, Any]:
    columns = zip(found.models, one.averages.tolist(), one.shifts.tolist(), one.places.tolist(), strict=True)
    return {
        "kendall": one.kendall,
        "lowest_shift": float(one.shifts.min()),
        "highest_shift": float(one.shifts.max()),
        "most_places": float(abs(one.moved).max()),
        "models": [
            {"model": model, "average": average, "shift": shift, "place": place}
            for model, average, shift, place in columns
        ],
    }


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

"""Averages of models under many weights at once, and how stable the order of the models is as weights vary.

A score is linear in its weights, so sums of verdicts are sufficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from statistics import fmean
from typing import Any

import numpy as np

from ...errors import ChecklistError
from ...experiments.chart_data import MAX_ROWS, Ranges
from ...experiments.finding import Cell, Picture, Table
from ...statistics.correlation import COMPARED_DIGITS, Floats, kendall_rows
from ...statistics.resampling import interval
from ..scoring.scores import Scores
from ..suite import ChecklistSuite, by_part
from .fitting import CategoryKey, Fit

CategoryWeights = Mapping[tuple[str, str], Any]
"""The weights of each category: a number for each question, or a row of numbers for each draw."""


@dataclass(frozen=True, eq=False)
class VerdictSums:
    """The sums of verdicts, from which averages under any weights follow."""

    suite: ChecklistSuite
    models: tuple[str, ...]
    left_out: tuple[str, ...]
    areas: tuple[str, ...]
    sums: Mapping[tuple[str, str], Floats]
    n_of_category: Mapping[tuple[str, str], Floats]
    n_judged: Floats
    n_missing: Floats

    @property
    def weights(self) -> dict[tuple[str, str], tuple[float, ...]]:
        """The weights of the suite."""
        return {key: self.suite.checklists[key].weights for key in self.sums}

    def averages(self, weights: CategoryWeights, *, missing_as_zero: bool = False) -> Floats:
        """The mean rescaled score of the areas: a row for each draw, or one; a column for each model."""
        n = self.n_judged + self.n_missing if missing_as_zero else self.n_judged
        of_areas = [self._rescaled(self._total(weights, area) / n[:, column]) for column, area in enumerate(self.areas)]
        return reduce(np.add, of_areas) / len(self.areas)

    def over_answers(self, weights: CategoryWeights) -> Floats:
        """The mean rescaled score of all judged answers, in the form of `averages`."""
        return self._rescaled(self._total(weights) / self.n_judged.sum(axis=1))

    def of_category(self, key: tuple[str, str], weights: CategoryWeights) -> Floats:
        """The sums of scores of one category, in the form of `averages`."""
        rows = np.atleast_2d(np.asarray(weights[key], dtype=np.float64))
        # Not a matrix product, whose sums would have the order of the BLAS that NumPy was built with.
        return reduce(np.add, (rows[:, [question]] * sums for question, sums in enumerate(self.sums[key].T)))

    def _total(self, weights: CategoryWeights, area: str | None = None) -> Floats:
        return reduce(np.add, (self.of_category(key, weights) for key in self.sums if area in (None, key[0])))

    def _rescaled(self, scores: Floats) -> Floats:
        scale = self.suite.rescaling
        return (scores - scale.centre) * scale.factor


def verdict_sums(scores: Scores) -> VerdictSums:
    """Adds up the verdicts of the main table."""
    suite = scores.suite
    used = {task.place for task in suite.tasks if task.length is None}
    categories = [key for key in suite.checklists if key in used]
    areas = tuple(area for area in suite.areas if any(area == key[0] for key in categories))
    models = [one for one in scores.models if by_part(one.answers, "area").keys() >= set(areas)]
    if not models:
        raise ChecklistError("no model has a judged answer in every area of the suite; expected at least one")
    sums = {key: np.zeros((len(models), len(suite.checklists[key].questions))) for key in categories}
    n_of_category = {key: np.zeros(len(models)) for key in categories}
    for row, model in enumerate(models):
        for key, answers in by_part(model.answers, "category").items():
            n_of_category[key][row] = len(answers)
            for answer in answers:
                sums[key][row] += answer.verdicts
    return VerdictSums(
        suite,
        models=tuple(one.model for one in models),
        left_out=tuple(one.model for one in scores.models if one not in models),
        areas=areas,
        sums=sums,
        n_of_category=n_of_category,
        n_judged=np.column_stack(
            [reduce(np.add, (n for key, n in n_of_category.items() if key[0] == area)) for area in areas]
        ),
        n_missing=np.array([[len(one.areas[area].missing) for area in areas] for one in models], dtype=np.float64),
    )


@dataclass(frozen=True, eq=False)
class Stability:
    """Averages of models over draws of the weights."""

    models: tuple[str, ...]
    usual: Floats
    low: Floats
    high: Floats
    keeps_order: Floats
    kendall: float | None
    kendall_low: float | None
    n_draws: int


def stability(sums: VerdictSums, usual: Mapping[CategoryKey, Any], draws: Mapping[CategoryKey, Floats]) -> Stability:
    """Compares the models' averages under draws of the weights with the usual ones."""
    n_draws = len(next(iter(draws.values())))
    repeated = {key: np.broadcast_to(usual[key], (n_draws, len(usual[key]))) for key in usual}
    averages = sums.averages(usual)[0]
    order = np.argsort(-averages.round(COMPARED_DIGITS), kind="stable")
    at_usual = averages[order]
    drawn = sums.averages({**repeated, **{key: draws[key] for key in usual if key in draws}})[:, order]
    compared = drawn.round(COMPARED_DIGITS)
    taus = kendall_rows(at_usual, drawn)
    known = taus[~np.isnan(taus)].tolist()
    low, high = interval(drawn)
    return Stability(
        models=tuple(sums.models[place] for place in order),
        usual=at_usual,
        low=low,
        high=high,
        keeps_order=(compared[:, :-1] > compared[:, 1:]).mean(axis=0),
        kendall=fmean(known) if known else None,
        kendall_low=float(interval(taus)[0]) if known else None,
        n_draws=n_draws,
    )


def fitted_stability(fit: Fit, sums: VerdictSums) -> Stability | None:
    """How stable the order of models is under the weights of a fit; None without draws or fitted weights."""
    weights = fit.weights
    draws = {}
    for key in sums.sums:
        if key in weights and len(fit.categories[key].draws):
            drawn = fit.categories[key].draws
            # A draw that does not define the weights of the category uses the fitted ones.
            draws[key] = np.where(np.isnan(drawn), weights[key], drawn)
    return stability(sums, {**sums.weights, **{key: weights[key] for key in draws}}, draws) if draws else None


def stability_table(found: Stability) -> Table:
    """The models with their averages, and the stability of their order."""
    rows = tuple((model, place, *cells) for place, (model, *cells) in enumerate(_rows(found), start=1))
    columns = ("model", "place", "average", "low", "high", "draws above the next")
    return Table("draws", "Averages over draws of the weights: 95 % of the draws", columns, rows, n_digits=3)


def _rows(found: Stability) -> list[tuple[Cell, ...]]:
    keeps = [*found.keeps_order.tolist(), None]
    return list(zip(found.models, found.usual.tolist(), found.low.tolist(), found.high.tolist(), keeps, strict=True))


def stability_picture(found: Stability) -> Picture:
    """The averages of the models and the ranges of the draws."""
    n = len(found.models)
    chart = Ranges(
        found.models[:MAX_ROWS],
        found.usual[:MAX_ROWS],
        found.low[:MAX_ROWS],
        found.high[:MAX_ROWS],
        x_label="average, and 95 % of the draws",
        runs=found.models[:MAX_ROWS],
        n_all=n if n > MAX_ROWS else None,
    )
    return Picture("draws", "Averages of the models over draws of the weights", chart)


def stability_sentence(found: Stability) -> str:
    """The stability of the order in a sentence."""
    if found.kendall is None:
        return f"Over {found.n_draws:,} draws the {len(found.models)} models have no order."
    unsure = int((found.keeps_order < 0.95).sum())
    return (
        f"Over {found.n_draws:,} draws of the weights, Kendall's tau-b with the usual table of {len(found.models)} "
        f"models is {found.kendall:.3f} in the mean (97.5 % of the draws have at least {found.kendall_low:.3f}); "
        f"{unsure} of {len(found.keeps_order)} neighbours keep their order in less than 95 % of the draws."
    )


def stability_dict(found: Stability) -> dict[str, object]:
    """The same as data, with full digits."""
    names = ("model", "average", "low", "high", "above_next")
    return {
        "n_draws": found.n_draws,
        "kendall": found.kendall,
        "kendall_low": found.kendall_low,
        "models": [dict(zip(names, row, strict=True)) for row in _rows(found)],
    }

"""How stable the order of models is as weights vary: the average of each model under each draw of the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from ...experiments.chart_data import MAX_ROWS, Ranges
from ...experiments.finding import Cell, Picture, Table
from ...statistics.correlation import COMPARED_DIGITS, Floats, kendall_rows
from ...statistics.resampling import interval
from .fitting import CategoryKey, Fit
from .verdict_sums import VerdictSums


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
    """How stable the order of models is under the weights of a fit; None without draws or fitted weights.

    A draw that does not define the weights of a category uses the fitted ones.
    """
    weights = fit.weights
    draws = {}
    for key in sums.sums:
        if key in weights and len(fit.categories[key].draws):
            drawn = fit.categories[key].draws
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

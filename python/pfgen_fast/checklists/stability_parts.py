"""What findings say of a table of models under draws of the weights: a table, a picture, a sentence."""

from __future__ import annotations

from ..experiments.charts import MAX_ROWS, Ranges
from ..experiments.finding import Cell, Picture, Table
from .table_stability import Stability


def stability_table(found: Stability) -> Table:
    """The models with their averages, and how sure their order is."""
    keeps: list[float | None] = [*found.keeps_order.tolist(), None]
    places = range(1, len(found.models) + 1)
    columns_of = (found.models, places, found.usual.tolist(), found.low.tolist(), found.high.tolist(), keeps)
    rows: list[tuple[Cell, ...]] = list(zip(*columns_of, strict=True))
    columns = ("model", "place", "average", "low", "high", "draws above the next")
    return Table("draws", "Averages over draws of the weights: 95 % of the draws", columns, tuple(rows), n_digits=3)


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
    """How far the order of the models holds."""
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
    keeps: list[float | None] = [*found.keeps_order.tolist(), None]
    columns = (found.models, found.usual.tolist(), found.low.tolist(), found.high.tolist(), keeps)
    names = ("model", "average", "low", "high", "above_next")
    return {
        "n_draws": found.n_draws,
        "kendall": found.kendall,
        "kendall_low": found.kendall_low,
        "models": [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)],
    }

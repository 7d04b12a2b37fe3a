"""The figures of runs, models and placements that a gate can check, the main one first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..statistics.mean_interval import MeanInterval, mean_interval
from ..suite.rules import PARTS, FloatSum

if TYPE_CHECKING:
    from ..item_scores.placement import Placement
    from ..item_scores.table import ItemScores
    from ..runs.result import RunSummary

Figures = dict[str, float | None]

OF_RUN = ("score", "score_low", "score_high", *PARTS, "length")
RANKS = ("rank", "rank_low", "rank_high")
"""Figures of which lower values are better."""
OF_PLACEMENT = ("score", "score_low", "score_high", *RANKS, "percentile")


def figures_of_run(summary: RunSummary, interval: MeanInterval | None, float_sum: FloatSum = "compensated") -> Figures:
    """The score of a run with the ends of its 95 % interval, its parts, and the mean length."""
    return {
        "score": summary.score,
        "score_low": None if interval is None else interval.low,
        "score_high": None if interval is None else interval.high,
        **{part: summary.scores.total(part, float_sum) for part in PARTS},
        "length": summary.length,
    }


def figures_of_model(scores: ItemScores, model: str) -> Figures:
    """The mean of a model in each metric, with the ends of its 95 % interval."""
    from ..item_scores.comparison import clusters_of

    found: Figures = {}
    for metric in scores.metrics:
        values = scores.of(model, metric).tolist()
        has_values = any(value == value for value in values)
        interval = mean_interval(values, clusters_of(scores)) if has_values else None
        mean, low, high = (None,) * 3 if interval is None else (interval.mean, interval.low, interval.high)
        found |= {metric: mean, f"{metric}_low": low, f"{metric}_high": high}
    return found


def figures_of_placement(placement: Placement) -> Figures:
    """The score with the ends of its interval, the ranks, and the percentage of other runs that are not better."""
    rank, n_others = placement.rank, placement.of - 1
    return {
        "score": placement.score,
        "score_low": placement.interval.low,
        "score_high": placement.interval.high,
        "rank": rank,
        "rank_low": placement.rank_low,
        "rank_high": placement.rank_high,
        "percentile": None if rank is None or not n_others else 100 * (placement.of - rank) / n_others,
    }

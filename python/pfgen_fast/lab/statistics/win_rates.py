"""Win rates of models against others, and win rates that length does not explain.

    y = a(pair) + b x

`y` is 1 for a win, 0 for a loss, and the value of a tie; `x` is the logarithm of the ratio of the two answers' lengths.
`b` is the slope within pairs of models, common to all pairs (least squares). The length-controlled win rate of a pair
is its mean of `y` minus `b` times its mean of `x`: the win rate of answers of equal length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .correlation import Floats
from .resampling import Counts, resampled_means

Ints = NDArray[np.int64]

FEWEST_CLUSTERS = 20
"""With fewer tasks, the slope is so uncertain that no length-controlled win rate is given."""


@dataclass(frozen=True, eq=False)
class WinRates:
    """Win rates by pair; a draw is a row. NaN where they are undefined."""

    n: Ints  # numbers of comparisons
    rates: Floats
    controlled: Floats  # length-controlled win rates
    slope: float  # change of the win rate if the one answer is e times as long
    rate_draws: Floats
    controlled_draws: Floats
    slope_draws: Floats


def win_rates(y: Floats, x: Floats, pairs: Ints, n_pairs: int, clusters: Ints, counts: Counts) -> WinRates:
    """Computes the win rates of each pair, and their draws of clusters, such as tasks."""
    n_clusters = counts.shape[1]
    cells = pairs * n_clusters + clusters
    has_length = ~np.isnan(x)
    known = np.where(has_length, x, 0.0)
    is_known = has_length.astype(np.float64)
    columns = [np.ones(len(y)), y, is_known, is_known * y, known, known * known, known * y]
    sums = [np.bincount(cells, column, n_pairs * n_clusters).reshape(n_pairs, n_clusters) for column in columns]
    drawn = resampled_means(np.concatenate(sums), counts).reshape(len(counts), len(columns), n_pairs) * n_clusters
    whole = np.stack([part.sum(axis=1) for part in sums])
    rates, controlled, slope = _figures(whole)
    drawn_rates = [np.asarray(part) for part in _figures(np.moveaxis(drawn, 0, 1))]
    if n_clusters < FEWEST_CLUSTERS:
        controlled, slope = np.full(n_pairs, np.nan), np.float64(np.nan)

    return WinRates(whole[0].astype(np.int64), rates, controlled, float(slope), *drawn_rates)


def _figures(sums: Floats) -> tuple[Floats, Floats, Any]:
    """Rates, length-controlled rates and the slope, from sums whose last axis are pairs."""
    n, total, n_known, y, x, xx, xy = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = total / n
        within_xx = np.where(n_known > 0, xx - x * x / n_known, 0.0).sum(axis=-1)
        within_xy = np.where(n_known > 0, xy - x * y / n_known, 0.0).sum(axis=-1)
        slope = np.where(within_xx > 1e-12 * xx.sum(axis=-1), within_xy / within_xx, np.nan)
        controlled = np.clip(y / n_known - np.expand_dims(slope, -1) * x / n_known, 0.0, 1.0)
    return rates, controlled, slope

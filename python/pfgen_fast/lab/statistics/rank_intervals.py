"""95 % intervals of discernment scores, of their averages and of differences of averages, without draws.

A discernment score follows from a share: that of the ranks that favour the original, among the scores that change. The
interval of the share is Wilson's, with an effective number of items or clusters (such as questions). The influence of a
cluster is its part of the error of a figure, so influences of figures on the same items add up, and their
differences are paired. Accuracy: docs/statistics_coverage.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runs.statistics.paired import cluster_sums
from .discernment_scores import Floats, combine, discernment_score
from .signed_rank import SignedRank, differences_on_grid, log_tail

_EFFECTIVE_AT_MOST = 0.75  # effective number for each cluster, which is that of the test: its variance is 1 / 3n
_MAX_CLUSTERS = 1000  # more clusters are added up to this number, to save memory


class RankIntervals(NamedTuple):
    """The intervals of cells, which hold for the given numbers of scores that change."""

    log_p_low: Floats  # lower end of the interval of the logarithm of the p-value; 0 if no score changes
    log_p_high: Floats
    influence: Floats  # cells × clusters: the influence on the logarithm; its norm is the standard error


def rank_intervals(original: Floats, damaged: Floats, tested: SignedRank, codes: NDArray[np.int_]) -> RankIntervals:
    """Computes the intervals of tests; `codes` has the cluster of each item, a whole number from 0."""
    from scipy.special import stdtrit

    g = differences_on_grid(original, damaged)
    differs = np.nan_to_num(g) != 0
    share = (np.nan_to_num(tested.rank_biserial) + 1) / 2
    above = np.zeros(g.shape)  # share of the other differences that outweigh the opposite of each; half of equal ones
    for cell in np.flatnonzero(tested.n):
        ordered = np.sort(g[cell, differs[cell]])
        below = [np.searchsorted(ordered, -g[cell, differs[cell]], side) for side in ("left", "right")]
        above[cell, differs[cell]] = 1 - np.add(*below) / 2 / len(ordered)
    n, units = np.maximum(tested.n, 1), np.maximum(tested.units, 2)
    influence = np.where(differs, 2 * (above - share[:, None]) / n[:, None], 0.0)
    influence = cluster_sums(influence, codes % _MAX_CLUSTERS) * np.sqrt(units / (units - 1))[:, None]
    variance, most = (influence**2).sum(axis=1), _EFFECTIVE_AT_MOST * np.maximum(tested.units, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(variance > 0, np.minimum(share * (1 - share) / variance, most), most)
        squared = stdtrit(units - 1, 0.975) ** 2 / effective
    middle = (share + squared / 2) / (1 + squared)
    half = np.sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    has_z = np.isfinite(tested.z)
    # Of z, from -1 (all rise) to 1 (all fall).
    scale = np.divide(tested.mean, np.sqrt(tested.variance), out=np.zeros(len(g)), where=has_z)
    low, high = (
        np.where(has_z, log_tail(scale * (2 * end - 1)), 0.0)
        for end in (np.minimum(middle + half, 1), np.maximum(middle - half, 0))
    )
    z = scale * (2 * share - 1)
    slope = -2 * scale * np.exp(-(z**2) / 2 - log_tail(z)) / np.sqrt(2 * np.pi)
    return RankIntervals(low, high, influence * slope[:, None])


class Scores(NamedTuple):
    """Discernment scores with their intervals."""

    d: Floats  # NaN if undefined
    low: Floats
    high: Floats
    influence: Floats  # clusters × scores

    def at(self, places: Any) -> Scores:
        """The scores at some places."""
        return Scores(*(column[..., places] for column in self))


def combined_scores(log_p: Floats, intervals: RankIntervals, **how: Any) -> Scores:
    """Combines the cells of each perturbation (row), as `combine` does; `how` are its options."""
    from scipy.special import softmax

    d, low, high = (
        discernment_score(combine(np.where(np.isnan(log_p), np.nan, ends), **how))
        for ends in (log_p, intervals.log_p_high, intervals.log_p_low)
    )
    with np.errstate(divide="ignore"):
        parts = softmax(np.log(how.get("weights", 1.0)) - log_p, axis=1)
    return Scores(d, low, high, -discernment_score(np.einsum("pm,pmc->cp", parts, intervals.influence)))


def interval_of_sum(weights: Floats, scores: Scores) -> tuple[float, float] | tuple[None, None]:
    """The interval of a weighted sum of discernment scores.

    If all errors were one error, the distances of the ends from the scores would add up. They are reduced by as much as
    the standard error of the sum is smaller than the sum of the standard errors. None if no score has a weight.
    """
    counts = weights != 0
    if not counts.any():
        return None, None
    own, (d, low, high, influence) = weights[counts], scores.at(counts)
    total, sizes = float(own @ d), np.abs(own)
    apart = float(np.linalg.norm(influence, axis=0) @ sizes)
    ratio = float(np.linalg.norm(influence @ own)) / apart if apart else 1.0
    below, above = (float(sizes @ np.where(own > 0, *pair)) for pair in ((d - low, high - d), (high - d, d - low)))
    return total - ratio * below, total + ratio * above

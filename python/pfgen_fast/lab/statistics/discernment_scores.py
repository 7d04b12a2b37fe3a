"""Discernment scores: p-values to the base 0.05, combined over metrics, averaged over perturbations; their intervals.

Computed from natural logarithms of p-values, because p-values underflow. An undefined score is NaN. Rules:
docs/discernment.md.

A score follows from a share: that of the ranks that favour the original, among the scores that change. The 95 %
interval of the share is Wilson's, with an effective number of items or clusters (such as questions). The influence of a
cluster is its part of the error of a figure, so influences of figures on the same items add up, and their
differences are paired. Accuracy: docs/statistics_coverage.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import DiscernmentError
from ...runs.statistics.paired_tests import MIN_QUESTIONS, cluster_sums, of_stratum
from .signed_rank import SignedRank, differences_on_grid, discernment_score, log_tail

CONTROL = "control"  # the level of perturbations that should not matter; averages leave them out
NOTICED = 1.0  # damage counts as noticed from this score on: p = 0.05
FEW = 5  # with fewer differences other than zero, the exact test cannot reach `NOTICED`


def is_noticed(d: Any, units: Any) -> NDArray[np.bool_]:
    """Whether damage is noticed: a discernment score of at least 1 from enough differences; False for NaN."""
    return (np.asarray(d, dtype=np.float64) >= NOTICED) & (np.asarray(units) >= FEW)


def combine(log_p: Any, *, weights: Any = None, printed: bool = False) -> Any:
    """Combines the p-values of several metrics into one: their harmonic mean, weighted if there are weights.

    Args:
        log_p: Natural logarithms of the p-values of metrics, or a row of logarithms for each perturbation. With a NaN,
            the combination is undefined.
        weights: A weight for each metric, or a row of weights for each perturbation; only ratios count. The
            combination of a row of NaN is undefined.
        printed: Whether to leave out the number of metrics in the numerator of the unweighted form, as the paper does.
            The combination of equal p-values is then too small by this factor.

    Returns:
        The logarithm of the combined p-value: a float for a vector, else an array.

    Raises:
        DiscernmentError: There are no metrics, or a p-value or weight is out of range.

    Example:
        >>> p = [0.04, 0.5, 0.01]
        >>> round(math.exp(combine(np.log(p))), 6)  # 3 / (25 + 2 + 100)
        0.023622
        >>> round(math.exp(combine(np.log(p), weights=[4, 1, 5])), 6)  # 1 / (0.4 * 25 + 0.1 * 2 + 0.5 * 100)
        0.016611
    """
    from scipy.special import logsumexp

    values = _checked_log_p(log_p)
    if weights is not None:
        log_weights = _log_weights(weights, values.shape)
        # A metric without weight is left out, even with a p-value of 0, but an undefined p-value counts.
        terms = log_weights - np.where((log_weights == -np.inf) & ~np.isnan(values), 0.0, values)
    else:
        terms = -values - (0.0 if printed else math.log(values.shape[-1]))
    scores = np.minimum(-logsumexp(terms, axis=-1), 0.0) + 0.0
    return float(scores) if values.ndim == 1 else scores


def calibrated(log_p: Any, n_metrics: int) -> Any:
    """Computes the logarithm of a combined p-value that is valid under any dependence (Vovk and Wang, 2020)."""
    factor = {1: 1.0, 2: 2.0}.get(n_metrics) or math.e * math.log(n_metrics)
    return np.minimum(np.asarray(log_p, dtype=np.float64) + math.log(factor), 0.0) + 0.0


def level_weights(d: Floats, levels: Sequence[str]) -> Floats:
    """The weight of each score in an average: equal for levels, and within a level; 0 for controls and NaN."""
    if len(d) != len(levels):
        raise DiscernmentError(f"{len(d)} discernment scores for {len(levels)} levels: expected one for each")
    named = np.array(levels, dtype=object)
    counts = ~np.isnan(d) & (named != CONTROL)
    members = [counts & (named == level) for level in dict.fromkeys(named[counts])]
    weights = np.zeros(len(d))
    for is_member in members:
        weights[is_member] = 1 / len(members) / is_member.sum()
    return weights


def average(d: Sequence[float | None] | Floats, levels: Sequence[str]) -> tuple[float, float]:
    """Averages the discernment scores of perturbations, each level with the same weight.

    Args:
        d: The score of each perturbation; undefined scores (None or NaN) are left out.
        levels: The level of each perturbation; `control` is left out.

    Returns:
        The average and the minimum; NaN if no score is defined.

    Example:
        >>> average([2.0, 6.0, 1.0, 0.5], ["character", "character", "word", "control"])
        (2.5, 1.0)
    """
    scores = np.array(d, dtype=np.float64)
    weights = level_weights(scores, levels)
    if not weights.any():
        return math.nan, math.nan
    return float(weights @ np.nan_to_num(scores)), float(scores[weights > 0].min())


def _checked_log_p(log_p: Any) -> Floats:
    values = np.asarray(log_p, dtype=np.float64)
    if not values.ndim or not values.shape[-1]:
        raise DiscernmentError("no p-values to combine: expected one for each metric")
    wrong = values[values > 0]
    if wrong.size:
        raise DiscernmentError(f"log p of {wrong[0]:g}: expected a number of at most 0, the logarithm of a p-value")
    return values


def _log_weights(weights: Any, shape: tuple[int, ...]) -> Floats:
    """Logarithms of the weights of each row, divided by their sum."""
    try:
        values = np.broadcast_to(np.asarray(weights, dtype=np.float64), shape)
    except ValueError:
        raise DiscernmentError(
            f"weights of the shape {np.shape(weights)} for p-values of the shape {shape}: expected one for each metric"
        ) from None
    is_absent = np.isnan(values).all(axis=-1)
    is_right = (np.isfinite(values) & (values >= 0)).all(axis=-1)
    wrong = values[np.logical_not(is_absent | is_right)]
    if wrong.size:
        raise DiscernmentError(f"weights {wrong[0].tolist()}: expected finite numbers of at least 0")
    # Divided by the largest weight first, so that no sum overflows or underflows.
    largest = values.max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise DiscernmentError("all weights are 0: expected at least one weight above 0")
    shares = values / largest
    with np.errstate(divide="ignore"):
        logarithms: Floats = np.log(shares / shares.sum(axis=-1, keepdims=True))
    return logarithms


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


class DiscernmentScores(NamedTuple):
    """Discernment scores with their intervals."""

    d: Floats  # NaN if undefined
    low: Floats
    high: Floats
    influence: Floats  # clusters × scores

    def at(self, places: Any) -> DiscernmentScores:
        """The scores at some places."""
        return DiscernmentScores(*(column[..., places] for column in self))


def combined_scores(log_p: Floats, intervals: RankIntervals, **how: Any) -> DiscernmentScores:
    """Combines the cells of each perturbation (row), as `combine` does; `how` are its options."""
    from scipy.special import softmax

    d, low, high = (
        discernment_score(combine(np.where(np.isnan(log_p), np.nan, ends), **how))
        for ends in (log_p, intervals.log_p_high, intervals.log_p_low)
    )
    with np.errstate(divide="ignore"):
        parts = softmax(np.log(how.get("weights", 1.0)) - log_p, axis=1)
    return DiscernmentScores(d, low, high, -discernment_score(np.einsum("pm,pmc->cp", parts, intervals.influence)))


def interval_of_sum(weights: Floats, scores: DiscernmentScores) -> tuple[float, float] | tuple[None, None]:
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


def change_interval(
    changes: Floats, *, largest: float, clusters: NDArray[np.int_] | None = None
) -> tuple[Floats, Floats]:
    """The 95 % interval of the mean of each row of changes.

    It is Student's interval over items or clusters, with Johnson's correction where changes are skewed. If fewer than
    `FEW` scores differ, their variance says little, and the interval allows for as many changes of the size `largest`
    as Poisson's upper limit for their number. NaN with fewer than `MIN_QUESTIONS` items or clusters.
    """
    from scipy.special import gammaincinv, stdtrit

    n_changed = (np.nan_to_num(changes) != 0).sum(axis=1)
    means, variances, n, units, degrees, _ = of_stratum(np.zeros(changes.shape[1]), -changes, clusters)
    is_enough = units >= MIN_QUESTIONS
    t = np.where(is_enough, stdtrit(np.where(is_enough, degrees, 1), 0.975), np.nan)
    from_mean = np.nan_to_num(changes - means[:, np.newaxis])
    cubes = (from_mean if clusters is None else cluster_sums(from_mean, clusters)) ** 3
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.where(variances > 0, cubes.sum(axis=1) / n**3 / (6 * variances) * (1 + 2 * t**2), 0.0)
        rare = np.where(is_enough, gammaincinv(n_changed + 1, 0.975) / units * largest, np.nan)
    half = t * np.sqrt(variances)
    is_few = n_changed < FEW
    low, high = means - half + np.minimum(skew, 0), means + half + np.maximum(skew, 0)
    return np.where(is_few, -rare, low), np.where(is_few, rare, high)

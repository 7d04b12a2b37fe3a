"""Discernment scores: p-values to the base 0.05, combined over metrics, averaged over perturbations.

Computed from natural logarithms of p-values, because p-values underflow. An undefined score is NaN. Rules:
docs/discernment.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import DiscernmentError

Floats = NDArray[np.float64]

CONTROL = "control"  # the level of perturbations that should not matter; averages leave them out
NOTICED = 1.0  # damage counts as noticed from this score on: p = 0.05
FEW = 5  # with fewer differences other than zero, the exact test cannot reach `NOTICED`
_LOG_20 = math.log(20.0)


def discernment_score(log_p: Any) -> Any:
    """Computes the discernment score of p-values: their logarithms to the base 0.05. 1 is p = 0.05."""
    return np.asarray(log_p, dtype=np.float64) / -_LOG_20 + 0.0  # no negative zero


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

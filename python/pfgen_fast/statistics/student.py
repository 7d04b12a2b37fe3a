"""Student's t: its quantile and p-values, and the 95 % interval of a mean of means (Welch and Satterthwaite).

Needs only NumPy, which the base install has; tests compare it with SciPy. Definition of the interval:
docs/generation.md, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .mean_interval import CONFIDENCE

_N_STEPS = 4096
_MAX_TERMS = 10_000
_LAST_TERM = 1e-15
_MANY_DEGREES = 100  # above this for each t, the sum of `p_values_of` takes longer than the continued fraction


def half_width(samples: Sequence[NDArray[np.float64]]) -> float | None:
    """Computes half the width of the 95 % interval of the mean of means; None if a sample has fewer than two values."""
    counts = np.array([len(sample) for sample in samples])
    if counts.min() < 2:
        return None
    return half_width_of(np.array([sample.var(ddof=1) for sample in samples]), counts)


def half_width_of(variances: NDArray[np.float64], counts: NDArray[np.int_]) -> float:
    """Computes `half_width` from the variance and the number of values of each group, which must be at least two."""
    parts = variances / counts
    total = float(parts.sum())
    if not total > 0:
        return 0.0
    degrees = 1 / float(((parts / total) ** 2 / (counts - 1)).sum())
    return quantile(degrees) * math.sqrt(total) / len(parts)


@lru_cache(maxsize=4096)
def quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """The quantile of Student's t that bounds a two-sided interval.

    It is found from the integral of cos(angle) ** (degrees - 1), with t = sqrt(degrees) tan(angle).
    """
    if degrees > 10_000:
        return 1.959964 if confidence == CONFIDENCE else NormalDist().inv_cdf((1 + confidence) / 2)
    # The probability beyond t = 40 is negligible, except for few degrees of freedom, which need the whole range.
    last = min(math.pi / 2, 40 / math.sqrt(degrees))
    angles = (np.arange(_N_STEPS) + 0.5) * (last / _N_STEPS)
    share = np.cumsum(np.cos(angles) ** (degrees - 1))
    angle = np.interp(confidence, share / share[-1], angles + last / _N_STEPS / 2)
    return math.sqrt(degrees) * math.tan(float(angle))


def p_values_of(t: NDArray[np.float64], degrees: int) -> NDArray[np.float64]:
    """Two-sided p-values of t to 1e-15, for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    if degrees > _MANY_DEGREES * t.size:
        return np.array([p_value_of(value, degrees) for value in t.tolist()])
    angle = np.arctan(np.abs(t) / math.sqrt(degrees))
    sine, cosine = np.sin(angle), np.cos(angle)
    is_odd = degrees % 2
    total = np.ones_like(cosine)
    for number in range(degrees - 2, 1, -2):
        total = 1 + total * cosine**2 * ((number - 1) / number)
    if degrees == 1:
        within = angle * (2 / math.pi)
    elif is_odd:
        within = (angle + sine * cosine * total) * (2 / math.pi)
    else:
        within = sine * total
    return np.clip(1 - within, 0.0, 1.0)


def p_value_of(t: float, degrees: float) -> float:
    """The two-sided p-value of t to a relative 1e-10, by the incomplete beta function (Numerical Recipes, 6.4)."""
    a, b = degrees / 2, 0.5
    x, y = degrees / (degrees + t * t), t * t / (degrees + t * t)
    if x == 0 or y == 0:  # t is infinite or 0 in floats
        return x
    log_x = math.log1p(-y) if y < 0.5 else math.log(x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * log_x + b * math.log(y)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _continued_fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _continued_fraction(b, a, y) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MAX_TERMS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + numerator * d)
            c = _away_from_zero(1 + numerator / c)
            found *= d * c
        if abs(d * c - 1) < _LAST_TERM:
            break
    return found


def _away_from_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300

"""Tango's score test of two paired proportions, and the interval that inverts it (Tango 1998).

Of `n` questions, A alone solves `a_only` and B alone `b_only`. The statistic of "A - B is `shift`" divides the distance
of the mean difference from the shift by its standard error under this hypothesis. Accuracy: docs/statistics.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_N_HALVINGS = 60


def tango_p_values(a_only: Any, b_only: Any, n: Any, shift: float = 0.0) -> Floats:
    """Two-sided p-values of "the difference of the proportions is `shift`"."""
    from scipy.special import ndtr

    p: Floats = 2 * ndtr(-np.abs(_statistic(a_only, b_only, n, shift)))
    return p


def tango_interval(a_only: int, b_only: int, n: int, alpha: float) -> tuple[float, float]:
    """The interval of the difference of the proportions: all shifts that the test does not reject at level `alpha`."""
    from scipy.special import ndtri

    z, mean = -float(ndtri(alpha / 2)), (a_only - b_only) / n
    # A row for each end: the statistic is monotone in the shift, so bisection finds where it reaches z.
    inside, outside = np.full(2, mean), np.array([-1.0, 1.0])
    for _ in range(_N_HALVINGS):
        middle = (inside + outside) / 2
        is_inside = np.abs(_statistic(a_only, b_only, n, middle)) <= z
        inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
    low, high = inside.tolist()
    return low, high


def _statistic(a_only: Any, b_only: Any, n: Any, shift: Any) -> Floats:
    """The score statistic, by the most likely share of questions that only B solves if the difference is `shift`."""
    a, b, n = (np.asarray(count, dtype=np.float64) for count in (a_only, b_only, n))
    linear = (2 * n - a + b) * shift - a - b
    share = (np.sqrt(np.maximum(linear**2 + 8 * n * b * shift * (1 - shift), 0)) - linear) / (4 * n)
    distance, variance = a - b - n * shift, n * (2 * share + shift * (1 - shift))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic: Floats = distance / np.sqrt(np.maximum(variance, 0))
    return np.where(np.abs(distance) <= 1e-9, 0.0, statistic)

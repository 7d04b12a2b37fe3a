"""Tango's score test of two paired proportions, and the interval that inverts it (Tango 1998).

Of `n` questions, A alone solves `a_only` and B alone `b_only`. The statistic of "A - B is `shift`" divides the distance
of the mean difference from the shift by its standard error under this hypothesis. Accuracy: docs/statistics.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_AT_EDGE = 1e-12  # the statistic is infinite at shifts of -1 and 1


def tango_p_values(a_only: Any, b_only: Any, n: Any, shift: float = 0.0) -> Floats:
    """Two-sided p-values of "the difference of the proportions is `shift`"."""
    from scipy.special import ndtr

    p: Floats = 2 * ndtr(-np.abs(_statistic(a_only, b_only, n, shift)))
    return p


def tango_interval(a_only: int, b_only: int, n: int, alpha: float) -> tuple[float, float]:
    """The interval of the difference of the proportions: all shifts that the test does not reject at level `alpha`."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    z, mean = -float(ndtri(alpha / 2)), (a_only - b_only) / n

    def end(side: int) -> float:
        """The shift at which the statistic, which falls with the shift, reaches -z or z."""
        edge = side * (1 - _AT_EDGE)
        if side * mean >= 1 - _AT_EDGE:
            return float(side)
        return float(brentq(lambda shift: _statistic(a_only, b_only, n, shift) + side * z, mean, edge))

    return end(-1), end(1)


def _statistic(a_only: Any, b_only: Any, n: Any, shift: Any) -> Any:
    """The score statistic, by the most likely share of questions that only B solves if the difference is `shift`.

    Numbers give a number, for which NumPy would be slow, and arrays give an array.
    """
    linear = (2 * n - a_only + b_only) * shift - a_only - b_only
    share = (abs(linear**2 + 8 * n * b_only * shift * (1 - shift)) ** 0.5 - linear) / (4 * n)
    distance = a_only - b_only - n * shift
    distance = distance * (abs(distance) > 1e-9)  # smaller by rounding
    return distance / (abs(n * (2 * share + shift * (1 - shift))) + 1e-300) ** 0.5

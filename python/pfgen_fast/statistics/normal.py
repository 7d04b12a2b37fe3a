"""The normal distribution, far into its tails; needs only NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FAR = -20.0
"""Below, the asymptotic series is exact to the last bits, and above, `math.erfc` is far from its underflow at -37."""
_SERIES = (-1.0, 3.0, -15.0, 105.0, -945.0, 10395.0, -135135.0)


def log_normal_cdf(x: Any) -> Floats:
    """The natural logarithm of the normal distribution function, log Φ(x), to a relative 1e-12 for every x."""
    values = np.asarray(x, dtype=np.float64)
    flat = values.ravel()
    far = flat < _FAR
    half = 0.5 * _erfc(np.abs(np.where(far, 0.0, flat)) / math.sqrt(2.0))
    found = np.where(flat < 0, np.log(np.maximum(half, 1e-300)), np.log1p(-half))
    found[far] = _log_far_tail(flat[far])
    result: Floats = found.reshape(values.shape) + 0.0  # no negative zero
    return result


def _erfc(x: Floats) -> Floats:
    return np.fromiter(map(math.erfc, x.tolist()), np.float64, len(x))


def _log_far_tail(x: Floats) -> Floats:
    """By the asymptotic series φ(x)/|x| · (1 - 1/x² + 3/x⁴ - ...)."""
    inverse_square = 1.0 / (x * x)
    series = np.zeros_like(x)
    for coefficient in reversed(_SERIES):
        series = (series + coefficient) * inverse_square
    found: Floats = -0.5 * x * x - np.log(-x) - 0.5 * math.log(2.0 * math.pi) + np.log1p(series)
    return found

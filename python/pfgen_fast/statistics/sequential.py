"""A paired t-test that may stop after any item: its error rate holds although it looks at the data many times.

The largest number of items is fixed beforehand. The boundary is that of O'Brien and Fleming: high at first, and lower
with each item. Definition and accuracy: docs/statistics.md. Needs only NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from .correlation import Floats
from .mean_interval import ROUNDING
from .paired import MIN_QUESTIONS, sign_test


@dataclass(frozen=True)
class Stop:
    """The outcome of a comparison that may stop early.

    Attributes:
        n: The number of items after which the comparison stopped.
        difference: The mean of A - B over these items.
        is_decided: Whether A and B differ on these items; False if all items were asked without a decision.
    """

    n: int
    difference: float
    is_decided: bool


def stopped(differences: Any, *, n_most: int | None = None, alpha: float = 0.05) -> Stop:
    """Compares two models item by item, and stops at the first item at which they differ.

    Args:
        differences: The difference A - B of each item, in the order in which the items are asked; NaN is left out. The
            order must not depend on the scores of A and B.
        n_most: The number of items at which the comparison ends; by default the number of differences.
        alpha: The probability of a decision if A and B are equally good on every item.

    Raises:
        ValueError: There is no difference, or there are more than `n_most`.

    Example:
        >>> stopped([0.25, 0.5, 0.25, 0.5, 0.25, 0.5, 0.25], n_most=12)
        Stop(n=6, difference=0.375, is_decided=True)
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[~np.isnan(values)]
    n_most = len(values) if n_most is None else n_most
    if not 0 < len(values) <= n_most:
        raise ValueError(f"{len(values)} differences: expected 1 to {n_most}")
    n = np.arange(1, len(values) + 1)
    means = np.cumsum(values) / n
    around = values - values[0]  # keeps digits if the spread is small
    squares, sums = np.cumsum(around**2), np.cumsum(around)
    rest = np.maximum(squares - sums**2 / n, 0)
    has_spread = rest > (ROUNDING * np.maximum.accumulate(np.abs(values))) ** 2
    deviates, ts = boundary(n_most, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(means) / np.sqrt(rest / (n - 1) / n)
    # Without spread, the p-value is that of the sign test.
    is_rare = (means != 0) & (sign_test(n) <= [math.erfc(deviate / math.sqrt(2)) for deviate in deviates[: len(n)]])
    crossed = np.flatnonzero(np.where(has_spread, t >= ts[: len(n)], is_rare) & (n >= MIN_QUESTIONS))
    at = int(crossed[0]) if len(crossed) else len(values) - 1
    return Stop(at + 1, float(means[at]), bool(len(crossed)))


@lru_cache(maxsize=64)
def boundary(n_most: int, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """For each number of items n, the normal deviate that stops the comparison, and the t with the same p-value.

    The deviate is `c * sqrt(n_most / n)`. A Brownian motion crosses this boundary at any time with a probability of at
    most `alpha`, by the reflection principle; looks at single items cross it less often. The t follows from the deviate
    by Wallace's approximation.
    """
    n = np.arange(1, n_most + 1)
    deviates = NormalDist().inv_cdf(1 - alpha / 4) * np.sqrt(n_most / n)
    degrees = np.maximum(n - 1, 1)
    exponents = (deviates * (8 * degrees + 3) / (8 * degrees + 1)) ** 2 / degrees
    return deviates, np.sqrt(degrees * np.expm1(np.minimum(exponents, 700)))

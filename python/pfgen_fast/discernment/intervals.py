"""Bootstrap intervals: the 2.5th and the 97.5th percentile of the draws."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats

PERCENTILES = (2.5, 97.5)


@dataclass(frozen=True, eq=False)
class Interval:
    """The ends of intervals, NaN where undefined.

    Attributes:
        low: The lower ends.
        high: The upper ends.
    """

    low: Floats
    high: Floats


def interval_of(draws: Floats, is_defined: NDArray[np.bool_] | bool = True) -> Interval:
    """The interval of each figure; draws in which it is undefined are left out.

    Args:
        draws: Draws × figures, of any further shape.
        is_defined: By figure, whether it has an interval at all.

    Example:
        >>> found = interval_of(np.arange(101.0).reshape(-1, 1))
        >>> found.low.tolist(), found.high.tolist()
        ([2.5], [97.5])
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a figure that no draw defines
        low, high = (
            np.nanpercentile(draws, PERCENTILES, axis=0) if draws.size else np.full((2, *draws.shape[1:]), np.nan)
        )
    return Interval(np.where(is_defined, low, np.nan), np.where(is_defined, high, np.nan))

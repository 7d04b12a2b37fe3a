"""The 95 % interval of any figure from draws of whole clusters, such as tasks, within strata.

The draws give only the standard error. With few clusters their percentiles are much too narrow, because the spread of
the draws has no correction for the number of clusters, and their mean is not the figure. Coverage: docs/statistics.md.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from .correlation import Floats
from .mean_interval import ROUNDING, quantile
from .rates import drawn_rate

Scale = Literal["linear", "fisher", "logarithm", "share"]
"""Where an interval is symmetric: means, coefficients from -1 to 1, sizes from 0 on, and shares (Wilson's interval)."""
Ends = tuple[float | None, float | None]

_MOST_UNDEFINED = 0.025
"""Share of the draws up to which undefined ones, such as those of one level only, are left out."""


def interval_of_draws(
    value: float,
    draws: Floats,
    n_clusters: int,
    n_strata: int = 1,
    *,
    scale: Scale = "fisher",
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Ends:
    """The ends of Student's interval; None without spread, if too many draws are undefined, and at the scale's ends."""
    degrees, defined = n_clusters - n_strata, draws[~np.isnan(draws)]
    if math.isnan(value) or degrees < 1 or len(defined) < max(2, (1 - _MOST_UNDEFINED) * len(draws)):
        return None, None
    if scale == "share":
        return drawn_rate(value, defined.tolist(), n_clusters, n_strata)[1:]
    # Not the spread on the scale, where a draw of 1 or 0 may be infinite.
    half = quantile(degrees) * math.sqrt(defined.var() * n_clusters / degrees)
    if half <= ROUNDING * np.abs(defined).max():
        return None, None
    if scale == "fisher":
        slope = 1 - value * value
        ends = [math.tanh(math.atanh(value) + side * half / slope) for side in (-1, 1)] if slope > ROUNDING else []
    elif scale == "logarithm":
        ends = [value * math.exp(side * min(half / value, 700)) for side in (-1, 1)] if value > 0 else []
    else:
        ends = [value - half, value + half]
    return (max(bounds[0], ends[0]), min(bounds[1], ends[1])) if ends else (None, None)

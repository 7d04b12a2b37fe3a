"""The 95 % interval of any figure from draws of whole clusters, such as tasks, within strata; intervals of shares.

The draws give only the standard error. With few clusters their percentiles are much too narrow, because the spread of
the draws has no correction for the number of clusters, and their mean is not the figure. Coverage: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from ...base.mean_interval import ROUNDING, mean_interval, quantile, wilson
from .correlation import Floats

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


def clustered_rate(values: Sequence[float], clusters: Sequence[Hashable]) -> tuple[float, float, float]:
    """The mean of values from 0 to 1, such as 1 for yes and 0 for no, and its 95 % interval.

    The interval is that of Wilson's formula with the effective number of values: the number of independent values that
    have the cluster-robust variance of the mean, which is at least that of independent values. It is the number of
    clusters if all values are equal.
    """
    n = len(values)
    if not n:
        raise ValueError("a share needs at least one value")
    n_clusters = len(set(clusters))
    share = math.fsum(values) / n
    interval = mean_interval([float(value) for value in values], clusters)
    effective = float(n_clusters)
    if interval.half_width and n_clusters > 1:
        variance = (interval.half_width / quantile(n_clusters - 1)) ** 2
        # Independent values between 0 and 1, such as ties, have a smaller variance than yes and no.
        independent = math.fsum((value - share) ** 2 for value in values) / n
        effective = share * (1 - share) / max(variance, independent / n)
    return share, *wilson(share, effective, quantile(max(1, n_clusters - 1)))


def drawn_rate(
    share: float, draws: Sequence[float], n_clusters: int, n_strata: int = 1
) -> tuple[float, float | None, float | None]:
    """A share with the interval of `clustered_rate`, from the share in each draw of clusters within strata."""
    if not len(draws):
        return share, None, None
    mean = math.fsum(draws) / len(draws)
    degrees = max(1, n_clusters - n_strata)
    variance = math.fsum((value - mean) ** 2 for value in draws) / len(draws) * n_clusters / degrees
    has_spread = variance > 1e-12 and 0 < share < 1
    return share, *wilson(share, share * (1 - share) / variance if has_spread else n_clusters, quantile(degrees))

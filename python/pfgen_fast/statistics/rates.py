"""Shares of yes among answers to yes-or-no questions, with intervals that stay inside 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from .mean_interval import mean_interval, quantile


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
    found = mean_interval([float(value) for value in values], clusters)
    effective = float(n_clusters)
    if found.half_width and n_clusters > 1:
        variance = (found.half_width / quantile(n_clusters - 1)) ** 2
        # Independent values between 0 and 1, such as ties, have a smaller variance than yes and no.
        independent = math.fsum((value - share) ** 2 for value in values) / n
        effective = share * (1 - share) / max(variance, independent / n)
    return _wilson(share, effective, max(1, n_clusters - 1))


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
    return _wilson(share, share * (1 - share) / variance if has_spread else n_clusters, degrees)


def _wilson(share: float, effective: float, degrees: int) -> tuple[float, float, float]:
    """Wilson's interval with Student's quantile, for an effective number of values."""
    z = quantile(degrees)
    share_of_z = z * z / effective
    middle = (share + share_of_z / 2) / (1 + share_of_z)
    half = z * math.sqrt(share * (1 - share) / effective + share_of_z / (4 * effective)) / (1 + share_of_z)
    return share, max(0.0, middle - half), min(1.0, middle + half)

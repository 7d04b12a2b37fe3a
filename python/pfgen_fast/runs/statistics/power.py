"""How many items a paired comparison needs to find a difference with power 0.8 at the level 0.05.

Definition and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...base.mean_interval import quantile
from .paired import MIN_QUESTIONS, PairedDifference

_Z_OF_POWER = 0.8416212335729143  # the 80 % quantile of the normal distribution
_MOST = 10**9


@dataclass(frozen=True)
class Needed:
    """What a comparison needs to find a difference."""

    difference: float  # difference to find
    # number of items, or of clusters, with the trials that they have; None if the differences of items have no spread,
    # if the difference is 0, or if the number exceeds a billion
    n: int | None


def needed(comparison: PairedDifference, difference: float) -> Needed:
    """Computes the items that find `difference`, from a comparison of the same models."""
    n = comparison.n if comparison.n_clusters is None else comparison.n_clusters
    if not comparison.error or not difference:
        return Needed(difference, None)
    share = comparison.degrees / (n - 1)  # of each item or cluster but one: below 1 with unequal clusters
    return Needed(difference, _units(comparison.error**2 * n, difference, share))


def _wanted(difference: float, degrees: float) -> float:
    """The variance of the mean difference with which a test of so many degrees of freedom finds the difference."""
    return (abs(difference) / (quantile(degrees) + _Z_OF_POWER)) ** 2


def _units(variance: float, difference: float, share: float) -> int | None:
    """The smallest number of items or clusters that find the difference; the variance is that of one of them."""
    least = variance / _wanted(difference, math.inf)
    if least > _MOST:
        return None
    n = max(MIN_QUESTIONS, math.ceil(least))
    while variance / n > _wanted(difference, max(1.0, share * (n - 1))):  # Student's quantile is a bit larger
        n += 1
    return n

"""How many items or trials a paired comparison needs to find a difference with power 0.8 at the level 0.05.

Definition and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .mean_interval import quantile
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
    # number of trials of each item, with the items that there are; None if the variance of trials is not known, or
    # if more trials alone cannot reach the power, as `trials_suffice` says
    n_trials: int | None = None
    trials_suffice: bool | None = None  # None if the variance of trials is not known


def needed(
    found: PairedDifference, difference: float, *, trial_variance: float | None = None, n_trials: float = 1.0
) -> Needed:
    """Computes the items and trials that find `difference`, from a comparison of the same models.

    `trial_variance` is the part of the variance of the mean difference that comes from trials, and `n_trials` the mean
    number of trials of an item.
    """
    n = found.n if found.n_clusters is None else found.n_clusters
    if not found.error or not difference:
        return Needed(difference, None)
    variance = found.error**2
    share = found.degrees / (n - 1)  # of each item or cluster but one: below 1 with unequal clusters
    n_needed = _units(variance * n, difference, share)
    if trial_variance is None:
        return Needed(difference, n_needed)
    wanted = _wanted(difference, found.degrees)
    of_items = max(variance - trial_variance, 0.0)
    if n < MIN_QUESTIONS or (variance > wanted and (of_items >= wanted or not trial_variance)):
        return Needed(difference, n_needed, None, False)
    if variance <= wanted:
        return Needed(difference, n_needed, math.ceil(n_trials), True)
    return Needed(difference, n_needed, math.ceil(n_trials * trial_variance / (wanted - of_items)), True)


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

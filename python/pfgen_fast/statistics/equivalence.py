"""The interval of a mean change of scores for two one-sided tests: is the change smaller than a margin?

The interval has 90 %, so that each of the two tests has the level 0.05. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .discernment_scores import FEW, Floats
from .mean_interval import quantile
from .paired import MIN_QUESTIONS, cluster_sums, of_stratum

CONFIDENCE = 0.9

_Z = 1.6448536269514722  # the 95 % quantile of the normal distribution


def change_interval(
    original: Floats, damaged: Floats, *, largest: float, clusters: NDArray[np.int_] | None = None
) -> tuple[Floats, Floats]:
    """The 90 % interval of the mean of original - damaged, for each row of damaged scores.

    It is Student's interval over items or clusters, with Johnson's correction where changes are skewed. If fewer than
    `FEW` scores differ, their variance says little, and the interval allows for as many changes of the size `largest`
    as Poisson's upper limit for their number. NaN with fewer than `MIN_QUESTIONS` items or clusters.
    """
    means, variances, n, units, degrees, _ = of_stratum(original, damaged, clusters)
    is_enough = units >= MIN_QUESTIONS
    t = np.array(
        [quantile(of, CONFIDENCE) if enough else math.nan for of, enough in zip(degrees, is_enough, strict=True)]
    )
    changes = original - damaged
    from_mean = np.nan_to_num(changes - means[:, np.newaxis])
    cubes = (from_mean if clusters is None else cluster_sums(from_mean, clusters)) ** 3
    n_changed = (np.nan_to_num(changes) != 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.where(variances > 0, cubes.sum(axis=1) / n**3 / (6 * variances) * (1 + 2 * t**2), 0.0)
        rare = np.where(is_enough, _upper_limit(n_changed) / units * largest, np.nan)
    half = t * np.sqrt(variances)
    is_few = n_changed < FEW
    low, high = means - half + np.minimum(skew, 0), means + half + np.maximum(skew, 0)
    return np.where(is_few, -rare, low), np.where(is_few, rare, high)


def _upper_limit(n: Any) -> Any:
    """The 95 % upper limit of the expectation of a Poisson count, by Wilson and Hilferty."""
    above = np.asarray(n) + 1.0
    return above * (1 - 1 / (9 * above) + _Z / (3 * np.sqrt(above))) ** 3

"""The degree from which on an evaluator notices damage, the items needed, and the size and growth of its effect.

Rules: docs/discernment.md and docs/discernment_rules.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .discernment_scores import FEW, NOTICED, Floats
from .mean_interval import quantile
from .paired import MIN_QUESTIONS, cluster_sums, of_stratum
from .resampling import subsample_counts
from .signed_rank import Zeros, differences_on_grid, signed_rank

N_SUBSAMPLES = 200
CONFIDENCE = 0.9
"""Of the interval of a mean change, so that each of its two one-sided tests has the level 0.05."""

_Z = 1.6448536269514722  # the 95 % quantile of the normal distribution

_PAIRS_FOR_80 = 8.243  # 4/3 (1.6449 + 0.8416)²: Noether's formula for a one-sided test at 0.05 with a power of 0.8


def is_noticed(d: Any, n: Any) -> NDArray[np.bool_]:
    """Whether damage is noticed: a discernment score of at least 1 from enough differences; False for NaN."""
    return (np.asarray(d, dtype=np.float64) >= NOTICED) & (np.asarray(n) >= FEW)


def noticed_from(noticed: Any) -> Any:
    """Finds the index of the degree from which on all degrees are noticed; the number of degrees if there is none."""
    from_last = np.flip(np.asarray(noticed, dtype=bool), axis=-1)
    n_degrees = from_last.shape[-1]
    return n_degrees - np.logical_and.accumulate(from_last, axis=-1).sum(axis=-1)


def noticed_from_with(
    n_items: int,
    original: Any,
    damaged: Any,
    *,
    higher_is_better: bool = True,
    zeros: Zeros = "drop",
    n_draws: int = N_SUBSAMPLES,
    seed: int = 0,
) -> int | None:
    """Computes `noticed_from` with a smaller number of items: the lower median over draws without replacement."""
    x, y = np.asarray(original, dtype=np.float64), np.asarray(damaged, dtype=np.float64)
    if len(x) < n_items or not n_items or not len(y):
        return None
    drawn = _subsamples(len(x), n_items, 1 if len(x) == n_items else n_draws, seed)
    # A row for each degree and draw: the work does not grow with the number of all items.
    shape = (len(y), *drawn.shape)
    originals = np.broadcast_to(x[drawn], shape).reshape(-1, n_items)
    tested = signed_rank(originals, y[:, drawn].reshape(-1, n_items), higher_is_better=higher_is_better, zeros=zeros)
    noticed = is_noticed(tested.d, tested.n).reshape(shape[:2])
    degrees = np.sort(noticed_from(noticed.T))
    return int(degrees[(len(degrees) - 1) // 2])


@lru_cache(maxsize=8)
def _subsamples(n_items: int, size: int, n_draws: int, seed: int) -> NDArray[np.intp]:
    """The items of each draw; all kinds of damage use the same draws."""
    counts = subsample_counts(n_items, size, n_draws, seed=seed)
    return np.nonzero(counts)[1].reshape(n_draws, size)


def n80(rank_biserial: float, n: int, n_pairs: int) -> int | None:
    """The number of items needed to notice damage of the same effect with a probability of 0.8."""
    if not rank_biserial > 0 or not n:
        return None
    n_different = math.ceil(_PAIRS_FOR_80 / rank_biserial**2)
    return max(FEW, -int(-n_different * n_pairs // n))


def monotonicity(original: Any, damaged: Any, differs: Any, *, higher_is_better: bool = True) -> float:
    """The falls minus the rises from each text to each more damaged text of an item, as a share of all such pairs."""
    scores = np.vstack([original, damaged]).astype(np.float64)
    is_common = np.asarray(np.isfinite(scores).all(axis=0))
    is_new = np.asarray(differs, dtype=bool).reshape(-1, len(is_common))[:, is_common]
    scores = scores[:, is_common]
    falls = rises = n_pairs = 0
    for less in range(len(is_new)):
        has_changed = np.logical_or.accumulate(is_new[less:], axis=0)
        more_damaged = scores[less + 1 :]
        change = differences_on_grid(
            np.broadcast_to(scores[less], more_damaged.shape),
            more_damaged,
            np.full(len(more_damaged), higher_is_better),
        )
        falls += int((has_changed & (change > 0)).sum())
        rises += int((has_changed & (change < 0)).sum())
        n_pairs += int(has_changed.sum())
    return (falls - rises) / n_pairs if n_pairs else math.nan


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

"""The degree from which on an evaluator notices damage, the items needed, and the size and growth of its effect.

Rules: docs/discernment.md and docs/discernment_rules.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...runs.statistics.paired_tests import MIN_QUESTIONS, cluster_sums, of_stratum
from .discernment_scores import FEW, NOTICED
from .intervals_of_draws import subsample_counts
from .signed_rank import Zeros, differences_on_grid, signed_rank

N_SUBSAMPLES = 200
_PAIRS_FOR_80 = 8.243  # 4/3 (1.6449 + 0.8416)²: Noether's formula for a one-sided test at 0.05 with a power of 0.8


def is_noticed(d: Any, units: Any) -> NDArray[np.bool_]:
    """Whether damage is noticed: a discernment score of at least 1 from enough differences; False for NaN."""
    return (np.asarray(d, dtype=np.float64) >= NOTICED) & (np.asarray(units) >= FEW)


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
    zeros: Zeros = "drop",
    clusters: NDArray[np.int_] | None = None,
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
    codes = None if clusters is None else np.broadcast_to(clusters[drawn], shape).reshape(-1, n_items)
    tested = signed_rank(originals, y[:, drawn].reshape(-1, n_items), zeros=zeros, clusters=codes)
    noticed = is_noticed(tested.d, tested.units).reshape(shape[:2])
    degrees = np.sort(noticed_from(noticed.T))
    return int(degrees[(len(degrees) - 1) // 2])


@lru_cache(maxsize=8)
def _subsamples(n_items: int, size: int, n_draws: int, seed: int) -> NDArray[np.intp]:
    """The items of each draw; all kinds of damage use the same draws."""
    counts = subsample_counts(n_items, size, n_draws, seed=seed)
    return np.nonzero(counts)[1].reshape(n_draws, size)


def n80(rank_biserial: float, n: int, n_pairs: int, inflation: float = 1.0) -> int | None:
    """The number of items needed to notice damage of the same effect with a probability of 0.8.

    `inflation` is how much larger clusters make the variance.
    """
    if not rank_biserial > 0 or not n:
        return None
    n_different = math.ceil(_PAIRS_FOR_80 * inflation / rank_biserial**2)
    return max(FEW, -int(-n_different * n_pairs // n))


def monotonicity(original: Any, damaged: Any, differs: Any) -> float:
    """The falls minus the rises from each text to each more damaged text of an item, as a share of all such pairs."""
    scores = np.vstack([original, damaged]).astype(np.float64)
    is_common = np.asarray(np.isfinite(scores).all(axis=0))
    is_new = np.asarray(differs, dtype=bool).reshape(-1, len(is_common))[:, is_common]
    scores = scores[:, is_common]
    falls = rises = n_pairs = 0
    for less in range(len(is_new)):
        has_changed = np.logical_or.accumulate(is_new[less:], axis=0)
        more_damaged = scores[less + 1 :]
        change = differences_on_grid(np.broadcast_to(scores[less], more_damaged.shape), more_damaged)
        falls += int((has_changed & (change > 0)).sum())
        rises += int((has_changed & (change < 0)).sum())
        n_pairs += int(has_changed.sum())
    return (falls - rises) / n_pairs if n_pairs else math.nan


def change_interval(
    changes: Floats,
    *,
    largest: float,
    clusters: NDArray[np.int_] | None = None,
    confidence: float = 0.95,
    spread_from: Floats | None = None,
) -> tuple[Floats, Floats]:
    """The interval of the mean of each row of changes.

    It is Student's interval over items or clusters, with Johnson's correction where changes are skewed. If fewer than
    `FEW` scores differ, their variance says little, and the interval allows for as many changes of the size `largest`
    as Poisson's upper limit for their number. NaN with fewer than `MIN_QUESTIONS` items or clusters.

    With `spread_from`, the scores of the originals, it is the interval of the mean in their standard deviations. It
    allows for the error of the standard deviation: a deviation is linearised like that of a ratio.
    """
    from scipy.special import gammaincinv, stdtrit

    n_changed = (np.nan_to_num(changes) != 0).sum(axis=1)
    if spread_from is not None:
        squares = (spread_from - np.nanmean(spread_from)) ** 2
        changes = changes / np.nanstd(spread_from, ddof=1)
        largest /= float(np.nanstd(spread_from, ddof=1))
        mean = np.nansum(changes, axis=1, keepdims=True) / np.maximum(
            1, np.isfinite(changes).sum(axis=1, keepdims=True)
        )
        changes = changes - mean * (squares / np.nanmean(squares) - 1) / 2
    means, variances, n, units, degrees, _ = of_stratum(np.zeros(changes.shape[1]), -changes, clusters)
    is_enough = units >= MIN_QUESTIONS
    t = np.where(is_enough, stdtrit(np.where(is_enough, degrees, 1), (1 + confidence) / 2), np.nan)
    from_mean = np.nan_to_num(changes - means[:, np.newaxis])
    cubes = (from_mean if clusters is None else cluster_sums(from_mean, clusters)) ** 3
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.where(variances > 0, cubes.sum(axis=1) / n**3 / (6 * variances) * (1 + 2 * t**2), 0.0)
        rare = np.where(is_enough, gammaincinv(n_changed + 1, (1 + confidence) / 2) / units * largest, np.nan)
    half = t * np.sqrt(variances)
    is_few = n_changed < FEW
    low, high = means - half + np.minimum(skew, 0), means + half + np.maximum(skew, 0)
    return np.where(is_few, -rare, low), np.where(is_few, rare, high)

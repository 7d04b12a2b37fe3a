"""The degree from which on an evaluator notices damage, the number of items needed, and the effect of more damage.

Rules: docs/discernment.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .discernment_scores import FEW, NOTICED
from .resampling import subsample_counts
from .signed_rank import Zeros, differences_on_grid, signed_rank

N_SUBSAMPLES = 200

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

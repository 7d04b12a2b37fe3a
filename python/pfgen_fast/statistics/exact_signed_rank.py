"""The exact signed-rank test: all sign patterns counted, by adding up ranks one after the other."""

from __future__ import annotations

import math
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

MAX_EXACT = 500
"""The exact test is undefined for more differences than this: its time grows with the cube of their number."""


def exact_test(doubled_ranks: NDArray[np.int_], sizes: NDArray[np.int_], doubled_r_plus: int) -> tuple[float, float]:
    """The share of the sign patterns whose sum of positive ranks is at least the given one, and its logarithm.

    Ranks are doubled, so that those shared by equal differences are whole. Floats hold the counts up to 2^500; they are
    only added up, so the result is exact to 1e-13.
    """
    n = int(sizes.sum())
    doubled_r_minus = int((doubled_ranks * sizes).sum()) - doubled_r_plus
    # Patterns and their opposites are equally many, so the smaller sum decides, and the shorter tail is enough.
    if doubled_r_minus <= doubled_r_plus:
        count = _patterns_up_to(doubled_ranks, sizes, doubled_r_minus)
        return math.ldexp(count, -n), math.log(count) - n * math.log(2.0) + 0.0
    others = math.ldexp(_patterns_up_to(doubled_ranks, sizes, doubled_r_plus - 1), -n)
    return 1.0 - others, math.log1p(-others) + 0.0


def _patterns_up_to(ranks: NDArray[np.int_], sizes: NDArray[np.int_], limit: int) -> float:
    """The number of sets of ranks with a sum of at most `limit`."""
    if limit < 0:
        return 0.0
    unit = max(1, int(np.gcd.reduce(ranks)))  # often all ranks are even, and with equal differences there is only one
    limit //= unit
    n_sets = np.zeros(limit + 1)
    n_sets[0] = 1.0
    highest = 0
    for rank, size in zip((ranks // unit).tolist(), sizes.tolist(), strict=True):
        if rank > limit:
            break
        for _ in repeat(None, size):
            highest = min(limit, highest + rank)
            n_sets[rank : highest + 1] += n_sets[: highest + 1 - rank]
    return float(n_sets.sum())

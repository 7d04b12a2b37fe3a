"""Wilcoxon's signed-rank test of damaged texts against their originals: do the originals score higher?

Differences are rounded to a grid first, because 4.0 - 3.8 and 3.6 - 3.4 are different floats, but equal differences
must share their rank. The normal approximation without continuity correction is used for every number of pairs, in
logarithms; the exact test, which SciPy does not have for ties, is available too. Texts may be in clusters, such as the
answers to a question: then the sums of the signed ranks of clusters are tested (Rosner, Glynn and Lee, 2006). Rules:
docs/discernment_rules.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import DiscernmentError
from ...runs.statistics.paired_tests import cluster_sums

Zeros = Literal["drop", "pratt"]

ZEROS: tuple[Zeros, ...] = ("drop", "pratt")

MAX_EXACT = 500
"""The exact test is undefined for more differences than this: its time grows with the cube of their number."""

_GRID_BITS = 40
_LOG_20 = math.log(20.0)


@dataclass(frozen=True, eq=False)
class SignedRank:
    """Signed-rank tests: floats and ints for two vectors, arrays with a value for each cell for two matrices.

    Undefined figures are NaN.
    """

    n_pairs: Any  # number of pairs in which both texts have a score
    n_zero: Any  # number of pairs with the same score
    n: Any  # number of pairs with different scores
    units: Any  # number of clusters with such a pair; `n` without clusters
    r_plus: Any  # sum of the ranks of the pairs in which the original is better
    r_minus: Any  # sum of the ranks of the pairs in which the damaged text is better
    tie_term: Any  # sum of t³ - t over groups of t equal differences other than zero
    mean: Any  # mean of `r_plus` if the damage has no effect; NaN if n is 0
    variance: Any  # variance of `r_plus` if the damage has no effect; NaN if n is 0
    z: Any  # distance of `r_plus` from its mean in standard deviations; NaN if n is 0
    log_p: Any  # natural logarithm of the p-value of "the originals are not better"; 0 if n is 0
    share_lower: Any  # share of the pairs in which the damaged text is worse; NaN without pairs
    share_equal: Any  # share of the pairs with the same score
    share_higher: Any  # share of the pairs in which the damaged text is better
    mean_drop: Any  # mean difference by which damaged texts are worse; NaN without pairs
    p: Any  # the p-value; 0 if it is too small for a float
    d: Any  # discernment score: the p-value's logarithm to the base 0.05
    reverse_d: Any  # discernment score of the opposite alternative: from 1 on, the damage is rewarded
    ceiling_d: Any  # discernment score if all n originals were better
    rank_biserial: Any  # correlation from -1 (all damaged texts are better) to 1 (all originals); NaN if n is 0
    # cells × pairs: rank of each difference with its sign, or sum of the ranks of each cluster; 0 if nothing differs
    signed_ranks: Floats = field(repr=False)

    @property
    def exact_p(self) -> Any:
        """The exact p-value; NaN if n exceeds 500."""
        return _like(self.n, self._exact[:, 0])

    @property
    def exact_d(self) -> Any:
        """The discernment score of the exact test; NaN if n exceeds 500."""
        return _like(self.n, discernment_score(self._exact[:, 1]))

    @cached_property
    def _exact(self) -> Floats:
        """Exact p-values and their logarithms, computed on demand because they take time."""
        rows = zip(np.atleast_1d(self.n), self.signed_ranks, strict=True)
        return np.array([exact_test(row) if n <= MAX_EXACT else (math.nan, math.nan) for n, row in rows])


def signed_rank(original: Any, damaged: Any, *, zeros: Zeros = "drop", clusters: Any = None) -> SignedRank:
    """Tests whether originals score higher than the damaged texts.

    Args:
        original: The score of each original, higher if it is better: a vector, or a matrix with a row for each cell.
        damaged: The scores of the damaged texts in the same order. Pairs without both scores are left out.
        zeros: `"drop"` leaves out pairs with the same score, `"pratt"` ranks them first.
        clusters: The cluster of each pair, a whole number from 0; for matrices also a row for each cell.

    Raises:
        DiscernmentError: A shape or an option is invalid.

    Example:
        >>> test = signed_rank([5, 7, 9, 11, 13], [4, 5, 6, 7, 8])
        >>> test.n, test.r_plus, round(test.d, 4), test.exact_p * 32
        (5, 15.0, 1.2808, 1.0)
    """
    try:
        x, y = np.asarray(original, dtype=np.float64), np.asarray(damaged, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DiscernmentError(f"scores: expected vectors or matrices of numbers ({problem})") from None
    if x.shape != y.shape or x.ndim not in (1, 2):
        raise DiscernmentError(
            f"scores of the shapes {x.shape} and {y.shape}: expected two vectors or two matrices of the same shape"
        )
    if zeros not in ZEROS:
        raise DiscernmentError(f"zeros {zeros!r}: expected one of {', '.join(ZEROS)}")
    columns = _test(np.atleast_2d(x), np.atleast_2d(y), zeros, clusters)  # a vector is one row
    return SignedRank(*([column[0].item() for column in columns[:-1]] + columns[-1:] if x.ndim == 1 else columns))


def differences_on_grid(x: Floats, y: Floats) -> Floats:
    """The differences of each row, positive where the original is better, as whole numbers up to 2^41 in size.

    The unit is 2^-40 of the power of two above the row's largest score. Pairs with a missing score are NaN.
    """
    is_pair = np.isfinite(x) & np.isfinite(y)
    largest = np.where(is_pair, np.maximum(np.abs(x), np.abs(y)), 0.0).max(axis=1, initial=0.0, keepdims=True)
    exponent = np.frexp(largest)[1]
    # In two steps, since the whole power of two may be no float; nor may the difference before it is scaled.
    half = -exponent // 2
    first, second = np.ldexp(1.0, half), np.ldexp(1.0, -exponent - half)
    with np.errstate(invalid="ignore", over="ignore"):
        g: Floats = np.rint((x * first * second - y * first * second) * 2.0**_GRID_BITS)
    g[~is_pair] = np.nan
    return g


def discernment_score(log_p: Any) -> Any:
    """Computes the discernment score of p-values: their logarithms to the base 0.05. 1 is p = 0.05."""
    return np.asarray(log_p, dtype=np.float64) / -_LOG_20 + 0.0  # no negative zero


def log_tail(z: Any) -> Floats:
    """The natural logarithm of the p-value of each z; 0 where z is undefined, because then nothing differs."""
    from scipy.special import log_ndtr

    values = np.asarray(z, dtype=np.float64)
    return np.where(np.isnan(values), 0.0, log_ndtr(-values)) + 0.0  # no negative zero


def _test(x: Floats, y: Floats, zeros: Zeros, clusters: Any) -> list[NDArray[Any]]:
    """The columns of `SignedRank`."""
    from scipy.stats import rankdata

    g = differences_on_grid(x, y)
    n_pairs, n_zero = (~np.isnan(g)).sum(axis=1), (g == 0).sum(axis=1)
    n, n_lower = n_pairs - n_zero, (g > 0).sum(axis=1)
    n_ranked_zeros = n_zero if zeros == "pratt" else np.zeros_like(n_zero)
    # Missing differences come last, and zeros that are not ranked come first and are subtracted.
    sizes, differs = np.where(np.isnan(g), np.inf, np.abs(g)), np.nan_to_num(g) != 0
    mean_ranks, last_ranks = (rankdata(sizes, how, axis=1) if sizes.size else sizes for how in ("average", "max"))
    signed = np.where(differs, np.sign(g) * (mean_ranks - (n_zero - n_ranked_zeros)[:, np.newaxis]), 0.0)
    r_plus, r_minus = np.maximum(signed, 0).sum(axis=1), np.maximum(-signed, 0).sum(axis=1)
    n_equal = 2 * (last_ranks - mean_ranks) + 1  # differences of this size
    tie_term = np.where(differs, n_equal**2 - 1, 0.0).sum(axis=1)
    # Mean and variance of the sum of positive ranks if the damage has no effect; NaN if no pair differs.
    ranked, zero = (n + n_ranked_zeros).astype(np.float64), n_ranked_zeros.astype(np.float64)
    mean = np.where(n == 0, np.nan, (ranked * (ranked + 1) - zero * (zero + 1)) / 4)
    squares = ranked * (ranked + 1) * (2 * ranked + 1) - zero * (zero + 1) * (2 * zero + 1)
    variance = np.where(n == 0, np.nan, (2 * squares - tie_term) / 48)  # one division, so it is rounded once
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        units, ceiling = n, mean / np.sqrt(variance)
        if clusters is not None:
            codes = np.broadcast_to(clusters, x.shape)
            amounts, signed = cluster_sums(np.abs(signed), codes), cluster_sums(signed, codes)
            units = (amounts > 0).sum(axis=1)
            variance = np.where(n == 0, np.nan, (signed**2).sum(axis=1) / 4)
            ceiling = amounts.sum(axis=1) / np.sqrt((amounts**2).sum(axis=1))
        z = (r_plus - mean) / np.sqrt(variance)
        shares = [count / n_pairs for count in (n_lower, n_zero, n - n_lower)]
        mean_drop = np.where(differs, x - y, 0.0).sum(axis=1) / n_pairs + 0.0
        rank_biserial = (r_plus - r_minus) / (r_plus + r_minus)
    log_p = log_tail(z)
    scores = [discernment_score(log_tail(tail)) for tail in (z, -z, ceiling)]
    columns = [n_pairs, n_zero, n, units, r_plus, r_minus, tie_term, mean, variance, z, log_p]
    return [*columns, *shares, mean_drop, np.exp(log_p), *scores, rank_biserial, signed]


def _like(n: Any, values: Any) -> Any:
    """A float for vectors, an array for matrices, like the fields."""
    return values if isinstance(n, np.ndarray) else float(np.ravel(values)[0])


def exact_test(signed_ranks: Floats) -> tuple[float, float]:
    """The share of sign patterns whose sum of positive ranks is at least that of these ranks, and its logarithm.

    Floats hold the counts up to 2^500 and only add them, so the result is exact to 1e-13.
    """
    doubled = np.rint(2 * signed_ranks[signed_ranks != 0]).astype(np.int64)
    n, plus, minus = len(doubled), int(doubled[doubled > 0].sum()), -int(doubled[doubled < 0].sum())
    ranks = np.sort(np.abs(doubled))
    # Each pattern has an opposite, so the shorter tail is enough.
    if minus <= plus:
        count = _patterns_up_to(ranks, minus)
        return math.ldexp(count, -n), math.log(count) - n * math.log(2.0) + 0.0
    others = math.ldexp(_patterns_up_to(ranks, plus - 1), -n)
    return 1.0 - others, math.log1p(-others) + 0.0


def _patterns_up_to(ranks: NDArray[np.int64], limit: int) -> float:
    """The number of sets of ranks with a sum of at most `limit`."""
    if limit < 0:
        return 0.0
    unit = max(1, int(np.gcd.reduce(ranks)))  # often all ranks are even, or there is only one
    limit //= unit
    n_sets = np.zeros(limit + 1)
    n_sets[0] = 1.0
    highest = 0
    for rank in (ranks // unit).tolist():
        if rank > limit:
            break
        highest = min(limit, highest + rank)
        n_sets[rank : highest + 1] += n_sets[: highest + 1 - rank]
    return float(n_sets.sum())

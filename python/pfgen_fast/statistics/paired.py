"""Differences of means over questions: of two runs, and of all pairs of many runs.

Tests are Student's t over questions, with one number for each question: the mean of its trials, which contains the
noise of the trials. Questions may be in clusters, and scores that are 0 or 1 may have McNemar's exact test. A question
without a score is NaN and left out. Definitions and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .correlation import Floats
from .mean_interval import ROUNDING, ends

Correction = Literal["holm", "bh"]
Test = Literal["t", "clustered t", "McNemar", "sign"]

TESTS: dict[Test, str] = {
    "t": "paired t-test",
    "clustered t": "cluster-robust paired t-test",
    "McNemar": "McNemar's exact test",
    "sign": "sign test",
}
"""The tests of a pair, with their full names."""

MIN_QUESTIONS = 6
"""Fewer questions or clusters give no verdict: even if all favour one run, the sign test has p = 2 / 2**5 = 0.0625."""

_SMALLEST = 1e-150  # smaller differences, whose squares are 0, count as 0


def sign_test(n: Any) -> Any:
    """The p-value of the sign test if all `n` differences have the same sign."""
    return 2.0 / 2.0 ** np.minimum(n, 1000)


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of two runs over the questions that both have, with its 95 % interval."""

    mean: float  # mean of A - B
    # lower end of the interval; None with one question or cluster, or with the same difference for all questions
    low: float | None
    high: float | None  # upper end of the interval; None in the same cases
    # Two-sided p-value of "the difference is `shift`"; None with one question or cluster. If all questions have the
    # same difference, it is the p-value of the sign test, 2 / 2**n; if all differences are the shift, it is 1
    p_value: float | None
    n: int  # number of questions that both have
    n_clusters: int | None = None  # number of clusters of these questions; None without clusters
    test: Test = "t"  # test of the p-value
    degrees: float = math.nan  # degrees of freedom of the interval

    def differs(self, alpha: float = 0.05) -> bool | None:
        """Whether the runs differ at this level; None (no verdict) with fewer than `MIN_QUESTIONS` questions."""
        if self.p_value is None or min(self.n, self.n if self.n_clusters is None else self.n_clusters) < MIN_QUESTIONS:
            return None
        return self.p_value <= alpha


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of runs, in the order in which the runs were given. Matrices are symmetric except for the signs."""

    differences: Floats  # mean difference of the row's run to the column's run; NaN if they share no question
    n: NDArray[np.int_]  # number of questions that both runs have
    n_clusters: NDArray[np.int_]  # number of clusters of these questions; `n` without clusters
    p_values: Floats  # p-value of each pair; NaN if it is undefined, and on the diagonal
    corrected: Floats  # p-values corrected for the number of pairs that have a verdict; NaN without a verdict
    differs: NDArray[np.bool_]  # whether the two runs differ; False without a verdict
    # first and last index of the longest sequences of runs in which no two differ. Groups may overlap, and two
    # neighbours share a group exactly if they do not differ
    groups: tuple[tuple[int, int], ...]


class Tested(NamedTuple):
    """Tests of one run against others."""

    means: Floats  # mean differences; NaN without a common question
    n: NDArray[np.int_]  # numbers of common questions
    n_clusters: NDArray[np.int_]  # numbers of clusters of these questions; `n` without clusters
    p_values: Floats
    degrees: Floats  # degrees of freedom of the t-test
    is_exact: NDArray[np.bool_]  # whether the p-value is that of McNemar's exact test


def paired_difference(
    a: Any, b: Any, *, clusters: Sequence[Hashable] | None = None, shift: float = 0.0, exact: bool = False
) -> PairedDifference:
    """Computes the mean difference A - B over the questions that both runs have, and tests whether it is `shift`.

    With clusters (one for each question), the test and the interval are cluster-robust. `exact` asks for McNemar's
    exact test where it applies: all scores are 0 or 1, there are no clusters, and the shift is 0.
    """
    both = np.stack([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    is_common = ~np.isnan(both).any(axis=0)
    both = both[:, is_common]
    if not both.size:
        raise ValueError("a difference needs a question that both runs have")
    kept = None if clusters is None else [clusters[at] for at in np.flatnonzero(is_common).tolist()]
    differences = (both[0] - both[1]).tolist()
    low, high = ends(differences, float(np.abs(both).max()), kept)
    found = against([both[0]], [both[1:]], clusters=kept, shift=shift, exact=exact)
    n, n_clusters, p = int(found.n[0]), int(found.n_clusters[0]), float(found.p_values[0])
    mean = math.fsum(differences) / n
    p_value = None if math.isnan(p) else p
    test: Test = "McNemar" if found.is_exact[0] else "t" if clusters is None else "clustered t"
    if test != "McNemar" and low is None and p_value is not None and p_value < 1:
        test = "sign"  # all differences are equal
    degrees = float(found.degrees[0])
    return PairedDifference(mean, low, high, p_value, n, None if clusters is None else n_clusters, test, degrees)


def all_pairs(
    *strata: Any,
    alpha: float = 0.05,
    correction: Correction = "bh",
    clusters: Sequence[Hashable] | None = None,
    exact: bool = False,
) -> Pairs:
    """Compares every pair of runs as `paired_difference` does, and finds the groups of runs that do not differ.

    Each stratum has a row of scores for each run. The means of several strata have the same weight; their test has the
    degrees of freedom of Welch and Satterthwaite, without clusters.
    """
    matrices = [np.asarray(stratum, dtype=np.float64) for stratum in strata]
    n_runs = len(matrices[0])
    differences, p = (np.full((n_runs, n_runs), np.nan) for _ in range(2))
    n, n_clusters = (np.zeros((n_runs, n_runs), dtype=np.int_) for _ in range(2))
    np.fill_diagonal(n, sum((~np.isnan(matrix)).sum(axis=1) for matrix in matrices))
    codes = None if clusters is None else cluster_codes(clusters)
    np.fill_diagonal(n_clusters, n.diagonal() if codes is None else _n_clusters(~np.isnan(matrices[0]), codes))
    for row in range(n_runs - 1):
        of_row, others = [matrix[row] for matrix in matrices], [matrix[row + 1 :] for matrix in matrices]
        found = against(of_row, others, clusters=codes, exact=exact)
        for of_pairs, values in zip((differences, n, n_clusters, p), found[:4], strict=True):
            of_pairs[row, row + 1 :] = of_pairs[row + 1 :, row] = values
    differences[np.tril_indices(n_runs, -1)] *= -1
    has_verdict = np.triu((n_clusters >= MIN_QUESTIONS) & ~np.isnan(p), 1)
    after = np.full(p.shape, np.nan)
    if has_verdict.any():  # all pairs with a verdict are one family
        after[has_verdict] = corrected(p[has_verdict], correction)
        after = np.fmin(after, after.T)
    differs = after <= alpha
    return Pairs(differences, n, n_clusters, p, after, differs, groups_of(differs))


def against(
    one: Sequence[Floats],
    others: Sequence[Floats],
    *,
    clusters: Sequence[Hashable] | NDArray[np.int_] | None = None,
    shift: float = 0.0,
    exact: bool = False,
) -> Tested:
    """Tests the mean differences between one run and others; see `all_pairs` for strata.

    If a stratum has no common question, the difference is undefined and the number is 0.
    """
    from scipy.special import stdtr

    if clusters is not None and len(one) > 1:
        raise ValueError("strata have no clusters")
    codes = None if clusters is None else cluster_codes(clusters)
    of_strata = [of_stratum(x, y, codes) for x, y in zip(one, others, strict=True)]
    means, variances, counts, units, of_parts, largest = (np.stack(column) for column in zip(*of_strata, strict=True))
    has_all = (counts > 0).all(axis=0)
    n, n_units = (np.where(has_all, of.sum(axis=0), 0) for of in (counts, units))
    mean, total = means.sum(axis=0) / len(means), variances.sum(axis=0)
    from_shift = mean - shift
    with np.errstate(divide="ignore", invalid="ignore"):
        t = from_shift / (np.sqrt(total) / len(means))
        degrees = 1 / ((variances / total) ** 2 / of_parts).sum(axis=0) if len(means) > 1 else of_parts[0]
    p = np.where(np.abs(from_shift) <= np.maximum(_SMALLEST, ROUNDING * largest.max(axis=0)), 1.0, sign_test(n_units))
    has_spread = total > 0
    p[has_spread] = 2 * stdtr(degrees[has_spread], -np.abs(t[has_spread]))
    is_exact = np.zeros(len(p), dtype=bool)
    if exact and codes is None and shift == 0 and len(one) == 1:
        is_exact, n_better, n_worse = _discordant(one[0], others[0])
        p[is_exact] = mcnemar(n_better[is_exact], n_worse[is_exact])
    p[(units < 2).any(axis=0)] = np.nan
    return Tested(mean, n, n_units, p, degrees, is_exact)


def cluster_codes(clusters: Sequence[Hashable] | NDArray[np.int_]) -> NDArray[np.int_]:
    """Whole numbers from 0 for clusters."""
    if isinstance(clusters, np.ndarray):
        return clusters
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[cluster] for cluster in clusters], dtype=np.int_)


def cluster_sums(values: NDArray[Any], codes: NDArray[np.int_]) -> NDArray[Any]:
    """The sums of each row over the questions of each cluster (column)."""
    order = np.argsort(codes, kind="stable")
    begins = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums: NDArray[Any] = np.add.reduceat(values[:, order], begins, axis=1)
    return sums


def _n_clusters(is_common: NDArray[np.bool_], codes: NDArray[np.int_]) -> NDArray[np.int_]:
    n: NDArray[np.int_] = (cluster_sums(is_common.astype(np.int_), codes) > 0).sum(axis=1)
    return n


def of_stratum(
    one: Floats, others: Floats, codes: NDArray[np.int_] | None
) -> tuple[Floats, Floats, NDArray[np.int_], NDArray[np.int_], Floats, Floats]:
    """Mean differences, variances (0 without spread), numbers of questions, of clusters, degrees, largest amounts."""
    difference = one - others
    is_common = ~np.isnan(difference)
    n = n_units = is_common.sum(axis=1)
    largest = np.where(is_common, np.maximum(np.abs(one), np.abs(others)), 0).max(axis=1, initial=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(is_common, difference, 0).sum(axis=1) / n
        from_mean = np.where(is_common, difference - mean[:, None], 0)
        if codes is None:
            variance = (from_mean**2).sum(axis=1) / (n - 1) / n
            degrees = n - 1.0
        else:  # as in `mean_interval.ends`
            sizes, from_mean = cluster_sums(is_common.astype(np.float64), codes), cluster_sums(from_mean, codes)
            n_units, n_column = (sizes > 0).sum(axis=1), n[:, None]
            variance = (from_mean**2 / (1 - sizes / n_column)).sum(axis=1) / n / n
            parts = sizes**2 / (n_column - sizes)
            degrees = n**2 / ((sizes**2).sum(axis=1) + parts.sum(axis=1) ** 2 - (parts**2).sum(axis=1))
    varies = np.abs(from_mean).max(axis=1, initial=0) > np.maximum(_SMALLEST, ROUNDING * largest)
    return mean, np.where(varies & (n_units > 1), variance, 0.0), n, n_units, degrees, largest


def _discordant(one: Floats, others: Floats) -> tuple[NDArray[np.bool_], NDArray[np.int_], NDArray[np.int_]]:
    """Whether all common scores are 0 or 1, and on how many questions each of the two runs alone has 1."""
    is_common = ~(np.isnan(one) | np.isnan(others))
    is_binary = ~is_common | (((one == 0) | (one == 1)) & ((others == 0) | (others == 1)))
    return is_binary.all(axis=1), (is_common & (one > others)).sum(axis=1), (is_common & (one < others)).sum(axis=1)


def mcnemar(n_better: Any, n_worse: Any) -> Any:
    """Two-sided p-values of McNemar's exact test: a binomial test of the questions that only one run solves."""
    from scipy.special import bdtr

    return np.minimum(1.0, 2 * bdtr(np.minimum(n_better, n_worse), np.add(n_better, n_worse), 0.5))


def corrected(p_values: Any, correction: Correction) -> Floats:
    """Corrects one or more p-values for multiple comparisons."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    n = len(values)
    if correction == "holm":
        ordered = np.maximum.accumulate(values[order] * np.arange(n, 0, -1))
    else:
        ordered = np.minimum.accumulate((values[order] * (n / np.arange(1, n + 1)))[::-1])[::-1]
    found = np.empty(n)
    found[order] = np.minimum(ordered, 1.0)
    return found


def groups_of(differs: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Finds the longest sequences of a ranking in which no two members differ; each member is in at least one."""
    found: list[tuple[int, int]] = []
    for first in range(len(differs)):
        last = first
        while last + 1 < len(differs) and not differs[first : last + 1, last + 1].any():
            last += 1
        if not found or last > found[-1][1]:
            found.append((first, last))
    return tuple(found)


def tied_ranks(
    of_ranks: Sequence[int | None], scores: Sequence[Sequence[float | None]]
) -> list[tuple[int, int] | None]:
    """For each run the first and last rank of the runs that do not differ from it; None without a rank or a verdict."""
    ranked = [place for place, rank in enumerate(of_ranks) if rank is not None]
    tied: list[tuple[int, int] | None] = [None] * len(of_ranks)
    if not ranked:
        return tied
    pairs = all_pairs([[math.nan if score is None else score for score in scores[place]] for place in ranked])
    for place, of_ties in zip(ranked, ties(pairs), strict=True):
        tied[place] = of_ties
    return tied


def ties(pairs: Pairs) -> list[tuple[int, int] | None]:
    """For each of the ordered runs the first and last rank of the runs that do not differ; None without a verdict."""
    found: list[tuple[int, int] | None] = []
    for row, differs in enumerate(pairs.differs):
        same = np.flatnonzero(~differs)
        found.append((int(same[0]) + 1, int(same[-1]) + 1) if pairs.n_clusters[row, row] >= MIN_QUESTIONS else None)
    return found

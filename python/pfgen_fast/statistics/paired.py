"""Differences of means over questions: of two runs, and of all pairs of many runs.

All tests are Student's t over questions, with one number for each question: the mean of its trials, which contains the
noise of the trials. A question without a score is NaN and left out. Needs only NumPy. Definitions and accuracy:
docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .correlation import Floats
from .mean_interval import ROUNDING, ends
from .student import p_value_of, p_values_of

Correction = Literal["holm", "bh"]

CORRECTIONS: dict[Correction, str] = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
"""The corrections, with their full names."""

MIN_QUESTIONS = 6
"""Fewer questions give no verdict: even if all favour one run, the sign test has p = 2 / 2**5 = 0.0625."""


_SMALLEST = 1e-150  # smaller differences, whose squares are 0, count as 0


def sign_test(n: Any) -> Any:
    """The p-value of the sign test if all `n` differences have the same sign."""
    return 2.0 / 2.0 ** np.minimum(n, 1000)


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of two runs over the questions that both have, with its 95 % interval."""

    mean: float  # mean of A - B
    # lower end of the interval; None with one question, or with the same difference for all questions
    low: float | None
    high: float | None  # upper end of the interval; None in the same cases
    # Two-sided p-value of "there is no difference"; None with one question. If all questions have the same difference,
    # it is the p-value of the sign test, 2 / 2**n; if all differences are 0, it is 1
    p_value: float | None
    n: int  # number of questions that both have

    def differs(self, alpha: float = 0.05) -> bool | None:
        """Whether the runs differ at this level; None (no verdict) with fewer than `MIN_QUESTIONS` questions."""
        if self.n < MIN_QUESTIONS or self.p_value is None:
            return None
        return self.p_value <= alpha


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of runs, in the order in which the runs were given. Matrices are symmetric except for the signs."""

    differences: Floats  # mean difference of the row's run to the column's run; NaN if they share no question
    n: NDArray[np.int_]  # number of questions that both runs have
    p_values: Floats  # p-value of each pair; NaN if it is undefined, and on the diagonal
    corrected: Floats  # p-values corrected for the number of pairs that have a verdict; NaN without a verdict
    differs: NDArray[np.bool_]  # whether the two runs differ; False without a verdict
    # first and last index of the longest sequences of runs in which no two differ. Groups may overlap, and two
    # neighbours share a group exactly if they do not differ
    groups: tuple[tuple[int, int], ...]


def paired_difference(a: Any, b: Any) -> PairedDifference:
    """Computes the mean difference A - B over the questions that both runs have, by the paired t-test."""
    both = np.stack([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    both = both[:, ~np.isnan(both).any(axis=0)]
    n = both.shape[1]
    if not n:
        raise ValueError("a difference needs a question that both runs have")
    differences = both[0] - both[1]
    low, high = ends(differences.tolist(), float(np.abs(both).max()))
    _, _, p = against([both[0]], [both[1:]])
    return PairedDifference(math.fsum(differences) / n, low, high, None if n == 1 else float(p[0]), n)


def all_pairs(*strata: Any, alpha: float = 0.05, correction: Correction = "bh") -> Pairs:
    """Compares every pair of runs by the paired t-test, and finds the groups of runs that cannot be distinguished.

    Each stratum has a row of scores for each run. The means of several strata have the same weight; their test has the
    degrees of freedom of Welch and Satterthwaite.
    """
    matrices = [np.asarray(stratum, dtype=np.float64) for stratum in strata]
    n_runs = len(matrices[0])
    differences, p = (np.full((n_runs, n_runs), np.nan) for _ in range(2))
    n = np.zeros((n_runs, n_runs), dtype=np.int_)
    np.fill_diagonal(n, sum((~np.isnan(matrix)).sum(axis=1) for matrix in matrices))
    for row in range(n_runs - 1):
        found = against([matrix[row] for matrix in matrices], [matrix[row + 1 :] for matrix in matrices])
        for of_pairs, values in zip((differences, n, p), found, strict=True):
            of_pairs[row, row + 1 :] = of_pairs[row + 1 :, row] = values
    differences[np.tril_indices(n_runs, -1)] *= -1
    has_verdict = np.triu((n >= MIN_QUESTIONS) & ~np.isnan(p), 1)
    after = np.full(p.shape, np.nan)
    if has_verdict.any():  # all pairs with a verdict are one family
        after[has_verdict] = corrected(p[has_verdict], correction)
        after = np.fmin(after, after.T)
    differs = after <= alpha
    return Pairs(differences, n, p, after, differs, groups_of(differs))


def against(one: Sequence[Floats], others: Sequence[Floats]) -> tuple[Floats, NDArray[np.int_], Floats]:
    """The mean differences between one run and others, the numbers of common questions, and the p-values.

    If a stratum has no common question, the difference is undefined and the number is 0.
    """
    of_strata = [_of_stratum(x, y) for x, y in zip(one, others, strict=True)]
    means, variances, counts, largest = (np.stack(column) for column in zip(*of_strata, strict=True))
    n = np.where((counts > 0).all(axis=0), counts.sum(axis=0), 0)
    mean, total = means.sum(axis=0) / len(means), variances.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / (np.sqrt(total) / len(means))
        degrees = 1 / ((variances / total) ** 2 / (counts - 1)).sum(axis=0) if len(means) > 1 else counts[0] - 1
    p = np.where(np.abs(mean) <= np.maximum(_SMALLEST, ROUNDING * largest.max(axis=0)), 1.0, sign_test(n))
    has_spread = total > 0
    if len(means) > 1:
        tests = zip(t[has_spread].tolist(), degrees[has_spread].tolist(), strict=True)
        p[has_spread] = [p_value_of(*test) for test in tests]
    else:
        for size in np.unique(degrees[has_spread]):
            rows = has_spread & (degrees == size)
            p[rows] = p_values_of(t[rows], int(size))
    p[(counts < 2).any(axis=0)] = np.nan
    return mean, n, p


def _of_stratum(one: Floats, others: Floats) -> tuple[Floats, Floats, NDArray[np.int_], Floats]:
    """The mean differences, their variances (0 without spread), the numbers of questions, and the largest amounts."""
    difference = one - others
    is_common = ~np.isnan(difference)
    n = is_common.sum(axis=1)
    largest = np.where(is_common, np.maximum(np.abs(one), np.abs(others)), 0).max(axis=1, initial=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(is_common, difference, 0).sum(axis=1) / n
        from_mean = np.where(is_common, difference - mean[:, None], 0)
        variance = (from_mean**2).sum(axis=1) / (n - 1) / n
    varies = np.abs(from_mean).max(axis=1, initial=0) > np.maximum(_SMALLEST, ROUNDING * largest)
    return mean, np.where(varies, variance, 0.0), n, largest


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
    """For each of the ordered runs the first and last rank of the runs that do not differ; None with few questions."""
    found: list[tuple[int, int] | None] = []
    for row, differs in enumerate(pairs.differs):
        same = np.flatnonzero(~differs)
        found.append((int(same[0]) + 1, int(same[-1]) + 1) if pairs.n[row, row] >= MIN_QUESTIONS else None)
    return found

"""Differences of means over questions: of two runs, and of all pairs of many runs; and the items that find one.

Tests are Student's t over questions, with one number for each question: the mean of its trials, which contains the
noise of the trials. Questions may be in clusters, and scores of 0 or 1 may have Tango's score test. A question without
a score is NaN and left out. `verdicts` decides families of pairs. Definitions and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.mean_interval import ROUNDING, quantile

Test = Literal["t", "clustered t", "Tango", "sign"]

ALPHA = 0.05
"""The level of verdicts; intervals are 95 % intervals."""

TESTS: dict[Test, str] = {
    "t": "paired t-test",
    "clustered t": "cluster-robust paired t-test",
    "Tango": "Tango's score test",
    "sign": "sign test",
}
"""The tests of a pair, with their full names."""

MIN_QUESTIONS = 6
"""Fewer questions or clusters give no verdict: even if all favour one run, the sign test has p = 2 / 2**5 = 0.0625."""

_Z_OF_POWER = 0.8416212335729143  # the 80 % quantile of the normal distribution
_MOST = 10**9
_SMALLEST = 1e-150  # smaller differences, whose squares are 0, count as 0
_AT_EDGE = 1e-12  # the statistic is infinite at shifts of -1 and 1


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of two runs over the questions that both have, with its test and the test's interval."""

    mean: float  # mean of A - B
    # Two-sided p-value of "the difference is `shift`"; None with one question or cluster. If all questions have the
    # same difference, it is the p-value of the sign test, 2 / 2**n; if all differences are the shift, it is 1
    p_value: float | None
    n: int  # number of questions that both have
    n_clusters: int | None = None  # number of clusters of these questions; None without clusters
    test: Test = "t"  # test of the p-value
    error: float = 0.0  # standard error of the mean; 0 with one question or cluster, and without spread
    degrees: float = math.nan  # degrees of freedom of the t-test; infinite for Tango's test
    solved_alone: tuple[int, int] | None = None  # of Tango's test: number of questions that only A, and only B, solves

    def interval(self, alpha: float = ALPHA) -> tuple[float, float] | tuple[None, None]:
        """The ends of the interval that the test does not reject at this level; None without a p-value or spread."""
        from scipy.special import stdtrit

        if self.p_value is None:
            return None, None
        if self.solved_alone is not None:
            return tango_interval(*self.solved_alone, self.n, alpha)
        if not self.error:
            return None, None
        half = float(stdtrit(self.degrees, 1 - alpha / 2)) * self.error
        return self.mean - half, self.mean + half

    @property
    def low(self) -> float | None:
        """The lower end of the 95 % interval."""
        return self.interval()[0]

    @property
    def high(self) -> float | None:
        """The upper end of the 95 % interval."""
        return self.interval()[1]

    @property
    def has_verdict(self) -> bool:
        """Whether there are enough questions and clusters for a verdict."""
        n_units = self.n if self.n_clusters is None else self.n_clusters
        return self.p_value is not None and min(self.n, n_units) >= MIN_QUESTIONS


class Pairs(NamedTuple):
    """All pairs of runs, in the order in which the runs were given. Matrices are symmetric except for the signs."""

    differences: Floats  # mean difference of the row's run to the column's run; NaN if they share no question
    n_units: NDArray[np.int_]  # number of questions that both runs have, or of clusters of these questions
    p_values: Floats  # p-value of each pair; NaN if it is undefined, and on the diagonal


class Tested(NamedTuple):
    """Tests of one run against others."""

    means: Floats  # mean differences; NaN without a common question
    n: NDArray[np.int_]  # numbers of common questions
    n_clusters: NDArray[np.int_]  # numbers of clusters of these questions; `n` without clusters
    p_values: Floats
    errors: Floats  # standard errors of the mean differences; 0 without spread
    degrees: Floats  # degrees of freedom of the t-test; infinite for Tango's test
    solved_alone: tuple[NDArray[np.int_], NDArray[np.int_]] | None  # see `PairedDifference`


def paired_difference(
    a: Any, b: Any, *, clusters: Sequence[Hashable] | None = None, shift: float = 0.0, binary: bool = False
) -> PairedDifference:
    """Computes the mean difference A - B over the questions that both runs have, and tests whether it is `shift`.

    With clusters (one for each question), the test and the interval are cluster-robust. `binary` asks for Tango's score
    test, for scores that are all 0 or 1, without clusters.
    """
    both = np.stack([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    is_common = ~np.isnan(both).any(axis=0)
    both = both[:, is_common]
    if not both.size:
        raise ValueError("a difference needs a question that both runs have")
    kept = None if clusters is None else [clusters[at] for at in np.flatnonzero(is_common).tolist()]
    tested = against([both[0]], [both[1:]], clusters=kept, shift=shift, binary=binary)
    n, p, error = int(tested.n[0]), float(tested.p_values[0]), float(tested.errors[0])
    solved_alone = None
    if tested.solved_alone is not None:
        solved_alone = int(tested.solved_alone[0][0]), int(tested.solved_alone[1][0])
    test: Test = "Tango" if solved_alone else "t" if clusters is None else "clustered t"
    if not solved_alone and not error and p < 1:
        test = "sign"  # all differences are equal
    return PairedDifference(
        math.fsum((both[0] - both[1]).tolist()) / n,
        None if math.isnan(p) else p,
        n,
        None if clusters is None else int(tested.n_clusters[0]),
        test,
        error,
        float(tested.degrees[0]),
        solved_alone,
    )


def all_pairs(*strata: Any, clusters: Sequence[Hashable] | None = None, binary: bool = False) -> Pairs:
    """Compares every pair of runs as `paired_difference` does.

    Each stratum has a row of scores for each run. The means of several strata have the same weight; their test has the
    degrees of freedom of Welch and Satterthwaite, without clusters.
    """
    matrices = [np.asarray(stratum, dtype=np.float64) for stratum in strata]
    n_runs = len(matrices[0])
    differences, p = (np.full((n_runs, n_runs), np.nan) for _ in range(2))
    n_units = np.zeros((n_runs, n_runs), dtype=np.int_)
    codes = None if clusters is None else cluster_codes(clusters)
    for row in range(n_runs - 1):
        row_scores, others = [matrix[row] for matrix in matrices], [matrix[row + 1 :] for matrix in matrices]
        tested = against(row_scores, others, clusters=codes, binary=binary)
        figures = (differences, tested.means), (n_units, tested.n_clusters), (p, tested.p_values)
        for matrix, values in figures:
            matrix[row, row + 1 :] = matrix[row + 1 :, row] = values
    differences[np.tril_indices(n_runs, -1)] *= -1
    return Pairs(differences, n_units, p)


def against(
    baseline: Sequence[Floats],
    others: Sequence[Floats],
    *,
    clusters: Sequence[Hashable] | NDArray[np.int_] | None = None,
    shift: float = 0.0,
    binary: bool = False,
) -> Tested:
    """Tests the mean differences between one run and others; see `all_pairs` and `paired_difference`.

    If a stratum has no common question, the difference is undefined and the number is 0.
    """
    from scipy.special import stdtr

    if clusters is not None and (len(baseline) > 1 or binary):
        raise ValueError("strata and Tango's score test have no clusters")
    codes = None if clusters is None else cluster_codes(clusters)
    parts = [of_stratum(x, y, codes) for x, y in zip(baseline, others, strict=True)]
    means, variances, counts, units, part_degrees, largest = (np.stack(column) for column in zip(*parts, strict=True))
    has_all = (counts > 0).all(axis=0)
    n, n_units = (np.where(has_all, numbers.sum(axis=0), 0) for numbers in (counts, units))
    mean, total = means.sum(axis=0) / len(means), variances.sum(axis=0)
    from_shift = mean - shift
    errors = np.sqrt(total) / len(means)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = from_shift / errors
        degrees = 1 / ((variances / total) ** 2 / part_degrees).sum(axis=0) if len(means) > 1 else part_degrees[0]
    same_sign = 2.0 / 2.0 ** np.minimum(n_units, 1000)  # the sign test, if all differences are equal
    p = np.where(np.abs(from_shift) <= np.maximum(_SMALLEST, ROUNDING * largest.max(axis=0)), 1.0, same_sign)
    has_spread = total > 0
    p[has_spread] = 2 * stdtr(degrees[has_spread], -np.abs(t[has_spread]))
    solved_alone = None
    if binary:
        solved_alone = (baseline[0] > others[0]).sum(axis=1), (baseline[0] < others[0]).sum(axis=1)
        p, degrees = tango_p_values(*solved_alone, np.maximum(n, 1), shift), np.full(len(p), np.inf)
    p[(units < 2).any(axis=0)] = np.nan
    return Tested(mean, n, n_units, p, errors, degrees, solved_alone)


def cluster_codes(clusters: Sequence[Hashable] | NDArray[np.int_]) -> NDArray[np.int_]:
    """Whole numbers from 0 for clusters."""
    if isinstance(clusters, np.ndarray):
        return clusters
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[cluster] for cluster in clusters], dtype=np.int_)


def cluster_sums(values: NDArray[Any], codes: NDArray[np.int_]) -> Floats:
    """The sums of each row over each cluster (column); `codes` has the cluster of each column, or of each value."""
    n_clusters = int(codes.max(initial=-1)) + 1
    places = codes + n_clusters * np.arange(len(values))[:, np.newaxis]
    sums = np.bincount(places.ravel(), values.ravel(), len(values) * n_clusters)
    return sums.astype(np.float64).reshape(len(values), n_clusters)


def of_stratum(
    baseline: Floats, others: Floats, codes: NDArray[np.int_] | None
) -> tuple[Floats, Floats, NDArray[np.int_], NDArray[np.int_], Floats, Floats]:
    """Mean differences, variances (0 without spread), numbers of questions, of clusters, degrees, largest amounts."""
    difference = baseline - others
    is_common = ~np.isnan(difference)
    n = n_units = is_common.sum(axis=1)
    largest = np.where(is_common, np.maximum(np.abs(baseline), np.abs(others)), 0).max(axis=1, initial=0)
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


@dataclass(frozen=True)
class Needed:
    """What a comparison needs to find a difference."""

    difference: float  # difference to find
    # number of items, or of clusters, with the trials that they have; None if the differences of items have no spread,
    # if the difference is 0, or if the number exceeds a billion
    n: int | None


def needed(comparison: PairedDifference, difference: float) -> Needed:
    """Computes the items that find `difference` with power 0.8, from a comparison of the same models."""
    n_now = comparison.n if comparison.n_clusters is None else comparison.n_clusters
    if not comparison.error or not difference:
        return Needed(difference, None)
    share = comparison.degrees / (n_now - 1)  # of each item or cluster but one: below 1 with unequal clusters
    variance = comparison.error**2 * n_now  # of one item or cluster

    def largest(degrees: float) -> float:
        """The largest variance of the mean difference with which a test of these degrees of freedom finds it."""
        return (abs(difference) / (quantile(degrees) + _Z_OF_POWER)) ** 2

    if variance > _MOST * largest(math.inf):  # which is 0 for a tiny difference
        return Needed(difference, None)
    n = max(MIN_QUESTIONS, math.ceil(variance / largest(math.inf)))
    while variance / n > largest(max(1.0, share * (n - 1))):  # Student's quantile is a bit larger
        n += 1
    return Needed(difference, n)


# --- Tango's score test of two paired proportions, and the interval that inverts it (Tango 1998). Of `n` questions, A
# alone solves `a_only` and B alone `b_only`. Accuracy: docs/statistics.md.


def tango_p_values(a_only: Any, b_only: Any, n: Any, shift: float = 0.0) -> Floats:
    """Two-sided p-values of "the difference of the proportions is `shift`"."""
    from scipy.special import ndtr

    p: Floats = 2 * ndtr(-np.abs(_statistic(a_only, b_only, n, shift)))
    return p


def tango_interval(a_only: int, b_only: int, n: int, alpha: float) -> tuple[float, float]:
    """The interval of the difference of the proportions: all shifts that the test does not reject at level `alpha`."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    z, mean = -float(ndtri(alpha / 2)), (a_only - b_only) / n

    def end(side: int) -> float:
        """The shift at which the statistic, which falls with the shift, reaches -z or z."""
        edge = side * (1 - _AT_EDGE)
        if side * mean >= 1 - _AT_EDGE:
            return float(side)
        return float(brentq(lambda shift: _statistic(a_only, b_only, n, shift) + side * z, mean, edge))

    return end(-1), end(1)


def _statistic(a_only: Any, b_only: Any, n: Any, shift: Any) -> Any:
    """The score statistic, by the most likely share of questions that only B solves if the difference is `shift`.

    Numbers give a number, for which NumPy would be slow, and arrays give an array.
    """
    linear = (2 * n - a_only + b_only) * shift - a_only - b_only
    share = (abs(linear**2 + 8 * n * b_only * shift * (1 - shift)) ** 0.5 - linear) / (4 * n)
    distance = a_only - b_only - n * shift
    distance = distance * (abs(distance) > 1e-9)  # smaller by rounding
    return distance / (abs(n * (2 * share + shift * (1 - shift))) + 1e-300) ** 0.5

"""The mean over questions and its 95 % interval, by Student's t, or by Wilson for scores of 0 and 1.

Needs only the standard library, so that `pfgen-fast score` starts without NumPy: importing NumPy takes as long as
scoring ten thousand answers. Sums are exact (`math.fsum`), so the ends do not depend on the order of the questions.
Definition and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, compress

from .table import figure

CONFIDENCE = 0.95
ROUNDING = 1e-9  # relative tolerance below which a difference counts as zero

INTERVAL_HEADS = "±95 %", "95 % interval"  # of scores, and of scores of 0 and 1, whose mean is not in the middle

_N_STEPS = 4096
_Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution


@dataclass(frozen=True)
class MeanInterval:
    """The mean over questions and its 95 % interval."""

    mean: float  # mean of the questions that have a value
    # lower end of the interval; None with one question, or with the same value for all questions (not Wilson's)
    low: float | None
    high: float | None  # upper end of the interval; None in the same cases
    n: int  # number of questions that have a value

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def shown(self, n_digits: int = 4) -> str:
        """The interval in words: `±0.0123`, or `0.8950 to 0.9965` if the mean is not its middle; – without one."""
        half = self.half_width
        if self.low is None or self.high is None or half is None:
            return "–"
        if abs(self.high - half - self.mean) <= ROUNDING * max(half, abs(self.mean)):
            return f"±{half:.{n_digits}f}"
        return f"{figure(self.low, n_digits)} to {figure(self.high, n_digits)}"


def mean_interval(
    values: Iterable[float], clusters: Sequence[Hashable] | None = None, *, binary: bool = False
) -> MeanInterval:
    """Computes the mean over questions and its 95 % interval, by Student's t; cluster-robust if clusters are given.

    `binary` asks for Wilson's interval, for scores that are all 0 or 1, without clusters.
    """
    column = [float(value) for value in values]
    is_there = [not math.isnan(value) for value in column]
    kept = None if clusters is None else list(compress(clusters, is_there))
    column = list(compress(column, is_there))
    if not column:
        raise ValueError("a mean needs the value of at least one question")
    mean = math.fsum(column) / len(column)
    low, high = wilson(mean, len(column), _Z) if binary else ends(column, max(map(abs, column)), kept)
    return MeanInterval(mean, low, high, len(column))


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval of a share of `n` values, which may be an effective number."""
    widening = quantile * quantile / n
    middle = (share + widening / 2) / (1 + widening)
    half = quantile * math.sqrt(share * (1 - share) / n + widening / (4 * n)) / (1 + widening)
    return max(0.0, middle - half), min(1.0, middle + half)


def ends(
    values: Sequence[float], largest: float, clusters: Sequence[Hashable] | None = None
) -> tuple[float, float] | tuple[None, None]:
    """Computes the ends of the 95 % interval of a mean; None and None if the values have no spread."""
    n = len(values)
    if n < 2 or max(values) - min(values) <= ROUNDING * largest:
        return None, None
    mean = math.fsum(values) / n
    if clusters is None:
        deviation = math.sqrt(math.fsum((value - mean) * (value - mean) for value in values) / (n - 1))
        half = quantile(n - 1) * deviation / math.sqrt(n)
        return mean - half, mean + half
    deviations: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        deviations.setdefault(cluster, []).append(value - mean)
    sums, sizes = [math.fsum(part) for part in deviations.values()], list(map(len, deviations.values()))
    if len(sums) < 2 or max(map(abs, sums)) <= ROUNDING * largest:
        return None, None
    # Bell and McCaffrey: the variance is unbiased, and has the right degrees of freedom, if values are independent.
    variance = math.fsum(total * total / (1 - size / n) for total, size in zip(sums, sizes, strict=True)) / n / n
    parts = [size * size / (n - size) for size in sizes]
    between = math.fsum(parts) ** 2 - math.fsum(part * part for part in parts)
    half = quantile(n * n / (sum(size * size for size in sizes) + between)) * math.sqrt(variance)
    return mean - half, mean + half


@lru_cache(maxsize=256)
def quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """The quantile of Student's t that |t| exceeds with 1 - confidence; `student.quantile` is faster, with NumPy."""
    if degrees > 10_000:
        if confidence == CONFIDENCE:
            return 1.959964
        from statistics import NormalDist

        return NormalDist().inv_cdf((1 + confidence) / 2)
    # The probability beyond t = 40 is negligible, except for few degrees of freedom, which need the whole range.
    step = min(math.pi / 2, 40 / math.sqrt(degrees)) / _N_STEPS
    share = list(accumulate(math.cos((number + 0.5) * step) ** (degrees - 1) for number in range(_N_STEPS)))
    wanted = confidence * share[-1]
    # The share of a step is reached at its end; between the ends it is interpolated.
    number = bisect_right(share, wanted)
    before = share[number - 1] if number else 0.0
    angle = (number + (wanted - before) / (share[number] - before)) * step
    return math.sqrt(degrees) * math.tan(angle)


def competition_ranks(scores: Iterable[float]) -> list[int]:
    """The ranks of scores that are sorted, best first: equal scores have the same rank, the first of their ranks."""
    ranks: list[int] = []
    before = math.nan
    for place, score in enumerate(scores, start=1):
        ranks.append(ranks[-1] if score == before else place)
        before = score
    return ranks

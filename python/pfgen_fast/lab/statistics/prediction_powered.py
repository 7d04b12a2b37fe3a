"""Means from few marks and many verdicts of a cheap judge: prediction-powered estimates.

The mean of the marks is corrected by the judge's verdicts: if the judge likes the marked items less than all items, the
marks are probably too low. The weight of this correction is fitted to the marks, so a judge that knows nothing has no
weight. Verdicts far from the others are limited, and marks stand alone if the fit rests on too few of them.
Needs only the standard library, like `mean_interval`. Definition, assumptions and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...base.mean_interval import CONFIDENCE, ROUNDING, MeanInterval, quantile, wilson

MIN_MARKS = 10
"""With fewer marks, intervals with a fitted weight do not hold, so the marks stand alone."""

_FEWEST = 5  # smallest number of informative marks: marks that differ from the judge, and marks of the rarer value
_IN_TAIL = 3  # expected number of marked items whose verdicts are limited, at each end
_MOST_MARKS = 1 << 40


@dataclass(frozen=True)
class MarkedStratum:
    """The items of a stratum, such as an area of a suite; strata count alike, whatever their sizes.

    Attributes:
        truth: The dear figure of each marked item.
        proxy: The cheap figure of each marked item, in the same order.
        proxy_all: The cheap figures of the other items.
        ends: The lowest and the highest possible dear figure. Marks that are all one of them count as yes and no.
    """

    truth: Sequence[float]
    proxy: Sequence[float]
    proxy_all: Sequence[float]
    ends: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class PredictionPowered(MeanInterval):
    """A mean from marks and a cheap judge, and its interval; `n` is the number of marks.

    Attributes:
        level: The confidence level of the interval.
        weight: The weight of the judge: the slope of the marks over its verdicts; 0 if the marks stand alone.
        correlation: The correlation of marks and (limited) verdicts within strata; None if either has no spread.
        alone: The mean of the marks alone, and its interval.
        n_others: The number of items without a mark.
    """

    level: float
    weight: float
    correlation: float | None
    alone: MeanInterval
    n_others: int
    strata: tuple[_Moments, ...] = field(repr=False)

    @property
    def effective_marks(self) -> float | None:
        """The number of marks that would give this width without the judge; None without an interval."""
        half, alone = self.half_width, self.alone.half_width
        return None if not half or alone is None else self.n * (alone / half) ** 2

    def marks_for(self, half_width: float) -> int | None:
        """The smallest number of marks for a half width, if the number of items stays; None if there is none.

        New marks are spread over the strata like the present marks.
        """
        return self._needed(half_width, self.weight, self.n + self.n_others)

    def marks_alone_for(self, half_width: float) -> int | None:
        """The smallest number of marks for a half width without the judge; None if it is unknown."""
        return self._needed(half_width, 0.0, _MOST_MARKS)

    def _needed(self, half_width: float, weight: float, most: int) -> int | None:
        def reaches(n: int) -> bool:
            half = _half_width([stratum.with_marks(n / self.n) for stratum in self.strata], weight, self.level)
            return half is not None and half <= half_width

        is_known = self.low is not None and all(stratum.n > 1 for stratum in self.strata)
        if not (is_known and half_width > 0 and reaches(most)):
            return None
        low, high = (MIN_MARKS if weight else 2) - 1, most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        return high


def prediction_powered_mean(
    truth: Sequence[float], proxy: Sequence[float], proxy_all: Sequence[float], level: float = CONFIDENCE
) -> PredictionPowered:
    """Estimates the mean over all items from few marks and many verdicts of a cheap judge, with its interval.

    The judge counts only with ten marks or more, and if five of them differ from it; of marks that are all 0 or 1, five
    must also be of the rarer value. Otherwise the marks stand alone, marks of 0 and 1 with Wilson's interval.

    Args:
        truth: The marks.
        proxy: The verdicts on the marked items, in the same order.
        proxy_all: The verdicts on the other items.
        level: The confidence level.

    Returns:
        The mean with its interval, which is never wider than the interval of the marks alone. Without marks of 0 and 1
        only, there is no interval with one mark, or with the same mark for all items.

    Raises:
        ValueError: There is no mark, the numbers of marks and verdicts differ, a value is not finite, or the level is
            not between 0 and 1.

    Example:
        >>> marks = [3, 5, 4, 8, 7, 9, 6, 2, 5, 7, 4, 6, 8, 3, 5, 7]
        >>> verdicts = [5, 6, 6, 9, 9, 9, 8, 4, 7, 8, 5, 8, 9, 5, 5, 9]
        >>> found = prediction_powered_mean(marks, verdicts, [4, 5, 6, 7, 8] * 20)
        >>> round(found.alone.mean, 2), round(found.mean, 2), round(found.half_width / found.alone.half_width, 2)
        (5.56, 4.95, 0.62)
    """
    return mean_of_strata([MarkedStratum(truth, proxy, proxy_all)], level)


def mean_of_strata(strata: Sequence[MarkedStratum], level: float = CONFIDENCE) -> PredictionPowered:
    """Estimates the mean of the means of strata, which count alike; one weight is fitted for all strata."""
    if not 0 < level < 1:
        raise ValueError(f"the level is {level}; expected a number between 0 and 1")
    checked = list(map(_checked, strata))
    if not checked:
        raise ValueError("a mean needs at least one stratum")
    n, n_others = sum(len(stratum.truth) for stratum in checked), sum(len(stratum.proxy_all) for stratum in checked)
    limited = [_limited(stratum, min(0.5, _IN_TAIL / n)) for stratum in checked]
    moments = tuple(map(_moments, limited))
    is_binary = all(
        min(abs(mark - low), abs(mark - high)) <= ROUNDING * abs(high - low)
        for stratum in limited
        for low, high in [stratum.ends]
        for mark in stratum.truth
    )
    alone = _of_shares(limited, moments, level) if is_binary else _interval(moments, 0.0, level, n)
    weight = _weight(moments) if n >= MIN_MARKS else 0.0
    mean = _interval(moments, weight, level, n) if weight and _is_informed(limited, weight, is_binary) else alone
    if mean.half_width is None or alone.half_width is None or mean.half_width >= alone.half_width:
        weight, mean = 0.0, alone
    squares = (math.fsum(getattr(part, f"{name}_squares") for part in moments) for name in ("truth", "proxy", "both"))
    truth_sum, proxy_sum, both_sum = squares
    correlation = both_sum / math.sqrt(truth_sum * proxy_sum) if truth_sum > 0 and proxy_sum > 0 else None
    return PredictionPowered(mean.mean, mean.low, mean.high, n, level, weight, correlation, alone, n_others, moments)


@dataclass(frozen=True)
class _Moments:
    """The sums of squares of a stratum around the means of its marked items."""

    n: float  # number of marks; not whole if more or fewer marks are planned
    n_items: int
    mean: float  # of the marks
    truth_squares: float
    proxy_squares: float
    both_squares: float
    shift: float  # mean verdict on all items, minus the mean verdict on the marked items

    @property
    def n_marks(self) -> int:
        """The number of marks."""
        return round(self.n)

    @property
    def n_others(self) -> int:
        """The number of items without a mark."""
        return self.n_items - self.n_marks

    @property
    def removable(self) -> float:
        """The part of the variance of a mark that a perfect judge removes from the variance of the mean."""
        return max(0.0, 1 / self.n - 1 / self.n_items)

    @property
    def share(self) -> float:
        """The share of the sums of squares in the fit of the weight."""
        return self.removable / (self.n - 1) if self.n > 1 else 0.0

    def of_rest(self, weight: float) -> float:
        """The sum of squares of the marks that the verdicts do not explain."""
        return max(0.0, self.truth_squares - weight * (2 * self.both_squares - weight * self.proxy_squares))

    def with_marks(self, factor: float) -> _Moments:
        """What is expected with more or fewer marks of the same items."""
        n = self.n * factor
        by = (n - 1) / (self.n - 1)
        sums = {name: by * getattr(self, name) for name in ("truth_squares", "proxy_squares", "both_squares")}
        return replace(self, n=n, shift=0.0, **sums)


def _checked(stratum: MarkedStratum) -> MarkedStratum:
    truth, proxy, others = (list(map(float, part)) for part in (stratum.truth, stratum.proxy, stratum.proxy_all))
    if not truth:
        raise ValueError("a mean needs at least one mark")
    if len(truth) != len(proxy):
        raise ValueError(f"{len(truth)} marks and {len(proxy)} verdicts on the marked items; expected one for each")
    if not all(abs(value) <= 1e15 for value in (*truth, *proxy, *others)):
        raise ValueError("a mark or a verdict is not a finite number up to 1e+15")
    return MarkedStratum(truth, proxy, others, stratum.ends)


def _limited(stratum: MarkedStratum, share: float) -> MarkedStratum:
    """The stratum with verdicts limited to quantiles and to Tukey's fences, so that none of them has much leverage."""
    ordered = sorted((*stratum.proxy, *stratum.proxy_all))
    at, quarter = min(int(share * len(ordered)), (len(ordered) - 1) // 2), len(ordered) // 4
    low, high, first, third = ordered[at], ordered[-1 - at], ordered[quarter], ordered[-1 - quarter]
    if third > first:
        low, high = max(low, first - 1.5 * (third - first)), min(high, third + 1.5 * (third - first))
    proxy, others = ([min(high, max(low, verdict)) for verdict in part] for part in (stratum.proxy, stratum.proxy_all))
    return replace(stratum, proxy=proxy, proxy_all=others)


def _is_informed(strata: Sequence[MarkedStratum], weight: float, is_binary: bool) -> bool:
    """Whether enough marks differ from the judge; marks that are not yes or no count by the kurtosis of residuals."""
    residuals: list[float] = []
    n_high = 0
    for stratum in strata:
        y, x = (math.fsum(part) / len(part) for part in (stratum.truth, stratum.proxy))
        span = stratum.ends[1] - stratum.ends[0]
        residuals += [(a - y - weight * (b - x)) / span for a, b in zip(stratum.truth, stratum.proxy, strict=True)]
        n_high += sum(mark > sum(stratum.ends) / 2 for mark in stratum.truth)
    if is_binary:
        return min(n_high, len(residuals) - n_high, sum(abs(rest) > 0.5 for rest in residuals)) >= _FEWEST
    squares = [rest * rest for rest in residuals]
    return math.fsum(squares) ** 2 >= _FEWEST * math.fsum(square * square for square in squares) > 0


def _moments(stratum: MarkedStratum) -> _Moments:
    truth, proxy, others = stratum.truth, stratum.proxy, stratum.proxy_all
    n = len(truth)
    y, x = math.fsum(truth) / n, math.fsum(proxy) / n
    truth_squares, proxy_squares, both_squares = (
        math.fsum((a - mean_a) * (b - mean_b) for a, b in zip(left, right, strict=True))
        for left, mean_a, right, mean_b in ((truth, y, truth, y), (proxy, x, proxy, x), (truth, y, proxy, x))
    )
    if _has_no_spread(truth):
        truth_squares = both_squares = 0.0
    if _has_no_spread(proxy):
        proxy_squares = both_squares = 0.0
    shift = math.fsum((*proxy, *others)) / (n + len(others)) - x
    return _Moments(n, n + len(others), y, truth_squares, proxy_squares, both_squares, shift)


def _has_no_spread(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= ROUNDING * max(map(abs, values))


def _weight(strata: Sequence[_Moments]) -> float:
    """The weight that makes the variance of the mean smallest; a judge that contradicts the marks has none."""
    proxy_squares = math.fsum(stratum.share * stratum.proxy_squares for stratum in strata)
    both_squares = math.fsum(stratum.share * stratum.both_squares for stratum in strata)
    return max(0.0, both_squares / proxy_squares) if proxy_squares > 0 else 0.0


def _interval(strata: Sequence[_Moments], weight: float, level: float, n: int) -> MeanInterval:
    mean = math.fsum(stratum.mean + weight * stratum.shift for stratum in strata) / len(strata)
    half = _half_width(strata, weight, level)
    low, high = (None, None) if half is None else (mean - half, mean + half)
    return MeanInterval(mean, low, high, n)


def _of_shares(strata: Sequence[MarkedStratum], moments: Sequence[_Moments], level: float) -> MeanInterval:
    """The interval of marks of yes and no alone: Wilson's, with the number of marks of equal precision."""
    ends = [sorted(stratum.ends) for stratum in strata]
    least, most = (math.fsum(part) / len(ends) for part in zip(*ends, strict=True))
    mean = math.fsum(stratum.mean for stratum in moments) / len(moments)
    share = min(1.0, max(0.0, (mean - least) / (most - least)))
    n_effective = len(moments) ** 2 / math.fsum(1 / stratum.n for stratum in moments)
    low, high = (least + (most - least) * end for end in wilson(share, n_effective, quantile(math.inf, level)))
    return MeanInterval(mean, low, high, round(math.fsum(stratum.n for stratum in moments)))


def _half_width(strata: Sequence[_Moments], weight: float, level: float) -> float | None:
    """Half the width of the interval: Student's t, with the degrees of freedom of Welch and Satterthwaite."""
    if any(stratum.n <= 1 for stratum in strata) or not any(stratum.truth_squares > 0 for stratum in strata):
        return None
    if not weight:
        return _student([stratum.truth_squares / (stratum.n - 1) / stratum.n for stratum in strata], strata, level)
    degrees = math.fsum(stratum.n - 1 for stratum in strata)
    # The fitted weight costs a degree of freedom.
    rests = [degrees / (degrees - 1) * stratum.of_rest(weight) / (stratum.n - 1) for stratum in strata]
    parts = [
        rest * stratum.removable + stratum.truth_squares / (stratum.n - 1) / stratum.n_items
        for rest, stratum in zip(rests, strata, strict=True)
    ]
    return _student(parts, strata, level, _of_the_weight(strata, rests))


def _student(parts: Sequence[float], strata: Sequence[_Moments], level: float, added: float | None = None) -> float:
    """Half the width from the variance of each stratum's mean, and the variance that the fitted weight adds."""
    variance = math.fsum(parts)
    degrees = variance**2 / math.fsum(part**2 / (stratum.n - 1) for part, stratum in zip(parts, strata, strict=True))
    if added is not None:
        degrees, variance = max(1.0, degrees - 1), variance + added
    return quantile(degrees, level) * math.sqrt(variance) / len(strata)


def _of_the_weight(strata: Sequence[_Moments], rests: Sequence[float]) -> float:
    """The variance of the sum of the strata's means from the uncertain weight, which matters if they are shifted."""
    shift = math.fsum(stratum.shift for stratum in strata)
    if not shift:
        return 0.0
    spread = math.fsum(
        stratum.share**2 * stratum.proxy_squares * rest for stratum, rest in zip(strata, rests, strict=True)
    )
    return spread * (shift / math.fsum(stratum.share * stratum.proxy_squares for stratum in strata)) ** 2

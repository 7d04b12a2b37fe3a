"""Means from few marks and many verdicts of a cheap judge: prediction-powered estimates.

The mean of the marks is corrected by the judge's verdicts: if the judge likes the marked items less than all items, the
marks are probably too low. The weight of this correction is fitted to the marks, so a judge that knows nothing has no
weight. Verdicts far from the others are limited, and marks stand alone if the fit rests on too few of them.
Definition, assumptions and accuracy: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...base.arrays import Floats
from ...base.mean_interval import CONFIDENCE, ROUNDING, MeanInterval, quantile, wilson

MIN_MARKS = 10
"""With fewer marks, intervals with a fitted weight do not hold, so the marks stand alone."""

_FEWEST = 5  # smallest number of informative marks: marks that differ from the judge, and marks of the rarer value
_IN_TAIL = 3  # expected number of marked items whose verdicts are limited, at each end


@dataclass(frozen=True)
class MarkedStratum:
    """The items of a stratum, such as an area of a suite; strata count alike, whatever their sizes."""

    truth: Sequence[float]  # dear figure of each marked item
    proxy: Sequence[float]  # cheap figure of each marked item, in the same order
    proxy_all: Sequence[float]  # cheap figures of the other items
    # lowest and the highest possible dear figure. Marks that are all one of them count as yes and no
    ends: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class PredictionPowered(MeanInterval):
    """A mean from marks and a cheap judge, and its interval; `n` is the number of marks."""

    level: float  # confidence level of the interval
    weight: float  # weight of the judge: the slope of the marks over its verdicts; 0 if the marks stand alone
    correlation: float | None  # correlation of marks and (limited) verdicts within strata; None if either has no spread
    alone: MeanInterval  # mean of the marks alone, and its interval
    n_others: int  # number of items without a mark

    @property
    def effective_marks(self) -> float | None:
        """The number of marks that would give this width without the judge; None without an interval."""
        half, alone = self.half_width, self.alone.half_width
        return None if not half or alone is None else self.n * (alone / half) ** 2


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
        >>> mean = prediction_powered_mean(marks, verdicts, [4, 5, 6, 7, 8] * 20)
        >>> round(mean.alone.mean, 2), round(mean.mean, 2), round(mean.half_width / mean.alone.half_width, 2)
        (5.56, 4.95, 0.62)
    """
    return mean_of_strata([MarkedStratum(truth, proxy, proxy_all)], level)


def mean_of_strata(strata: Sequence[MarkedStratum], level: float = CONFIDENCE) -> PredictionPowered:
    """Estimates the mean of the means of strata, which count alike; one weight is fitted for all strata."""
    if not 0 < level < 1:
        raise ValueError(f"the level is {level}; expected a number between 0 and 1")
    if not strata:
        raise ValueError("a mean needs at least one stratum")
    n = sum(len(stratum.truth) for stratum in strata)
    limited = [_limited(stratum, min(0.5, _IN_TAIL / max(1, n))) for stratum in strata]
    moments = _Moments(*np.array([_row(stratum) for stratum in limited]).T)
    is_binary = all(
        np.abs(np.subtract.outer(ends, truth)).min(axis=0).max() <= ROUNDING * abs(ends[1] - ends[0])
        for truth, _, _, ends in limited
    )
    if is_binary:
        alone = _of_shares(np.sort([stratum.ends for stratum in limited]).mean(axis=0), moments, level)
    else:
        alone = _interval(moments, 0.0, level)
    weight, mean = moments.weight if n >= MIN_MARKS else 0.0, alone
    if weight and _is_informed(limited, weight, is_binary):
        mean = _interval(moments, weight, level)
    if mean.half_width is None or alone.half_width is None or mean.half_width >= alone.half_width:
        weight, mean = 0.0, alone
    truth, proxy, both = (
        float(part.sum()) for part in (moments.truth_squares, moments.proxy_squares, moments.both_squares)
    )
    correlation = both / math.sqrt(truth * proxy) if truth > 0 and proxy > 0 else None
    n_others = sum(len(stratum.others) for stratum in limited)
    return PredictionPowered(mean.mean, mean.low, mean.high, n, level, weight, correlation, alone, n_others)


class _Limited(NamedTuple):
    """A stratum with limited verdicts."""

    truth: Floats
    proxy: Floats
    others: Floats
    ends: tuple[float, float]


class _Moments(NamedTuple):
    """The sums of squares of each stratum around the means of its marked items."""

    n: Floats  # numbers of marks
    n_items: Floats
    means: Floats  # of the marks
    truth_squares: Floats
    proxy_squares: Floats
    both_squares: Floats
    shifts: Floats  # mean verdict on all items, minus the mean verdict on the marked items

    @property
    def removable(self) -> Floats:
        """The part of the variance of a mark that a perfect judge removes from the variance of the mean."""
        return np.maximum(0.0, 1 / self.n - 1 / self.n_items)

    @property
    def shares(self) -> Floats:
        """The shares of the sums of squares in the fit of the weight."""
        return self.removable / np.where(self.n > 1, self.n - 1, np.inf)

    @property
    def weight(self) -> float:
        """The weight that makes the variance of the mean smallest; a judge that contradicts the marks has none."""
        proxy_squares, both_squares = self.shares @ self.proxy_squares, self.shares @ self.both_squares
        return max(0.0, float(both_squares / proxy_squares)) if proxy_squares > 0 else 0.0


def _limited(stratum: MarkedStratum, share: float) -> _Limited:
    """The stratum with verdicts limited to quantiles and to Tukey's fences, so that none of them has much leverage."""
    parts = stratum.truth, stratum.proxy, stratum.proxy_all
    truth, proxy, others = (np.fromiter(map(float, part), np.float64) for part in parts)
    if not truth.size:
        raise ValueError("a mean needs at least one mark")
    if len(truth) != len(proxy):
        raise ValueError(f"{len(truth)} marks and {len(proxy)} verdicts on the marked items; expected one for each")
    if not (np.abs(np.concatenate([truth, proxy, others])) <= 1e15).all():
        raise ValueError("a mark or a verdict is not a finite number up to 1e+15")
    ordered = np.sort(np.append(proxy, others))
    at, quarter = min(int(share * len(ordered)), (len(ordered) - 1) // 2), len(ordered) // 4
    low, first, third, high = ordered[[at, quarter, -1 - quarter, -1 - at]]
    if third > first:
        low, high = max(low, first - 1.5 * (third - first)), min(high, third + 1.5 * (third - first))
    return _Limited(truth, proxy.clip(low, high), others.clip(low, high), stratum.ends)


def _row(stratum: _Limited) -> tuple[float, ...]:
    """The moments of a stratum."""
    truth, proxy, others, _ = stratum
    # Values without spread differ from their mean by rounding alone.
    a, b = ((part - part.mean()) * (np.ptp(part) > ROUNDING * np.abs(part).max()) for part in (truth, proxy))
    every = np.append(proxy, others)
    squares = (a * a).sum(), (b * b).sum(), (a * b).sum()
    return len(truth), len(every), truth.mean(), *squares, every.mean() - proxy.mean()


def _is_informed(strata: Sequence[_Limited], weight: float, is_binary: bool) -> bool:
    """Whether enough marks differ from the judge; marks that are not yes or no count by the kurtosis of residuals."""
    squares = np.concatenate(
        [
            ((truth - truth.mean() - weight * (proxy - proxy.mean())) / (ends[1] - ends[0])) ** 2
            for truth, proxy, _, ends in strata
        ]
    )
    if is_binary:
        n_high = sum(int((truth > sum(ends) / 2).sum()) for truth, _, _, ends in strata)
        return min(n_high, len(squares) - n_high, int((squares > 0.25).sum())) >= _FEWEST
    return bool(squares.sum() ** 2 >= _FEWEST * (squares @ squares) > 0)


def _interval(moments: _Moments, weight: float, level: float) -> MeanInterval:
    mean = float((moments.means + weight * moments.shifts).mean())
    half = _half_width(moments, weight, level)
    low, high = (None, None) if half is None else (mean - half, mean + half)
    return MeanInterval(mean, low, high, int(moments.n.sum()))


def _of_shares(ends: Floats, moments: _Moments, level: float) -> MeanInterval:
    """The interval of marks of yes and no alone: Wilson's, with the number of marks of equal precision."""
    (least, most), mean = ends.tolist(), float(moments.means.mean())
    share = min(1.0, max(0.0, (mean - least) / (most - least)))
    n_effective = len(moments.n) ** 2 / float((1 / moments.n).sum())
    low, high = (least + (most - least) * end for end in wilson(share, n_effective, quantile(math.inf, level)))
    return MeanInterval(mean, low, high, int(moments.n.sum()))


def _half_width(moments: _Moments, weight: float, level: float) -> float | None:
    """Half the width of the interval: Student's t, with the degrees of freedom of Welch and Satterthwaite."""
    n, n_items, _, truth_squares, proxy_squares, both_squares, shifts = moments
    if (n <= 1).any() or not truth_squares.any():
        return None
    variances = truth_squares / (n - 1)
    parts, added = variances / n, 0.0
    if weight:
        rests = np.maximum(0.0, truth_squares - weight * (2 * both_squares - weight * proxy_squares)) / (n - 1)
        rests *= (n - 1).sum() / ((n - 1).sum() - 1)  # the fitted weight costs a degree of freedom
        parts = rests * moments.removable + variances / n_items
        if shifts.sum():  # the uncertain weight matters if the strata are shifted
            weighted = moments.shares * proxy_squares
            added = (moments.shares * weighted) @ rests * (shifts.sum() / weighted.sum()) ** 2
    variance = parts.sum()
    degrees = 1 / ((parts / variance) ** 2 / (n - 1)).sum()
    if weight:
        degrees = max(1.0, degrees - 1)
    return quantile(float(degrees), level) * math.sqrt(variance + added) / len(n)

"""Win rates at equal lengths: a logistic regression takes out what the difference of lengths explains.

One slope for all pairs of players, because judges prefer long answers from any player, and an intercept for each pair.
Definition: docs/statistics.md. Needs only NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .student import quantile

Floats = NDArray[np.float64]

MIN_CLUSTERS = 10
"""With fewer clusters, such as tasks, lengths are not controlled."""

_MAX_STEPS = 100
_CLOSE = 1e-10
_MAX_SLOPE = 20.0


@dataclass(frozen=True, eq=False)
class LengthControl:
    """Win rates at equal lengths.

    Attributes:
        rates: The rate of each pair (rows: value, lower and upper end of the 95 % interval); NaN for a pair that one
            side always wins.
        slope: The slope of the log odds, with the ends of its 95 % interval.
        scale: The difference of lengths that counts as 1 before the tanh: the root of the mean square of all.
    """

    rates: Floats
    slope: tuple[float, float, float]
    scale: float

    @property
    def longer_wins(self) -> float:
        """The win rate of the longer one of two answers that are otherwise equal and differ by the scale."""
        return float(_sigmoid(self.slope[0] * np.tanh(1.0)))


def length_control(outcomes: Any, differences: Any, pairs: Any, clusters: Any) -> LengthControl | None:
    """Fits the win rates of pairs at equal lengths; None if the data do not determine the slope.

    Args:
        outcomes: The outcome of each comparison: 1 for a win of the first side, 0 for a loss, 0.5 for a tie.
        differences: The length of the first side's answer minus that of the second side's answer.
        pairs: The number of the pair of each comparison, from 0.
        clusters: The number of the cluster of each comparison, such as its task, from 0.
    """
    y, delta = np.asarray(outcomes, np.float64), np.asarray(differences, np.float64)
    of_pair, of_cluster = np.asarray(pairs, np.int64), np.asarray(clusters, np.int64)
    n_pairs = int(of_pair.max(initial=-1)) + 1
    n = np.bincount(of_pair, minlength=n_pairs)
    means = np.bincount(of_pair, y, n_pairs) / np.maximum(n, 1)
    is_used = ((means > 0) & (means < 1))[of_pair]
    y, delta, of_pair, of_cluster = y[is_used], delta[is_used], of_pair[is_used], of_cluster[is_used]
    scale = float(np.sqrt(np.mean(delta**2))) if len(delta) else 0.0
    if not scale > 0 or len(np.unique(of_cluster)) < MIN_CLUSTERS:
        return None
    fit = _Fit(y, np.tanh(delta / scale), of_pair, n_pairs)
    if not fit.converge():
        return None
    return LengthControl(*fit.estimates(of_cluster), scale)


class _Fit:
    """Newton's method for the intercepts of the pairs and the common slope."""

    def __init__(self, y: Floats, x: Floats, pairs: NDArray[np.int_], n_pairs: int) -> None:
        self.y, self.x, self.pairs, self.n_pairs = y, x, pairs, n_pairs
        n = self._sums(np.ones_like(y))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self._sums(y) / n
            self.intercepts = np.log(means / (1 - means))
        self.slope = 0.0

    def _sums(self, values: Floats) -> Floats:
        return np.bincount(self.pairs, values, self.n_pairs)

    def converge(self) -> bool:
        """Fits; returns whether the data determine the slope."""
        for _ in range(_MAX_STEPS):
            self._prepare()
            if not self.information > _CLOSE:
                return False
            step = float(np.clip((self.rest * self.centred).sum() / self.information, -1, 1))
            with np.errstate(invalid="ignore", divide="ignore"):
                moves = np.clip(self._sums(self.rest) / self.weights - step * self.middles, -2, 2)
            self.slope, self.intercepts = self.slope + step, self.intercepts + moves
            if abs(self.slope) > _MAX_SLOPE:
                return False
            if abs(step) < _CLOSE and np.nanmax(np.abs(moves)) < _CLOSE:
                self._prepare()
                return True
        return False

    def _prepare(self) -> None:
        found = _sigmoid(self.intercepts[self.pairs] + self.slope * self.x)
        weights = found * (1 - found)
        self.rest, self.weights = self.y - found, self._sums(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.middles = self._sums(weights * self.x) / self.weights
        self.centred = self.x - self.middles[self.pairs]
        self.information = float((weights * self.centred**2).sum())

    def estimates(self, clusters: NDArray[np.int_]) -> tuple[Floats, tuple[float, float, float]]:
        """The rates and the slope, with intervals from the cluster-robust covariance."""
        n_clusters = int(clusters.max()) + 1
        of_slope = np.bincount(clusters, self.rest * self.centred, n_clusters) / self.information
        places = clusters * self.n_pairs + self.pairs
        rests = np.bincount(places, self.rest, n_clusters * self.n_pairs).reshape(n_clusters, self.n_pairs)
        with np.errstate(invalid="ignore", divide="ignore"):
            of_intercepts = rests / self.weights - of_slope[:, np.newaxis] * self.middles
        n = len(np.unique(clusters))
        factor = quantile(n - 1) * np.sqrt(n / (n - 1))
        halves = factor * np.sqrt((of_intercepts**2).sum(axis=0))
        rates = _sigmoid(np.stack([self.intercepts, self.intercepts - halves, self.intercepts + halves]))
        half = float(factor * np.sqrt((of_slope**2).sum()))
        return rates, (self.slope, self.slope - half, self.slope + half)


def _sigmoid(values: Any) -> Any:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-values))

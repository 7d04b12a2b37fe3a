"""Agreement of two evaluators that were tested on the same items: do they notice the same damage?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DiscernmentError
from .correlation import Floats, resampled_coefficients
from .discernment_scores import CONTROL, averages
from .resampling import interval


@dataclass(frozen=True)
class Agreement:
    """Agreement of two evaluators."""

    difference: float  # average discernment score of the first, minus the average of the second
    low: float | None  # lower end of its 95 % interval; None without a bootstrap
    high: float | None  # upper end of the interval
    # Kendall's tau-b between their scores over perturbations; None if all scores of an evaluator are equal
    tau: float | None
    n_perturbations: int  # number of perturbations that are defined for both, without controls


def agreement(
    first: Any, second: Any, levels: Sequence[str], *, first_draws: Any = None, second_draws: Any = None
) -> Agreement:
    """Compares the discernment scores of two evaluators over the perturbations that are defined for both."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or not x.shape == y.shape == (len(levels),):
        raise DiscernmentError(
            f"scores of {x.size} and {y.size} perturbations for {len(levels)} levels: expected one for each"
        )
    in_both = ~np.isnan(x) & ~np.isnan(y) & np.array([level != CONTROL for level in levels], dtype=bool)
    if not in_both.any():
        raise DiscernmentError("no perturbation is defined for both evaluators: expected at least one")
    common = [level for level, is_in in zip(levels, in_both, strict=True) if is_in]
    difference = float(_difference(x[in_both], y[in_both], common))
    low, high = _interval_of(first_draws, second_draws, in_both, common)
    n = int(in_both.sum())
    tau = float(resampled_coefficients(x[in_both], y[in_both], np.arange(n), np.ones((1, n)))["Kendall"][0])
    return Agreement(difference, low, high, None if math.isnan(tau) else tau, n)


def _difference(x: Floats, y: Floats, levels: Sequence[str]) -> Any:
    return averages(x, levels).average - averages(y, levels).average


def _interval_of(
    first_draws: Any, second_draws: Any, in_both: Any, levels: Sequence[str]
) -> tuple[float, float] | tuple[None, None]:
    if first_draws is None or second_draws is None:
        return None, None
    x, y = np.asarray(first_draws, dtype=np.float64), np.asarray(second_draws, dtype=np.float64)
    if x.ndim != 2 or x.shape != y.shape or x.shape[1] != len(in_both):
        raise DiscernmentError(
            f"draws of the shapes {x.shape} and {y.shape}: expected the same draws of {len(in_both)} perturbations"
        )
    if not len(x):
        return None, None
    low, high = interval(_difference(x[:, in_both], y[:, in_both], levels))
    return float(low), float(high)

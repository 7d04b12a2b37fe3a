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
    first: Floats, second: Floats, levels: Sequence[str], *, draws: tuple[Floats, Floats] | None = None
) -> Agreement:
    """Compares the discernment scores of two evaluators over the perturbations that are defined for both.

    `draws` has the scores of both evaluators in the same bootstrap draws (rows).
    """
    in_both = ~np.isnan(first) & ~np.isnan(second) & np.array([level != CONTROL for level in levels], dtype=bool)
    if not in_both.any():
        raise DiscernmentError("no perturbation is defined for both evaluators: expected at least one")
    common = [level for level, is_in in zip(levels, in_both, strict=True) if is_in]

    def difference(x: Floats, y: Floats) -> Any:
        return averages(x[..., in_both], common).average - averages(y[..., in_both], common).average

    low, high = (None, None) if draws is None else map(float, interval(difference(*draws)))
    tau = kendall_tau(first[in_both], second[in_both])
    return Agreement(float(difference(first, second)), low, high, tau, int(in_both.sum()))


def kendall_tau(x: Floats, y: Floats) -> float | None:
    """Kendall's tau-b without SciPy, whose import takes longer; None if all values of a vector are equal."""
    n = len(x)
    tau = float(resampled_coefficients(x, y, np.arange(n), np.ones((1, n)))["Kendall"][0])
    return None if math.isnan(tau) else tau

"""P-values: corrected for multiple comparisons (NumPy), combined (SciPy)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..errors import ExperimentError
from .correlation import Floats, scipy_stats

Correction = Literal["holm", "bh"]
Combination = Literal["fisher", "stouffer", "pearson", "tippett", "mudholkar_george"]

CORRECTIONS: dict[Correction, str] = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
"""The corrections, with their full names."""


def corrected(p_values: Any, correction: Correction) -> Floats:
    """Corrects p-values for multiple comparisons."""
    values = _checked(p_values)
    order = np.argsort(values, kind="stable")
    n = len(values)
    if correction == "holm":
        ordered = np.maximum.accumulate(values[order] * np.arange(n, 0, -1))
    else:
        ordered = np.minimum.accumulate((values[order] * (n / np.arange(1, n + 1)))[::-1])[::-1]
    found = np.empty(n)
    found[order] = np.minimum(ordered, 1.0)
    return found


def combined(p_values: Any, method: Combination = "fisher") -> float:
    """Combines the p-values of independent tests into one, of "all null hypotheses are true"."""
    values = _checked(p_values)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(scipy_stats().combine_pvalues(values, method=method).pvalue)
    if np.isnan(found):
        raise ExperimentError(f"p-values of 0 and 1 contradict each other: method {method!r} cannot combine them")
    return found


def _checked(p_values: Any) -> Floats:
    values = np.asarray(p_values, dtype=np.float64)
    if not values.size:
        raise ExperimentError("no p-values: expected at least one")
    wrong = values[~((values >= 0) & (values <= 1))]
    if wrong.size:
        raise ExperimentError(f"p-value {wrong[0]:g}: expected a number from 0 to 1")
    return values

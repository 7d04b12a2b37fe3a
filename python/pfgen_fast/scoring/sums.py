"""Sums of a few floats, such as the shares of the reference sets in a metric: docs/scoring.md, section 5.

The builtin `sum` must not be used for floats, because Python 3.12 changed its result. Long columns are NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..suite.rules import FloatSum


def add_up(values: Iterable[float], float_sum: FloatSum = "compensated") -> float:
    """Adds up floats in their order, whatever Python runs this."""
    total = compensation = 0.0
    for value in values:
        new = total + value
        compensation += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
        total = new
    return total + compensation if float_sum == "compensated" else total

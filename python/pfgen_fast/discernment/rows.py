"""What the rows of the tables have in common. A value that is undefined is None."""

from __future__ import annotations

import math

from .plan import Perturbation
from .result import Cell


def number(value: float) -> float | None:
    """A float for a table; None instead of NaN, and 0 instead of -0."""
    return None if math.isnan(value) else float(value) + 0.0


def whole(value: float) -> int | None:
    """A whole number for a table; None instead of NaN or infinity."""
    return int(value) if math.isfinite(value) else None


def described(evaluator: str, task: str, perturbation: Perturbation) -> dict[str, Cell]:
    """The columns that say which perturbation of which test a row is about."""
    return {
        "evaluator": evaluator,
        "task": task,
        "level": perturbation.level,
        "kind": perturbation.kind,
        "degree": perturbation.degree,
        "permille": perturbation.permille,
        "k": perturbation.k,
    }

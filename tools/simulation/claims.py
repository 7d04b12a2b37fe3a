"""A claim of `make simulate`: how often an interval holds the truth, or an alarm is false."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

COVERAGE, FALSE_ALARMS = (0.93, 0.97), (0.0, 0.06)  # promised, of 95 % intervals and of verdicts at the level 0.05

_IN_TABLES = {
    "half of them ties": "half of the questions tie",
    "all of them ties": "all questions tie",
    "any of 5 runs": "at least one of 5 runs",
    "(0.5 is true)": "(true share: 0.5)",
    ", of columns": ", columns",
    ", of ": ", columns that correlate by ",
    ", from trial": ", checked from trial",
    " areas with 3, 5 tasks": " areas with 3 and 5 tasks",
    " areas with 30, 30 tasks": " areas with 30 tasks each",
    ", scores often at the end": "; many scores at the end of the scale",
    "clusters, 0.": "clusters with 0.",
    " of the variance is between them": " of the variance between clusters",
}
"""Other words for parts of a claim's name in the tables. A name determines the draws, so it must not change."""


@dataclass(frozen=True)
class Claim:
    """A statement of the program in a world whose truth is known."""

    table: str  # table that shows the claim
    what: str  # name of the case: its subject and size
    bounds: tuple[float, float] | None  # promised share; None where the row is shown for comparison
    # draws once, and returns whether the interval held or an alarm was false, or several of these
    draw: Callable[..., Any]
    settings: tuple[Any, ...] = ()  # arguments of `draw` behind the generator
    cost: int = 1  # the number of draws is divided by this

    def share(self, n: int) -> tuple[float, int]:
        """The share, and the number of values behind it; the seed follows from the claim."""
        generator = np.random.default_rng(zlib.crc32(f"{self.table}, {self.what}".encode()))
        result = np.hstack([self.draw(generator, *self.settings) for _ in range(max(50, n // self.cost))])
        return float(np.mean(result)), len(result)

    @property
    def shown(self) -> str:
        """The name in the tables."""
        return reduce(lambda words, part: words.replace(*part), _IN_TABLES.items(), self.what)

    def is_held(self, share: float, n: int) -> bool:
        """Whether the share is as promised, within three standard errors."""
        if self.bounds is None:
            return True
        low, high = self.bounds
        return low - 3 * (low * (1 - low) / n) ** 0.5 <= share <= high + 3 * (high * (1 - high) / n) ** 0.5


def holds(result: Any, truth: float) -> bool:
    return within((result.low, result.high), truth)


def within(ends: Any, truth: float) -> bool:
    return ends[0] is not None and ends[0] <= truth <= ends[1]  # a sample without an interval is a miss

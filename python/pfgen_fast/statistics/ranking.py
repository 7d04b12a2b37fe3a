"""Rankings: ranks of scores, agreement of rankings, and groups of members that do not differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .correlation import Floats, scipy_stats

SAME_RANKING = 0.95
"""Two rankings count as the same if their Kendall correlation exceeds this value."""


def ranks(scores: Floats) -> Floats:
    """The ranks of scores, 1 for the highest; equal scores share the mean of their ranks."""
    found: Floats = scipy_stats().rankdata(-scores)
    return found


def draws_kendall(usual: Floats, draws: Floats) -> Floats:
    """Kendall's tau-b of each draw (row) of scores with the usual scores; NaN where one of them is constant."""
    first, second = np.triu_indices(len(usual), 1)
    of_usual = np.sign(usual[first] - usual[second])
    of_draws = np.sign(draws[:, first] - draws[:, second])
    n_untied = np.abs(of_usual).sum() * np.abs(of_draws).sum(axis=1)
    with np.errstate(invalid="ignore"):
        found: Floats = (of_usual * of_draws).sum(axis=1) / np.sqrt(n_untied)
    return found


def groups_of(differs: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """The maximal stretches of a ranking in which no two members differ; every member is in at least one."""
    found: list[tuple[int, int]] = []
    for first in range(len(differs)):
        last = first
        while last + 1 < len(differs) and not differs[first : last + 1, last + 1].any():
            last += 1
        if not found or last > found[-1][1]:
            found.append((first, last))
    return tuple(found)

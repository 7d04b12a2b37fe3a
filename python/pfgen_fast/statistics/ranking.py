"""Rankings: ranks of scores, agreement of rankings, and groups of members that do not differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .correlation import Floats, scipy_stats

SAME_RANKING = 0.95
"""Two rankings count as the same if their Kendall correlation exceeds this value."""


def ranks(scores: Floats) -> Floats:
    """The ranks of scores, 1 for the highest; equal scores share the mean of their ranks.

    Example:
        >>> import numpy as np
        >>> ranks(np.array([0.2, 0.9, 0.2])).tolist()
        [2.5, 1.0, 2.5]
    """
    found: Floats = scipy_stats().rankdata(-scores)
    return found


def draws_kendall(usual: Floats, draws: Floats) -> Floats:
    """Kendall's tau-b of each draw (row) of scores with the usual scores; NaN where one of them is constant.

    Example:
        >>> import numpy as np
        >>> draws_kendall(np.array([1.0, 2.0, 3.0]), np.array([[4.0, 5.0, 6.0], [4.0, 6.0, 5.0]])).round(3).tolist()
        [1.0, 0.333]
    """
    first, second = np.triu_indices(len(usual), 1)
    of_usual = np.sign(usual[first] - usual[second])
    of_draws = np.sign(draws[:, first] - draws[:, second])
    n_untied = np.abs(of_usual).sum() * np.abs(of_draws).sum(axis=1)
    with np.errstate(invalid="ignore"):
        found: Floats = (of_usual * of_draws).sum(axis=1) / np.sqrt(n_untied)
    return found


def groups_of(differs: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """The maximal stretches of a ranking in which no two members differ; every member is in at least one.

    Args:
        differs: A symmetric matrix of whether two members differ, in the order of the ranking.

    Returns:
        The indices of the first and last member of each group. Groups may overlap.

    Example:
        >>> import numpy as np
        >>> differs = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
        >>> groups_of(differs)
        ((0, 1), (1, 2))
    """
    found: list[tuple[int, int]] = []
    for first in range(len(differs)):
        last = first
        while last + 1 < len(differs) and not differs[first : last + 1, last + 1].any():
            last += 1
        if not found or last > found[-1][1]:
            found.append((first, last))
    return tuple(found)

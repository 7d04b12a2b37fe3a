"""Draws of tasks within the parts of a suite, the same for all models, and means of models in them.

Areas count alike in an average, not answers; a part of which some model has no answer counts for none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..statistics.correlation import Floats
from ..statistics.resampling import Counts, bootstrap_counts, resampled_means

Ints = NDArray[np.int64]

_GRID = 2.0**32
_SEEDS = 1 << 16
"""Every part has draws of its own, so that parts with as many tasks are not drawn alike."""


def draws_within(parts: Ints, n_draws: int, seed: int = 0) -> Counts:
    """Draws the tasks of each part, as many as it has: how often each task (column) is in each draw (row).

    Args:
        parts: The number of each task's part.
        n_draws: The number of draws.
        seed: The seed of the draws.

    Example:
        >>> draws = draws_within(np.array([0, 0, 1]), 4)
        >>> draws[:, 2].tolist(), draws[:, :2].sum(axis=1).tolist()
        ([1, 1, 1, 1], [2, 2, 2, 2])
    """
    counts = np.zeros((n_draws, len(parts)), dtype=np.int32)
    for part in np.unique(parts).tolist():
        tasks = np.flatnonzero(parts == part)
        counts[:, tasks] = bootstrap_counts(len(tasks), n_draws, seed=seed * _SEEDS + part)
    return counts


def task_means(values: Floats, rows: Ints, tasks: Ints, n_rows: int, n_tasks: int) -> Floats:
    """The mean of the values of each row and task, on a grid that makes sums exact; NaN where there is none.

    Example:
        >>> task_means(np.array([1.0, 2.0]), np.array([0, 0]), np.array([1, 1]), 1, 2).tolist()
        [[nan, 1.5]]
    """
    cells = rows * n_tasks + tasks
    size = n_rows * n_tasks
    with np.errstate(invalid="ignore"):
        means = np.bincount(cells, np.rint(values * _GRID), size) / np.bincount(cells, minlength=size)
    found: Floats = (np.rint(means) / _GRID).reshape(n_rows, n_tasks)
    return found


@dataclass(frozen=True, eq=False)
class Averages:
    """Means of models over the parts of a suite.

    Attributes:
        counted: The numbers of the parts that count.
        of_parts: The mean of each row (a model) in each part (column); NaN where it has no answer.
        values: The mean over the parts that count; NaN if none does.
        draws: The same for each draw (row) and model (column).
    """

    counted: tuple[int, ...]
    of_parts: Floats
    values: Floats
    draws: Floats


def averages(means: Floats, parts: Ints, counts: Counts, usual: tuple[int, ...]) -> Averages:
    """The means of models over parts, and the same in draws.

    Args:
        means: The score of each model (row) on each task (column); NaN where there is none.
        parts: The number of each task's part.
        counts: How often each task is in each draw.
        usual: The numbers of the parts that may count.
    """
    n_parts = int(parts.max()) + 1
    whole = np.ones((1, means.shape[1]), dtype=np.int32)
    of_parts = np.full((len(means), n_parts), np.nan)
    for part in range(n_parts):
        tasks = parts == part
        of_parts[:, part] = resampled_means(means[:, tasks], whole[:, tasks])[0]
    counted = tuple(part for part in usual if not np.isnan(of_parts[:, part]).any())
    values, draws = np.zeros(len(means)), np.zeros((len(counts), len(means)))
    for part in counted:
        tasks = parts == part
        values += of_parts[:, part]
        draws += resampled_means(means[:, tasks], counts[:, tasks])
    n = len(counted) or np.nan
    return Averages(counted, of_parts, values / n, draws / n)

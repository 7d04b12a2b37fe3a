"""Scores of models by the parts of a suite, whose tasks are drawn within their part and the same for all models.

Areas count alike in an average, not answers; a part of which some model has no answer counts for none of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...statistics.correlation import Floats
from ...statistics.resampling import Counts, bootstrap_counts
from ...statistics.stratified import Stratum, drawn_means, mean_of_strata

Ints = NDArray[np.int64]

_SEEDS = 1 << 16
"""Every part has draws of its own, so that parts with as many tasks are not drawn alike."""


def draws_within(parts: Ints, n_draws: int, seed: int = 0) -> Counts:
    """Draws the tasks of each part, as many as it has: how often each task (column) is in each draw (row)."""
    counts = np.zeros((n_draws, len(parts)), dtype=np.int32)
    for part in np.unique(parts).tolist():
        tasks = np.flatnonzero(parts == part)
        counts[:, tasks] = bootstrap_counts(len(tasks), n_draws, seed=seed * _SEEDS + part)
    return counts


@dataclass(frozen=True, eq=False)
class Averages:
    """Means of models over parts of a suite that count alike."""

    counted: tuple[int, ...]
    of_parts: Floats
    values: Floats
    draws: Floats


def averages(strata: Sequence[Stratum], usual: Sequence[int], n_draws: int, seed: int = 0) -> Averages:
    """The means of models over the parts that all of them have, and the same in draws of tasks."""
    counted = tuple(part for part in usual if (strata[part].counts.sum(axis=1) > 0).all())
    n_models = len(strata[0].totals)
    if not counted:
        return Averages((), np.zeros((0, n_models)), np.full(n_models, np.nan), np.full((n_draws, n_models), np.nan))
    chosen = [strata[part] for part in counted]
    of_parts = [exact_mean(stratum) for stratum in chosen]
    draws = mean_of_strata(drawn_means(chosen, n_draws, seed=seed))
    return Averages(counted, np.array(of_parts), mean_of_strata(of_parts), draws)


def strata_of(values: Floats, models: Ints, tasks: Ints, n_models: int, parts: Ints) -> list[Stratum]:
    """The values of answers by part: of each model (row) and task (column) of the part."""
    cells, size = models * len(parts) + tasks, n_models * len(parts)
    weights = np.ones(len(cells))
    totals, counts = (
        np.bincount(cells, column, size).astype(np.float64).reshape(n_models, -1) for column in (values, weights)
    )
    n_parts = int(parts.max(initial=-1)) + 1
    return [Stratum(totals[:, parts == part], counts[:, parts == part]) for part in range(n_parts)]


def exact_mean(stratum: Stratum) -> Floats:
    """The mean of each model over its answers; NaN where it has none."""
    sums = np.array([math.fsum(row) for row in stratum.totals.tolist()])
    with np.errstate(invalid="ignore"):
        found: Floats = sums / stratum.counts.sum(axis=1)
    return found

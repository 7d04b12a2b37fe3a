"""Averages of models over the parts of a suite, and the differences of two sides' tables of the same answers.

In an average areas count alike, not answers; a part is left out if a model has no answer to it. Tasks are drawn within
their part, the same for all models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...experiments.chart_data import Ranges
from ...statistics.correlation import COMPARED_DIGITS, Floats, kendall_rows, places
from ...statistics.resampling import Counts, bootstrap_counts, interval
from ...statistics.stratified import Stratum, drawn_means, mean_of_strata
from .paired_judgements import Ints, PairedJudgements

_SEEDS = 1 << 16
"""The seed differs by part, so that parts of the same size have different draws."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval over tasks; None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def cells(self) -> tuple[float | None, float | None, float | None]:
        """The three for a row of a table."""
        return self.value, self.low, self.high


def estimate(value: float | None, draws: Floats) -> Estimate:
    """A figure with the percentiles 2.5 and 97.5 of its draws; undefined ones are left out."""
    if value is None or np.isnan(value):
        return Estimate(None)
    low, high = (float(end) for end in interval(draws))
    return Estimate(float(value), *(None if np.isnan(end) else end for end in (low, high)))


def ranges_of(figures: Sequence[tuple[str, Estimate]], label: str) -> Ranges:
    """Named figures as a chart; without an interval, both ends are the figure."""
    values, low, high = (
        np.array([one.value if (end := getattr(one, name)) is None else end for _, one in figures], dtype=np.float64)
        for name in ("value", "low", "high")
    )
    return Ranges(tuple(name for name, _ in figures), values, low, high, label)


@dataclass(frozen=True, eq=False)
class TwoTables:
    """The rescaled averages of models by two sides, over the answers that both judged."""

    models: tuple[str, ...]
    parts: tuple[str, ...]
    values: Floats
    draws: Floats

    @property
    def is_defined(self) -> bool:
        """Whether there are averages."""
        return bool(self.parts)

    @cached_property
    def places(self) -> Floats:
        """For the two sides (rows), the place of each model; equal averages share the mean of their places."""
        return places(self.values)

    @property
    def tau(self) -> Estimate:
        """Kendall's tau-b between the two tables."""
        of_draws = kendall_rows(self.draws[:, 0], self.draws[:, 1])
        return estimate(float(kendall_rows(self.values[:1], self.values[1:])[0]), of_draws)

    @property
    def largest_change(self) -> Estimate:
        """The largest change of a place."""
        change, *of_draws = (
            np.abs(np.diff(each, axis=-2)).max(axis=(-2, -1), initial=0) for each in (self.places, places(self.draws))
        )
        return estimate(float(change), *of_draws)

    @property
    def reversed_pairs(self) -> list[tuple[int, int]]:
        """The pairs of models whose order changes, the former leader first, and pairs furthest apart first."""
        old, new = self.values.round(COMPARED_DIGITS)
        n = len(self.models)
        found = [(i, j) for i in range(n) for j in range(n) if old[i] > old[j] and new[i] < new[j]]
        return sorted(found, key=lambda pair: old[pair[1]] - old[pair[0]])


def two_tables(pairing: PairedJudgements, n_draws: int, seed: int = 0, *, scores: Floats | None = None) -> TwoTables:
    """The tables of models by two sides."""
    found = []
    for of_side in pairing.scores if scores is None else scores:
        strata = strata_of(of_side, pairing.model_of, pairing.task_of, len(pairing.models), pairing.part_of_task)
        found.append(averages(strata, main_parts(pairing), n_draws, seed))
    rescale = pairing.suite.rescaling
    (counted, *_), values, draws = zip(*found, strict=True)
    return TwoTables(
        pairing.models,
        tuple(pairing.parts[part] for part in counted),
        (np.stack(values) - rescale.centre) * rescale.factor,
        (np.stack(draws, axis=1) - rescale.centre) * rescale.factor,
    )


def main_parts(pairing: PairedJudgements) -> tuple[int, ...]:
    """The numbers of the parts of an average: the areas, or without areas the parts with a length."""
    numbers = pairing.part_of_task.tolist()
    main = [number for task, number in zip(pairing.tasks, numbers, strict=True) if task.length is None]
    return tuple(dict.fromkeys(main or numbers))


def draws_within(parts: Ints, n_draws: int, seed: int = 0) -> Counts:
    """Draws the tasks within each part: how often each task (column) is in each draw (row)."""
    counts = np.zeros((n_draws, len(parts)), dtype=np.int32)
    for part in np.unique(parts).tolist():
        tasks = np.flatnonzero(parts == part)
        counts[:, tasks] = bootstrap_counts(len(tasks), n_draws, seed=seed * _SEEDS + part)
    return counts


def averages(
    strata: Sequence[Stratum], usual: Sequence[int], n_draws: int, seed: int = 0
) -> tuple[tuple[int, ...], Floats, Floats]:
    """The parts that all models have, the means of the models over them, and these means in draws of tasks."""
    counted = tuple(part for part in usual if (strata[part].counts.sum(axis=1) > 0).all())
    n_models = len(strata[0].totals)
    if not counted:
        return (), np.full(n_models, np.nan), np.full((n_draws, n_models), np.nan)
    chosen = [strata[part] for part in counted]
    sums = (np.array([math.fsum(row) for row in stratum.totals.tolist()]) for stratum in chosen)
    means = [of_part / stratum.counts.sum(axis=1) for of_part, stratum in zip(sums, chosen, strict=True)]
    return counted, mean_of_strata(means), mean_of_strata(drawn_means(chosen, n_draws, seed=seed))


def strata_of(values: Floats, models: Ints, tasks: Ints, n_models: int, parts: Ints) -> list[Stratum]:
    """The values of answers by part: of each model (row) and task (column) of the part."""
    cells, size = models * len(parts) + tasks, n_models * len(parts)
    weights = np.ones(len(cells))
    totals, counts = (
        np.bincount(cells, column, size).astype(np.float64).reshape(n_models, -1) for column in (values, weights)
    )
    n_parts = int(parts.max(initial=-1)) + 1
    return [Stratum(totals[:, parts == part], counts[:, parts == part]) for part in range(n_parts)]

"""Figures with their intervals, and the differences of two sides' tables of models over the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...experiments.chart_data import Ranges
from ...statistics.correlation import COMPARED_DIGITS, Floats, kendall_rows, places
from ...statistics.resampling import interval
from .paired_judgements import PairedJudgements


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

    def between(self, n_digits: int) -> str:
        """The interval in parentheses, after a blank; empty without one."""
        return "" if self.low is None else f" ({self.low:.{n_digits}f} to {self.high:.{n_digits}f})"


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


def two_tables(pairing: PairedJudgements, scores: Floats | None = None) -> TwoTables:
    """The tables of models by the scores of two sides."""
    (parts, *_), values, draws = zip(*map(pairing.averages, pairing.scores if scores is None else scores), strict=True)
    rescale = pairing.suite.rescaling
    return TwoTables(
        pairing.models,
        parts,
        (np.stack(values) - rescale.centre) * rescale.factor,
        (np.stack(draws, axis=1) - rescale.centre) * rescale.factor,
    )

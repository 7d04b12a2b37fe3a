"""The mean of each run. Some experiments need only these means, and a leaderboard in a CSV file has only these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.untrusted_text import in_one_line
from ...runs.leaderboard import is_system
from ..statistics.correlation import Floats, few_values
from .chart_data import Points
from .finding import Table

Cluster = Literal["model", "organisation", "none"]
"""The common property that makes runs depend on one another."""
Pick = Literal["best", "mean"]
"""How one value is computed from the runs of a model."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of values that depend on one another."""

    by: Cluster  # property that the values of a cluster share
    numbers: NDArray[np.int_]  # index of each value's cluster

    @property
    def n(self) -> int:
        """The number of clusters."""
        return len(np.unique(self.numbers))

    def counted(self, values: str) -> str:
        """The numbers of values and of clusters: `522 runs of 345 models`."""
        origin = "" if self.by == "none" or values == self.what(values) else f" of {self.n:,} {self.what(values)}"
        return f"{len(self.numbers):,} {values}{origin}"

    def warnings(self, values: str) -> list[str]:
        """A warning if there are too few clusters for intervals."""
        return few_values(self.n, self.what(values))

    def what(self, values: str) -> str:
        """The plural noun for the clusters; single values keep their own noun."""
        return values if self.by == "none" else f"{self.by}s"


def clusters_of(models: Sequence[str], by: Cluster) -> Clusters:
    """The clusters of values of these models; an organisation is the part of a name before the first slash."""
    keys = {"model": list(models), "organisation": [model.split("/")[0].casefold() for model in models]}
    names = list(map(str, range(len(models)))) if by == "none" else keys[by]
    return Clusters(by, np.unique(np.array(names, dtype=object), return_inverse=True)[1])


@dataclass(frozen=True, eq=False)
class RunMeans:
    """The mean of each run over the questions."""

    names: tuple[str, ...]  # names of the runs: their directories within the checkout
    models: tuple[str, ...]  # models of the runs, from their config.json
    means: dict[str, Floats]  # by metric, the mean of each run
    problems: tuple[str, ...] = ()  # reasons why runs were left out, one sentence each

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of the runs in charts: the model, or the name of the run if the model has several runs."""
        counts = Counter(self.models)
        return tuple(
            in_one_line(model if counts[model] == 1 else name, 60)
            for name, model in zip(self.names, self.models, strict=True)
        )

    def rows_of_models(self) -> list[int]:
        """The rows of models, without the yardsticks `system/...` (human and reference answers)."""
        return [row for row, model in enumerate(self.models) if not is_system(model)]

    def rows_of_systems(self) -> list[int]:
        """The rows of the yardsticks."""
        return [row for row, model in enumerate(self.models) if is_system(model)]

    def chosen(self, rows: list[int]) -> RunMeans:
        """Some of the runs."""
        names, models = (tuple(values[row] for row in rows) for values in (self.names, self.models))
        return RunMeans(names, models, {metric: column[rows] for metric, column in self.means.items()}, self.problems)

    def one_per_model(self, pick: Pick) -> RunMeans:
        """One row for each model: its run with the highest score, or the mean of its runs, named by the first run."""
        by_model: dict[str, list[int]] = {}
        for row, model in enumerate(self.models):
            by_model.setdefault(model, []).append(row)
        if pick == "best":
            return self.chosen([max(rows, key=lambda row: self.means["score"][row]) for rows in by_model.values()])
        names = tuple(self.names[rows[0]] for rows in by_model.values())
        means = {
            metric: np.array([column[rows].mean() for rows in by_model.values()])
            for metric, column in self.means.items()
        }
        return RunMeans(names, tuple(by_model), means, self.problems)

    def points(self, x: str, y: str, **options: Any) -> Points:
        """One metric against another, as a panel of a chart."""
        return Points(self.means[x], self.means[y], x, y, labels=self.labels, runs=self.names, **options)

    def table(
        self, name: str, title: str, columns: Iterable[tuple[str, Floats | NDArray[np.int_]]], *, by: str = "score"
    ) -> Table:
        """A table with a row for each run, in descending order of a metric."""
        heads, values = zip(*columns, strict=True)
        order = np.argsort(-self.means[by], kind="stable").tolist()
        rows = tuple((self.names[run], self.models[run], *(column[run].item() for column in values)) for run in order)
        return Table(name, title, ("run", "model", *heads), rows)

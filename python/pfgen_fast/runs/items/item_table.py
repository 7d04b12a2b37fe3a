"""Scores of models on items: the mean of the trials of each model on each item, by metric."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import TrialsError
from ...base.untrusted_text import unknown_name
from ..statistics.paired_tests import PairedDifference, paired_difference


@dataclass(frozen=True, eq=False)
class ItemScores:
    """Scores of models (rows) on items (columns), by metric.

    Attributes:
        models: The names of the models.
        items: The names of the items.
        values: By metric, the means of the trials; NaN where a model has no score for an item.
        n_trials: By metric, the numbers of trials; a metric that always has one trial is left out.
        variances: By metric, the variances of the trials (divisor n - 1; NaN below two trials).
        higher_is_better: By metric, whether higher scores are better; true for a metric that is left out.
        subjects: The subject of each item; empty without subjects.
        clusters: The cluster of each item, such as its document; empty without clusters.
        notes: How the table was read, one sentence each: guessed columns, rows that were left out.

    Example:
        >>> scores = ItemScores(("old", "new"), ("q1", "q2"), {"accuracy": np.array([[0, 0.5], [1, 0.5]])})
        >>> scores.metrics, scores.of("new", "accuracy")
        (('accuracy',), array([1. , 0.5]))
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    values: Mapping[str, Floats]
    n_trials: Mapping[str, NDArray[np.int_]] = field(default_factory=dict)
    variances: Mapping[str, Floats] = field(default_factory=dict)
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    subjects: tuple[str | None, ...] = ()
    clusters: tuple[str | None, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(self.values)

    @cached_property
    def clusters_of_items(self) -> list[Hashable] | None:
        """The cluster of each item; an item without a cluster is its own. None without clusters."""
        if not any(cluster is not None for cluster in self.clusters):
            return None
        return [at if cluster is None else cluster for at, cluster in enumerate(self.clusters)]

    @cached_property
    def binary(self) -> frozenset[str]:
        """The metrics of which all scores are 0 or 1, each of one trial, if items have no clusters."""
        if self.clusters_of_items is not None:
            return frozenset()
        return frozenset(
            metric
            for metric, values in self.values.items()
            if (metric not in self.n_trials or (self.n_trials[metric] <= 1).all())
            and ((values == 0) | (values == 1) | np.isnan(values)).all()
        )

    def of(self, model: str, metric: str) -> Floats:
        """The scores of a model on all items."""
        row: Floats = self.values[self._metric(metric)][self._row(model)]
        return row

    def only(
        self, *, models: Sequence[str] | None = None, metrics: Sequence[str] | None = None, items: Any = None
    ) -> ItemScores:
        """Some models, metrics and items (a mask or indices), models and metrics in the given order."""
        rows: Any = slice(None) if models is None else [self._row(model) for model in models]
        columns: Any = slice(None) if items is None else np.arange(len(self.items))[items]

        def cut(by_metric: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
            chosen = self.metrics if metrics is None else [self._metric(metric) for metric in metrics]
            return {metric: by_metric[metric][rows][:, columns] for metric in chosen if metric in by_metric}

        def cut_items(column: tuple[Any, ...]) -> tuple[Any, ...]:
            return column if items is None or not column else tuple(column[at] for at in columns)

        return replace(
            self,
            models=self.models if models is None else tuple(models),
            items=cut_items(self.items),
            values=cut(self.values),
            n_trials=cut(self.n_trials),
            variances=cut(self.variances),
            subjects=cut_items(self.subjects),
            clusters=cut_items(self.clusters),
        )

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The row of each model; for a repeated name, the first one."""
        return {model: row for row, model in reversed([*enumerate(self.models)])}

    def _row(self, model: str) -> int:
        if model not in self._rows:
            raise TrialsError(unknown_name("model", model, self.models))
        return self._rows[model]

    def _metric(self, metric: str) -> str:
        if metric not in self.values:
            raise TrialsError(unknown_name("metric", metric, self.metrics))
        return metric


def compare_pair(
    table: ItemScores, metric: str, pair: tuple[int, int], items: Sequence[int] | None = None, *, shift: float = 0.0
) -> PairedDifference | None:
    """The test of two models (their rows in the table) on all or some items; None without a common item.

    It is Tango's score test if all scores of the metric are 0 or 1, and cluster-robust with clusters.
    """
    a, b = scores_of_pair(table, metric, pair, items)
    if np.isnan(a + b).all():
        return None
    clusters = table.clusters_of_items
    if clusters is not None and items is not None:
        clusters = [clusters[at] for at in items]
    return paired_difference(a, b, clusters=clusters, shift=shift, binary=metric in table.binary)


def scores_of_pair(table: ItemScores, metric: str, pair: tuple[int, int], items: Any) -> tuple[Floats, Floats]:
    """The scores of two models on all or some items."""
    values, columns = table.values[metric], slice(None) if items is None else list(items)
    return values[pair[0], columns], values[pair[1], columns]

"""Scores of models on items as the experiment on items needs them: without gaps, higher is better, and with groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..files.untrusted_text import counted, few_names, in_one_line
from ..item_scores.table import ItemScores
from ..runs.leaderboard import Entry, is_system
from ..statistics.correlation import MIN_FOR_INTERVAL, MIN_VALUES, Floats
from .run_means import Clusters, clusters_of
from .scored_runs import RunFigures, mode_of

By = Literal["organisation", "mode", "none"]
"""The property by which models are grouped, to find items that favour a group."""

_MIN_ITEMS = 3


@dataclass(frozen=True, eq=False)
class ItemRows:
    """Scores of runs or models (rows) on items (columns)."""

    names: tuple[str, ...]  # names of the rows: runs, or models of a table
    models: tuple[str, ...]  # model of each row
    modes: tuple[str | None, ...]  # mode of each row
    items: tuple[str, ...]
    scores: Floats  # no score is missing, and higher is better
    sign: int  # -1 if lower scores are better in the source, so that `scores` are negated
    notes: tuple[str, ...]  # what was left out, one sentence each
    has_item_clusters: bool = False  # whether items depend on one another, such as questions about one document

    @property
    def clusters(self) -> Clusters:
        """The organisations of the rows, or their models if there are too few organisations."""
        by_organisation = clusters_of(self.models, "organisation")
        return by_organisation if by_organisation.n >= MIN_FOR_INTERVAL else clusters_of(self.models, "model")

    def groups(self, by: By) -> list[str]:
        """The group of each row; an empty text for a row without a group."""
        if by == "mode":
            return [mode or "" for mode in self.modes]
        return [model.split("/")[0].casefold() if "/" in model else "" for model in self.models]

    def one_per_model(self, by: By) -> tuple[list[str], Floats]:
        """The group and the mean scores of each model, separately for each of its groups."""
        keys = list(zip(self.models, self.groups(by), strict=True))
        names = list(dict.fromkeys(keys))
        numbers = {key: number for number, key in enumerate(names)}
        row_of = np.array([numbers[key] for key in keys])
        sums = np.zeros((len(names), len(self.items)))
        np.add.at(sums, row_of, self.scores)
        return [group for _, group in names], sums / np.bincount(row_of)[:, None]


def rows_of_runs(figures: RunFigures) -> ItemRows:
    """The scores of runs on the questions of their suite."""
    items = tuple(question.question_id for question in figures.suite)
    modes = figures.modes or (None,) * len(figures.names)
    return _rows(figures.names, figures.models, modes, items, figures.question_scores["score"], figures.problems)


def rows_of_results(entries: Sequence[Entry]) -> ItemRows:
    """The scores of recorded results, such as the published ones."""
    items = tuple(dict.fromkeys(name for entry in entries for name in entry.by_question))
    scores = np.array([[entry.by_question.get(item, np.nan) for item in items] for entry in entries])
    names, models = tuple(entry.name for entry in entries), tuple(entry.model for entry in entries)
    return _rows(names, models, tuple(mode_of(entry.config) for entry in entries), items, scores)


def rows_of_scores(scores: ItemScores, metric: str | None = None) -> ItemRows:
    """The scores of one metric of any table; a table with several metrics needs the name of one."""
    if metric is None and len(scores.metrics) > 1:
        raise ExperimentError(
            f"the table has {len(scores.metrics)} metrics ({few_names(scores.metrics, 8)}): name one (--metric)"
        )
    metric = scores.metrics[0] if metric is None else metric
    values = scores.only(metrics=[metric]).values[metric]
    sign = 1 if scores.higher_is_better.get(metric, True) else -1
    modes = (None,) * len(scores.models)
    rows = _rows(scores.models, scores.models, modes, scores.items, values, sign=sign)
    clusters = [cluster for cluster in scores.clusters if cluster is not None]
    return replace(rows, has_item_clusters=len(set(clusters)) < len(clusters))


def _rows(
    names: tuple[str, ...],
    models: tuple[str, ...],
    modes: tuple[str | None, ...],
    items: tuple[str, ...],
    scores: Floats,
    problems: Iterable[str] = (),
    sign: int = 1,
) -> ItemRows:
    """Leaves out yardsticks, models without a score for most items, and then items without a score of a model."""
    notes = list(problems)
    is_model = np.array([not is_system(model) for model in models])
    if not is_model.all():
        notes.append(f"left out, because yardsticks are not models: {_named(names, ~is_model)}")
    missing = np.isnan(scores)
    is_sparse = is_model & (2 * missing.sum(axis=1) > len(items))
    if is_sparse.any():
        n = counted(int(is_sparse.sum()), "model")
        notes.append(f"left out, because fewer than half of the items have a score: {n}, {_named(names, is_sparse)}")
    kept = is_model & ~is_sparse
    gaps = missing & kept[:, None]
    has_gap = gaps.any(axis=0)
    hint = ""
    if has_gap.any():
        n_gaps, n_gained = gaps.sum(axis=1), (gaps & (gaps.sum(axis=0) == 1)).sum(axis=1)
        worst = int(np.lexsort((n_gaps, n_gained))[-1])
        hint = f"; {in_one_line(names[worst])} lacks {counted(int(n_gaps[worst]), 'score')}"
        if n_gained[worst]:
            hint += f", and leaving it out adds {counted(int(n_gained[worst]), 'item')}"
        n = counted(int(has_gap.sum()), "item")
        notes.append(f"left out, because a model has no score: {n}, {_named(items, has_gap)}{hint}")
    if kept.sum() < MIN_VALUES:
        raise ExperimentError(f"{counted(int(kept.sum()), 'model')} with scores: expected at least {MIN_VALUES}")
    if (~has_gap).sum() < _MIN_ITEMS:
        n = counted(int((~has_gap).sum()), "item")
        raise ExperimentError(f"{n} with a score of every model: expected at least {_MIN_ITEMS}{hint}")
    return ItemRows(
        _chosen(names, kept),
        _chosen(models, kept),
        _chosen(modes, kept),
        _chosen(items, ~has_gap),
        sign * scores[kept][:, ~has_gap],
        sign,
        tuple(notes),
    )


def _named(names: Sequence[str], mask: NDArray[np.bool_]) -> str:
    return few_names(_chosen(names, mask))


def _chosen(values: Sequence[Any], mask: NDArray[np.bool_]) -> tuple[Any, ...]:
    return tuple(values[at] for at in np.flatnonzero(mask).tolist())

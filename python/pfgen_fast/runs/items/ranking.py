"""Ranks the models of a table of scores by their mean over items, with intervals, ties, other metrics and subjects.

All figures of a metric are over the items for which every ranked model has a score, so that models are compared on the
same items; the notes say how many items are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import TrialsError
from ...base.mean_interval import INTERVAL_HEADS, MeanInterval, competition_ranks, mean_interval
from ...base.table import Column, Table, TableResult, bearing_digits
from ...base.untrusted_text import counted, in_one_line, json_text, markdown_text
from ...suite.rules import shown_metric
from ..statistics.paired_tests import MIN_QUESTIONS, TESTS
from ..statistics.verdicts import rank_ranges, shown_range
from .by_subject import by_subject, few_items, subject_columns, subject_record, subject_table
from .item_table import ItemScores

MAX_MODELS_WITH_RANGES = 2_000
MAX_PAIR_WORK = 500_000_000
"""The maximum number of pairs of models, times items, for which rank ranges are computed: about 12 seconds."""


@dataclass(frozen=True)
class RankedModel:
    """A model of a leaderboard.

    Attributes:
        rank: Its rank by score; 1 is the best.
        model: Its name.
        score: Its mean over the compared items, with the 95 % interval.
        ranks: The range of its rank: 1 + the number of significantly better models, and the number of models that are
            not significantly worse; None without a verdict.
        n_items: The number of items for which it has a score, compared or not.
        metrics: The means of the other metrics; None if the models have no common item for one.
        subjects: The mean of each subject over its compared items, with the 95 % interval.
    """

    rank: int
    model: str
    score: MeanInterval
    ranks: tuple[int, int] | None
    n_items: int
    metrics: Mapping[str, float | None]
    subjects: Mapping[str, MeanInterval]

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        rank_low, rank_high = self.ranks or (None, None)
        return {
            "rank": self.rank,
            "model": self.model,
            "score": self.score.mean,
            "score_low": self.score.low,
            "score_high": self.score.high,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "num_items": self.n_items,
            "metrics": dict(self.metrics),
        }


@dataclass(frozen=True, repr=False)
class ModelRanking(TableResult):
    """The models of a table of scores, best first.

    Attributes:
        metric: The metric that ranks the models.
        higher_is_better: Whether a higher score is better.
        models: The models, best first.
        n_compared: The number of items for which all models have a score, over which they are ranked.
        n_items: The number of items of the table.
        test: The tests that decide which models differ.
        notes: What limits the ranking, one sentence each.
    """

    metric: str
    higher_is_better: bool
    models: tuple[RankedModel, ...]
    n_compared: int
    n_items: int
    test: str
    notes: tuple[str, ...]
    is_binary: bool = False  # whether all scores are 0 or 1

    def __repr__(self) -> str:
        best = self.models[0]
        return f"ModelRanking({len(self.models)} models; best {in_one_line(best.model, 60)} {best.score.mean:.4f})"

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, index: int) -> RankedModel:
        return self.models[index]

    def to_dicts(self, *, with_subjects: bool = False) -> list[dict[str, Any]]:
        """All figures of each model, for JSON."""
        return [
            {**model.to_dict(), **({"subjects": subject_record(model.subjects)} if with_subjects else {})}
            for model in self.models
        ]

    def to_json(self, *, with_subjects: bool = False) -> str:
        """All figures as JSON."""
        record = {
            **{name: getattr(self, name) for name in ("metric", "higher_is_better", "n_compared", "n_items", "test")},
            "notes": self.notes,
            "models": self.to_dicts(with_subjects=with_subjects),
        }
        return json_text(record, indent=2) + "\n"

    def to_csv(self, *, with_subjects: bool = False) -> str:
        """All figures as CSV, a line for each model."""
        columns = [subject_columns(model.subjects) if with_subjects else {} for model in self.models]
        table = self.table.for_files()
        rows = [[*row, *more.values()] for row, more in zip(table.rows, columns, strict=True)]
        return Table([*table.columns, *map(Column, columns[0])], rows).to_csv()

    def to_markdown(self, *, with_subjects: bool = False) -> str:
        """The table as Markdown, and the notes as a list below it."""
        blocks = [self.table.to_markdown(), *([self.subject_table.to_markdown()] if with_subjects else ())]
        notes = (*self.notes, *(few_items(self.models[0].subjects) if with_subjects else ()))
        if notes:
            blocks.append("".join(f"- {markdown_text(sentence)}\n" for sentence in notes))
        return "\n".join(blocks)

    @property
    def table(self) -> Table:
        """The models with their figures; means of scores of 0 and 1 have no more digits than their intervals bear."""
        widths = [model.score.half_width or 0.0 for model in self.models]
        metric = shown_metric(self.metric, self.models[0].metrics)
        digits, head = bearing_digits(max(widths)) if self.is_binary else 4, INTERVAL_HEADS[self.is_binary]
        cells: list[tuple[Column, Callable[[RankedModel], Any]]] = [
            (Column("rank"), lambda model: model.rank),
            (Column("model"), lambda model: model.model),
            (Column("score", metric, digits), lambda model: model.score.mean),
            (Column("score_low", view="files"), lambda model: model.score.low),
            (Column("score_high", view="files"), lambda model: model.score.high),
            (
                Column("interval", head, view="readers", form=lambda mean: mean.shown(digits), picture="interval"),
                lambda model: model.score,
            ),
            (Column("ranks", "rank range", view="readers", form=shown_range), lambda model: model.ranks),
            (Column("rank_low", view="files"), lambda model: model.ranks and model.ranks[0]),
            (Column("rank_high", view="files"), lambda model: model.ranks and model.ranks[1]),
            (Column("num_items", "items"), lambda model: model.n_items),
        ]
        for name in self.models[0].metrics:
            column = Column(f"metric_{name}", name, is_optional=True)
            cells.append((column, lambda model, name=name: model.metrics[name]))  # type: ignore[misc]
        return Table.of_records(cells, self.models)

    @property
    def subject_table(self) -> Table:
        """The means by subject, for readers."""
        names = [model.model for model in self.models]
        return subject_table(names, [model.subjects for model in self.models], is_share=self.is_binary)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the compared items."""
        return tuple(self.models[0].subjects)

    def words(self) -> Sequence[str]:
        """The sentences above the table of a notebook."""
        return self.notes


@dataclass(frozen=True, eq=False)
class Compared:
    """The scores of models on the items that all have, and how they are tested."""

    table: ItemScores  # the compared items
    metric: str
    higher_is_better: bool
    values: Floats  # score of each model (row) on each item
    n_items: NDArray[np.int_]  # number of items of each model, compared or not
    n_lost: NDArray[np.int_]  # number of items that each model lacks and another model has
    means: tuple[MeanInterval, ...]
    order: tuple[int, ...]  # rows of the models, best first
    clusters: Sequence[Hashable] | None
    is_binary: bool  # whether all scores are 0 or 1, for Tango's score test and Wilson's intervals
    notes: tuple[str, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.table.models

    @property
    def n_units(self) -> int:
        """The number of items or clusters."""
        return self.values.shape[1] if self.clusters is None else len(set(self.clusters))

    @property
    def counted_units(self) -> str:
        """The same in words."""
        return counted(self.n_units, "common item" if self.clusters is None else "cluster")

    @property
    def test(self) -> str:
        """The name of the tests."""
        name = f"{TESTS['Tango' if self.is_binary else 't']}s"
        return name if self.clusters is None else f"{name} with {self.counted_units}"


def compared_models(scores: ItemScores, metric: str | None = None) -> Compared:
    """The models of a table on their common items, by a metric: by default the first one."""
    if not scores.models or not scores.metrics:
        raise TrialsError("the table has no scores; a leaderboard needs a score of at least one model")
    chosen = scores.metrics[0] if metric is None else metric
    every = scores.only(metrics=[chosen]).values[chosen]  # checks the name
    n_items = (~np.isnan(every)).sum(axis=1)
    is_common = _common(every)
    if not is_common.any():
        fewest = int(n_items.argmin())
        raise TrialsError(
            f"{in_one_line(chosen, 60)}: no item has a score of all {len(scores.models):,} models, so they cannot be "
            f"ranked together; {in_one_line(scores.models[fewest], 60)} has the fewest items ({n_items[fewest]:,} of "
            f"{len(scores.items):,}). Choose models with common items (--models)"
        )
    values, table = every[:, is_common], scores.only(items=is_common)
    clusters = table.clusters_of_items
    is_binary = chosen in scores.binary
    means = tuple(mean_interval(row, clusters, binary=is_binary) for row in values)
    is_higher = scores.higher_is_better.get(chosen, True)
    sign = -1 if is_higher else 1
    return Compared(
        table=table,
        metric=chosen,
        higher_is_better=is_higher,
        values=values,
        n_items=n_items,
        n_lost=(np.isnan(every) & ~np.isnan(every).all(axis=0)).sum(axis=1),
        means=means,
        order=tuple(sorted(range(len(means)), key=lambda row: (sign * means[row].mean, scores.models[row]))),
        clusters=clusters,
        is_binary=is_binary,
        notes=tuple(_about(scores, chosen, is_common, is_asked=metric is not None)),
    )


def rank_models(scores: ItemScores, metric: str | None = None) -> ModelRanking:
    """Ranks the models of a table by a metric: by default the first one."""
    compared = compared_models(scores, metric)
    ranges, about_ranges = _ranges(compared)
    numbers = competition_ranks(compared.means[row].mean for row in compared.order)
    names = [subject and in_one_line(subject) for subject in compared.table.subjects]
    others = {name: _means(scores.values[name]) for name in scores.metrics if name != compared.metric}
    models = tuple(
        RankedModel(
            rank,
            compared.models[row],
            compared.means[row],
            ranks,
            int(compared.n_items[row]),
            {name: None if column is None else float(column[row]) for name, column in others.items()},
            by_subject(names, compared.values[row].tolist(), compared.clusters, binary=compared.is_binary)
            if names
            else {},
        )
        for rank, row, ranks in zip(numbers, compared.order, ranges, strict=True)
    )
    notes, n_items = (*compared.notes, *about_ranges), compared.values.shape[1]
    about = compared.metric, compared.higher_is_better, models, n_items, len(scores.items), compared.test, notes
    return ModelRanking(*about, is_binary=compared.is_binary)


def _common(values: Floats) -> NDArray[np.bool_]:
    """Which items all models have."""
    is_complete: NDArray[np.bool_] = np.logical_not(np.isnan(values).any(axis=0))
    return is_complete


def _means(values: Floats) -> Floats | None:
    """The means of all models over the items that all have; None without such an item."""
    is_common = _common(values)
    return values[:, is_common].mean(axis=1) if is_common.any() else None


def _ranges(compared: Compared) -> tuple[list[tuple[int, int] | None], list[str]]:
    """The range of the rank of each of the ordered models, and remarks."""
    n_models, n_items = compared.values.shape
    nothing: list[tuple[int, int] | None] = [None] * n_models
    if n_models < 2:
        return nothing, []
    if compared.n_units < MIN_QUESTIONS:
        return nothing, [f"{compared.counted_units}: no rank ranges, because a test needs at least {MIN_QUESTIONS}"]
    if n_models > MAX_MODELS_WITH_RANGES or n_models**2 // 2 * n_items > MAX_PAIR_WORK:
        problem = f"{n_models:,} models and {n_items:,} items are too many for tests of all pairs"
        return nothing, [f"no rank ranges: {problem}; choose models (--models)"]
    ordered = compared.values[[*compared.order]]
    is_higher, binary = compared.higher_is_better, compared.is_binary
    return rank_ranges(ordered, higher_is_better=is_higher, clusters=compared.clusters, binary=binary), []


def _about(scores: ItemScores, metric: str, is_common: NDArray[np.bool_], *, is_asked: bool) -> Iterable[str]:
    """What a reader has to know about a ranking."""
    name = in_one_line(metric, 60)
    if len(scores.metrics) > 1 and not is_asked:
        yield f"ranked by {name}, the first of {len(scores.metrics)} metrics; --metric chooses another"
    if not scores.higher_is_better.get(metric, True):
        yield f"{name}: lower is better"
    n_common = int(is_common.sum())
    if n_common < len(is_common):
        yield (
            f"ranked on the {n_common:,} of {counted(len(is_common), 'item')} for which all "
            f"{counted(len(scores.models), 'model')} have a score"
        )

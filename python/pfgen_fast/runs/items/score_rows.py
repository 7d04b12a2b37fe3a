"""Rows of scores, collected column by column from any number of tables and logs, and made into `ItemScores`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import TrialsError
from ...base.untrusted_text import counted, few_names, in_one_line
from .item_table import ItemScores
from .score_columns import NO_NAME, Codes, Locate, Names, named_in

MAX_CELLS = 1 << 28
"""Maximum number of models times items; a score of each needs 2 GiB."""

_FEWEST_FOR_SCALE = 6
_LEAST_PERCENT = 10.0
_LOSS = re.compile("loss|perplexity|ppl|nll|error|latency|(?:^|_)[cwt]er$", re.IGNORECASE)
"""Usual names of metrics of which lower scores are better."""


class _Block(NamedTuple):
    """Rows of one input; a single number stands for all rows."""

    source: int
    metric: Codes | int
    model: Codes | int
    item: Codes
    trial: Codes | int
    subject: Codes | int
    cluster: Codes | int
    score: Floats
    locate: Locate


@dataclass
class ScoreRows:
    """Collects rows. `add` takes the numbers of names in `models`, `items` and so on."""

    models: Names = field(default_factory=Names)
    items: Names = field(default_factory=Names)
    metrics: Names = field(default_factory=Names)
    trials: Names = field(default_factory=Names)
    subjects: Names = field(default_factory=Names)
    clusters: Names = field(default_factory=Names)
    higher_is_better: dict[str, bool] = field(default_factory=dict)  # set by `direction`
    sources: list[str] = field(default_factory=list)  # short names of the inputs
    blocks: list[_Block] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)  # for each remark, the files that it is about
    n_empty: dict[str, int] = field(default_factory=dict)  # number of rows without a score, by file
    n_other: dict[str, int] = field(default_factory=dict)  # number of items with other documents than before, by file
    _directions: dict[str, str] = field(default_factory=dict)  # which input named the direction of each metric
    _documents: dict[str, str] = field(default_factory=dict)  # hash of the document of each item

    def add(
        self,
        score: Floats,
        *,
        metric: Codes | int,
        model: Codes | int,
        item: Codes,
        locate: Locate,
        trial: Codes | int = NO_NAME,
        subject: Codes | int = NO_NAME,
        cluster: Codes | int = NO_NAME,
    ) -> None:
        """Adds rows of the last of the sources."""
        self.blocks.append(_Block(len(self.sources) - 1, metric, model, item, trial, subject, cluster, score, locate))

    def remark(self, remark: str, file: str) -> None:
        """Remembers how a file was read; equal remarks about several files become one note."""
        files = self.remarks.setdefault(remark, [])
        if file not in files:
            files.append(file)

    def direction(self, metric: str, where: str, *, higher_is_better: bool) -> None:
        """Sets whether higher scores of a metric are better; raises TrialsError if another input says otherwise."""
        first = self._directions.setdefault(metric, where)
        if self.higher_is_better.setdefault(metric, higher_is_better) != higher_is_better:
            here, there = ("higher", "lower") if higher_is_better else ("lower", "higher")
            raise TrialsError(
                f"{where}: {here} scores of '{in_one_line(metric)}' are better, but {there} ones are in {first}; "
                "expected one direction for a metric: read these tasks one at a time"
            )

    def same_item(self, item: str, document: object, file: str) -> None:
        """Counts items whose documents differ between files."""
        if isinstance(document, str) and self._documents.setdefault(item, document[:16]) != document[:16]:
            self.n_other[file] = self.n_other.get(file, 0) + 1

    def item_scores(self) -> ItemScores:
        """The scores of all rows."""
        return _Scores(self).table()


class _Scores:
    """All rows in one column for each field."""

    def __init__(self, rows: ScoreRows) -> None:
        self._rows, self._blocks = rows, rows.blocks
        self._ends = np.cumsum([len(block.score) for block in rows.blocks])
        self._notes = [f"{few_names(files, 2, 200)}: {remark}" for remark, files in rows.remarks.items()]
        self._notes += [f"{file}: {counted(n, 'row')} without a score" for file, n in rows.n_empty.items()]
        self._notes += [
            f"{file}: {counted(n, 'item')} with another document than in the files before it; different versions of a "
            "task cannot be compared"
            for file, n in rows.n_other.items()
        ]
        self._score = self._column("score", np.float64)
        self._model, self._item = self._column("model"), self._column("item")
        self._models, self._items = list(rows.models), list(rows.items)

    def _column(self, name: str, kind: type = np.int32) -> NDArray[Any]:
        parts: list[NDArray[Any]] = [
            np.broadcast_to(np.asarray(getattr(block, name), kind), block.score.shape) for block in self._blocks
        ]
        return np.concatenate(parts) if parts else np.empty(0, kind)

    def table(self) -> ItemScores:
        subjects, n_items = self._by_subject(), len(self._rows.items)
        clusters = self._of_items("cluster", self._rows.clusters, "clusters")
        if clusters and len(self._items) > n_items:
            clusters = tuple(
                cluster if cluster is None else named_in(subject, cluster)
                for subject, cluster in zip(subjects, clusters, strict=True)
            )
        if len(self._models) * len(self._items) > MAX_CELLS:
            raise TrialsError(
                f"{counted(len(self._models), 'model')} and {counted(len(self._items), 'item')}: expected at most "
                f"{MAX_CELLS:,} pairs of a model and an item"
            )
        self._split_models()
        values, n_trials, variances = {}, {}, {}
        metric = self._column("metric", np.int32)
        for name, number in self._rows.metrics.items():
            chosen = np.flatnonzero((metric == number) & ~np.isnan(self._score))
            if not len(chosen):
                continue
            means, counts, variance = self._matrices(chosen)
            self._check_scales(name, means)
            values[name] = means
            if variance is not None:
                n_trials[name], variances[name] = counts, variance
        losses = [name for name in values if _LOSS.search(name) and name not in self._rows.higher_is_better]
        if losses:
            self._notes.append(f"higher is better in {few_names(losses)}, unless --lower-is-better names it")
        if not values:
            raise TrialsError(f"{few_names(self._rows.sources, 2)}: no scores; expected at least one row with a score")
        has_score = np.any([~np.isnan(scores).all(axis=0) for scores in values.values()], axis=0)
        table = ItemScores(
            models=tuple(self._models),
            items=tuple(self._items),
            values=values,
            n_trials=n_trials,
            variances=variances,
            higher_is_better={name: bool(self._rows.higher_is_better.get(name, True)) for name in values},
            subjects=subjects,
            clusters=clusters,
            notes=tuple(self._notes),
        )
        return table if has_score.all() else table.only(items=has_score)

    def _by_subject(self) -> tuple[str | None, ...]:
        """The subject of each item. If an item has several subjects, the subject becomes a part of the item's name."""
        names = list(self._rows.subjects)
        if not names:
            return ()
        subject = self._column("subject")
        pairs, first, places = np.unique(
            self._item.astype(np.int64) * (len(names) + 1) + subject + 1, return_index=True, return_inverse=True
        )
        item, subject_of_item = pairs // (len(names) + 1), pairs % (len(names) + 1) - 1
        several = np.bincount(item[subject_of_item != NO_NAME], minlength=len(self._items)) > 1
        if not several.any():
            return self._of_items("subject", self._rows.subjects, "subjects")
        example = self._items[int(np.flatnonzero(several)[0])]
        self._notes.append(
            f"{counted(int(several.sum()), 'item')} such as '{in_one_line(example)}' have several subjects, so the "
            "names of all items and clusters begin with their subject"
        )
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        self._item = rank[places.reshape(-1)]
        subjects = tuple(None if at == NO_NAME else names[at] for at in subject_of_item[order].tolist())
        old = [self._items[at] for at in item[order].tolist()]
        self._items = [named_in(subject, name) for name, subject in zip(old, subjects, strict=True)]
        return subjects

    def _of_items(self, column: str, names: Names, plural: str) -> tuple[str | None, ...]:
        """The only name of each item in a column."""
        if not names:
            return ()
        numbers = self._column(column)
        rows = np.flatnonzero(numbers != NO_NAME)
        name_of_item = np.full(len(self._items), NO_NAME, dtype=np.int32)
        name_of_item[self._item[rows]] = numbers[rows]
        differ = rows[name_of_item[self._item[rows]] != numbers[rows]]
        listed = list(names)
        if len(differ):
            row = int(differ[0])
            item = self._item[row]
            a, b = (in_one_line(listed[at]) for at in (numbers[row], name_of_item[item]))
            raise TrialsError(
                f"{self._location(row)}: the item '{in_one_line(self._items[item])}' has the {plural} '{a}' and '{b}'; "
                "expected one for each item, or an empty name of this column, so that it is not used"
            )
        return tuple(None if at == NO_NAME else listed[at] for at in name_of_item.tolist())

    def _split_models(self) -> None:
        """Makes a model of each input with its name if several inputs have its scores of the same items."""
        metric, trial = self._column("metric"), self._column("trial")
        source = np.repeat([block.source for block in self._blocks], [len(block.score) for block in self._blocks])
        first, second = self._doubles(metric, trial)
        is_own = source[first] == source[second]
        if is_own.any():
            at = int(np.flatnonzero(is_own)[np.argmin(second[is_own])])
            self._refuse_double(int(first[at]), int(second[at]))
        split = np.unique(self._model[second])
        new_names = []
        for model in split.tolist():
            rows = np.flatnonzero(self._model == model)
            name, sources = self._models[model], np.unique(source[rows]).tolist()
            for number in sources:
                new_names.append(f"{name} ({self._rows.sources[number]})")
                if number == sources[0]:
                    self._models[model] = new_names[-1]
                else:
                    self._model[rows[source[rows] == number]] = len(self._models)
                    self._models.append(new_names[-1])
        if new_names:
            # Models are in the order of their first rows.
            order = np.argsort(np.unique(self._model, return_index=True)[1])
            self._models = [self._models[model] for model in order.tolist()]
            self._model = np.argsort(order).astype(np.int32)[self._model]
            self._notes.append(
                "several inputs have scores of the same items for the same model, so each is a model: "
                f"{few_names(new_names, 4, 80)}"
            )
        twice = [name for name, n in Counter(self._models).items() if n > 1]
        if twice:
            raise TrialsError(f"two models have the name '{in_one_line(twice[0])}'; rename one of them")

    def _doubles(self, metric: Codes, trial: Codes) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """Pairs of rows with the same model, item, metric and trial."""
        key = self._model.astype(np.int64) * len(self._items) + self._item
        for column in (metric, trial):
            if len(column) and column.min() != column.max():
                # Pairs become their ranks, so that the numbers cannot overflow.
                key = np.unique(key, return_inverse=True)[1].reshape(-1) * (int(column.max()) + 2) + column + 1
        key[np.isnan(self._score)] = -1 - np.flatnonzero(np.isnan(self._score))
        ordered = np.sort(key)
        if not (ordered[1:] == ordered[:-1]).any():  # needs half of the memory of the search below
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        order = np.argsort(key, kind="stable")
        same = np.flatnonzero(key[order][1:] == key[order][:-1])
        return order[same], order[same + 1]

    def _refuse_double(self, first: int, second: int) -> None:
        model, item = in_one_line(self._models[self._model[second]]), in_one_line(self._items[self._item[second]])
        metrics = list(self._rows.metrics)
        metric = f" ({in_one_line(metrics[self._column('metric')[second]])})" if len(metrics) > 1 else ""
        expected = "one for each trial" if self._column("trial")[second] != NO_NAME else "one, or a column of trials"
        raise TrialsError(
            f"{self._location(second)}: a second score of '{model}' for the item '{item}'{metric}; the first is in "
            f"{self._location(first)}; expected {expected}; to compare two evaluations of a model, name each file"
        )

    def _location(self, row: int) -> str:
        number = int(np.searchsorted(self._ends, row, side="right"))
        return self._blocks[number].locate(row - int(self._ends[number]) + len(self._blocks[number].score))

    def _matrices(self, rows: NDArray[np.int_]) -> tuple[Floats, NDArray[np.int_], Floats | None]:
        """The means, the numbers of trials, and their variances, if a model has several trials of an item."""
        shape = len(self._models), len(self._items)
        score = self._score[rows]
        place = self._model[rows].astype(np.int64) * shape[1] + self._item[rows]
        counts = np.bincount(place, minlength=shape[0] * shape[1])
        means = np.full(shape, np.nan)
        if counts.max() == 1:
            means.reshape(-1)[place] = score
            return means, counts.reshape(shape), None
        # Scores are added in ascending order, so that the order of the rows does not affect the sums.
        order = np.argsort(score, kind="stable")
        place, score = place[order], score[order]
        sums = np.bincount(place, weights=score, minlength=len(counts))
        np.divide(sums, counts, out=means.reshape(-1), where=counts > 0)
        squares = np.bincount(place, weights=(score - means.reshape(-1)[place]) ** 2, minlength=len(counts))
        variances = np.full(len(counts), np.nan)
        np.divide(squares, counts - 1, out=variances, where=counts > 1)
        return means, counts.reshape(shape), variances.reshape(shape)

    def _check_scales(self, metric: str, means: Floats) -> None:
        """Refuses fractions of one model beside percentages of another."""
        fraction = percent = None
        for model, row in enumerate(means):
            scores = row[~np.isnan(row)]
            if len(scores) < _FEWEST_FOR_SCALE or scores.min() < 0 or scores.max() > 100 or not scores.any():
                continue
            if scores.max() <= 1:
                fraction = fraction or self._models[model]
            elif np.median(scores[scores > 0]) > _LEAST_PERCENT:
                percent = percent or self._models[model]
        if fraction is not None and percent is not None:
            raise TrialsError(
                f"metric '{in_one_line(metric)}': the scores of '{in_one_line(fraction)}' are between 0 and 1, and "
                f"those of '{in_one_line(percent)}' between 0 and 100; expected one scale for all models"
            )

"""Rows of a log, collected one by one, and what the logs of all programs have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....base.errors import TrialsError
from ....base.untrusted_json import MAX_NUMBER
from ....base.untrusted_text import did_you_mean, few_names, in_one_line
from ..item_columns import ColumnNames
from ..score_cells import NO_NAME, Locate, label, named_in
from ..score_rows import ScoreRows

Sample = Mapping[str, Any]


class Records:
    """The scores of one model in one log. The options of columns name keys of a sample's own data, such as `doc`."""

    def __init__(
        self, rows: ScoreRows, columns: ColumnNames, *, file: str, model: str, task: str, locate: Locate
    ) -> None:
        self._rows, self._columns, self._file, self._task, self._locate = rows, columns, file, task, locate
        self._model = rows.models.number(model)
        self._subject = NO_NAME if columns.subject else rows.subjects.number(task)
        self._numbers: list[tuple[int, int, int, int, int]] = []
        self._scores: list[float] = []
        self._samples: list[int] = []
        self._left_out: dict[str, int] = {}  # for each reason, how many scores

    def add(
        self, sample: int, item: object, scores: Mapping[str, float | None], data: Sample, *, trial: str = ""
    ) -> None:
        """Adds the scores of a sample by metric; None for a missing score. `sample` is its number for `locate`."""
        rows, columns = self._rows, self._columns
        item = self._of(data, columns.item, sample) if columns.item else item
        trial = label(self._of(data, columns.trial, sample)) if columns.trial else trial
        name = label(item)
        if not name.strip():
            raise TrialsError(f"{self._locate(sample)}: the name of the item is empty")
        subject, cluster = self._subject, NO_NAME
        if columns.subject:
            subject = rows.subjects.number_of(self._of(data, columns.subject, sample))
        if columns.cluster:
            cluster = rows.clusters.number_of(self._of(data, columns.cluster, sample), self._task)
        at = rows.items.number(named_in(self._task, name)), rows.trials.number_of(trial), subject, cluster
        for metric, score in scores.items():
            if score is None:
                self.leave_out("scores that are missing")
                continue
            if not abs(score) <= MAX_NUMBER:
                metric = in_one_line(metric)
                raise TrialsError(
                    f"{self._locate(sample)}: the score '{metric}' is {score:g}; expected a finite number"
                )
            self._numbers.append((*at, rows.metrics.number(metric)))
            self._scores.append(score)
            self._samples.append(sample)

    def _of(self, data: Sample, key: str, sample: int) -> Any:
        if key in data:
            return data[key]
        names = list(map(str, data))
        there = few_names(names, 12) or "no keys"
        raise TrialsError(
            f"{self._locate(sample)}: no key '{in_one_line(key)}'; there are {there}{did_you_mean(key, names)}"
        )

    def end(self) -> None:
        """Hands the rows on."""
        for reason, n in self._left_out.items():
            self._rows.remark(f"{reason}: {n:,}", self._file)
        if not self._scores:
            raise TrialsError(f"{self._file}: no scores of samples")
        item, trial, subject, cluster, metric = np.array(self._numbers, dtype=np.int32).T
        samples, locate = np.array(self._samples, dtype=np.int32), self._locate
        self._rows.add(
            np.array(self._scores),
            metric=metric,
            model=self._model,
            item=item,
            trial=trial,
            subject=subject,
            cluster=cluster,
            locate=lambda row: locate(int(samples[row])),
        )

    def leave_out(self, reason: str) -> None:
        """Counts a score that is not used."""
        self._left_out[reason] = self._left_out.get(reason, 0) + 1

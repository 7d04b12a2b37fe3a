"""Weights of metrics: which metric a kind of damage should lower, by the votes of experts or by assumption.

A file has a row for each task, perturbation and metric. The weights of a task and perturbation are divided by their
sum. A survey is a table of votes: for each kind of damage, experts choose the metric that it should lower most.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...base.arrays import Floats
from ...base.errors import DiscernmentError
from ...base.untrusted_text import few_names, from_csv_value, in_one_line
from ...tables.formats import column_names, table_rows
from .kinds import KINDS, Perturbation, metric_named, rule_of, task_named, unknown

ASSUMED = "assumed"
"""The name of the packaged weights, which follow from the meanings of the metrics; no expert was asked."""

_PACKAGED = Path(__file__).parents[2] / "data" / "discernment" / "weights-assumed.csv"
KEYS = ("task", "perturbation", "metric")
_MAX_ROWS = 1_000_000


@dataclass
class WeightsRow:
    """The weights of a kind of damage, or of one of its degrees."""

    where: str  # place in the file, for error messages
    weights: dict[str, float]  # by metric, its weight; the sum of the weights is 1
    is_assumed: bool = False  # whether the file says that no expert was asked


@dataclass(frozen=True)
class Weights:
    """Weights of metrics."""

    name: str  # name in reports: `assumed`, or the name of the file, with a remark if its weights are assumed
    rows: Mapping[tuple[str, str], WeightsRow]  # weights by task, and by kind or perturbation (`kind/degree`)

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of all weights."""
        content = sorted([task, key, sorted(row.weights.items())] for (task, key), row in self.rows.items())
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def row(self, task: str, perturbation: Perturbation) -> WeightsRow | None:
        """The weights for a perturbation, by its degree or else by its kind; None without weights."""
        kind, _, degree = perturbation.name.partition("/")
        own = self.rows.get((task, perturbation_key(f"{kind}/{degree}"))) if degree else None
        return own or self.rows.get((task, perturbation_key(kind)))

    def matrix(
        self, task: str, perturbations: Sequence[Perturbation], metrics: Sequence[str]
    ) -> tuple[Floats, tuple[str, ...]]:
        """The weights of an evaluator's metrics, NaN without weights; and notes on missing weights."""
        names = list(map(metric_named, metrics))
        matrix = np.full((len(perturbations), len(names)), np.nan)
        without: dict[str, None] = {}
        lacking: dict[str, None] = {}
        for number, change in enumerate(perturbations):
            row = self.row(task, change)
            weights = [0.0 if row is None else row.weights.get(name, 0.0) for name in names]
            if row is not None and any(weights):
                matrix[number] = weights
                lacking |= dict.fromkeys(metric for metric in row.weights if metric not in names)
            elif not change.is_control:
                without[change.kind] = None
        begin, notes = f"The weights ({self.name}) of the task {task}", []
        if without:
            notes.append(f"{begin} have none of its metrics for {few_names(list(without), 5)}: no weighted score.")
        if lacking:
            notes.append(f"{begin} are used without {few_names(list(lacking), 5)}, which the evaluator does not have.")
        return matrix, tuple(notes)

    def check(self, tasks: Sequence[str], perturbations: Iterable[Perturbation], metrics: Iterable[str] = ()) -> None:
        """Raises DiscernmentError if a kind is unknown, or if no task or no metric has a weight.

        Without metrics, which some evaluators know only from their scores, metrics are not checked.
        """
        kinds = {*KINDS, *(change.rule for change in perturbations)}
        for (task, key), row in self.rows.items():
            kind = key.partition("/")[0]
            if task in tasks and kind not in kinds:
                raise unknown("kind", kind, sorted(kinds), where=row.where)
        weighted = dict.fromkeys(
            metric for (task, _), row in self.rows.items() if task in tasks for metric in row.weights
        )
        if not weighted:
            task, row = next((task, row) for (task, _), row in self.rows.items())
            raise unknown("task", task, sorted(tasks), where=row.where)
        names = list(metrics)
        if names and weighted.keys().isdisjoint(map(metric_named, names)):
            expected = f"expected at least one metric of the evaluators: {few_names(names, 5)}"
            raise DiscernmentError(f"the weights ({self.name}) are for {few_names(list(weighted), 5)}; {expected}")


def open_weights(source: str | Path) -> Weights:
    """Reads weights from a table in any format of `tables`, or the packaged ones, whose name is `assumed`.

    A table has the columns `task`, `perturbation`, `metric` and `weight` or `votes` (`weight` counts if the table has
    both), and optionally `source`.
    """
    if str(source) == ASSUMED:
        return Weights(ASSUMED, _read(_PACKAGED))
    rows = _read(source)
    name = Path(source).name
    return Weights(f"{name}, assumed" if any(row.is_assumed for row in rows.values()) else name, rows)


def _read(source: str | Path) -> dict[tuple[str, str], WeightsRow]:
    names = column_names(source)
    column = next((name for name in ("weight", "votes") if name in names), "weight or votes")
    rows: dict[tuple[str, str], WeightsRow] = {}
    for where, row in rows_of(source, (*KEYS, column), "task, perturbation, metric and weight or votes"):
        task, perturbation, metric = (cell(row, key, where) for key in KEYS)
        own = rows.setdefault((task_named(task), perturbation_key(perturbation)), WeightsRow(where, {}))
        metric = metric_named(metric)
        if metric in own.weights:
            raise DiscernmentError(
                f"{where}: the {column} of {in_one_line(metric, 60)} for {in_one_line(perturbation, 60)} is repeated"
            )
        own.weights[metric] = number_of(row.get(column), column, where)
        own.is_assumed |= str(row.get("source") or "").strip().casefold() == ASSUMED
    if not rows:
        raise DiscernmentError(f"{source}: no weights; expected a weight in each row")
    for own in rows.values():
        own.weights = _shares(own.weights, own.where)
    return rows


def rows_of(path: str | Path, columns: Sequence[str], expected: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the rows of a table with their places for error messages, and checks that the columns are there."""
    names = column_names(path)
    if not set(columns) <= set(names):
        listed = ", ".join(in_one_line(repr(name), 40) for name in names[:20]) or "none"
        raise DiscernmentError(f"{path}: expected the columns {expected or ', '.join(columns)}; there are {listed}")
    for number, row in enumerate(table_rows(path)):
        if number >= _MAX_ROWS:
            raise DiscernmentError(f"{path}: more than {_MAX_ROWS:,} rows, which is the limit")
        yield row


def cell(row: Mapping[str, Any], key: str, where: str) -> str:
    """The text of a cell that must not be empty."""
    value = row.get(key)
    name = from_csv_value(value.strip()) if isinstance(value, str) else ""
    if not name:
        raise DiscernmentError(f"{where}, column {key!r}: expected a name, not {in_one_line(repr(value), 40)}")
    return name


def number_of(value: Any, column: str, where: str) -> float:
    """A number of at least 0, whole in the column `votes`."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf or (column == "votes" and number != int(number)):
        expected = "a whole number of at least 0" if column == "votes" else "a number of at least 0"
        shown = in_one_line(repr(value), 40)
        raise DiscernmentError(f"{where}, column {column!r}: expected {expected}, not {shown}")
    return number


def _shares(values: Mapping[str, float], where: str) -> dict[str, float]:
    try:
        total = math.fsum(values.values())
    except OverflowError:
        total = math.inf
    if not 0 < total < math.inf:
        problem = "are all 0" if total == 0 else "are too large"
        raise DiscernmentError(f"{where}: the weights of one perturbation {problem}; expected a positive, finite sum")
    return {metric: value / total for metric, value in values.items()}


def perturbation_key(name: str) -> str:
    """The name of a kind or perturbation, with our name instead of the paper's."""
    kind, slash, degree = name.partition("/")
    return f"{rule_of(kind)}{slash}{degree}"

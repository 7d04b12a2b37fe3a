"""The mean of each run, which some experiments need only, and its reader for a leaderboard in a CSV file.

The published leaderboard.csv and the output of `pfgen-fast leaderboard --format csv` are such files.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import ExperimentError
from ...base.file_reading import read_text
from ...base.table import Table
from ...base.untrusted_text import from_csv_value, in_one_line
from ...runs.leaderboard import is_system, rank
from ...runs.result_tables import PUBLISHED, published
from ...suite.rules import PARTS
from ..chart_data import Points
from ..finding import finding_table
from ..statistics.correlation import MIN_VALUES, few_values
from .verdict_tables import finite_number

Cluster = Literal["model", "organisation", "none"]
"""The common property that makes runs depend on one another."""
Pick = Literal["best", "mean"]
"""How one value is computed from the runs of a model."""

_NEEDED = ("run", "model", "score", "length", "helpfulness")
_BY_SET = PARTS[:2]
_MAX_BYTES = 1 << 26


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


def families_of(models: Sequence[str], by: str) -> list[str]:
    """The model itself or the organisation of each model, the part of its name before the first slash."""
    return [model.split("/")[0].casefold() for model in models] if by == "organisation" else list(models)


def clusters_of(models: Sequence[str], by: Cluster) -> Clusters:
    """The clusters of values of these models."""
    names = list(map(str, range(len(models)))) if by == "none" else families_of(models, by)
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

    def of_models(self, *, yardsticks: bool = False) -> RunMeans:
        """The runs of models, or else of the yardsticks `system/...` (human and reference answers)."""
        return self.chosen([row for row, model in enumerate(self.models) if is_system(model) == yardsticks])

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
        return finding_table(name, title, ("run", "model", *heads), rows)


# --- leaderboards


def read_leaderboard(path: Path | None = None) -> RunMeans:
    """Reads a leaderboard from a CSV file, or the published results.

    Fluency and truthfulness are sums over the sets. The file needs the columns `run`, `model`, `score`, `length`,
    `helpfulness`, and `fluency_<set>` and `truthfulness_<set>` of each set; other columns are ignored. Rows that lack a
    number are left out and named.
    """
    if path is None:
        path, text = Path(PUBLISHED), rank([], others=published(yardsticks=True)).to_csv()
    else:
        text = read_text(path, error=ExperimentError, limit=_MAX_BYTES)
    header, rows = _rows(text, path)
    sets = [name.removeprefix("fluency_") for name in header if name.startswith("fluency_")]
    columns = (*_NEEDED[2:], *(f"{metric}_{name}" for metric in _BY_SET for name in sets))
    missing = [name for name in (*_NEEDED, *columns) if name not in header] or ([] if sets else ["fluency_<set>"])
    if missing:
        raise ExperimentError(
            f"{path}: no column {missing[0]!r}; expected a leaderboard, as 'pfgen-fast leaderboard --format csv' "
            "writes it"
        )
    names, models, values, problems = [], [], [], []
    for line, row in rows:
        cells = dict(zip(header, row, strict=True))
        name = from_csv_value(cells["run"]).removeprefix("result/")  # as runs are named elsewhere
        lacking = next((column for column in columns if not cells[column].strip()), None)
        if lacking is not None:
            problems.append(f"left out: {path}, line {line} ({in_one_line(name, 80)}): no {lacking}")
            continue
        values.append([_number_in(cells[column], f"{path}, line {line}, column {column!r}") for column in columns])
        names.append(name)
        models.append(from_csv_value(cells["model"]))
    if len(names) < MIN_VALUES:
        why = f"; {problems[0]}" if problems else ""
        raise ExperimentError(f"{path}: an experiment needs at least {MIN_VALUES} runs; there are {len(names)}{why}")
    columns_by_name = dict(zip(columns, np.array(values).T, strict=True))
    means = {
        "score": columns_by_name["score"],
        **{metric: np.sum([columns_by_name[f"{metric}_{name}"] for name in sets], axis=0) for metric in _BY_SET},
        "helpfulness": columns_by_name["helpfulness"],
        "length": columns_by_name["length"],
    }
    return RunMeans(tuple(names), tuple(models), means, tuple(problems))


def _rows(text: str, path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and the rows that are not blank, each with the number of its line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ExperimentError(f"{path}, line {reader.line_num}: not CSV: {error}") from None
    header = [from_csv_value(cell.strip()) for cell in rows[0][1]] if rows else []
    for number, row in rows:
        if len(row) != len(header):
            raise ExperimentError(f"{path}, line {number}: expected {len(header)} cells, not {len(row)}")
    if len(set(header)) < len(header) or not all(header[1:]):
        raise ExperimentError(f"{path}, line 1: expected distinct column names")
    return header, rows[1:]


def _number_in(cell: str, where: str) -> float:
    """The finite number in a cell; raises ExperimentError for any other content."""
    value = finite_number(cell)
    if value is None:
        raise ExperimentError(f"{where}: expected a number, not {in_one_line(cell, 40)!r}; leave a missing score empty")
    return value

"""Weights from a survey: experts choose for each kind of damage the metric that it harms most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import DiscernmentError
from ..files.cells import csv_text
from ..files.untrusted_text import in_one_line, utf8
from ..files.writing import write_whole
from ..statistics.agreement_of_levels import fleiss_kappa
from ..tables.formats import column_names, table_rows
from .names import metric_named, task_named
from .weights import cell, perturbation_key

COLUMNS = ("voter", "task", "perturbation", "metric")

_MAX_ROWS = 1_000_000


@dataclass(frozen=True)
class TaskVotes:
    """The votes on the kinds of damage of one task."""

    task: str
    # by kind (or `kind/degree`), the number of votes for each metric of the task
    votes: Mapping[str, Mapping[str, int]]
    n_voters: int
    kappa: float | None  # Fleiss' kappa; None if it is undefined, such as where not all have voted on everything


@dataclass(frozen=True)
class Survey:
    """The votes of a survey."""

    name: str  # name of its file
    tasks: tuple[TaskVotes, ...]  # votes of each task

    def write(self, path: Path) -> None:
        """Writes the weights as CSV, as `weights.open_weights` reads them."""
        rows = [
            (of.task, name, metric, n_votes / sum(votes.values()), n_votes, f"{of.n_voters} voters, {self.name}")
            for of in self.tasks
            for name, votes in of.votes.items()
            for metric, n_votes in votes.items()
        ]
        write_whole(path, utf8(csv_text(("task", "perturbation", "metric", "weight", "votes", "source"), rows)))


def read_survey(path: str | Path) -> Survey:
    """Reads a survey from a table with a vote in each row: `voter`, `task`, `perturbation`, `metric`."""
    names = column_names(path)
    if not set(COLUMNS) <= set(names):
        listed = ", ".join(in_one_line(repr(name), 40) for name in names[:20]) or "none"
        raise DiscernmentError(f"{path}: expected the columns {', '.join(COLUMNS)}; there are {listed}")
    places: dict[tuple[str, str, str], str] = {}
    votes: dict[str, dict[str, Counter[str]]] = {}
    voters: dict[str, set[str]] = {}
    for number, (where, row) in enumerate(table_rows(path)):
        if number >= _MAX_ROWS:
            raise DiscernmentError(f"{path}: more than {_MAX_ROWS:,} rows, which is the limit")
        voter, task, perturbation, metric = (cell(row, key, where) for key in COLUMNS)
        task, perturbation = task_named(task), perturbation_key(perturbation)
        first = places.setdefault((voter, task, perturbation), where)
        if first != where:
            shown = f"{in_one_line(voter, 40)} on {in_one_line(perturbation, 40)}"
            raise DiscernmentError(f"{where}: a second vote of {shown}, after {first}; expected one")
        votes.setdefault(task, {}).setdefault(perturbation, Counter())[metric_named(metric)] += 1
        voters.setdefault(task, set()).add(voter)
    if not votes:
        raise DiscernmentError(f"{path}: no votes; expected one in each row")
    tasks = (_task_votes(task, of, len(voters[task])) for task, of in votes.items())
    return Survey(Path(path).name, tuple(tasks))


def _task_votes(task: str, votes: Mapping[str, Counter[str]], n_voters: int) -> TaskVotes:
    metrics = sorted({metric for counter in votes.values() for metric in counter})
    kappa = fleiss_kappa(np.array([[counter[metric] for metric in metrics] for counter in votes.values()]))
    table = {name: {metric: counter[metric] for metric in metrics} for name, counter in votes.items()}
    return TaskVotes(task, table, n_voters, None if math.isnan(kappa) else kappa)

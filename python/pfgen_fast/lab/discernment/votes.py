"""Votes of experts: for each kind of damage of a task, which metric should fall most. Items to vote on, and surveys."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import DiscernmentError
from ...base.file_writing import write_whole
from ...base.table import Column, Table
from ...base.untrusted_text import counted, in_one_line, utf8
from ..annotations.annotation_plan import SheetItem
from ..annotations.annotation_rows import Row, read_rows
from ..chart_data import Matrix
from ..evaluators.criteria import DEFAULT_TASK, Criteria
from ..finding import Finding, Picture
from ..statistics.raters import fleiss_kappa
from .discernment_plan import open_plan, paper_facts, perturbations_named
from .kinds import KINDS, Kind, Perturbation, metric_named, rule_of, task_named, unknown
from .perturbing import perturb
from .weights import KEYS, cell, perturbation_key, rows_of

SAMPLES = {
    "ja": "富士山の高さは3776メートルで、日本で最も高い山です。夏には多くの人が登ります。",
    "en": "Ice floats on water. It isn't heavier than 1 litre of water, and the Arctic shows it.",
}
"""Texts that examples damage, by language."""

DONORS = {
    "ja": ["琵琶湖は滋賀県にある湖です。", "カレーは辛い料理です。"],
    "en": ["Rain fell in Paris. The streets were wet.", "Mars is red."],
}

_WRONG_ENDINGS = {"ja": ["富士山の頂上は海の底にあります。"], "en": ["Ice sinks, so the Arctic lies on the sea bed."]}


def damaged_example(text: str, change: Perturbation, language: str) -> str | None:
    """A text damaged by a rule, with parts of other examples; None if that is impossible."""
    donors = DONORS[language]
    degree: Any = {"permille": change.permille, "k": change.k} if KINDS[change.rule].has_degrees else {}
    return perturb(
        [text], change.kind, **degree, language=language, donors=donors, alternatives=_WRONG_ENDINGS[language]
    )[0]


def vote_items(
    criteria: Criteria, *, plans: Sequence[str] = (), kinds: Sequence[str] = (), language: str = "en"
) -> list[SheetItem]:
    """An item for each kind of damage of each task with several metrics; with one metric, there is nothing to vote.

    Plans of the paper's data sets limit tasks and kinds to theirs, and `kinds` are asked instead of all.
    """
    damage = [kind.name for kind in KINDS.values() if kind.level != "control"]
    for name in kinds:
        if rule_of(name) not in damage:
            raise unknown("kind of damage", name, damage)
    names = dict.fromkeys(map(rule_of, kinds))
    tasks = {name: names or dict.fromkeys(damage) for name in criteria.tasks if name != DEFAULT_TASK and not plans}
    datasets = {open_plan(name).name.removeprefix("paper: ") for name in plans}
    for row in paper_facts("perturbations"):
        if row["dataset"] in datasets:
            tasks[row["task"]] = names or {**tasks.get(row["task"], {}), rule_of(row["kind"]): None}
    items = [
        _item(criteria, task, KINDS[name], language)
        for task, own in tasks.items()
        for name in own
        if len(criteria.task(task).criteria) > 1
    ]
    if not items:
        raise DiscernmentError("nothing to vote on: expected the plan of a task with several metrics, such as SummEval")
    return items


def _item(criteria: Criteria, task: str, kind: Kind, language: str) -> SheetItem:
    sample, changes = criteria.task(task).example.get(language, SAMPLES[language]), perturbations_named(kind.name)
    damaged = damaged_example(sample, changes[len(changes) // 2], language) if kind.method == "rule" else None
    words = kind.japanese if language == "ja" else kind.words.replace("{", "").replace("}", "")
    metrics: list[Mapping[str, Any]] = []
    for metric, criteria_by_language in criteria.task(task).criteria.items():
        criterion = criteria_by_language.get(language) or next(iter(criteria_by_language.values()))
        metrics.append({"name": metric, "title": criterion.name, "text": criterion.definition.strip()})
    content = {
        "kind": "vote",
        "task": task,
        "perturbation": kind.name,
        "description": f"{criteria.what(task, language)}: {words}",
        "before": None if damaged is None else sample,
        "after": damaged,
        "metrics": metrics,
    }
    return SheetItem("vote", f"vote\0{task}\0{kind.name}", content, (task, kind.level), ())


_VOTE_COLUMNS = ("voter", *KEYS)


@dataclass(frozen=True)
class TaskVotes:
    """The votes on the kinds of damage of one task."""

    task: str
    # by kind (or `kind/degree`), the number of votes for each metric of the task
    votes: Mapping[str, Mapping[str, int]]
    n_voters: int
    kappa: float | None  # Fleiss' kappa; None if it is undefined, for example if a voter lacks a vote

    @property
    def sentence(self) -> str:
        """The numbers of voters and kinds, and how far the voters agree."""
        kappa = "undefined" if self.kappa is None else f"{self.kappa:.3f}"
        size = f"{counted(self.n_voters, 'voter')}, {counted(len(self.votes), 'kind')} of damage"
        return f"{in_one_line(self.task, 60)}: {size}, agreement (Fleiss' kappa) {kappa}"


@dataclass(frozen=True)
class Survey:
    """The votes of a survey."""

    name: str  # names of its files
    tasks: tuple[TaskVotes, ...]  # votes of each task
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """The weights as a table for `open_weights`."""
        rows = [
            (*(task.task, name, metric, n / sum(votes.values()), n), f"{counted(task.n_voters, 'voter')}, {self.name}")
            for task in self.tasks
            for name, votes in task.votes.items()
            for metric, n in votes.items()
        ]
        return Table([*map(Column, (*KEYS, "weight", "votes", "source"))], rows, "Weights", "weights")

    def finding(self) -> Finding:
        """The weights as pictures, and the agreement of the voters."""
        pictures = []
        for number, task in enumerate(self.tasks, start=1):
            votes = np.array([list(row.values()) for row in task.votes.values()], dtype=np.float64)
            metrics, weights = tuple(next(iter(task.votes.values()))), votes / votes.sum(axis=1, keepdims=True)
            chart = Matrix(tuple(task.votes), metrics, weights, "share of the votes", 0.0, n_digits=2)
            title = f"Weights of the metrics of {in_one_line(task.task, 60)} for each kind of damage"
            pictures.append(Picture(f"weights-{number}", title, chart))
        sentences, about = tuple(task.sentence for task in self.tasks), "A weight is a metric's share of the votes."
        return Finding("votes", sentences[0], about, (self.table,), tuple(pictures), self.notes, sentences=sentences)

    def write(self, path: Path) -> None:
        """Writes the weights as CSV."""
        write_whole(path, utf8(self.table.to_csv()))


def read_survey(*paths: str | Path) -> Survey:
    """Reads votes from exports, and from tables with a vote in each row: `voter`, `task`, `perturbation`, `metric`."""
    places: dict[tuple[str, str, str], tuple[str, str]] = {}
    votes: dict[str, dict[str, Counter[str]]] = {}
    n_open = n_others = 0
    for row in (row for path in paths for row in _rows_of_survey(path)):
        if row.kind != "vote":
            n_others += 1
            continue
        if row.cells.get("metric") is None:
            n_open += 1
            continue
        where, cells = row.where, {**row.cells, "voter": row.annotator}
        voter, task, perturbation, metric = (cell(cells, key, where) for key in _VOTE_COLUMNS)
        task, perturbation = task_named(task), perturbation_key(perturbation)
        metric, key = metric_named(metric), (voter, task, perturbation)
        if key not in places:
            places[key] = metric, where
            votes.setdefault(task, {}).setdefault(perturbation, Counter())[metric] += 1
        elif places[key][0] != metric:
            shown = f"{in_one_line(voter, 40)} on {in_one_line(perturbation, 40)}"
            raise DiscernmentError(
                f"{where}: a second vote of {shown}, after {places[key][1]}; expected one vote, or equal votes"
            )
    if not votes:
        raise DiscernmentError(f"{', '.join(map(str, paths))}: no votes; expected a vote in each row")
    voters = {task: {voter for voter, voted, _ in places if voted == task} for task in votes}
    notes = [f"{counted(n_open, 'item')} without a vote, left out"] if n_open else []
    if n_others:
        notes.append(f"{counted(n_others, 'row')} about answers not used here: the 'checklists' commands read them")
    tasks = tuple(_task_votes(task, task_votes, len(voters[task])) for task, task_votes in votes.items())
    return Survey(", ".join(Path(path).name for path in paths), tasks, tuple(notes))


def _rows_of_survey(path: str | Path) -> Sequence[Row]:
    file = read_rows(Path(path), error=DiscernmentError)
    if file.header is None:
        for _ in rows_of(path, _VOTE_COLUMNS):
            break  # checks the columns
    return file.rows


def _task_votes(task: str, votes: Mapping[str, Counter[str]], n_voters: int) -> TaskVotes:
    metrics = sorted({metric for counter in votes.values() for metric in counter})
    kappa = fleiss_kappa(np.array([[counter[metric] for metric in metrics] for counter in votes.values()]))
    table = {name: {metric: counter[metric] for metric in metrics} for name, counter in votes.items()}
    return TaskVotes(task, table, n_voters, None if math.isnan(kappa) else kappa)

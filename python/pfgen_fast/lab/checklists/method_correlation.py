"""`correlate`: correlations of methods of scoring answers, over answers and over models.

Coefficients are Spearman's. Intervals are from draws of whole tasks within each area, because the answers of all models
to a task depend on one another; p-values, as in the literature, treat answers as independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...base.arrays import Floats, Ints
from ...base.errors import ChecklistError
from ...base.table import Column
from ...base.untrusted_json import any_object, checked
from ...base.untrusted_text import counted, unknown_name
from ...tables.formats import table_rows
from ..finding import Cell, Finding, finding_table
from ..statistics.correlation import COMPARED_DIGITS, p_value, resampled_spearman, spearman
from .answer_grid import AnswerGrid, Estimate
from .checklist_runs import Run
from .checklist_scoring import score_judged_runs
from .checklist_suite import ChecklistSuite
from .line_files import OnFault, checked_objects, number_in_cell
from .marks import MarkedAnswer, read_marks, task_of_row
from .tasks import AnswerKey, Method

Place = tuple[str, AnswerKey]
"""The key of a run, and an answer of it."""

PEOPLE = "people"

_OVERALL: tuple[Method, ...] = ("llm-eval", "llm-eval-c")
_KEY_COLUMNS = ("model", "id", "length", "trial", "area", "category")


@dataclass(frozen=True, eq=False)
class Values:
    """The values of answers by several methods."""

    suite: ChecklistSuite
    methods: Mapping[str, Mapping[Place, float]]
    notes: tuple[str, ...] = ()
    signature: str = ""

    def common(self, area: str | None = None) -> list[Place]:
        """The answers (of an area) for which all methods have a value, by model and in the order of the suite."""
        if area not in (None, *self.suite.areas):
            raise ChecklistError(f"suite {self.suite.name}: {unknown_name('area', area, self.suite.areas)}")
        places = set.intersection(*map(set, self.methods.values()))
        if area is not None:
            places = {place for place in places if self.suite.by_key[place[1][:2]].area == area}
        if not places:
            counts = ", ".join(f"{name} {len(values):,}" for name, values in self.methods.items())
            raise ChecklistError(f"no answer has a value by every method ({counts}); expected the same answers")
        order = {key: number for number, key in enumerate(self.suite.by_key)}
        return sorted(places, key=lambda place: (place[0], order[place[1][:2]], place[1][2]))


def checklist_values(
    suite: ChecklistSuite,
    runs: Sequence[Run],
    *,
    judge: str | None = None,
    mixed: bool = False,
    on_fault: OnFault | None = None,
) -> Values:
    """The scores of answers (`checklist`), with equal weights (`avg-c`), and overall ratings by other methods."""
    scored = score_judged_runs(suite, runs, judge=judge, mixed=mixed, on_fault=on_fault)
    answers = {(model.model, answer.key): answer for model in scored.models for answer in model.answers}
    methods = {"checklist": {place: answer.score for place, answer in answers.items()}}
    if any(len(set(checklist.weights)) > 1 for checklist in suite.checklists.values()):
        methods["avg-c"] = {place: answer.plain for place, answer in answers.items()}
    present = {row.method for run in runs for row in run.judgements(suite, with_reasons=False, on_fault=on_fault)}
    for method in (name for name in _OVERALL if name in present):
        scores = score_judged_runs(suite, runs, method=method, judge=judge, mixed=mixed, on_fault=on_fault)
        methods[method] = {
            (model.model, answer.key): answer.verdicts[0] for model in scores.models for answer in model.answers
        }
    return Values(suite, methods, (*scored.notes, *scored.left_out), scored.models[0].signature)


def values_of(
    suite: ChecklistSuite,
    runs: Sequence[Run],
    *,
    metrics: Sequence[Path] = (),
    marks: Sequence[Path] = (),
    **of_judge: Any,
) -> Values:
    """The values by all methods: those of `checklist_values`, tables of metrics, and marks of people."""
    values = checklist_values(suite, runs, **of_judge)
    methods, notes = dict(values.methods), values.notes
    for path in metrics:
        methods |= metric_values(path, suite)
    if marks:
        methods[PEOPLE], mark_notes = people_values(marks, suite, runs)
        notes += mark_notes
    return Values(suite, methods, notes, values.signature)


def metric_values(path: Path, suite: ChecklistSuite) -> dict[str, dict[Place, float]]:
    """The metrics in a table of `checklists metrics -o`, or in any table with model, id and columns of numbers."""
    columns: dict[str, dict[Place, float]] = {}
    for where, row in checked_objects(path, any_object, rows=table_rows(path)):
        model, trial = row.get("model"), row.get("trial") or 1
        if not isinstance(model, str) or "id" not in row:
            raise ChecklistError(f"{where}: expected columns model and id")
        n_trial = int(checked(trial, number_in_cell, f"{where}, trial", error=ChecklistError))
        place = model, (*task_of_row(row, suite, where).key, n_trial)
        for name, value in row.items():
            if name not in _KEY_COLUMNS and value not in (None, ""):
                number = checked(value, number_in_cell, f"{where}, {name}", error=ChecklistError)
                columns.setdefault(name, {})[place] = number
    if not columns:
        raise ChecklistError(f"{path}: no metrics: expected columns of numbers next to model and id")
    return columns


def people_values(
    paths: Sequence[Path], suite: ChecklistSuite, runs: Sequence[Run]
) -> tuple[dict[Place, float], tuple[str, ...]]:
    """The mean overall mark of each answer, and notes."""
    people = read_marks(paths, suite)
    by_answer: dict[MarkedAnswer, list[float]] = {}
    for mark in people.marks:
        by_answer.setdefault(mark.answer, []).append(mark.overall)
    values: dict[Place, float] = {}
    for run in runs:
        # `checklist_values`, which runs first, has already named the lines that cannot be read.
        for row in run.judgements(suite, with_reasons=False, on_fault=lambda fault: None):
            if (answer := (row.id, row.length, row.response_sha256)) in by_answer:
                values[run.key, row.key] = fmean(by_answer[answer])
    if not values:
        listed = ", ".join(map(str, paths))
        raise ChecklistError(f"{listed}: none of the {len(by_answer):,} marked answers is judged in these runs")
    return values, people.notes


MIN_ANSWERS = 3
"""Fewer answers have no correlation."""


@dataclass(frozen=True)
class Coefficient:
    """A correlation."""

    n: int
    value: Estimate
    p: float | None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The numbers for a row of a table."""
        return self.n, *self.value.cells, self.p


@dataclass(frozen=True, eq=False)
class CorrelatedMethods:
    """Methods on the same answers."""

    values: Values
    names: tuple[str, ...]
    places: tuple[Place, ...]
    grid: AnswerGrid

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """The values of each method on the answers, rounded so that the order of sums makes no difference."""
        return {
            name: np.array([self.values.methods[name][place] for place in self.places]).round(COMPARED_DIGITS)
            for name in self.names
        }

    def over_answers(self, x: Floats, y: Floats, answers: Ints | None = None) -> Coefficient:
        """The correlation of two columns over all answers or some of them."""
        answers = np.arange(len(x)) if answers is None else answers
        used, clusters = np.unique(self.grid.task_of[answers], return_inverse=True)
        first, second = x[answers], y[answers]
        value, p = _spearman(first, second)
        draws = resampled_spearman(first, second, clusters, self.grid.counts[:, used])
        return Coefficient(len(answers), self.grid.estimate(value, draws, used), p)

    def over_models(self, first: str, second: str) -> Coefficient:
        """The correlation of two methods over the means of models; areas have equal weights."""
        x, y = (self.grid.averages(self.columns[name]) for name in (first, second))
        value, p = _spearman(np.array(x), np.array(y))
        return Coefficient(len(self.grid.models), Estimate(value), p)

    @property
    def means(self) -> list[tuple[Cell, ...]]:
        """For each model: its name, the number of answers, and its mean by each method."""
        shown: list[Iterable[Cell]] = []
        for name in self.names:
            means = self.grid.averages(self.columns[name])
            shown.append(map(self.values.suite.rescaling, means) if name in ("checklist", "avg-c") else means)
        return list(zip(self.grid.models, np.bincount(self.grid.model_of).tolist(), *shown, strict=False))


def _spearman(x: Floats, y: Floats) -> tuple[float | None, float | None]:
    """The correlation and its p-value; None if they are undefined."""
    value = spearman(x, y) if len(x) >= MIN_ANSWERS else None
    return value, None if value is None else p_value(value, len(x))


def correlated(values: Values, *, area: str | None = None, draws: int = 1000) -> CorrelatedMethods:
    """Compares methods on the answers for which all of them have a value, with people first, if there are marks."""
    names = tuple(sorted(values.methods, key=lambda name: name != PEOPLE))
    if len(names) < 2:
        raise ChecklistError(
            f"{names[0]} alone: a correlation needs two methods; expected --metrics, --marks or judgements by other "
            "methods"
        )
    places = values.common(area)
    tasks = dict.fromkeys(values.suite.by_key[key[:2]] for _, key in places)
    return CorrelatedMethods(values, names, tuple(places), AnswerGrid.of(values.suite, places, tasks, n_draws=draws))


def correlate(table: CorrelatedMethods) -> Finding:
    """The correlations of methods in words and tables."""
    first, *others = table.names
    parts = table.grid.answers_of_parts if len(table.grid.answers_of_parts) > 1 else {}
    x = table.columns[first]
    over_all = {name: table.over_answers(x, table.columns[name]) for name in others}
    others.sort(key=lambda name: -(over_all[name].value.value or -2.0))
    rows: list[tuple[Cell, ...]] = [(name, "all", *over_all[name].cells) for name in others]
    rows += [
        (name, part, *table.over_answers(x, table.columns[name], own).cells)
        for name in others
        for part, own in parts.items()
    ]
    tables = [finding_table("answers", f"Correlation with {first} over answers", ("method", "part", *_COLUMNS), rows)]
    if len(table.grid.models) >= MIN_ANSWERS:
        by_model = [(name, *table.over_models(first, name).cells) for name in others]
        title = f"Correlation with {first} over the means of models"
        tables.append(finding_table("models", title, ("method", *_COLUMNS), by_model))
    if means := table.means:
        columns = [Column(name, form="{:.4g}".format) for name in table.names]
        title = "Means by model and method; areas have equal weights, and scores are rescaled"
        tables.append(finding_table("means", title, ("model", "answers", *columns), means))
    best, n = over_all[others[0]].value, len(table.places)
    answer = f"Over {n:,} answers nothing correlates with {first}, because all values of a method are the same."
    if best.value is not None:
        answer = f"Over {n:,} answers {others[0]} goes best with {first}: Spearman {best.value:.3f}{best.between(3)}."
    return Finding(
        "correlate",
        answer,
        f"Compared are {len(table.names)} methods on the same {n:,} answers of "
        f"{counted(len(table.grid.models), 'model')} to {len(table.grid.tasks):,} tasks: {', '.join(table.names)}. "
        f"P-values treat answers as independent, although answers to the same task are not.{table.grid.words} "
        f"Signature of the checklist scores: {table.values.signature}",
        tuple(tables),
        (),
        table.values.notes,
        question=f"Which methods agree with {first}?",
    )


_COLUMNS = ("n", "Spearman", "low", "high", Column("p", form="{:.2e}".format))

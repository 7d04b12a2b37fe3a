"""`correlate`: correlations of methods of scoring answers, over answers and over models.

Coefficients are Spearman's. Intervals are from draws of whole tasks within each area, because the answers of all models
to a task depend on one another; p-values, as in the literature, treat answers as independent. The interval over models
holds the mean correlation over samples of as many tasks.
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
from ...base.table import Table
from ...base.untrusted_json import any_object, checked
from ...base.untrusted_text import counted, unknown_name
from ...tables.formats import table_rows
from ..finding import Cell, Finding, Picture, finding_table
from ..statistics.correlation import COMPARED_DIGITS, p_value, resampled_spearman, spearman, spearman_rows
from .answer_grid import AnswerGrid, Estimate, ranges_of
from .checklist_runs import Run
from .checklist_scoring import score_judged_runs
from .checklist_suite import ChecklistSuite
from .line_files import OnFault, checked_objects, number_in_cell
from .marks import MarkedAnswer, Scale, read_marks, task_of_row
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

    def common(self, names: Iterable[str]) -> list[Place]:
        """The answers for which all of these methods have a value, by model and in the order of the suite."""
        chosen = list(names)
        places = set.intersection(*(set(self.methods[name]) for name in chosen))
        if not places:
            counts = ", ".join(f"{name} {len(self.methods[name]):,}" for name in chosen)
            raise ChecklistError(f"no answer has a value by every method ({counts}); expected the same answers")
        order = {key: number for number, key in enumerate(self.suite.by_key)}
        return sorted(places, key=lambda place: (place[0], order[place[1][:2]], place[1][2]))

    def column(self, name: str, places: Sequence[Place]) -> Floats:
        """The values of a method on these answers, rounded so that the order of sums makes no difference."""
        values = self.methods[name]
        column: Floats = np.array([values[place] for place in places], dtype=np.float64).round(COMPARED_DIGITS)
        return column


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
    methods = {
        "checklist": {place: answer.score for place, answer in answers.items()},
        "avg-c": {place: answer.plain for place, answer in answers.items()},
    }
    if all(len(set(checklist.weights)) == 1 for checklist in suite.checklists.values()):
        del methods["avg-c"]  # with equal weights, `avg-c` equals `checklist`
    rows = (row for run in runs for row in run.judgements(suite, with_reasons=False, on_fault=on_fault))
    present = {row.method for row in rows}
    for method in _OVERALL:
        if method in present:
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
    scale: Scale | None = None,
    **of_judge: Any,
) -> Values:
    """The values by all methods: those of `checklist_values`, tables of metrics, and marks of people."""
    values = checklist_values(suite, runs, **of_judge)
    methods, notes = dict(values.methods), list(values.notes)
    for path in metrics:
        methods |= metric_values(path, suite)
    if marks:
        methods[PEOPLE], mark_notes = people_values(marks, suite, runs, scale=scale)
        notes += mark_notes
    return Values(suite, methods, tuple(notes), values.signature)


def metric_values(path: Path, suite: ChecklistSuite) -> dict[str, dict[Place, float]]:
    """The metrics in a table of `checklists metrics -o`, or in any table with model, id and columns of numbers."""
    columns: dict[str, dict[Place, float]] = {}
    for where, row in checked_objects(path, any_object, rows=table_rows(path)):
        place = _place(row, suite, where)
        for name, value in row.items():
            if name not in _KEY_COLUMNS and value not in (None, ""):
                number = checked(value, number_in_cell, f"{where}, {name}", error=ChecklistError)
                columns.setdefault(name, {})[place] = number
    if not columns:
        raise ChecklistError(f"{path}: no metrics: expected columns of numbers next to model and id")
    return columns


def people_values(
    paths: Sequence[Path], suite: ChecklistSuite, runs: Sequence[Run], *, scale: Scale | None
) -> tuple[dict[Place, float], list[str]]:
    """The mean overall mark of each answer, and notes."""
    people = read_marks(paths, suite, scale=scale)
    by_answer: dict[MarkedAnswer, list[float]] = {}
    for mark in people.marks:
        by_answer.setdefault(mark.answer, []).append(mark.overall)
    answers = {(run.key, key): (*key[:2], sha256) for run in runs for key, sha256 in _hashes(run, suite).items()}
    values = {place: fmean(by_answer[answer]) for place, answer in answers.items() if answer in by_answer}
    if not values:
        raise ChecklistError(
            f"{', '.join(map(str, paths))}: none of the {len(by_answer):,} marked answers is one of these runs"
        )
    n_stale = len(by_answer.keys() - set(answers.values()))
    return values, [*people.notes, *([f"{n_stale:,} marked answers are not in these runs"] if n_stale else [])]


def _hashes(run: Run, suite: ChecklistSuite) -> dict[AnswerKey, str]:
    """The hash of each answer, from the answers or, without them, from the judgements."""
    answers = run.answers(suite, on_fault=_is_named)
    if answers:
        return {key: answer.sha256 for key, answer in answers.items()}
    return {row.key: row.response_sha256 for row in run.judgements(suite, with_reasons=False, on_fault=_is_named)}


def _is_named(fault: str) -> None:
    """`checklist_values`, which runs first, has already named the lines that cannot be read."""


def _place(row: Mapping[str, Any], suite: ChecklistSuite, where: str) -> Place:
    model = row.get("model")
    if not isinstance(model, str) or "id" not in row:
        raise ChecklistError(f"{where}: expected columns model and id")
    task, trial = task_of_row(row, suite, where), row.get("trial")
    trial = 1 if trial in (None, "") else checked(trial, number_in_cell, f"{where}, trial", error=ChecklistError)
    return model, (*task.key, int(trial))


MIN_ANSWERS = 3
"""Fewer answers have no correlation."""


@dataclass(frozen=True)
class Coefficient:
    """A correlation."""

    n: int
    value: Estimate
    p: float | None


@dataclass(frozen=True, eq=False)
class CorrelatedMethods:
    """Methods on the same answers."""

    values: Values
    names: tuple[str, ...]
    places: tuple[Place, ...]
    grid: AnswerGrid

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """The values of each method on the answers."""
        return {name: self.values.column(name, self.places) for name in self.names}

    def over_answers(self, x: Floats, y: Floats, answers: Ints | None = None) -> Coefficient:
        """The correlation of two columns over all answers or some of them."""
        answers = np.arange(len(x)) if answers is None else answers
        used, clusters = np.unique(self.grid.task_of[answers], return_inverse=True)
        first, second = x[answers], y[answers]
        value = spearman(first, second) if len(answers) >= MIN_ANSWERS else None
        draws = resampled_spearman(first, second, clusters, self.grid.counts[:, used])
        p = None if value is None else p_value(value, len(answers))
        return Coefficient(len(answers), self.grid.estimate(value, draws, used), p)

    @cached_property
    def model_means(self) -> dict[str, tuple[Ints, Floats, Floats]]:
        """By method: the tasks, the mean of each model with equal weights of areas, and these means in each draw."""
        return {name: self.grid.averages(column) for name, column in self.columns.items()}

    def over_models(self, first: str, second: str) -> Coefficient:
        """The correlation of two methods over the means of models."""
        (tasks, x, x_draws), (_, y, y_draws) = self.model_means[first], self.model_means[second]
        value = spearman(x, y) if len(x) >= MIN_ANSWERS and not np.isnan(x).any() else None
        draws = spearman_rows(x_draws, y_draws)
        order = self.grid.estimate(value, draws, tasks, scale="linear", bounds=(-1.0, 1.0))
        return Coefficient(len(x), order, None if value is None else p_value(value, len(x)))


def correlated(
    values: Values,
    *,
    against: str | None = None,
    methods: Sequence[str] | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> CorrelatedMethods:
    """Compares methods on the answers for which all of them have a value."""
    known = list(values.methods)
    first = against or (PEOPLE if PEOPLE in known else known[0])
    for name in (first, *(methods or ())):
        if name not in known:
            raise ChecklistError(unknown_name("method", name, known))
    names = tuple(dict.fromkeys((first, *(methods or known))))
    if len(names) < 2:
        raise ChecklistError(
            f"{first} alone: a correlation needs two methods; expected --metrics, --marks or judgements by "
            "other methods"
        )
    places = values.common(names)
    tasks = dict.fromkeys(values.suite.by_key[key[:2]] for _, key in places)
    grid = AnswerGrid.of(values.suite, places, tasks, n_draws=draws, seed=seed)
    return CorrelatedMethods(values, names, tuple(places), grid)


def correlate(table: CorrelatedMethods) -> Finding:
    """The correlations of methods in words, tables and pictures."""
    first, *others = table.names
    by_answers = {name: _by_part(table, first, name) for name in others}
    by_models = (
        {name: table.over_models(first, name) for name in others} if len(table.grid.models) >= MIN_ANSWERS else {}
    )
    tables = [_answer_table(first, by_answers)]
    if by_models:
        rows = tuple((name, *_cells(coefficient)) for name, coefficient in by_models.items())
        title = f"Correlation with {first} over the means of models"
        tables.append(finding_table("models", title, ("method", *_COLUMNS), rows))
    return Finding(
        "correlate",
        _answer(table, by_answers, by_models),
        _words(table),
        tuple(tables),
        tuple(_pictures(table, by_answers)),
        (*table.values.notes, *_coverage(table)),
        question=f"Which methods agree with {first}?",
    )


def _by_part(table: CorrelatedMethods, first: str, name: str) -> dict[str, Coefficient]:
    x, y = table.columns[first], table.columns[name]
    places = table.grid.answers_of_parts
    parts = places if len(places) > 1 else {}
    return {"all": table.over_answers(x, y), **{part: table.over_answers(x, y, own) for part, own in parts.items()}}


def _answer(
    table: CorrelatedMethods, by_answers: Mapping[str, Mapping[str, Coefficient]], by_models: Mapping[str, Coefficient]
) -> str:
    first, n = table.names[0], len(table.places)
    known = {name: parts["all"] for name, parts in by_answers.items() if parts["all"].value.value is not None}
    if not known:
        return f"Over {n:,} answers nothing correlates with {first}, because all values of a method are the same."
    # Equal weights hardly change a checklist score, so another method is named if there is one.
    telling = {name for name in known if {first, name} != {"checklist", "avg-c"}} or known
    best = max(telling, key=lambda name: known[name].value.value or 0.0)
    words = f"Over {n:,} answers {best} goes best with {first}: Spearman {_shown(known[best].value)}"
    over_models = by_models.get(best)
    if over_models is not None and over_models.value.value is not None:
        words += f", and {_shown(over_models.value)} over {over_models.n} models"
    low = known[best].value.low
    return words + ("; that may be chance." if low is not None and low <= 0 else ".")


def _shown(figure: Estimate) -> str:
    return f"{figure.value or 0.0:.3f}{figure.between(3)}"


def _words(table: CorrelatedMethods) -> str:
    words = (
        f"Compared are {len(table.names)} methods on the same {len(table.places):,} answers of "
        f"{counted(len(table.grid.models), 'model')} to {len(table.grid.tasks):,} tasks: {', '.join(table.names)}. "
        f"P-values treat answers as independent, although answers to the same task are not.{table.grid.words}"
    )
    signature = f" Signature of the checklist scores: {table.values.signature}" if table.values.signature else ""
    return words + signature


def _coverage(table: CorrelatedMethods) -> list[str]:
    n = len(table.places)
    return [
        f"{len(values) - n:,} of {len(values):,} values by {name} are left out: not every method has these answers"
        for name in table.names
        if len(values := table.values.methods[name]) > n
    ]


_COLUMNS = ("n", "Spearman", "low", "high", "p")


def _cells(coefficient: Coefficient) -> tuple[Cell, ...]:
    return coefficient.n, *coefficient.value.cells, coefficient.p


def _answer_table(first: str, by_answers: Mapping[str, Mapping[str, Coefficient]]) -> Table:
    order = sorted(by_answers, key=lambda name: -(by_answers[name]["all"].value.value or -2.0))
    rows = [(name, part, *_cells(coefficient)) for name in order for part, coefficient in by_answers[name].items()]
    rows.sort(key=lambda row: row[1] != "all")
    return finding_table(
        "answers", f"Correlation with {first} over answers", ("method", "part", *_COLUMNS), tuple(rows)
    )


def _pictures(table: CorrelatedMethods, by_answers: Mapping[str, Mapping[str, Coefficient]]) -> list[Picture]:
    known = [(name, parts["all"].value) for name, parts in by_answers.items() if parts["all"].value.value is not None]
    known.sort(key=lambda item: -(item[1].value or 0.0))
    pictures = []
    if known:
        title = f"Correlation with {table.names[0]} over answers"
        pictures.append(Picture("answers", title, ranges_of(known, "Spearman")))
    return pictures

"""`correlate`: correlations of methods of scoring answers, over answers and over models.

Coefficients are Spearman's. Intervals are from draws of whole tasks within each area, because the answers of all models
to a task depend on one another; p-values, as in the literature, treat answers as independent. The interval over models
holds the mean correlation over samples of as many tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ...errors import ChecklistError
from ...experiments.finding import Cell, Finding, Picture, Table
from ...files.untrusted_text import counted, unknown_name
from ...statistics.correlation import Floats, p_value, resampled_spearman, spearman, spearman_rows
from .answer_grid import AnswerGrid, Estimate, Ints, grid_fields, matrix_of_pairs, ranges_of
from .method_values import PEOPLE, Place, Values

MIN_ANSWERS = 3
"""Fewer answers have no correlation."""


@dataclass(frozen=True)
class Coefficient:
    """A correlation."""

    n: int
    value: Estimate
    p: float | None


@dataclass(frozen=True, eq=False)
class Correlated:
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
        one, other = x[answers], y[answers]
        value = spearman(one, other) if len(answers) >= MIN_ANSWERS else None
        draws = resampled_spearman(one, other, clusters, self.grid.counts[:, used])
        p = None if value is None else p_value(value, len(answers))
        return Coefficient(len(answers), self.grid.estimate(value, draws, used), p)

    @cached_property
    def model_means(self) -> dict[str, tuple[tuple[str, ...], Floats, Floats]]:
        """By method: the areas, the mean of each model with equal weights of areas, and these means in each draw."""
        return {name: self.grid.averages(column) for name, column in self.columns.items()}

    def over_models(self, one: str, other: str) -> Coefficient:
        """The correlation of two methods over the means of models."""
        (parts, x, x_draws), (_, y, y_draws) = self.model_means[one], self.model_means[other]
        value = spearman(x, y) if len(x) >= MIN_ANSWERS and not np.isnan(x).any() else None
        tasks, draws = self.grid.tasks_of(parts), spearman_rows(x_draws, y_draws)
        of_order = self.grid.estimate(value, draws, tasks, scale="linear", bounds=(-1.0, 1.0))
        return Coefficient(len(x), of_order, None if value is None else p_value(value, len(x)))


def correlated(
    values: Values,
    *,
    against: str | None = None,
    methods: Sequence[str] | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Correlated:
    """Compares methods on the answers for which all of them have a value."""
    known = list(values.methods)
    first = against or (PEOPLE if PEOPLE in known else known[0])
    for name in (first, *(methods or ())):
        if name not in known:
            raise ChecklistError(unknown_name("method", name, known))
    names = tuple(dict.fromkeys((first, *(methods or known))))
    if len(names) < 2:
        raise ChecklistError(
            f"{first} alone: a correlation needs two methods; expected --metrics, --marks, --ngram or judgements by "
            "other methods"
        )
    places = values.common(names)
    tasks = dict.fromkeys(values.suite.by_key[key[:2]] for _, key in places)
    grid = AnswerGrid(**grid_fields(values.suite, places, tasks), n_draws=draws, seed=seed)
    return Correlated(values, names, tuple(places), grid)


def correlate(found: Correlated) -> Finding:
    """The correlations of methods in words, tables and pictures."""
    first, *others = found.names
    of_answers = {name: _by_part(found, first, name) for name in others}
    of_models = (
        {name: found.over_models(first, name) for name in others} if len(found.grid.models) >= MIN_ANSWERS else {}
    )
    tables = [_answer_table(first, of_answers)]
    if of_models:
        rows = tuple((name, *_cells(one)) for name, one in of_models.items())
        title = f"Correlation with {first} over the means of models"
        tables.append(Table("models", title, ("method", *_COLUMNS), rows))
    tables += [_pair_table(found), *_question_tables(found)]
    return Finding(
        "correlate",
        _answer(found, of_answers, of_models),
        _words(found),
        tuple(tables),
        tuple(_pictures(found, of_answers)),
        (*found.values.notes, *_coverage(found)),
        question=f"Which methods agree with {first}?",
    )


def _by_part(found: Correlated, first: str, name: str) -> dict[str, Coefficient]:
    x, y = found.columns[first], found.columns[name]
    of_parts = found.grid.answers_of_parts
    parts = of_parts if len(of_parts) > 1 else {}
    return {"all": found.over_answers(x, y), **{part: found.over_answers(x, y, of) for part, of in parts.items()}}


def _answer(
    found: Correlated, of_answers: Mapping[str, Mapping[str, Coefficient]], of_models: Mapping[str, Coefficient]
) -> str:
    first, n = found.names[0], len(found.places)
    known = {name: parts["all"] for name, parts in of_answers.items() if parts["all"].value.value is not None}
    if not known:
        return f"Over {n:,} answers nothing correlates with {first}, because all values of a method are the same."
    # Equal weights hardly change a checklist score, so another method is named if there is one.
    telling = {name for name in known if {first, name} != {"checklist", "avg-c"}} or known
    best = max(telling, key=lambda name: known[name].value.value or 0.0)
    words = f"Over {n:,} answers {best} goes best with {first}: Spearman {_shown(known[best].value)}"
    over_models = of_models.get(best)
    if over_models is not None and over_models.value.value is not None:
        words += f", and {_shown(over_models.value)} over {over_models.n} models"
    low = known[best].value.low
    return words + ("; that may be chance." if low is not None and low <= 0 else ".")


def _shown(figure: Estimate) -> str:
    return f"{figure.value or 0.0:.3f}{figure.between(3)}"


def _words(found: Correlated) -> str:
    words = (
        f"Compared are {len(found.names)} methods on the same {len(found.places):,} answers of "
        f"{counted(len(found.grid.models), 'model')} to {len(found.grid.tasks):,} tasks: {', '.join(found.names)}. "
        f"P-values treat answers as independent, although answers to the same task are not.{found.grid.words}"
    )
    signature = f" Signature of the checklist scores: {found.values.signature}" if found.values.signature else ""
    return words + signature


def _coverage(found: Correlated) -> list[str]:
    n = len(found.places)
    return [
        f"{len(of_method) - n:,} of {len(of_method):,} values by {name} are left out: not every method has these "
        "answers"
        for name in found.names
        if len(of_method := found.values.methods[name]) > n
    ]


_COLUMNS = ("n", "Spearman", "low", "high", "p")


def _cells(one: Coefficient) -> tuple[Cell, ...]:
    return one.n, *one.value.cells, one.p


def _answer_table(first: str, of_answers: Mapping[str, Mapping[str, Coefficient]]) -> Table:
    order = sorted(of_answers, key=lambda name: -(of_answers[name]["all"].value.value or -2.0))
    rows = [(name, part, *_cells(one)) for name in order for part, one in of_answers[name].items()]
    rows.sort(key=lambda row: row[1] != "all")
    return Table("answers", f"Correlation with {first} over answers", ("method", "part", *_COLUMNS), tuple(rows))


def _pair_table(found: Correlated) -> Table:
    rows = tuple(
        (one, other, *_cells(found.over_answers(found.columns[one], found.columns[other])))
        for place, one in enumerate(found.names)
        for other in found.names[place + 1 :]
    )
    return Table("pairs", "Every two methods over answers", ("first", "second", *_COLUMNS), rows)


def _question_tables(found: Correlated) -> list[Table]:
    """Each question of the checklists against each method without a checklist."""
    verdicts = found.values.verdicts
    others = [name for name in found.names if name not in ("checklist", "avg-c")]
    if not others or any(place not in verdicts for place in found.places):
        return []
    rows: list[tuple[Cell, ...]] = []
    for (area, category), checklist in found.values.suite.checklists.items():
        tasks = {task.key for task in found.values.suite.tasks if task.place == (area, category)}
        answers = np.array([n for n, (_, key) in enumerate(found.places) if key[:2] in tasks], dtype=np.int64)
        for number, text in enumerate(checklist.questions if len(answers) else ()):
            column = np.full(len(found.places), math.nan)
            column[answers] = [verdicts[found.places[answer]][number] for answer in answers.tolist()]
            for name in others:
                one = found.over_answers(column, found.columns[name], answers)
                rows.append((area, category, number + 1, name, *_cells(one), text))
    columns = ("area", "category", "number", "method", *_COLUMNS, "question")
    return [Table("questions", "Questions of the checklists against other methods", columns, tuple(rows), 3)]


def _pictures(found: Correlated, of_answers: Mapping[str, Mapping[str, Coefficient]]) -> list[Picture]:
    known = [(name, parts["all"].value) for name, parts in of_answers.items() if parts["all"].value.value is not None]
    known.sort(key=lambda item: -(item[1].value or 0.0))
    pictures = []
    if known:
        title = f"Correlation with {found.names[0]} over answers"
        pictures.append(Picture("answers", title, ranges_of(known, "Spearman")))
    if len(found.names) > 2:
        columns = list(found.columns.values())
        pairs = {(i, j): spearman(columns[i], columns[j]) for j, i in combinations(range(len(columns)), 2)}
        matrix = matrix_of_pairs(found.names, pairs, "Spearman", lowest=-1.0)
        pictures.append(Picture("pairs", "Every two methods over answers", matrix))
    return pictures

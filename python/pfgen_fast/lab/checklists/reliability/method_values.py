"""Values of answers by several methods: checklists, overall ratings, metrics, people, n-grams and a judge.

A method assigns numbers to some answers. Methods are compared on the answers for which all of them have a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ....base.errors import ChecklistError
from ....base.untrusted_json import checked
from ....scoring.scorer import Scorer
from ....suite.suite import Suite
from ...statistics.correlation import COMPARED_DIGITS, Floats
from ..checklist_runs import Answer, Run
from ..checklist_suite import ChecklistSuite
from ..judgements import AnswerKey, Method
from ..line_files import OnFault, number_in_cell, rows_of_table
from ..people.marks import MarkedAnswer, Scale
from ..people.people_reading import read_marks, task_of_row
from ..scoring.checklist_scoring import score_runs
from ..scoring.scores import Scores

Place = tuple[str, AnswerKey]
"""The key of a run, and an answer of it."""

PEOPLE = "people"
NGRAM_SCORES = ("fluency", "truthfulness", "helpfulness")

_OVERALL: tuple[Method, ...] = ("llm-eval", "llm-eval-c")
_KEY_COLUMNS = ("model", "id", "length", "trial", "area", "category")


@dataclass(frozen=True, eq=False)
class Values:
    """The values of answers by several methods."""

    suite: ChecklistSuite
    methods: Mapping[str, Mapping[Place, float]]
    verdicts: Mapping[Place, Sequence[float]] = field(default_factory=dict)
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
    scored = score_runs(suite, runs, judge=judge, mixed=mixed, on_fault=on_fault)
    methods = {"checklist": _values(scored, "score"), "avg-c": _values(scored, "plain")}
    if all(len(set(checklist.weights)) == 1 for checklist in suite.checklists.values()):
        del methods["avg-c"]  # with equal weights, `avg-c` equals `checklist`
    rows = (row for run in runs for row in run.judgements(suite, with_reasons=False, on_fault=on_fault))
    present = {row.method for row in rows}
    for method in _OVERALL:
        if method in present:
            scores = score_runs(suite, runs, method=method, judge=judge, mixed=mixed, on_fault=on_fault)
            methods[method] = {
                (model.model, answer.key): answer.verdicts[0] for model in scores.models for answer in model.answers
            }
    verdicts = {(model.model, answer.key): answer.verdicts for model in scored.models for answer in model.answers}
    notes = (*scored.notes, *scored.left_out)
    return Values(suite, methods, verdicts, notes, scored.models[0].signature)


def metric_values(path: Path, suite: ChecklistSuite) -> dict[str, dict[Place, float]]:
    """The metrics in a table of `checklists metrics -o`, or in any table with model, id and columns of numbers."""
    columns: dict[str, dict[Place, float]] = {}
    for where, row in rows_of_table(path):
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


def ngram_values(runs: Sequence[Run], suite: ChecklistSuite, ngram_suite: Suite) -> dict[str, dict[Place, float]]:
    """The n-gram scores of answers; the IDs of tasks are those of the questions of the n-gram suite."""
    listed = _asked(runs, suite, ngram_suite)
    if not listed:
        raise ChecklistError(
            "no run has an answer to a question of the n-gram suite; expected runs that 'checklists import' made"
        )
    places, answers, questions = zip(*listed, strict=True)
    table = Scorer(ngram_suite).score(list(questions), [answer.response for answer in answers])
    return {f"n-gram {name}": dict(zip(places, getattr(table, name).tolist(), strict=True)) for name in NGRAM_SCORES}


def _values(scores: Scores, figure: str) -> dict[Place, float]:
    return {(model.model, answer.key): getattr(answer, figure) for model in scores.models for answer in model.answers}


def _asked(runs: Sequence[Run], suite: ChecklistSuite, ngram_suite: Suite) -> list[tuple[Place, Answer, str]]:
    """The answers to questions of an n-gram suite, with their questions."""
    questions = {question.question_id: question.question for question in ngram_suite}
    return [
        ((run.key, key), answer, questions[answer.id])
        for run in runs
        for key, answer in run.answers(suite, on_fault=_is_named).items()
        if answer.id in questions
    ]


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

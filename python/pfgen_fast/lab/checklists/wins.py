"""Win rates of models: by the scores of their answers to the same tasks, or by the choices of people.

A tie counts as half a win. Intervals (95 %) treat comparisons on one task as dependent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

from ...base.errors import ChecklistError
from ...base.untrusted_text import in_one_line, unknown_name
from ..finding import Finding, finding_table
from ..statistics.intervals_of_draws import clustered_rate
from .answer_grid import Estimate
from .checklist_runs import Run
from .checklist_scoring import ChecklistScores, score_judged_runs
from .checklist_suite import ChecklistSuite
from .marks import MarkedAnswer, PairChoice, read_people
from .tasks import TaskKey

_EQUAL = 1e-9

JUDGE, PEOPLE = "judge", "people"


@dataclass(frozen=True)
class ComparedAnswers:
    """One comparison of the answers of two models to a task."""

    task: TaskKey
    models: tuple[str, str]
    sign: int  # 1 if the first model wins, -1 if the second wins, 0 for a tie


@dataclass(frozen=True)
class WinRate:
    """How often a model wins against another, in percent."""

    model: str
    against: str
    source: str
    n: int
    n_ties: int
    rate: Estimate


def by_scores(scores: ChecklistScores) -> Iterator[ComparedAnswers]:
    """Compares the scores of each two models on each answer to the same task."""
    rows = {model.model: {row.key: row for row in model.answers if row.task.length is None} for model in scores.models}
    for first, second in combinations(rows, 2):
        for key, row in rows[first].items():
            if key in rows[second]:
                difference = row.score - rows[second][key].score
                sign = 0 if abs(difference) <= _EQUAL else 1 if difference > 0 else -1
                yield ComparedAnswers(key[:2], (first, second), sign)


def by_people(pairs: Sequence[PairChoice], suite: ChecklistSuite, runs: Sequence[Run]) -> Iterator[ComparedAnswers]:
    """The choices of people between answers of two runs; equal answers of several models stand for all of them."""
    models: dict[MarkedAnswer, list[str]] = {}
    for run in runs:
        for answer in run.answers(suite).values():
            models.setdefault((answer.id, answer.length, answer.sha256), []).append(run.key)
    for pair in pairs:
        answers = ((pair.id, pair.length, sha256) for sha256 in (pair.first_sha256, pair.second_sha256))
        for model, other in product(*(models.get(answer, ()) for answer in answers)):
            if model != other:
                sign = {"first": 1, "second": -1, "tie": 0}[pair.choice]
                yield ComparedAnswers((pair.id, pair.length), (model, other), sign)


def win_rates(source: str, comparisons: Iterable[ComparedAnswers], *, reference: str | None = None) -> list[WinRate]:
    """The win rates of all models against the reference, or of each two models, the best first."""
    by_pair: dict[tuple[str, str], list[tuple[TaskKey, int]]] = {}
    for row in comparisons:
        by_pair.setdefault(row.models, []).append((row.task, row.sign))
        by_pair.setdefault(row.models[::-1], []).append((row.task, -row.sign))
    models = dict.fromkeys(model for model, _ in by_pair)
    if not models:
        raise ChecklistError(f"by {source}: no two models have answers to the same task; expected runs on one suite")
    if reference is not None and reference not in models:
        raise ChecklistError(f"--reference: {unknown_name('model', reference, models)}")
    rates = []
    for (model, other), signs in by_pair.items():
        if reference in (None, other):
            share = clustered_rate([(sign + 1) / 2 for _, sign in signs], [task for task, _ in signs])
            n_ties = sum(sign == 0 for _, sign in signs)
            rates.append(WinRate(model, other, source, len(signs), n_ties, Estimate(*(100 * end for end in share))))
    return sorted(rates, key=lambda row: (row.against, -(row.rate.value or 0.0)))


def find_wins(
    suite: ChecklistSuite,
    runs: Sequence[Run],
    *,
    pairs: Sequence[Path] = (),
    reference: str | None = None,
    **of_judge: Any,
) -> Finding:
    """Win rates by the judge of the runs, and by the choices of people in files."""
    rates: list[WinRate] = []
    notes: list[str] = []
    signature = f"suite:{suite.name} {suite.hash}"
    judged = [run for run in runs if run.judgements_path is not None]
    if len(judged) > 1:
        scores = score_judged_runs(suite, judged, **of_judge)
        notes += [*scores.notes, *scores.left_out]
        signature = scores.models[0].signature
        rates += win_rates(JUDGE, by_scores(scores), reference=reference)
    if pairs:
        people = read_people(pairs, suite)
        notes += people.notes
        rates += win_rates(PEOPLE, by_people(people.pairs, suite, runs), reference=reference)
    if not rates:
        raise ChecklistError("expected at least two judged runs, or choices of people (--pairs)")
    best = {row.source: row for row in sorted(rates, key=lambda row: row.rate.value or 0.0)}
    sentence = "; ".join(
        f"by {row.source}, {in_one_line(row.model, 60)} has the highest win rate against "
        f"{in_one_line(row.against, 60)}: {row.rate.value:.1f} %{row.rate.between(1)}"
        for row in best.values()
    )
    columns = ("model", "against", "by", "comparisons", "ties", "win rate", "low", "high")
    cells = [(row.model, row.against, row.source, row.n, row.n_ties, *row.rate.cells) for row in rates]
    return Finding(
        "wins",
        f"{sentence[0].upper()}{sentence[1:]}.",
        f"A tie counts as half a win. Intervals (95 %) treat answers to one task as dependent. Signature: {signature}",
        (finding_table("rates", "Win rates in percent", columns, cells, 1),),
        (),
        tuple(notes),
        question="How often is a model better than another?",
    )

"""Win rates of models: by the scores of their answers to the same tasks, or by the choices of people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...base.arrays import Ints
from ...base.errors import ChecklistError
from ...base.table import Table
from ...base.untrusted_text import counted, in_one_line, unknown_name
from ..chart_data import Matrix
from ..finding import Cell, Finding, Picture, finding_table
from ..statistics.intervals_of_draws import Scale, bootstrap_counts, clustered_rate, drawn_rate, interval_of_draws
from ..statistics.least_squares import FEWEST_CLUSTERS, WinRates, win_rates
from .answer_grid import Estimate, ranges_of, with_ends
from .checklist_runs import Run
from .checklist_scoring import ChecklistScores, score_judged_runs
from .checklist_suite import ChecklistSuite
from .marks import MarkedAnswer, PairChoice, read_people
from .tasks import TaskKey
from .words import count_words, counter_there

Ties = Literal["half", "skip", "win", "loss"]
"""Whether a tie counts as half a win, is left out, or counts as a win or as a loss of both models."""

_VALUES: Mapping[Ties, float] = {"half": 0.5, "skip": math.nan, "win": 1.0, "loss": 0.0}
_EQUAL = 1e-9

JUDGE, PEOPLE = "judge", "people"


@dataclass(frozen=True)
class ComparedAnswers:
    """One comparison of the answers of two models to a task."""

    task: TaskKey
    models: tuple[str, str]
    sign: int  # 1 if the first model wins, -1 if the second wins, 0 for a tie
    ratio: float  # logarithm of the ratio of the numbers of words; NaN if unknown


def by_scores(scores: ChecklistScores) -> list[ComparedAnswers]:
    """Compares the scores of each two models on each answer to the same task."""
    rows = {model.model: {row.key: row for row in model.answers if row.task.length is None} for model in scores.models}
    return [
        ComparedAnswers(key[:2], (first, second), _sign(row.score - other.score), _ratio(row.words, other.words))
        for first, second in combinations(rows, 2)
        for key, row in rows[first].items()
        if (other := rows[second].get(key)) is not None
    ]


def by_people(pairs: Sequence[PairChoice], suite: ChecklistSuite, runs: Sequence[Run]) -> list[ComparedAnswers]:
    """The choices of people between answers of two runs."""
    texts: dict[MarkedAnswer, str] = {}
    models: dict[MarkedAnswer, list[str]] = {}  # equal answers of several models stand for all of them
    for run in runs:
        for answer in run.answers(suite).values():
            key = answer.id, answer.length, answer.sha256
            texts[key] = answer.response
            models.setdefault(key, []).append(run.key)
    n_words = cache(partial(count_words, counter=counter_there(suite.words)))
    signs = {"first": 1, "second": -1, "tie": 0}
    comparisons = []
    for pair in pairs:
        first, second = pair.answers
        if texts.keys() >= {first, second}:
            ratio = _ratio(n_words(texts[first]), n_words(texts[second]))
            for model, other in product(models[first], models[second]):
                if model != other:
                    comparisons.append(
                        ComparedAnswers((pair.id, pair.length), (model, other), signs[pair.choice], ratio)
                    )
    return comparisons


def _ratio(n_words: int | None, n_others: int | None) -> float:
    """The logarithm of the ratio of two answers' lengths."""
    return math.nan if n_words is None or n_others is None else math.log((n_words + 1) / (n_others + 1))


def _sign(difference: float) -> int:
    return 0 if abs(difference) <= _EQUAL else 1 if difference > 0 else -1


@dataclass(frozen=True, eq=False)
class Wins:
    """Win rates of pairs of models by one source."""

    source: str
    pairs: tuple[tuple[str, str], ...]
    figures: WinRates
    rates: tuple[Estimate, ...]  # of the first model of each pair
    n_ties: tuple[int, ...]
    n_tasks: int
    tasks: tuple[Ints, ...]  # the numbers of each pair's tasks

    def controlled(self, number: int) -> Estimate:
        """The length-controlled win rate."""
        return self._percent(
            self.figures.controlled[number], self.figures.controlled_draws[:, number], len(self.tasks[number]), "share"
        )

    def mean(self, numbers: Sequence[int]) -> tuple[Estimate, Estimate]:
        """The means of the win rates and of the length-controlled win rates of several pairs."""
        figures, n_tasks = self.figures, len(np.unique(np.concatenate([self.tasks[number] for number in numbers])))
        draws = figures.rate_draws[:, numbers].mean(axis=1)
        share = drawn_rate(float(figures.rates[numbers].mean()), draws[~np.isnan(draws)].tolist(), n_tasks)
        controlled, drawn = figures.controlled[numbers].mean(), figures.controlled_draws[:, numbers].mean(axis=1)
        return Estimate(*share).times(100), self._percent(controlled, drawn, n_tasks, "share")

    @property
    def slope(self) -> Estimate:
        """The change of the win rate, in percent, if the one answer is twice as long."""
        figures, n_tasks = self.figures, len(np.unique(np.concatenate(self.tasks)))
        return self._percent(figures.slope * math.log(2), figures.slope_draws * math.log(2), n_tasks, "linear")

    @staticmethod
    def _percent(value: float, draws: np.ndarray, n_tasks: int, scale: Scale) -> Estimate:
        if math.isnan(value):
            return Estimate(None)
        ends = interval_of_draws(float(value), draws, n_tasks, scale=scale)
        return Estimate(float(value), *ends).times(100)


def wins(
    source: str,
    comparisons: Sequence[ComparedAnswers],
    *,
    reference: str | None = None,
    ties: Ties = "half",
    draws: int = 1000,
    seed: int = 0,
) -> Wins:
    """The win rates of all models against the reference, or of each two models."""
    if not comparisons:
        raise ChecklistError(f"by {source}: no two models have answers to the same task; expected runs on one suite")
    models = list(dict.fromkeys(model for row in comparisons for model in row.models))
    if reference is not None and reference not in models:
        raise ChecklistError(f"--reference: {unknown_name('model', reference, models)}")
    wanted = [pair for pair in permutations(models, 2) if reference in (None, pair[1])]
    numbers = {pair: number for number, pair in enumerate(wanted)}
    tasks = {task: number for number, task in enumerate(dict.fromkeys(row.task for row in comparisons))}
    rows = [
        (numbers[pair], tasks[row.task], sign, ratio)
        for row in comparisons
        for pair, sign, ratio in ((row.models, row.sign, row.ratio), (row.models[::-1], -row.sign, -row.ratio))
        if pair in numbers
    ]
    pairs, task_numbers, signs, ratios = map(np.array, zip(*rows, strict=True))
    y = np.where(signs == 0, _VALUES[ties], (signs + 1) / 2)
    kept = ~np.isnan(y)
    if not kept.any():
        n = counted(len(rows) if reference is not None else len(rows) // 2, "comparison")
        raise ChecklistError(f"by {source}: no comparison is left of {n}: all are ties, which --ties skip leaves out")
    counts = bootstrap_counts(len(tasks), draws, seed=seed)
    figures = win_rates(y[kept], ratios[kept].astype(np.float64), pairs[kept], len(wanted), task_numbers[kept], counts)
    n_ties = np.bincount(pairs[signs == 0], minlength=len(wanted)).tolist()
    rates, own_tasks = [], []
    for number in range(len(wanted)):
        own = pairs[kept] == number
        own_tasks.append(np.unique(task_numbers[kept][own]))
        share = clustered_rate(y[kept][own].tolist(), task_numbers[kept][own].tolist()) if own.any() else (None,) * 3
        rates.append(Estimate(*share).times(100))
    return Wins(source, tuple(wanted), figures, tuple(rates), tuple(n_ties), len(tasks), tuple(own_tasks))


def find_wins(
    suite: ChecklistSuite,
    runs: Sequence[Run],
    *,
    pairs: Sequence[Path] = (),
    reference: str | None = None,
    ties: Ties = "half",
    draws: int = 1000,
    seed: int = 0,
    **of_judge: Any,
) -> Finding:
    """Win rates by the judge of the runs, and by the choices of people in files."""
    compared: dict[str, list[ComparedAnswers]] = {}
    notes: list[str] = []
    signature = f"suite:{suite.name} {suite.hash}"
    judged = [run for run in runs if run.judgements_path is not None]
    if len(judged) > 1:
        scores = score_judged_runs(suite, judged, **of_judge)
        notes += [*scores.notes, *scores.left_out]
        signature = scores.models[0].signature
        compared[JUDGE] = by_scores(scores)
    if pairs:
        people = read_people(pairs, suite, runs=runs)
        if not people.pairs:
            raise ChecklistError("no choices between two answers; expected exports of 'annotate --ask pairs'")
        notes += people.notes
        compared[PEOPLE] = by_people(people.pairs, suite, runs)
    if not compared:
        raise ChecklistError("expected at least two judged runs, or choices of people (--pairs)")
    rates = [
        wins(name, rows, reference=reference, ties=ties, draws=draws, seed=seed) for name, rows in compared.items()
    ]
    signature += f"|ties:{ties}|draws:{draws}|seed:{seed}"
    tables = [_rates(rates), *(map(_means, rates) if reference is None else ())]
    return Finding(
        "wins",
        _answer(rates),
        _words(rates, ties, signature),
        tuple(tables),
        tuple(_matrix(source) if reference is None else _ranges(source, reference) for source in rates),
        tuple(notes),
        question="How often is a model better than another?",
        runs=tuple(dict.fromkeys(model for source in rates for pair in source.pairs for model in pair)),
    )


_RATES = ("win rate", "low", "high", *with_ends(("length-controlled",)))


def _rates(sources: Sequence[Wins]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for wins in sources:
        listed = [
            (
                *(*pair, wins.source, int(wins.figures.n[number]), wins.n_ties[number]),
                *(*wins.rates[number].cells, *wins.controlled(number).cells),
            )
            for number, pair in enumerate(wins.pairs)
            if wins.figures.n[number] or wins.n_ties[number]
        ]
        rows += sorted(listed, key=lambda row: (row[1], -float(row[5] or 0)))
    columns = ("model", "against", "by", "comparisons", "ties", *_RATES)
    return finding_table("rates", "Win rates in percent", columns, tuple(rows), 1)


def _means(wins: Wins) -> Table:
    models = list(dict.fromkeys(model for model, _ in wins.pairs))
    rows: list[tuple[Cell, ...]] = []
    for model in models:
        numbers = [number for number, pair in enumerate(wins.pairs) if pair[0] == model and wins.figures.n[number]]
        if numbers:
            rate, controlled = wins.mean(numbers)
            rows.append((model, len(numbers), *rate.cells, *controlled.cells))
    rows.sort(key=lambda row: -float(row[2] or 0))
    title = f"Mean win rates against all others, by {wins.source}, in percent"
    return finding_table(f"means-{wins.source}", title, ("model", "opponents", *_RATES), tuple(rows), 1)


def _matrix(wins: Wins) -> Picture:
    models = tuple(dict.fromkeys(model for model, _ in wins.pairs))
    values = np.full((len(models), len(models)), np.nan)
    for number, (model, other) in enumerate(wins.pairs):
        values[models.index(model), models.index(other)] = wins.figures.rates[number]
    title = f"Win rate of the model in the row against that in the column, by {wins.source}"
    return Picture(f"wins-{wins.source}", title, Matrix(models, models, values, "win rate", 0.0, 1.0, 2))


def _ranges(wins: Wins, reference: str) -> Picture:
    shown = [(pair[0], wins.rates[number]) for number, pair in enumerate(wins.pairs) if wins.figures.n[number]]
    shown.sort(key=lambda row: -float(row[1].value or 0))
    label = f"win rate against {reference}, in percent"
    return Picture(f"wins-{wins.source}", f"Win rates against {reference}, by {wins.source}", ranges_of(shown, label))


def _answer(sources: Sequence[Wins]) -> str:
    parts = []
    for wins in sources:
        rates = {pair: wins.rates[number] for number, pair in enumerate(wins.pairs) if wins.figures.n[number]}
        (model, other), best = max(rates.items(), key=lambda pair_rate: float(pair_rate[1].value or 0))
        parts.append(
            f"by {wins.source}, {in_one_line(model, 60)} has the highest win rate against {in_one_line(other, 60)}: "
            f"{best.value:.1f} %{best.between(1)}"
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _words(sources: Sequence[Wins], ties: Ties, signature: str) -> str:
    how = {
        "half": "A tie counts as half a win.",
        "skip": "Ties are left out.",
        "win": "A tie counts as a win of both models.",
        "loss": "A tie counts as a loss of both models.",
    }
    parts = [how[ties]]
    for wins in sources:
        n = int(wins.figures.n.sum()) if wins.pairs[0][1] == wins.pairs[-1][1] else int(wins.figures.n.sum()) // 2
        parts.append(f"By {wins.source}: {n:,} comparisons on {counted(wins.n_tasks, 'task')}.")
        if wins.slope.value is None:
            parts.append(
                f"Length-controlled win rates need {FEWEST_CLUSTERS} tasks, and answers with known, different lengths."
            )
        else:
            parts.append(
                f"An answer twice as long as the other wins {wins.slope.value:+.1f}{wins.slope.between(1)} percentage "
                "points more often; length-controlled win rates leave this out."
            )
    parts.append("Intervals (95 %) treat answers to one task as dependent.")
    return f"{' '.join(parts)} Signature: {signature}"

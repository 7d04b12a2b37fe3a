"""Win rates of models: which of two answers to a task is better, by the verdicts of a judge or by people's choices.

From verdicts, the answer with the higher score wins; scores that differ by rounding tie. Comparisons of one task are
not independent, so intervals are clustered by task. At equal lengths: `statistics.length_control`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Literal

import numpy as np

from ...errors import ChecklistError
from ...files.untrusted_text import counted, few_names, unknown_name
from ...statistics.length_control import MIN_CLUSTERS, LengthControl, length_control
from ...statistics.mean_interval import mean_interval
from ...statistics.rates import clustered_rate
from ..people.marks import Choice, MarkedAnswer, Pair
from ..runs import Run
from ..scoring.scores import Scores
from ..suite import ChecklistSuite
from ..tasks import TaskKey
from ..words import count_words, counter_there
from .answer_grid import Estimate

Ties = Literal["half", "skip", "win", "loss"]
"""A tie is half a win, is left out, is a win or is a loss."""

_ROUNDING = 1e-9 * 100
_OUTCOMES: Mapping[Choice, float] = {"first": 1.0, "second": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class Compared:
    """A comparison of the answers of two models to a task."""

    task: TaskKey
    area: str
    first: int  # number of the model
    second: int  # a higher number
    outcome: float  # 1 if the first one wins, 0 if the second one wins, 0.5 for a tie
    difference: float  # length of the first answer minus length of the second answer; NaN if unknown


@dataclass(frozen=True)
class WinRate:
    """How often a model wins against another model, or against all other models."""

    model: str
    other: str | None
    n_tasks: int
    n_wins: int
    n_ties: int
    n_losses: int
    rate: Estimate
    at_equal_lengths: Estimate
    difference: float | None  # mean difference of lengths

    @property
    def n(self) -> int:
        """The number of comparisons."""
        return self.n_wins + self.n_ties + self.n_losses


@dataclass(frozen=True, eq=False)
class Wins:
    """Comparisons of models from one source."""

    source: Literal["verdicts", "people"]
    models: tuple[str, ...]
    compared: tuple[Compared, ...]
    ties: Ties = "half"
    notes: tuple[str, ...] = ()

    @cached_property
    def by_pair(self) -> dict[tuple[int, int], list[Compared]]:
        """The comparisons of each pair of models."""
        found: dict[tuple[int, int], list[Compared]] = {}
        for one in self.compared:
            found.setdefault((one.first, one.second), []).append(one)
        return found

    @cached_property
    def control(self) -> LengthControl | None:
        """The rates of the pairs at equal lengths, in the order of `by_pair`; None if `why_uncontrolled` tells why."""
        if self.ties in ("win", "loss"):
            return None
        places = {pair: place for place, pair in enumerate(self.by_pair)}
        kept = [one for one in self.compared if self._value(one.outcome) is not None]
        tasks = {task: place for place, task in enumerate(dict.fromkeys(one.task for one in kept))}
        columns = [(one.outcome, one.difference, places[one.first, one.second], tasks[one.task]) for one in kept]
        if any(np.isnan(one.difference) for one in kept):
            return None
        return length_control(*zip(*columns, strict=True)) if columns else None

    @property
    def why_uncontrolled(self) -> str:
        """Why there are no rates at equal lengths."""
        if self.ties in ("win", "loss"):
            return "they need --ties half or skip"
        if any(np.isnan(one.difference) for one in self.compared):
            return "some lengths are unknown"
        return f"the comparisons do not determine the effect of lengths (at least {MIN_CLUSTERS} tasks are needed)"

    def against(self, reference: str) -> list[WinRate]:
        """The rates of all other models against a model, best first."""
        number = self.models.index(reference)
        others = [other for other in range(len(self.models)) if other != number and self.of_pair(other, number)]
        return _best_first(self._rate(other, [number]) for other in others)

    def between_all(self) -> list[WinRate]:
        """The rates of each model against all other models, best first."""
        rates = []
        for number in range(len(self.models)):
            others = [other for other in range(len(self.models)) if other != number and self.of_pair(number, other)]
            rates += [self._rate(number, others)] if others else []
        return _best_first(rates)

    def of_all_pairs(self) -> list[WinRate]:
        """The rate of each model against each other model that it was compared with."""
        return [self._rate(first, [second]) for first, second in self.by_pair]

    def in_areas(self, reference: str) -> dict[str, dict[str, float | None]]:
        """The rates against a model by area."""
        number, found = self.models.index(reference), {}
        for other in range(len(self.models)):
            listed = self.of_pair(other, number)
            areas = dict.fromkeys(one.area for one in listed)
            found[self.models[other]] = {
                area: _mean(self._values([one for one in listed if one.area == area], other)) for area in areas
            }
        return found

    def of_pair(self, one: int, other: int) -> list[Compared]:
        """The comparisons of two models."""
        return self.by_pair.get((min(one, other), max(one, other)), [])

    def _value(self, outcome: float) -> float | None:
        if outcome != 0.5 or self.ties == "half":
            return outcome
        return {"skip": None, "win": 1.0, "loss": 0.0}[self.ties]

    def _values(self, listed: Iterable[Compared], model: int) -> list[float]:
        outcomes = (one.outcome if one.first == model else 1 - one.outcome for one in listed)
        return [value for value in map(self._value, outcomes) if value is not None]

    def _rate(self, model: int, others: Sequence[int]) -> WinRate:
        listed = [one for other in others for one in self.of_pair(model, other)]
        signs = [1 if one.first == model else -1 for one in listed]
        outcomes = [one.outcome if sign > 0 else 1 - one.outcome for one, sign in zip(listed, signs, strict=True)]
        values = list(map(self._value, outcomes))
        tasks = [one.task for one, value in zip(listed, values, strict=True) if value is not None]
        differences = [sign * one.difference for one, sign in zip(listed, signs, strict=True)]
        return WinRate(
            self.models[model],
            self.models[others[0]] if len(others) == 1 else None,
            len({one.task for one in listed}),
            outcomes.count(1.0),
            outcomes.count(0.5),
            outcomes.count(0.0),
            _estimate([value for value in values if value is not None], tasks),
            self._controlled(model, others),
            None if np.isnan(differences).any() else float(np.mean(differences)),
        )

    def _controlled(self, model: int, others: Sequence[int]) -> Estimate:
        """The rate at equal lengths; against several models, the mean of the rates against each of them."""
        if self.control is None:
            return Estimate(None)
        places = {pair: place for place, pair in enumerate(self.by_pair)}
        rates = np.array([self.control.rates[:, places[min(model, o), max(model, o)]] for o in others])
        is_second = np.array(others) < model
        rates[is_second] = 1 - rates[is_second][:, [0, 2, 1]]
        if np.isnan(rates).any():
            return Estimate(None)
        value, low, high = map(float, rates.mean(axis=0))
        return Estimate(value, low, high) if len(others) == 1 else Estimate(value)


def wins_of_verdicts(scores: Scores, *, ties: Ties = "half", reference: str | None = None) -> Wins:
    """Compares the scores of answers to the same task; with a reference, only with the reference's answers."""
    models = tuple(model.model for model in scores.models)
    answers: dict[TaskKey, list[tuple[int, float, float]]] = {}
    areas = {task.key: task.area for task in scores.suite.tasks}
    for number, model in enumerate(scores.models):
        for one in model.answers:
            if one.task.length is None:
                words = np.nan if one.words is None else float(one.words)
                answers.setdefault(one.task.key, []).append((number, one.score, words))
    compared = [
        Compared(task, areas[task], one[0], other[0], _outcome(one[1], other[1]), one[2] - other[2])
        for task, listed in answers.items()
        for one, other in combinations(listed, 2)
        if one[0] != other[0] and (reference is None or reference in (models[one[0]], models[other[0]]))
    ]
    if not compared:
        of = "two models have" if reference is None else "the reference and another model have both"
        raise ChecklistError(f"no task of which {of} a judged answer; expected judgements of the same tasks")
    found = {models[number] for one in compared for number in (one.first, one.second)}
    alone = [model for model in models if model not in found]
    notes = [f"not compared, because no task is common: {few_names(alone)}"] if alone else []
    return Wins("verdicts", models, tuple(compared), ties, tuple(notes))


def wins_of_people(
    pairs: Sequence[Pair],
    suite: ChecklistSuite,
    runs: Sequence[Run],
    *,
    ties: Ties = "half",
    reference: str | None = None,
) -> Wins:
    """Counts people's choices between answers of two models; an answer is recognised by its text."""
    models = tuple(run.key for run in runs)
    holders: dict[MarkedAnswer, dict[int, float]] = {}
    for number, run in enumerate(runs):
        for answer, length in _lengths(run, suite):
            holders.setdefault(answer, {})[number] = length
    compared, unknown = [], []
    for pair in pairs:
        first, second = (holders.get(answer, {}) for answer in pair.answers)
        if not first or not second:
            unknown.append(pair.id)
        for one, other in product(first, second):
            if one != other and (reference is None or reference in (models[one], models[other])):
                outcome, difference = _OUTCOMES[pair.choice], first[one] - second[other]
                if one > other:
                    one, other, outcome, difference = other, one, 1 - outcome, -difference
                compared.append(Compared((pair.id, pair.length), pair.area, one, other, outcome, difference))
    if not compared:
        expected = "two of these runs" if reference is None else "one of these runs and the reference"
        raise ChecklistError(
            f"no people's choice ({counted(len(pairs), 'choice')}) is between answers of {expected}; expected the runs "
            "that the pages of the annotators were made for"
        )
    notes = []
    if unknown:
        which = few_names(list(dict.fromkeys(unknown)))
        notes.append(f"{counted(len(unknown), 'choice')} not used, because no run has both answers: {which}")
    return Wins("people", models, tuple(compared), ties, tuple(notes))


def _lengths(run: Run, suite: ChecklistSuite) -> Iterable[tuple[MarkedAnswer, float]]:
    """The answers of a run with their lengths; from its judgements if it has no answers."""
    counter = counter_there(suite.words)
    answers = run.answers(suite)
    for answer in answers.values():
        yield (answer.id, answer.length, answer.sha256), float(count_words(answer.response, counter))
    if not answers:
        for row in run.judgements(suite, with_reasons=False):
            yield (row.id, row.length, row.response_sha256), np.nan if row.words is None else float(row.words)


def check_reference(reference: str | None, models: Sequence[str]) -> None:
    """Checks that the reference is one of several models."""
    if len(models) < 2:
        raise ChecklistError("win rates compare models, and there is only one run; expected two runs or more")
    if reference is not None and reference not in models:
        raise ChecklistError(unknown_name("model", reference, models))


def _outcome(score: float, other: float) -> float:
    return 0.5 if abs(score - other) <= _ROUNDING else float(score > other)


def _estimate(values: Sequence[float], tasks: Sequence[TaskKey]) -> Estimate:
    """The mean, with an interval inside 0 and 1; by Wilson's formula if all values are equal."""
    if not values:
        return Estimate(None)
    found = mean_interval(values, tasks)
    if found.low is not None and found.high is not None:
        return Estimate(found.mean, max(0.0, found.low), min(1.0, found.high))
    if found.mean not in (0.0, 1.0):
        return Estimate(found.mean)
    return Estimate(*clustered_rate([value == 1 for value in values], tasks))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _best_first(rates: Iterable[WinRate]) -> list[WinRate]:
    return sorted(rates, key=lambda one: (one.rate.value is None, -(one.rate.value or 0.0), one.model))

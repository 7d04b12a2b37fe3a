"""Scores originals and damaged texts, kind by kind. Scores are kept, and of the texts only the examples: of each cell
the item whose score fell most, and the one whose score fell least.

What an evaluator returns is checked by `valid_scores`: a score that is missing or none is NaN.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..errors import DiscernmentError
from ..evaluators.evaluator import Evaluator, Floats, Item, Metric, text_column
from ..evaluators.score_checks import LARGEST, valid_scores
from ..files.untrusted_text import in_one_line
from ..judging.budget import Spending
from ..native import _core
from .damaged import Damage, Damaged
from .result import Example, PerturbedScores, Scored, Work

TEXTS_AT_A_TIME = 100_000
"""The texts of several perturbations are scored in one call of up to so many; a perturbation's are never split."""

Progress = Callable[[int, int], None]

_NAMED_AT_MOST = 5


@dataclass(frozen=True, eq=False)
class Scoring:
    """The scores of a test, with the examples and what it took."""

    scored: Scored
    examples: tuple[Example, ...]  # largest and the smallest drop of each cell
    work: Work  # what making and scoring the texts took
    # IDs of originals that got two different scores from an evaluator that calls itself deterministic
    unstable: tuple[str, ...] = ()
    # by the name of a perturbation whose texts do not follow from items, plan and seed: the texts used, in the order of
    # the items' IDs
    made: Mapping[str, Sequence[str | None]] = field(default_factory=dict)


def score_all(evaluator: Evaluator, damage: Damage, *, on_progress: Progress | None = None) -> Scoring:
    """Scores the originals of a collection and all their damaged texts."""
    started = time.perf_counter()
    tell = on_progress or (lambda done, total: None)
    collection, plan = damage.collection, damage.plan
    calls = _Calls(evaluator, collection.items)
    total = len(collection.items) * (1 + len(plan.perturbations))
    tell(0, total)
    originals = calls.originals()
    unstable = calls.unstable(originals)
    tell(calls.n_done, total)
    # Only now: some evaluators have the metrics that they return first.
    metrics = tuple(evaluator.metrics)
    examples = Examples(collection.items, metrics, originals)
    perturbed: list[PerturbedScores] = []
    made: dict[str, list[str | None]] = {}
    by_id = sorted(range(len(collection.items)), key=lambda row: collection.items[row].id)
    for batch in _batches(damage, len(collection.items)):
        for damaged, scores in zip(batch, calls.damaged(batch), strict=True):
            perturbed.append(with_scores(damaged, scores))
            examples.add(damaged, scores)
            if damage.is_from_outside(damaged.perturbation):
                made[damaged.perturbation.name] = [damaged.texts[row] for row in by_id]
        tell(calls.n_done, total)
    scored = Scored(
        evaluator.name, evaluator.signature, metrics, collection, plan, damage.seed, originals, tuple(perturbed)
    )
    check_some_score(scored)
    return Scoring(scored, examples.found(), work_of(scored, time.perf_counter() - started), unstable, made)


def work_of(scored: Scored, seconds: float) -> Work:
    """What a test took, from its scores."""
    n_items = len(scored.collection.items)
    n_texts = sum(int(each.is_possible.sum()) for each in scored.perturbed)
    n_missing = sum(int(np.isnan(scores).sum()) for scores in scored.originals.values())
    for each in scored.perturbed:
        n_missing += sum(int((np.isnan(scores) & each.is_possible).sum()) for scores in each.scores.values())
    n_impossible = n_items * len(scored.perturbed) - n_texts
    return Work(n_items, n_texts, n_impossible, n_missing, seconds=seconds)


def with_spending(work: Work, asking: Iterable[object]) -> Work:
    """What a test took, with the requests of those that ask a model, and what they cost."""
    found = (getattr(each, "spending", None) for each in asking)
    spendings = {id(each): each for each in found if isinstance(each, Spending)}.values()
    if not spendings:
        return work
    cost = math.fsum(each.cost for each in spendings) if all(each.prices for each in spendings) else None
    return replace(work, n_requests=sum(each.n_requests for each in spendings), cost=cost)


def check_some_score(scored: Scored) -> None:
    """Raises DiscernmentError if no original, or no damaged text, has a score."""
    where, expected = f"evaluator {in_one_line(scored.evaluator)}", f"numbers of at most {LARGEST:g} within the bounds"
    if all(np.isnan(scores).all() for scores in scored.originals.values()):
        raise DiscernmentError(f"{where}: no original has a score; expected {expected}")
    possible = [each for each in scored.perturbed if each.is_possible.any()]
    if possible and all(np.isnan(scores).all() for each in possible for scores in each.scores.values()):
        raise DiscernmentError(f"{where}: no damaged text has a score; expected {expected}")


def with_scores(damaged: Damaged, scores: Mapping[str, Floats]) -> PerturbedScores:
    """The scores of one perturbation, with what is known about its texts."""
    is_possible = damaged.impossible == 0
    return PerturbedScores(
        damaged.perturbation, is_possible, damaged.differs_from_lower, scores, damaged.reason, damaged.edit_share
    )


def _batches(damage: Damage, n_items: int) -> Iterator[list[Damaged]]:
    """The columns of perturbations, so many together that a call of the evaluator has enough to do."""
    batch: list[Damaged] = []
    for kind in damage:
        # Taken out, so that texts are let go of before those of the next kind are made.
        while kind:
            damaged = kind.pop(0)
            is_apart = _is_scored_again(damaged) or (batch and _is_scored_again(batch[0]))
            if batch and (is_apart or (len(batch) + 1) * n_items > TEXTS_AT_A_TIME):
                yield batch
                batch = []
            batch.append(damaged)
    if batch:
        yield batch


def _is_scored_again(damaged: Damaged) -> bool:
    """Whether the texts are the originals once more, which shows whether an evaluator repeats itself."""
    return damaged.perturbation.rule == "identity"


class _Calls:
    def __init__(self, evaluator: Evaluator, items: Sequence[Item]) -> None:
        self._evaluator, self._items = evaluator, items
        self.n_done = 0

    @cached_property
    def _again(self) -> Evaluator:
        """The evaluator that scores anew what was scored already."""
        again: Callable[[], Evaluator] | None = getattr(self._evaluator, "again", None)
        return self._evaluator if again is None else again()

    def originals(self) -> dict[str, Floats]:
        texts = text_column([item.text for item in self._items])
        found = valid_scores(self._evaluator, self._items, texts)
        self.n_done += len(self._items)
        return found

    def unstable(self, originals: Mapping[str, Floats]) -> tuple[str, ...]:
        """The first IDs of those among 1 % of the originals that get other scores when they are scored once more."""
        if not getattr(self._evaluator, "is_deterministic", False):
            return ()
        rows = range(0, len(self._items), 100)
        items = [self._items[row] for row in rows]
        scores = valid_scores(self._again, items, text_column([item.text for item in items]))
        differs = np.zeros(len(rows), dtype=np.bool_)
        for name, second in scores.items():
            first = originals[name][::100]
            differs |= (first != second) & ~(np.isnan(first) & np.isnan(second))
        return tuple(items[int(i)].id for i in np.flatnonzero(differs)[:_NAMED_AT_MOST])

    def damaged(self, batch: Sequence[Damaged]) -> list[dict[str, Floats]]:
        """The scores of several perturbations, NaN where one is impossible."""
        n = len(self._items)
        texts = batch[0].texts if len(batch) == 1 else _core.TextColumn.joined("texts", [each.texts for each in batch])
        evaluator = self._again if _is_scored_again(batch[0]) else self._evaluator
        scores = valid_scores(evaluator, list(self._items) * len(batch), texts)
        self.n_done += n * len(batch)
        found = []
        for number, each in enumerate(batch):
            rows = slice(number * n, (number + 1) * n)
            own = {name: column[rows].copy() for name, column in scores.items()}
            for column in own.values():
                column[each.impossible != 0] = np.nan
            found.append(own)
        return found


class Examples:
    """Picks examples, a task at a time."""

    def __init__(self, items: Sequence[Item], metrics: Sequence[Metric], originals: Mapping[str, Floats]) -> None:
        self._items, self._metrics, self._originals = items, metrics, originals
        self._rows = rows_of_tasks(items)
        self._found: dict[str, list[Example]] = {task: [] for task in self._rows}

    def add(self, damaged: Damaged, scores: Mapping[str, Floats]) -> None:
        """Picks the examples of one perturbation; items whose text is the original again are none."""
        for metric in self._metrics:
            own = scores[metric.name]
            drop = self._originals[metric.name] - own
            if not metric.higher_is_better:
                drop = -drop
            for task, rows in self._rows.items():
                there = rows[~np.isnan(drop[rows])]
                if len(there):
                    self._add(task, damaged, metric.name, own, "largest", there[np.argmax(drop[there])])
                if len(there) > 1:
                    self._add(task, damaged, metric.name, own, "smallest", there[np.argmin(drop[there])])

    def _add(self, task: str, damaged: Damaged, metric: str, scores: Floats, which: str, row: int) -> None:
        item, text = self._items[row], damaged.texts[int(row)]
        if text is None:  # a finished table has scores of texts that nobody knows
            return
        before_and_after = float(self._originals[metric][row]), float(scores[row])
        example = Example(damaged.perturbation.name, metric, which, item.id, item.text, text, *before_and_after)
        self._found[task].append(example)

    def found(self) -> tuple[Example, ...]:
        """The examples, by task, in the order of the plan."""
        return tuple(example for examples in self._found.values() for example in examples)


def rows_of_tasks(items: Sequence[Item]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """The rows of the items of each task, tasks in the order of their first items."""
    tasks = list(dict.fromkeys(item.task for item in items))
    names = np.array([tasks.index(item.task) for item in items], dtype=np.intp)
    return {task: np.flatnonzero(names == number) for number, task in enumerate(tasks)}

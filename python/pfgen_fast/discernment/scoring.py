"""Scores originals and damaged texts, kind by kind. All scores are kept, but only two texts of each cell as examples:
of the item whose score fell most, and of the item whose score fell least.

`valid_scores` checks what an evaluator returns: missing and invalid scores are NaN.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..evaluators.evaluator import Evaluator, Floats, Item, Metric, text_column
from ..evaluators.score_checks import LARGEST, valid_scores
from ..evaluators.table import TableScores
from ..files.untrusted_text import in_one_line
from ..judging.budget import Spending
from ..native import _core
from .damaged import Damage, Damaged
from .result import Example, PerturbedScores, Scored, Work
from .table_scoring import TableSource, possible_only

TEXTS_AT_A_TIME = 100_000
"""One call scores the texts of several perturbations up to this number; the texts of one perturbation stay together."""

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


def score_all(evaluator: Evaluator | TableScores, damage: Damage, *, on_progress: Progress | None = None) -> Scoring:
    """Scores the originals of a collection and all their damaged texts, or takes the scores of a table."""
    started = time.perf_counter()
    tell = on_progress or (lambda done, total: None)
    items, plan = damage.collection.items, damage.plan
    total = len(items) * (1 + len(plan.perturbations))
    tell(0, total)
    source = TableSource(evaluator, damage) if isinstance(evaluator, TableScores) else _Calls(evaluator, damage)
    originals = source.originals()
    unstable = source.unstable(originals) if isinstance(source, _Calls) else ()
    tell(len(items), total)
    # Read only now, because the metrics of some evaluators are those of their first scores.
    metrics = tuple(evaluator.metrics)
    examples = _Examples(items, metrics, originals)
    perturbed: list[PerturbedScores] = []
    made: dict[str, list[str | None]] = {}
    by_id = sorted(range(len(items)), key=lambda row: items[row].id)
    for damaged, scores in source.damaged():
        examples.add(damaged, scores)
        if damage.is_from_outside(damaged.perturbation):
            made[damaged.perturbation.name] = [damaged.texts[row] for row in by_id]
        perturbed.append(damaged.with_scores(scores))
        tell(len(items) * (1 + len(perturbed)), total)
    scored = Scored(
        evaluator.name, evaluator.signature, metrics, damage.collection, plan, damage.seed, originals, tuple(perturbed)
    )
    check_some_score(scored)
    work = _work_of(scored, time.perf_counter() - started, [evaluator, damage.maker])
    return Scoring(scored, examples.found(), work, unstable, made)


def _work_of(scored: Scored, seconds: float, asking: Iterable[object]) -> Work:
    """What a test took, with the requests of those that ask a model, and what they cost."""
    n_items = len(scored.collection.items)
    n_texts = sum(int(each.is_possible.sum()) for each in scored.perturbed)
    n_missing = sum(int(np.isnan(scores).sum()) for scores in scored.originals.values())
    for each in scored.perturbed:
        n_missing += sum(int((np.isnan(scores) & each.is_possible).sum()) for scores in each.scores.values())
    work = Work(n_items, n_texts, n_items * len(scored.perturbed) - n_texts, n_missing, seconds=seconds)
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


def _batches(damage: Damage) -> Iterator[list[Damaged]]:
    """The columns of perturbations, so many together that a call of the evaluator has enough to do."""
    batch: list[Damaged] = []
    for kind in damage:
        # Removed from the list, so that texts are freed before the texts of the next kind are made.
        while kind:
            damaged = kind.pop(0)
            is_apart = _is_scored_again(damaged) or (batch and _is_scored_again(batch[0]))
            if batch and (is_apart or (len(batch) + 1) * len(damage.originals) > TEXTS_AT_A_TIME):
                yield batch
                batch = []
            batch.append(damaged)
    if batch:
        yield batch


def _is_scored_again(damaged: Damaged) -> bool:
    """Whether the texts are the originals once more, which shows whether an evaluator repeats itself."""
    return damaged.perturbation.rule == "identity"


class _Calls:
    """Scores by calls of an evaluator."""

    def __init__(self, evaluator: Evaluator, damage: Damage) -> None:
        self._evaluator, self._damage, self._items = evaluator, damage, damage.collection.items

    @cached_property
    def _again(self) -> Evaluator:
        """The evaluator that scores a text that was scored before as if it were new."""
        again: Callable[[], Evaluator] | None = getattr(self._evaluator, "again", None)
        return self._evaluator if again is None else again()

    def originals(self) -> dict[str, Floats]:
        return valid_scores(self._evaluator, self._items, self._damage.originals)

    def unstable(self, originals: Mapping[str, Floats]) -> tuple[str, ...]:
        """The first IDs of those among 1 % of the originals that get other scores when they are scored once more."""
        if not getattr(self._evaluator, "is_deterministic", False):
            return ()
        items = self._items[::100]
        scores = valid_scores(self._again, items, text_column([item.text for item in items]))
        differs = np.zeros(len(items), dtype=np.bool_)
        for name, second in scores.items():
            first = originals[name][::100]
            differs |= (first != second) & ~(np.isnan(first) & np.isnan(second))
        return tuple(items[int(i)].id for i in np.flatnonzero(differs)[:_NAMED_AT_MOST])

    def damaged(self) -> Iterator[tuple[Damaged, dict[str, Floats]]]:
        """The scores of each perturbation, NaN where it is impossible."""
        n = len(self._items)
        for batch in _batches(self._damage):
            columns = [each.texts for each in batch]
            texts = columns[0] if len(columns) == 1 else _core.TextColumn.joined("texts", columns)
            evaluator = self._again if _is_scored_again(batch[0]) else self._evaluator
            scores = valid_scores(evaluator, self._items * len(batch), texts)
            for number, each in enumerate(batch):
                own = {name: column[number * n : (number + 1) * n] for name, column in scores.items()}
                yield each, possible_only(own, each)


class _Examples:
    """Picks examples, a task at a time."""

    def __init__(self, items: Sequence[Item], metrics: Sequence[Metric], originals: Mapping[str, Floats]) -> None:
        self._items, self._metrics, self._originals = items, metrics, originals
        self._rows = rows_of_tasks(items)
        self._found: dict[str, list[Example]] = {task: [] for task in self._rows}

    def add(self, damaged: Damaged, scores: Mapping[str, Floats]) -> None:
        """Picks the examples of one perturbation, if their texts are known."""
        for metric in self._metrics:
            before, after = self._originals[metric.name], scores[metric.name]
            drop = before - after if metric.higher_is_better else after - before
            for task, rows in self._rows.items():
                for which, row in _ends(drop, rows):
                    text, item = damaged.texts[row], self._items[row]
                    if text is not None:
                        named = (damaged.perturbation.name, metric.name, which, item.id)
                        example = Example(*named, item.text, text, float(before[row]), float(after[row]))
                        self._found[task].append(example)

    def found(self) -> tuple[Example, ...]:
        """The examples, by task, in the order of the plan."""
        return tuple(example for examples in self._found.values() for example in examples)


def _ends(drop: Floats, rows: NDArray[np.intp]) -> Iterator[tuple[str, int]]:
    """The rows whose scores fell most and least, of the rows that have scores."""
    there = rows[~np.isnan(drop[rows])]
    if len(there):
        yield "largest", int(there[np.argmax(drop[there])])
    if len(there) > 1:
        yield "smallest", int(there[np.argmin(drop[there])])


def rows_of_tasks(items: Sequence[Item]) -> dict[str, NDArray[np.intp]]:
    """The rows of the items of each task, tasks in the order of their first items."""
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        rows.setdefault(item.task, []).append(row)
    return {task: np.array(of_task, dtype=np.intp) for task, of_task in rows.items()}

"""Scores originals and damaged texts, kind by kind. All scores are kept, but only two texts of each cell as examples:
those of the item whose score fell most, and of the item whose score fell least.

Scores come from an evaluator, or from a table: texts are then damaged only to find out which of them are possible. A
score that is missing or invalid is NaN.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import DiscernmentError
from ...base.native import _core
from ...base.untrusted_text import few_names, in_one_line
from ..evaluators.asking_evaluator import AskingEvaluator
from ..evaluators.evaluator import LARGEST, Evaluator, Item, Metric, text_column, valid_scores
from ..evaluators.table_evaluator import TableScores
from ..judging.judge_asking import Spending
from .discernment_items import Collection, CollectionItem
from .discernment_plan import Plan, ordered, usual_plan
from .discernment_result import Example, Scored, Work
from .kinds import Impossible, Level
from .perturbing import Damage, Damaged

TEXTS_AT_A_TIME = 100_000
"""Maximum number of texts in one call, which may score several perturbations; a perturbation is never split."""

Progress = Callable[[int, int], None]

_NAMED_AT_MOST = 5


@dataclass(frozen=True, eq=False)
class Scoring:
    """The scores of a test, with examples and work."""

    scored: Scored
    examples: tuple[Example, ...]  # largest and smallest drop of each cell
    work: Work  # work of making and scoring the texts
    # IDs of originals that got two different scores from an evaluator that claims to be deterministic
    unstable: tuple[str, ...] = ()
    # texts of perturbations that depend on more than items, plan and seed: by name of the perturbation, in the order of
    # the items' IDs
    outside_texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)


def plan_of(table: TableScores, collection: Collection, plan: Plan | None = None) -> Plan:
    """Makes the plan of a table: the perturbations of the table, which are described by a plan if it has them."""
    planned = usual_plan(collection.items) if plan is None else plan
    by_name = {change.name: change for change in planned.perturbations}
    # For perturbations that are not in the plan, only the names and perhaps the levels are known.
    others = [name for name in table.names if name not in by_name]
    chosen = [by_name[name] for name in table.names if name in by_name]
    chosen = [replace(change, method="given") if change.method == "model" else change for change in chosen]
    for change in _unplanned(others).perturbations:
        chosen.append(replace(change, level=cast("Level", table.level_of(change.name) or change.level)))
    notes = [*planned.notes, *_unplanned([name for name in others if table.level_of(name) is None]).notes]
    lacking = [] if plan is None else [name for name in by_name if name not in table.names]
    if lacking:
        listed = few_names(lacking, 5, 80)
        notes.append(f"The table has no scores of {len(lacking)} perturbations of the plan: {listed}.")
    return Plan(ordered(chosen), planned.name, tuple(notes))


def _unplanned(names: list[str]) -> Plan:
    return Plan(()).with_given([CollectionItem("", "", "", perturbed=dict.fromkeys(names, ""))])


def score_all(evaluator: Evaluator | TableScores, damage: Damage, *, on_progress: Progress | None = None) -> Scoring:
    """Scores the originals of a collection and all their damaged texts, or looks up their scores in a table."""
    started = time.perf_counter()
    tell = on_progress or (lambda done, total: None)
    items, plan = damage.collection.items, damage.plan
    total = len(items) * (1 + len(plan.perturbations))
    tell(0, total)
    unstable: tuple[str, ...] = ()
    if isinstance(evaluator, TableScores):
        scores = evaluator.originals([item.id for item in items])
        damaged_scores = _looked_up(evaluator, damage)
    else:
        again = evaluator.again() if hasattr(evaluator, "again") else evaluator  # uses no earlier scores
        scores = valid_scores(evaluator, items, damage.originals)
        if getattr(evaluator, "is_deterministic", False):
            unstable = _unstable(again, items, scores)
        damaged_scores = _called(evaluator, again, damage)
    tell(len(items), total)
    # Read after scoring, because some evaluators know their metrics only from their first scores.
    metrics = tuple(evaluator.metrics)
    originals = _matrix(scores, metrics)
    shape = (len(plan.perturbations), len(items))
    is_possible, differs = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    scored = Scored(
        evaluator=evaluator.name,
        signature=evaluator.signature,
        metrics=metrics,
        collection=damage.collection,
        plan=plan,
        seed=damage.seed,
        originals=originals,
        damaged=np.full((shape[0], *originals.shape), np.nan),
        is_possible=is_possible,
        differs_from_lower=differs,
        reasons=(),
        edit_shares=(),
    )
    rows_of = rows_of_tasks(items)
    examples: dict[str, list[Example]] = {task: [] for task in rows_of}
    properties: list[tuple[str | None, float | None]] = []
    outside_texts: dict[str, list[str | None]] = {}
    by_id = sorted(range(len(items)), key=lambda row: items[row].id)
    for row, (damaged, scores) in enumerate(damaged_scores):
        is_possible[row], differs[row] = damaged.impossible == 0, damaged.differs_from_lower
        scored.damaged[row] = np.where(is_possible[row], _matrix(scores, metrics), np.nan)
        for task, own in rows_of.items():
            examples[task] += _examples_of(damaged, scored, row, own)
        if damage.is_from_outside(damaged.perturbation):
            outside_texts[damaged.perturbation.name] = [damaged.texts[item] for item in by_id]
        properties.append((damaged.reason, damaged.edit_share))
        tell(len(items) * (2 + row), total)
    reasons, edit_shares = zip(*properties, strict=True)
    scored = replace(scored, reasons=reasons, edit_shares=edit_shares)
    if isinstance(evaluator, AskingEvaluator) and np.isnan(originals).all():
        evaluator.check_rated(evaluator.asked(items, damage.originals))
    _check_some_score(scored)
    work = _work_of(scored, time.perf_counter() - started, [evaluator, damage.maker])
    return Scoring(scored, tuple(chain.from_iterable(examples.values())), work, unstable, outside_texts)


def _matrix(scores: Mapping[str, Floats], metrics: Sequence[Metric]) -> Floats:
    return np.stack([scores[metric.name] for metric in metrics])


def _work_of(scored: Scored, seconds: float, asking: Iterable[object]) -> Work:
    """The work of a test, with the number and cost of the requests to models."""
    n_texts = int(scored.is_possible.sum())
    n_missing = int(np.isnan(scored.originals).sum() + (np.isnan(scored.damaged) & scored.is_possible[:, None]).sum())
    n_impossible = scored.is_possible.size - n_texts
    work = Work(len(scored.collection), n_texts, n_impossible, n_missing, seconds=seconds)
    all_spendings = (getattr(asked, "spending", None) for asked in asking)
    spendings = {id(part): part for part in all_spendings if isinstance(part, Spending)}.values()
    if not spendings:
        return work
    cost = math.fsum(part.cost for part in spendings) if all(part.prices for part in spendings) else None
    return replace(work, n_requests=sum(part.n_requests for part in spendings), cost=cost)


def _check_some_score(scored: Scored) -> None:
    """Raises DiscernmentError if no original, or no damaged text, has a score."""
    where, expected = f"evaluator {in_one_line(scored.evaluator)}", f"numbers of at most {LARGEST:g} within the bounds"
    if np.isnan(scored.originals).all():
        raise DiscernmentError(f"{where}: no original has a score; expected {expected}")
    if scored.is_possible.any() and np.isnan(scored.damaged).all():
        raise DiscernmentError(f"{where}: no damaged text has a score; expected {expected}")


def _batches(damage: Damage) -> Iterator[list[Damaged]]:
    """Batches of perturbations: one call of the evaluator scores a batch."""
    batch: list[Damaged] = []
    for kind in damage:
        # Removed from the list, so that its memory is freed before the texts of the next kind are made.
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
    """Whether the texts are the originals again, which shows whether an evaluator is repeatable."""
    return damaged.perturbation.rule == "identity"


def _unstable(again: Evaluator, items: Sequence[Item], originals: Mapping[str, Floats]) -> tuple[str, ...]:
    """Scores 1 % of the originals again, and returns the first IDs of originals that get different scores."""
    items = items[::100]
    differs = np.zeros(len(items), dtype=np.bool_)
    for name, second in valid_scores(again, items, text_column([item.text for item in items])).items():
        first = originals[name][::100]
        differs |= (first != second) & ~(np.isnan(first) & np.isnan(second))
    return tuple(items[int(i)].id for i in np.flatnonzero(differs)[:_NAMED_AT_MOST])


def _called(evaluator: Evaluator, again: Evaluator, damage: Damage) -> Iterator[tuple[Damaged, dict[str, Floats]]]:
    """Yields the scores of each perturbation by an evaluator."""
    items = damage.collection.items
    for batch in _batches(damage):
        columns = [damaged.texts for damaged in batch]
        texts = columns[0] if len(columns) == 1 else _core.TextColumn.joined("texts", columns)
        scores = valid_scores(again if _is_scored_again(batch[0]) else evaluator, items * len(batch), texts)
        for place, damaged in enumerate(batch):
            own = slice(place * len(items), (place + 1) * len(items))
            yield damaged, {name: column[own] for name, column in scores.items()}


def _looked_up(table: TableScores, damage: Damage) -> Iterator[tuple[Damaged, dict[str, Floats]]]:
    """Yields the scores of each perturbation in a table; a given text is possible if the table has a row for it."""
    ids = [item.id for item in damage.collection.items]
    for damaged in chain.from_iterable(damage):
        name = damaged.perturbation.name
        if damaged.perturbation.method == "given":
            has = table.has(name, ids)
            impossible = np.where(has, 0, Impossible.NO_CANDIDATE).astype(np.uint8)
            damaged = replace(damaged, impossible=impossible, differs_from_lower=has)
        yield damaged, table.perturbed(name, ids)


def _examples_of(damaged: Damaged, scored: Scored, number: int, rows: NDArray[np.intp]) -> Iterator[Example]:
    """Yields the items of a task whose scores fell most and least by one perturbation, if their texts are known."""
    for metric, before, after in zip(scored.metrics, scored.originals, scored.damaged[number], strict=True):
        drop = before - after if metric.higher_is_better else after - before
        there = rows[~np.isnan(drop[rows])]
        ends = [("largest", np.argmax), ("smallest", np.argmin)][: len(there)]
        for which, find in ends:
            row = int(there[find(drop[there])])
            item, text = scored.collection.items[row], damaged.texts[row]
            if text is not None:
                named = (damaged.perturbation.name, metric.name, which, item.id)
                yield Example(*named, item.text, text, float(before[row]), float(after[row]))


def rows_of_tasks(items: Sequence[Item]) -> dict[str, NDArray[np.intp]]:
    """The rows of the items of each task, tasks in the order of their first items."""
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        rows.setdefault(item.task, []).append(row)
    return {task: np.array(task_rows, dtype=np.intp) for task, task_rows in rows.items()}

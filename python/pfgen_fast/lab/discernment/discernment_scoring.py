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
from .discernment_result import Example, PerturbedScores, Scored, Work
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
        originals = evaluator.originals([item.id for item in items])
        damaged_scores = _looked_up(evaluator, damage)
    else:
        again = evaluator.again() if hasattr(evaluator, "again") else evaluator  # uses no earlier scores
        originals = valid_scores(evaluator, items, damage.originals)
        if getattr(evaluator, "is_deterministic", False):
            unstable = _unstable(again, items, originals)
        damaged_scores = _called(evaluator, again, damage)
    tell(len(items), total)
    # Read after scoring, because some evaluators know their metrics only from their first scores.
    metrics = tuple(evaluator.metrics)
    rows_of, examples = rows_of_tasks(items), list[tuple[str, Example]]()
    perturbed: list[PerturbedScores] = []
    outside_texts: dict[str, list[str | None]] = {}
    by_id = sorted(range(len(items)), key=lambda row: items[row].id)
    for damaged, scores in damaged_scores:
        scores = {name: np.where(damaged.impossible == 0, column, np.nan) for name, column in scores.items()}
        examples += _examples_of(damaged, scores, originals, items, metrics, rows_of)
        if damage.is_from_outside(damaged.perturbation):
            outside_texts[damaged.perturbation.name] = [damaged.texts[row] for row in by_id]
        properties = (damaged.impossible == 0, damaged.differs_from_lower, scores, damaged.reason, damaged.edit_share)
        perturbed.append(PerturbedScores(damaged.perturbation, *properties))
        tell(len(items) * (1 + len(perturbed)), total)
    scored = Scored(
        evaluator.name, evaluator.signature, metrics, damage.collection, plan, damage.seed, originals, tuple(perturbed)
    )
    if isinstance(evaluator, AskingEvaluator) and all(np.isnan(column).all() for column in originals.values()):
        evaluator.check_rated(evaluator.asked(items, damage.originals))
    _check_some_score(scored)
    work = _work_of(scored, time.perf_counter() - started, [evaluator, damage.maker])
    by_task = tuple(example for task in rows_of for own_task, example in examples if own_task == task)
    return Scoring(scored, by_task, work, unstable, outside_texts)


def _work_of(scored: Scored, seconds: float, asking: Iterable[object]) -> Work:
    """The work of a test, with the number and cost of the requests to models."""
    n_items = len(scored.collection.items)
    n_texts = sum(int(part.is_possible.sum()) for part in scored.perturbed)
    n_missing = sum(int(np.isnan(scores).sum()) for scores in scored.originals.values())
    for part in scored.perturbed:
        n_missing += sum(int((np.isnan(scores) & part.is_possible).sum()) for scores in part.scores.values())
    work = Work(n_items, n_texts, n_items * len(scored.perturbed) - n_texts, n_missing, seconds=seconds)
    all_spendings = (getattr(asked, "spending", None) for asked in asking)
    spendings = {id(part): part for part in all_spendings if isinstance(part, Spending)}.values()
    if not spendings:
        return work
    cost = math.fsum(part.cost for part in spendings) if all(part.prices for part in spendings) else None
    return replace(work, n_requests=sum(part.n_requests for part in spendings), cost=cost)


def _check_some_score(scored: Scored) -> None:
    """Raises DiscernmentError if no original, or no damaged text, has a score."""
    where, expected = f"evaluator {in_one_line(scored.evaluator)}", f"numbers of at most {LARGEST:g} within the bounds"
    if all(np.isnan(scores).all() for scores in scored.originals.values()):
        raise DiscernmentError(f"{where}: no original has a score; expected {expected}")
    possible = [part for part in scored.perturbed if part.is_possible.any()]
    if possible and all(np.isnan(scores).all() for part in possible for scores in part.scores.values()):
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


def _examples_of(
    damaged: Damaged,
    scores: Mapping[str, Floats],
    originals: Mapping[str, Floats],
    items: Sequence[Item],
    metrics: Sequence[Metric],
    rows_of: Mapping[str, NDArray[np.intp]],
) -> Iterator[tuple[str, Example]]:
    """Yields the examples of one perturbation with their tasks, if their texts are known."""
    for metric in metrics:
        before, after = originals[metric.name], scores[metric.name]
        drop = before - after if metric.higher_is_better else after - before
        for task, rows in rows_of.items():
            for which, row in _ends(drop, rows):
                text, item = damaged.texts[row], items[row]
                if text is not None:
                    named = (damaged.perturbation.name, metric.name, which, item.id)
                    yield task, Example(*named, item.text, text, float(before[row]), float(after[row]))


def _ends(drop: Floats, rows: NDArray[np.intp]) -> Iterator[tuple[str, int]]:
    """The rows with scores whose scores fell most and least."""
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
    return {task: np.array(task_rows, dtype=np.intp) for task, task_rows in rows.items()}

"""Scores originals and damaged texts, kind by kind. All scores are kept, but only two texts of each cell as examples:
those of the item whose score fell most, and of the item whose score fell least.

Scores come from an evaluator, or from a table: texts are then damaged only to find out which of them are possible. A
score that is missing or invalid is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import DiscernmentError
from ...base.native import _core
from ...base.untrusted_text import few_names, in_one_line
from ..evaluators.asking_evaluator import AskingEvaluator
from ..evaluators.evaluator import LARGEST, Evaluator, Item, Metric, valid_scores
from ..evaluators.table_evaluator import ORIGINAL, TableScores
from .discernment_items import Collection
from .discernment_plan import Plan, given, ordered, usual_plan
from .discernment_result import Example, Scored
from .kinds import KINDS, Impossible, Level
from .perturbing import Damage, Damaged

TEXTS_AT_A_TIME = 100_000
"""Maximum number of texts in one call, which may score several perturbations; a perturbation is never split."""

Progress = Callable[[int, int], None]


def plan_of(table: TableScores, collection: Collection, plan: Plan | None = None) -> Plan:
    """Makes the plan of a table: the perturbations of the table, which are described by a plan if it has them."""
    planned = usual_plan(collection.items) if plan is None else plan
    by_name = {change.name: change for change in planned.perturbations}
    # For perturbations that are not in the plan, only the names and perhaps the levels are known.
    others = [name for name in table.names if name not in by_name]
    chosen = [by_name[name] for name in table.names if name in by_name]
    chosen = [replace(change, method="given") if change.method == "model" else change for change in chosen]
    chosen += [given(name, cast("Level | None", table.levels.get(name))) for name in others]
    notes = list(planned.notes)
    if unknown := {change.kind for change in chosen if change.rule not in KINDS and not table.levels.get(change.name)}:
        notes.append(
            f"Kinds that are unknown and have no level count as damage to words: {few_names(sorted(unknown), 5)}."
        )
    lacking = [] if plan is None else [name for name in by_name if name not in table.names]
    if lacking:
        listed = few_names(lacking, 5, 80)
        notes.append(f"The table has no scores of {len(lacking)} perturbations of the plan: {listed}.")
    return Plan(ordered(chosen), planned.name, tuple(notes))


def score_all(evaluator: Evaluator | TableScores, damage: Damage, *, on_progress: Progress | None = None) -> Scored:
    """Scores the originals of a collection and all their damaged texts, or looks up their scores in a table."""
    tell = on_progress or (lambda done, total: None)
    items, plan = damage.collection.items, damage.plan
    total = len(items) * (1 + len(plan.perturbations))
    tell(0, total)
    if isinstance(evaluator, TableScores):
        scores = evaluator.scores(ORIGINAL, [item.id for item in items])
        damaged_scores = _looked_up(evaluator, damage)
    else:
        scores = valid_scores(evaluator, items, damage.originals)
        damaged_scores = _called(evaluator, damage)
    tell(len(items), total)
    # Read after scoring, because some evaluators know their metrics only from their first scores.
    metrics = tuple(evaluator.metrics)
    originals = _matrix(scores, metrics)
    matrices: list[Floats] = []
    examples: dict[str, list[Example]] = {}
    columns: list[Damaged] = []
    model_texts: dict[str, list[str | None]] = {}
    for damaged, scores in damaged_scores:
        matrices.append(np.where(damaged.impossible == 0, _matrix(scores, metrics), np.nan))
        for task, rows in rows_of_tasks(items).items():
            ends = _examples_of(damaged, items, metrics, originals, matrices[-1], rows)
            examples.setdefault(task, []).extend(ends)
        if damaged.perturbation.method == "model":
            by_id = zip(items, damaged.texts.tolist(), strict=True)
            model_texts[damaged.perturbation.name] = [text for _, text in sorted(by_id, key=lambda pair: pair[0].id)]
        columns.append(replace(damaged, texts=damaged.texts.part(0, 0)))
        tell(len(items) * (1 + len(matrices)), total)
    if isinstance(evaluator, AskingEvaluator) and np.isnan(originals).all():
        evaluator.check_rated(evaluator.asked(items, damage.originals))
    is_possible = np.stack([damaged.impossible == 0 for damaged in columns])
    all_scores = {"original": originals, "damaged text": np.stack(matrices)}
    for what, values in all_scores.items():
        if np.isnan(values).all() and (what == "original" or is_possible.any()):
            expected = f"expected numbers of at most {LARGEST:g} within the bounds"
            raise DiscernmentError(f"evaluator {in_one_line(evaluator.name)}: no {what} has a score; {expected}")
    return Scored(
        evaluator=evaluator.name,
        signature=evaluator.signature,
        metrics=metrics,
        collection=damage.collection,
        plan=plan,
        seed=damage.seed,
        originals=originals,
        damaged=all_scores["damaged text"],
        is_possible=is_possible,
        differs_from_lower=np.stack([damaged.differs_from_lower for damaged in columns]),
        reasons=tuple(damaged.reason for damaged in columns),
        examples=tuple(chain.from_iterable(examples.values())),
        model_texts=model_texts,
        notes=tuple(evaluator.notes_on(items)) if hasattr(evaluator, "notes_on") else (),
    )


def _matrix(scores: Mapping[str, Floats], metrics: Sequence[Metric]) -> Floats:
    return np.stack([scores[metric.name] for metric in metrics])


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


def _called(evaluator: Evaluator, damage: Damage) -> Iterator[tuple[Damaged, dict[str, Floats]]]:
    """Yields the scores of each perturbation by an evaluator; originals are scored again without earlier scores."""
    items = damage.collection.items
    again = evaluator.again() if hasattr(evaluator, "again") else evaluator
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
        yield damaged, table.scores(name, ids)


def _examples_of(
    damaged: Damaged,
    items: Sequence[Item],
    metrics: Sequence[Metric],
    originals: Floats,
    scores: Floats,
    rows: NDArray[np.intp],
) -> Iterator[Example]:
    """Yields the items of a task whose scores fell most and least by one perturbation, if their texts are known."""
    for metric, before, after in zip(metrics, originals, scores, strict=True):
        drop = (before - after if metric.higher_is_better else after - before)[rows]
        if np.isnan(drop).all():
            continue
        for which, place in (("largest", np.nanargmax(drop)), ("smallest", np.nanargmin(drop))):
            item, text = items[rows[place]], damaged.texts[int(rows[place])]
            if text is not None:
                named = (damaged.perturbation.name, metric.name, which, item.id)
                yield Example(*named, item.text, text, float(before[rows[place]]), float(after[rows[place]]))


def rows_of_tasks(items: Sequence[Item]) -> dict[str, NDArray[np.intp]]:
    """The rows of the items of each task, tasks in the order of their first items."""
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        rows.setdefault(item.task, []).append(row)
    return {task: np.array(task_rows, dtype=np.intp) for task, task_rows in rows.items()}

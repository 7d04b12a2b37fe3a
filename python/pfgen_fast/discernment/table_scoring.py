"""Takes the scores of a finished table. Nothing is run; texts are damaged only to know which of them are possible.

Scores are found by item and perturbation. A text that is possible and has no row in the table has a missing score.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from ..evaluators.evaluator import Floats
from ..evaluators.table import TableScores
from ..files.untrusted_text import few_names
from .damaged import Damage, Damaged
from .items import Collection, CollectionItem
from .kinds import Impossible, Level
from .plan import Perturbation, Plan, ordered, usual_plan
from .result import Scored
from .scoring import Examples, Scoring, check_some_score, with_scores, work_of


def plan_of(table: TableScores, collection: Collection, plan: Plan | None = None) -> Plan:
    """The perturbations of a table, as a plan knows them."""
    planned = usual_plan(collection.items) if plan is None else plan
    by_name = {each.name: each for each in planned.perturbations}
    others = [name for name in table.names if name not in by_name]
    found = [_as_given(by_name[name]) for name in table.names if name in by_name]
    found += [_with_level(each, table) for each in _unplanned(others).perturbations]
    lacking = [] if plan is None else [name for name in by_name if name not in table.names]
    notes = [*planned.notes, *_unplanned([name for name in others if table.level_of(name) is None]).notes]
    if lacking:
        notes.append(
            f"The table has no scores of {len(lacking)} perturbations of the plan: {few_names(lacking, 5, 80)}."
        )
    return Plan(ordered(found), planned.name, tuple(notes))


def score_table(table: TableScores, damage: Damage) -> Scoring:
    """Takes the scores of a table."""
    started = time.perf_counter()
    collection, plan = damage.collection, damage.plan
    ids = [item.id for item in collection.items]
    originals = table.originals(ids)
    examples = Examples(collection.items, table.metrics, originals)
    perturbed = []
    for damaged in _texts(table, damage, ids):
        name = damaged.perturbation.name
        scores = _possible_only(table.perturbed(name, ids), damaged)
        perturbed.append(with_scores(damaged, scores))
        examples.add(damaged, scores)
    scored = Scored(
        table.name, table.signature, tuple(table.metrics), collection, plan, damage.seed, originals, tuple(perturbed)
    )
    check_some_score(scored)
    return Scoring(scored, examples.found(), work_of(scored, time.perf_counter() - started))


def _texts(table: TableScores, damage: Damage, ids: list[str]) -> Iterator[Damaged]:
    """The damaged texts; those that come from elsewhere are possible where the table has a row, known or not."""
    for kind in damage:
        for damaged in kind:
            if damaged.perturbation.method != "given":
                yield damaged
                continue
            has = table.has(damaged.perturbation.name, ids)
            impossible = np.where(has, 0, Impossible.NO_CANDIDATE).astype(np.uint8)
            yield replace(damaged, impossible=impossible, differs_from_lower=has)


def _possible_only(scores: Mapping[str, Floats], damaged: Damaged) -> dict[str, Floats]:
    """The scores of texts that there can be; a row of another text is not one of the perturbation."""
    return {name: np.where(damaged.impossible == 0, column, np.nan) for name, column in scores.items()}


def _unplanned(names: list[str]) -> Plan:
    """A plan of perturbations of which nothing but the names is known."""
    return Plan(()).with_given([CollectionItem("", "", "", perturbed=dict.fromkeys(names, ""))])


def _as_given(perturbation: Perturbation) -> Perturbation:
    """Nobody is asked for the texts that a model made."""
    return replace(perturbation, method="given") if perturbation.method == "model" else perturbation


def _with_level(perturbation: Perturbation, table: TableScores) -> Perturbation:
    level = table.level_of(perturbation.name)
    return perturbation if level is None else replace(perturbation, level=cast("Level", level))

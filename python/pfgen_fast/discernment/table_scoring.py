"""Takes scores from a table. Texts are damaged only to find out which of them are possible.

Scores are found by item and perturbation. If a text is possible and the table has no row for it, its score is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import cast

import numpy as np

from ..evaluators.evaluator import Floats
from ..evaluators.table import TableScores
from ..files.untrusted_text import few_names
from .damaged import Damage, Damaged
from .items import Collection, CollectionItem
from .kinds import Impossible, Level
from .plan import Plan, ordered, usual_plan


def plan_of(table: TableScores, collection: Collection, plan: Plan | None = None) -> Plan:
    """Makes the plan of a table: the perturbations of the table, which are described by a plan if it has them."""
    planned = usual_plan(collection.items) if plan is None else plan
    by_name = {each.name: each for each in planned.perturbations}
    # For perturbations that are not in the plan, only the names and perhaps the levels are known.
    others = [name for name in table.names if name not in by_name]
    found = [by_name[name] for name in table.names if name in by_name]
    found = [replace(each, method="given") if each.method == "model" else each for each in found]
    for each in _unplanned(others).perturbations:
        found.append(replace(each, level=cast("Level", table.level_of(each.name) or each.level)))
    notes = [*planned.notes, *_unplanned([name for name in others if table.level_of(name) is None]).notes]
    lacking = [] if plan is None else [name for name in by_name if name not in table.names]
    if lacking:
        listed = few_names(lacking, 5, 80)
        notes.append(f"The table has no scores of {len(lacking)} perturbations of the plan: {listed}.")
    return Plan(ordered(found), planned.name, tuple(notes))


def _unplanned(names: list[str]) -> Plan:
    return Plan(()).with_given([CollectionItem("", "", "", perturbed=dict.fromkeys(names, ""))])


class TableSource:
    """The scores of a table."""

    def __init__(self, table: TableScores, damage: Damage) -> None:
        self._table, self._damage = table, damage
        self._ids = [item.id for item in damage.collection.items]

    def originals(self) -> dict[str, Floats]:
        """The scores of the originals."""
        return self._table.originals(self._ids)

    def damaged(self) -> Iterator[tuple[Damaged, dict[str, Floats]]]:
        """Yields the scores of each perturbation; a given text is possible if the table has a row for it."""
        for damaged in chain.from_iterable(self._damage):
            name = damaged.perturbation.name
            if damaged.perturbation.method == "given":
                has = self._table.has(name, self._ids)
                impossible = np.where(has, 0, Impossible.NO_CANDIDATE).astype(np.uint8)
                damaged = replace(damaged, impossible=impossible, differs_from_lower=has)
            yield damaged, possible_only(self._table.perturbed(name, self._ids), damaged)


def possible_only(scores: Mapping[str, Floats], damaged: Damaged) -> dict[str, Floats]:
    """The scores of possible texts; NaN for impossible texts."""
    return {name: np.where(damaged.impossible == 0, column, np.nan) for name, column in scores.items()}

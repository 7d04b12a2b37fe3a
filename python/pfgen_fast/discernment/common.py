"""Averages on the perturbations that all compared scores have: of several evaluators, and plain and weighted scores.

Evaluators may have different perturbations, and weights may be missing for some. Two averages are only comparable over
the same perturbations. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.discernment_scores import averages
from .combined import figures_of, scopes_of
from .plan import Perturbation
from .result import Discernment, TableRow, number
from .task_scores import interval_of

PLAIN, WEIGHTED, DIFFERENCE = "d", "weighted_d", "weighted_minus_plain"


def common_rows(found: Sequence[Discernment]) -> list[list[TableRow]]:
    """The averages of each test on common perturbations, with the columns of `COMMON_COLUMNS`.

    A task has rows if several tests have it, or if it has weights.
    """
    rows: list[list[TableRow]] = [[] for _ in found]
    for task in dict.fromkeys(str(task) for one in found for task in one.perturbations["task"]):
        compared = {i: _Scores(one, task) for i, one in enumerate(found) if task in one.perturbations["task"]}
        if len(compared) == 1 and not any(scores.is_weighted for scores in compared.values()):
            continue
        names = _names(compared.values())
        for i, scores in compared.items():
            rows[i] += scores.rows(names)
    return rows


def common_names(found: Sequence[Discernment], task: str) -> set[str]:
    """The names of the perturbations of a task that all tests with the task have."""
    return _names(_Scores(one, task) for one in found if task in one.perturbations["task"])


def _names(compared: Iterable[_Scores]) -> set[str]:
    return set.intersection(*({each.name for each in scores.complete} for scores in compared))


class _Scores:
    """The scores of one task in one test."""

    def __init__(self, found: Discernment, task: str) -> None:
        self._described = {"evaluator": found.scored.evaluator, "task": task}
        table = found.perturbations
        is_own = [of == task for of in table["task"]]
        self._perturbations = [one.perturbation for one in found.scored.perturbed]
        self._d = {name: _column(table[name], is_own) for name in (PLAIN, WEIGHTED)}
        self._draws = found.drawn.get(task, {})
        is_damage = np.array([not one.is_control for one in self._perturbations], dtype=bool)
        self._has = {name: ~np.isnan(d) & is_damage for name, d in self._d.items()}
        self.is_weighted = bool(self._has[WEIGHTED].any())

    @property
    def complete(self) -> list[Perturbation]:
        """The perturbations with a score and, if the task has weights, a weighted score."""
        has = self._has[PLAIN] & (self._has[WEIGHTED] if self.is_weighted else True)
        return [self._perturbations[i] for i in np.flatnonzero(has)]

    def rows(self, names: set[str]) -> Iterator[TableRow]:
        """Yields the rows of all scores and scopes over the perturbations with these names."""
        damages = {i: each for i, each in enumerate(self._perturbations) if not each.is_control}
        for score in (PLAIN, WEIGHTED) if self.is_weighted else (PLAIN,):
            for scope, rows in scopes_of(damages):
                common = [i for i in rows if self._perturbations[i].name in names]
                yield self._row(score, scope, rows, common) | self._averages(score, common)
                if score == WEIGHTED:
                    yield self._row(DIFFERENCE, scope, rows, common) | self._difference(common)

    def _row(self, score: str, scope: str, rows: list[int], common: list[int]) -> TableRow:
        has = self._has[PLAIN if score == PLAIN else WEIGHTED]
        n_own = int(has[rows].sum())
        return {**self._described, "score": score, "scope": scope, "n_own": n_own, "n_common": len(common)}

    def _averages(self, score: str, rows: list[int]) -> TableRow:
        found = figures_of(self._d[score], self._draws.get(score), self._perturbations, rows)
        return {name: value for name, value in found.items() if not name.startswith("n_")}

    def _difference(self, rows: list[int]) -> TableRow:
        """The weighted average minus the plain average; the draws are the same for both."""
        levels = [self._perturbations[i].level for i in rows]

        def difference(weighted: Floats, plain: Floats) -> Any:
            return averages(weighted[..., rows], levels).average - averages(plain[..., rows], levels).average

        figure = difference(self._d[WEIGHTED], self._d[PLAIN])
        low, high = np.array([np.nan, np.nan])
        if rows and self._draws:
            low, high = interval_of(difference(self._draws[WEIGHTED], self._draws[PLAIN]), figure)
        found = zip(("average", "average_low", "average_high"), (figure, low, high), strict=True)
        nothing = dict.fromkeys(("minimum", "minimum_low", "minimum_high", "minimum_at"))
        return {**{name: number(float(value)) for name, value in found}, **nothing}


def _column(values: Sequence[Any], is_own: Sequence[bool]) -> Floats:
    own = [np.nan if value is None else value for value, of_task in zip(values, is_own, strict=True) if of_task]
    found: NDArray[np.float64] = np.array(own, dtype=np.float64)
    return found

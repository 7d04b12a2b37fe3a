"""Compares evaluators: averages on common perturbations, agreement, and warnings about invalid comparisons.

Evaluators may have different perturbations, and weights may be missing for some. Two averages are only comparable over
the same perturbations. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..evaluators.evaluator import Floats
from ..files.untrusted_text import in_one_line
from ..statistics.correlation import kendall
from ..statistics.discernment_scores import CONTROL, averages
from ..statistics.resampling import interval
from ..statistics.signed_rank import Zeros
from .cells import cells_of
from .combined import combined_of, figures_of, scopes_of
from .items import MIN_ITEMS
from .plan import Perturbation
from .result import Discernment, TableRow, number
from .running import DRAWS
from .task_scores import by_task, interval_of

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


@dataclass(frozen=True)
class Agreement:
    """Agreement of two evaluators."""

    difference: float  # average discernment score of the first, minus the average of the second
    low: float | None  # lower end of its 95 % interval; None without a bootstrap
    high: float | None  # upper end of the interval
    # Kendall's tau-b between their scores over perturbations; None if all scores of an evaluator are equal
    tau: float | None
    n_perturbations: int  # number of perturbations that are defined for both, without controls


def agreement(
    first: Discernment,
    second: Discernment,
    *,
    compared: Sequence[Discernment] = (),
    zeros: Zeros = "drop",
    min_items: int = MIN_ITEMS,
    draws: int = DRAWS,
) -> dict[str, Agreement]:
    """Computes, by task, how far two evaluators agree over the perturbations that they and all compared tests have.

    Both use the same bootstrap draws, so the interval is that of a paired comparison. A task in which they have no
    perturbation in common is left out.
    """
    one, other = first.scored, second.scored
    if one.collection.hash != other.collection.hash:
        raise DiscernmentError(
            f"evaluators {in_one_line(one.evaluator)} and {in_one_line(other.evaluator)} were tested on different "
            "items; expected the same collection"
        )
    found = {}
    of_other = {scores.task: scores for scores in by_task(other, like=one.collection)}
    for scores in by_task(one):
        if (other_scores := of_other.get(scores.task)) is None:
            continue
        ours, theirs = (
            combined_of(cells_of(each, zeros=zeros, min_items=min_items, draws=draws, seed=one.seed), None)
            for each in (scores, other_scores)
        )
        common = common_names((first, second, *compared), scores.task)
        places = {perturbation.name: row for row, perturbation in enumerate(other_scores.perturbations)}
        rows = [row for row, perturbation in enumerate(scores.perturbations) if perturbation.name in common]
        other_rows = [places[scores.perturbations[row].name] for row in rows]
        if np.isnan(ours.scores["d"][rows] + theirs.scores["d"][other_rows]).all():
            continue
        found[scores.task] = agreement_of_scores(
            ours.scores["d"][rows],
            theirs.scores["d"][other_rows],
            [scores.perturbations[row].level for row in rows],
            draws=(ours.draws["d"][:, rows], theirs.draws["d"][:, other_rows]) if ours.draws and theirs.draws else None,
        )
    return found


def agreement_of_scores(
    first: Floats, second: Floats, levels: Sequence[str], *, draws: tuple[Floats, Floats] | None = None
) -> Agreement:
    """Compares the scores of perturbations that are defined for both; `draws` (rows) are the same for both."""
    in_both = ~np.isnan(first) & ~np.isnan(second) & np.array([level != CONTROL for level in levels], dtype=bool)
    if not in_both.any():
        raise DiscernmentError("no perturbation is defined for both evaluators: expected at least one")
    common = [level for level, is_in in zip(levels, in_both, strict=True) if is_in]

    def difference(x: Floats, y: Floats) -> Any:
        return averages(x[..., in_both], common).average - averages(y[..., in_both], common).average

    low, high = (None, None) if draws is None else map(float, interval(difference(*draws)))
    tau = kendall(first[in_both], second[in_both])
    return Agreement(float(difference(first, second)), low, high, tau, int(in_both.sum()))


def comparison_warnings(found: Sequence[Discernment]) -> tuple[str, ...]:
    """Warnings about a comparison of tests, one sentence each; for example, scores grow with the number of items."""
    sizes = {len(each.scored.collection) for each in found}
    if len(sizes) > 1:
        listed = ", ".join(f"{in_one_line(each.scored.evaluator)} {len(each.scored.collection)}" for each in found)
        return (f"Do not compare these scores: they grow with the number of items, which differs ({listed}).",)
    if len({each.scored.collection.hash for each in found}) > 1:
        return ("The tests have different items, which may cause the differences between evaluators.",)
    planned = {(one.name, one.permille, one.k) for each in found for one in each.scored.plan.perturbations}
    if len({each.scored.seed for each in found}) > 1 or len(planned) > len({name for name, *_ in planned}):
        return (
            "The tests have different seeds or amounts of damage, so equal kinds and degrees are different damage.",
        )
    return ()

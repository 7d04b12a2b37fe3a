"""Compares evaluators: averages on common perturbations, agreement, and warnings about invalid comparisons.

Evaluators may have different perturbations, and weights may be missing for some. Two averages are only comparable over
the same perturbations. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line
from ..statistics.correlation import kendall
from ..statistics.discernment_scores import average, level_weights
from ..statistics.rank_intervals import Scores, interval_of_sum
from .combined import figures_of, scopes_of
from .discernment_result import COMMON_COLUMNS, Discernment, TableRow, number

PLAIN, WEIGHTED, DIFFERENCE = "d", "weighted_d", "weighted_minus_plain"


def common_rows(tests: Sequence[Discernment]) -> list[list[TableRow]]:
    """The averages of each test on common perturbations, with the columns of `COMMON_COLUMNS`.

    A task has rows if several tests have it, or if it has weights.
    """
    rows: list[list[TableRow]] = [[] for _ in tests]
    for task in dict.fromkeys(task for test in tests for task in test.scores):
        compared = {i: _Scores(test, task) for i, test in enumerate(tests) if task in test.scores}
        if len(compared) == 1 and not any(scores.is_weighted for scores in compared.values()):
            continue
        names = _names(compared.values())
        for i, scores in compared.items():
            rows[i] += scores.rows(names)
    return rows


def common_names(tests: Sequence[Discernment], task: str) -> set[str]:
    """The names of the perturbations of a task that all tests with the task have."""
    return _names(_Scores(test, task) for test in tests if task in test.scores)


def _names(compared: Iterable[_Scores]) -> set[str]:
    return set.intersection(*(scores.complete for scores in compared))


class _Scores:
    """The scores of one task in one test."""

    def __init__(self, test: Discernment, task: str) -> None:
        self._described = {"evaluator": test.scored.evaluator, "task": task}
        self._perturbations = [part.perturbation for part in test.scored.perturbed]
        self._scores = test.scores[task]
        is_damage = np.array([not change.is_control for change in self._perturbations], dtype=bool)
        self._has = {name: ~np.isnan(scores.d) & is_damage for name, scores in self._scores.items()}
        self.is_weighted = WEIGHTED in self._has and bool(self._has[WEIGHTED].any())

    @property
    def complete(self) -> set[str]:
        """The names of the perturbations with a score and, if the task has weights, a weighted score."""
        has = self._has[PLAIN] & (self._has[WEIGHTED] if self.is_weighted else True)
        return {self._perturbations[i].name for i in np.flatnonzero(has)}

    def rows(self, names: set[str]) -> Iterator[TableRow]:
        """Yields the rows of all scores and scopes over the perturbations with these names."""
        damages = {i: change for i, change in enumerate(self._perturbations) if not change.is_control}
        for score in (PLAIN, WEIGHTED) if self.is_weighted else (PLAIN,):
            for scope, rows in scopes_of(damages):
                common = [i for i in rows if self._perturbations[i].name in names]
                row = {**self._described, "scope": scope, "n_own": int(self._has[score][rows].sum())}
                figures = {score: figures_of(self._scores[score], self._perturbations, common)}
                if score == WEIGHTED:
                    weighted, plain = (self._scores[name].at(common) for name in (WEIGHTED, PLAIN))
                    levels = [self._perturbations[i].level for i in common]
                    ends = difference_of_averages(weighted, plain, levels)
                    figures[DIFFERENCE] = dict(zip(("average", "average_low", "average_high"), ends, strict=True))
                for name, score_figures in figures.items():
                    full = {**row, "score": name, "n_common": len(common), **score_figures}
                    yield {column: full.get(column) for column in COMMON_COLUMNS}


def difference_of_averages(
    first: Scores, second: Scores, levels: Sequence[str]
) -> tuple[float | None, float | None, float | None]:
    """The average of the first scores minus that of the second, with the ends of its 95 % interval.

    Both are scores of the same items and perturbations, so their errors are paired. None without a score.
    """
    both = Scores(*(np.concatenate(parts, axis=-1) for parts in zip(first, second, strict=True)))
    weights = np.concatenate([level_weights(first.d, levels), -level_weights(second.d, levels)])
    low, high = interval_of_sum(weights, both)
    figure = average(first.d, levels)[0] - average(second.d, levels)[0]
    return number(figure), low, high


@dataclass(frozen=True)
class Agreement:
    """Agreement of two evaluators."""

    difference: float  # average discernment score of the first, minus the average of the second
    low: float  # lower end of its 95 % interval
    high: float  # upper end of the interval
    # Kendall's tau-b between their scores over perturbations; None if all scores of an evaluator are equal
    tau: float | None
    n_perturbations: int  # number of perturbations that are defined for both, without controls


def agreement(first: Discernment, second: Discernment, *, compared: Sequence[Discernment] = ()) -> dict[str, Agreement]:
    """Computes, by task, how far two evaluators agree over the perturbations that they and all compared tests have.

    The difference is that of a paired comparison. A task in which they have no perturbation in common is left out.
    """
    if first.scored.collection.hash != second.scored.collection.hash:
        names = [in_one_line(test.scored.evaluator) for test in (first, second)]
        raise DiscernmentError(
            f"evaluators {names[0]} and {names[1]} were tested on different items; expected the same collection"
        )
    agreements = {}
    for task in [task for task in first.scores if task in second.scores]:
        common = common_names((first, second, *compared), task)
        planned = [
            {part.perturbation.name: row for row, part in enumerate(test.scored.perturbed)} for test in (first, second)
        ]
        names = [name for name in planned[0] if name in common]
        x, y = (
            test.scores[task]["d"].at([rows[name] for name in names])
            for test, rows in zip((first, second), planned, strict=True)
        )
        levels = [first.scored.perturbed[planned[0][name]].perturbation.level for name in names]
        difference, low, high = difference_of_averages(x, y, levels)
        if difference is not None and low is not None and high is not None:
            agreements[task] = Agreement(difference, low, high, kendall(x.d, y.d), len(names))
    return agreements


def comparison_warnings(tests: Sequence[Discernment]) -> tuple[str, ...]:
    """Warnings about a comparison of tests, one sentence each; for example, scores grow with the number of items."""
    sizes = {len(test.scored.collection) for test in tests}
    if len(sizes) > 1:
        listed = ", ".join(f"{in_one_line(test.scored.evaluator)} {len(test.scored.collection)}" for test in tests)
        return (f"Do not compare these scores: they grow with the number of items, which differs ({listed}).",)
    if len({test.scored.collection.hash for test in tests}) > 1:
        return ("The tests have different items, which may cause the differences between evaluators.",)
    planned = {(change.name, change.permille, change.k) for test in tests for change in test.scored.plan.perturbations}
    if len({test.scored.seed for test in tests}) > 1 or len(planned) > len({name for name, *_ in planned}):
        return (
            "The tests have different seeds or amounts of damage, so equal kinds and degrees are different damage.",
        )
    return ()

"""The discernment of each perturbation, from the combined p-values of its metrics; and comparisons of evaluators.

Metrics that are means of other metrics are left out. If one metric of a perturbation is undefined, so is the result.
Two averages are only comparable over the same perturbations. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Bools, Floats
from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line
from ..statistics.correlation import kendall
from ..statistics.discernment_scores import (
    CONTROL,
    NOTICED,
    DiscernmentScores,
    RankIntervals,
    average,
    calibrated,
    combine,
    combined_scores,
    interval_of_sum,
    level_weights,
)
from ..statistics.signed_rank import discernment_score
from .discernment_cells import TaskCells
from .discernment_plan import Perturbation
from .discernment_result import COMMON_COLUMNS, Discernment, TableRow, number
from .kinds import LEVELS
from .weights import Weights


@dataclass(frozen=True, eq=False)
class TaskCombined:
    """The combined scores of one task."""

    cells: TaskCells  # cells that are combined
    log_p: Floats  # by perturbation, the logarithm of the combined p-value; NaN if undefined
    # by perturbation, the discernment: `d`, `printed_d` and, with weights, `weighted_d`
    scores: Mapping[str, DiscernmentScores]
    calibrated_d: Floats  # discernment that is valid under any dependence of the metrics
    # by perturbation, whether the metric with the smallest p-value has too few items whose scores differ
    few: NDArray[np.bool_]
    notes: tuple[str, ...]  # notes for readers, one sentence each


def combined_of(cells: TaskCells, weights: Weights | None) -> TaskCombined:
    """Combines the metrics of each perturbation of a task."""
    scores = cells.scores
    counts = np.array([metric.combined for metric in scores.metrics], dtype=np.bool_)
    metrics = [metric.name for metric in scores.metrics if metric.combined]
    log_p, few = cells.figures["log_p"][:, counts], cells.few[:, counts]
    intervals = RankIntervals(*(part[:, counts] for part in cells.intervals))
    notes: tuple[str, ...] = ()
    how: dict[str, dict[str, Any]] = {"d": {}, "printed_d": {"printed": True}}
    if not metrics:  # all scores are undefined
        log_p, few = np.full((len(scores.perturbations), 1), np.nan), np.zeros((len(scores.perturbations), 1), np.bool_)
        intervals = RankIntervals(log_p, log_p, np.full((*log_p.shape, 1), np.nan))
    elif weights is not None:
        how["weighted_d"] = {}
        how["weighted_d"]["weights"], notes = weights.matrix(scores.task, scores.perturbations, metrics)
    together = combine(log_p)
    scores_by_name = {name: combined_scores(log_p, intervals, **options) for name, options in how.items()}
    calibrated_d = discernment_score(calibrated(together, len(metrics) or 1))
    # The metric with the smallest p-value decides the combination.
    decides = np.where(np.isnan(log_p), np.inf, log_p).argmin(axis=1)
    few = np.take_along_axis(few, decides[:, None], axis=1)[:, 0]
    return TaskCombined(cells, together, scores_by_name, calibrated_d, few, notes)


def perturbation_rows(tasks: Sequence[TaskCombined]) -> Iterator[TableRow]:
    """The rows of all perturbations, by task, in the order of the plan."""
    for task in tasks:
        scores, undefined = task.cells.scores, np.full(len(task.log_p), np.nan)
        figures = {"weighted_d": undefined, **{name: scores.d for name, scores in task.scores.items()}}
        figures |= {"log_p": task.log_p, "calibrated_d": task.calibrated_d}
        figures |= {"d_low": task.scores["d"].low, "d_high": task.scores["d"].high}
        for i in range(len(scores.perturbations)):
            row = scores.described(i)
            d = number(task.scores["d"].d[i])
            yield {
                **row,
                "reason": scores.scored.reasons[i] if row["n_impossible"] else None,
                "n_changed": int(scores.scored.differs_from_lower[i, scores.rows].sum()),
                "edit_share": scores.scored.edit_shares[i],
                **{name: number(column[i]) for name, column in figures.items()},
                "noticed": None if d is None else d >= NOTICED and not task.few[i],
            }


def summary_rows(tasks: Sequence[TaskCombined]) -> Iterator[TableRow]:
    """The averages and minima of each task, over all perturbations, each level and each degree, without controls."""
    for task in tasks:
        for score in task.scores:
            for scope, rows in _scopes(task):
                scores = task.cells.scores
                described = {"evaluator": scores.scored.evaluator, "task": scores.task, "score": score, "scope": scope}
                yield described | figures_of(task.scores[score], scores.perturbations, rows)


def _scopes(task: TaskCombined) -> Iterator[tuple[str, list[int]]]:
    damages = {i: change for i, change in enumerate(task.cells.scores.perturbations) if not change.is_control}
    (_, everything), *others = scopes_of(damages)
    yield "all", everything
    if (weighted := task.scores.get("weighted_d")) is not None:
        # Some kinds and degrees have no weights. The plain figures next to the weighted figures leave them out, too.
        rows = [i for i in damages if not np.isnan(weighted.d[i])]
        if 0 < len(rows) < sum(not np.isnan(task.scores["d"].d[i]) for i in damages):
            yield "weighted", rows
    yield from others


def scopes_of(damages: Mapping[int, Perturbation]) -> Iterator[tuple[str, list[int]]]:
    """Yields the scopes of averages with the numbers of their perturbations: `all`, each level and each degree."""
    yield "all", list(damages)
    for level in LEVELS[:-1]:
        rows = [i for i, change in damages.items() if change.level == level]
        if rows:
            yield f"level:{level}", rows
    degrees = dict.fromkeys(change.degree for change in damages.values() if change.degree)
    # Numbers in ascending order, then other names in order of appearance.
    for degree in sorted(degrees, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0)):
        yield f"degree:{degree}", [i for i, change in damages.items() if change.degree == degree]


def figures_of(scores: DiscernmentScores, perturbations: Sequence[Perturbation], rows: Sequence[int]) -> TableRow:
    """The average of some perturbations' scores with its interval, and their minimum."""
    levels, own = [perturbations[row].level for row in rows], scores.at(rows)
    weights = level_weights(own.d, levels)
    mean, minimum = average(own.d, levels)
    low, high = interval_of_sum(weights, own)
    at = int(np.where(weights > 0, own.d, np.inf).argmin()) if weights.any() else None
    return {
        "n_perturbations": sum(level != CONTROL for level in levels),
        "n_defined": int((weights > 0).sum()),
        "average": number(mean),
        "average_low": low,
        "average_high": high,
        "minimum": number(minimum),
        "minimum_at": None if at is None else perturbations[rows[at]].name,
    }


PLAIN, WEIGHTED, DIFFERENCE = "d", "weighted_d", "weighted_minus_plain"


def common_rows(tests: Sequence[Discernment]) -> list[list[TableRow]]:
    """The averages of each test on common perturbations, with the columns of `COMMON_COLUMNS`.

    A task has rows if several tests have it, or if it has weights.
    """
    rows: list[list[TableRow]] = [[] for _ in tests]
    for task in dict.fromkeys(task for test in tests for task in test.scores):
        compared = [number for number, test in enumerate(tests) if task in test.scores]
        if len(compared) > 1 or any(_is_weighted(tests[number], task) for number in compared):
            names = common_names(tests, task)
            for number in compared:
                rows[number] += _rows_on(names, tests[number], task)
    return rows


def _damage(test: Discernment) -> dict[int, Perturbation]:
    """The perturbations of a test by their number, without controls."""
    return {i: change for i, change in enumerate(test.scored.plan.perturbations) if not change.is_control}


def _is_weighted(test: Discernment, task: str) -> bool:
    scores = test.scores[task].get(WEIGHTED)
    return scores is not None and not np.isnan(scores.d[list(_damage(test))]).all()


def common_names(tests: Iterable[Discernment], task: str) -> set[str]:
    """The names of the perturbations that have a score in all tests with the task and, with weights, a weighted one."""
    names = []
    for test in tests:
        if task in test.scores:
            needed = (PLAIN, WEIGHTED)[: 1 + _is_weighted(test, task)]
            defined: Bools = np.logical_and.reduce([~np.isnan(test.scores[task][name].d) for name in needed])
            names.append({change.name for i, change in _damage(test).items() if defined[i]})
    return set.intersection(*names)


def _rows_on(names: set[str], test: Discernment, task: str) -> Iterator[TableRow]:
    """Yields the rows of all scores and scopes of a task over the perturbations with these names."""
    scores, plan = test.scores[task], test.scored.plan.perturbations
    for score in (PLAIN, WEIGHTED)[: 1 + _is_weighted(test, task)]:
        for scope, rows in scopes_of(_damage(test)):
            common = [i for i in rows if plan[i].name in names]
            n_own = int((~np.isnan(scores[score].d[rows])).sum())
            figures = {score: figures_of(scores[score], plan, common)}
            if score == WEIGHTED:
                levels = [plan[i].level for i in common]
                ends = difference_of_averages(scores[WEIGHTED].at(common), scores[PLAIN].at(common), levels)
                figures[DIFFERENCE] = dict(zip(("average", "average_low", "average_high"), ends, strict=True))
            for name, score_figures in figures.items():
                described = {"evaluator": test.scored.evaluator, "task": task, "score": name, "scope": scope}
                full = {**described, "n_own": n_own, "n_common": len(common), **score_figures}
                yield {column: full.get(column) for column in COMMON_COLUMNS}


def difference_of_averages(
    first: DiscernmentScores, second: DiscernmentScores, levels: Sequence[str]
) -> tuple[float | None, float | None, float | None]:
    """The average of the first scores minus that of the second, with the ends of its 95 % interval.

    Both are scores of the same items and perturbations, so their errors are paired. None without a score.
    """
    both = DiscernmentScores(*(np.concatenate(parts, axis=-1) for parts in zip(first, second, strict=True)))
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
    rows = [{change.name: row for row, change in _damage(test).items()} for test in (first, second)]
    for task in [task for task in first.scores if task in second.scores]:
        known = common_names((first, second, *compared), task)
        common = [name for name in rows[0] if name in known]
        x, y = (
            test.scores[task][PLAIN].at([own[name] for name in common])
            for test, own in zip((first, second), rows, strict=True)
        )
        levels = [first.scored.plan.perturbations[rows[0][name]].level for name in common]
        difference, low, high = difference_of_averages(x, y, levels)
        if difference is not None and low is not None and high is not None:
            agreements[task] = Agreement(difference, low, high, kendall(x.d, y.d), len(common))
    return agreements


def comparison_warnings(tests: Sequence[Discernment]) -> tuple[str, ...]:
    """Warnings about a comparison of tests, one sentence each; for example, scores grow with the number of items."""
    scored = [test.scored for test in tests]
    if len({len(part.collection) for part in scored}) > 1:
        listed = ", ".join(f"{in_one_line(part.evaluator)} {len(part.collection)}" for part in scored)
        return (f"Do not compare these scores: they grow with the number of items, which differs ({listed}).",)
    if len({part.collection.hash for part in scored}) > 1:
        return ("The tests have different items, which may cause the differences between evaluators.",)
    planned = {(change.name, change.permille, change.k) for part in scored for change in part.plan.perturbations}
    if len({part.seed for part in scored}) > 1 or len(planned) > len({name for name, *_ in planned}):
        return (
            "The tests have different seeds or amounts of damage, so equal kinds and degrees are different damage.",
        )
    return ()

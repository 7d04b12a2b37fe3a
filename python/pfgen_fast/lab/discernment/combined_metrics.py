"""The discernment of each perturbation, from the combined p-values of its metrics; and comparisons of evaluators.

Metrics that are means of other metrics are left out. If one metric of a perturbation is undefined, so is the result.
Two averages are only comparable over the same perturbations. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ..evaluators.table_evaluator import ORIGINAL
from ..statistics import discernment_scores as statistics
from ..statistics.correlation import pearson
from ..statistics.discernment_scores import DiscernmentScores
from ..statistics.signed_rank import discernment_score
from .discernment_cells import TaskCells
from .discernment_result import COMMON_COLUMNS, PERTURBATION_COLUMNS, Discernment, Rows, TableRow, number, with_columns
from .kinds import LEVELS, Perturbation
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
    intervals = statistics.RankIntervals(*(part[:, counts] for part in cells.intervals))
    notes: tuple[str, ...] = ()
    how: dict[str, dict[str, Any]] = {"d": {}, "printed_d": {"printed": True}}
    if not metrics:  # all scores are undefined
        log_p, few = np.full((len(scores.perturbations), 1), np.nan), np.zeros((len(scores.perturbations), 1), np.bool_)
        intervals = statistics.RankIntervals(log_p, log_p, np.full((*log_p.shape, 1), np.nan))
    elif weights is not None:
        how["weighted_d"] = {}
        how["weighted_d"]["weights"], notes = weights.matrix(scores.task, scores.perturbations, metrics)
    together = statistics.combine(log_p)
    scores_by_name = {name: statistics.combined_scores(log_p, intervals, **options) for name, options in how.items()}
    calibrated_d = discernment_score(statistics.calibrated(together, len(metrics) or 1))
    # The metric with the smallest p-value decides the combination.
    decides = np.where(np.isnan(log_p), np.inf, log_p).argmin(axis=1)
    few = np.take_along_axis(few, decides[:, None], axis=1)[:, 0]
    return TaskCombined(cells, together, scores_by_name, calibrated_d, few, notes)


def perturbation_rows(tasks: Sequence[TaskCombined]) -> Rows:
    """The rows of all perturbations, by task, in the order of the plan."""
    return with_columns(PERTURBATION_COLUMNS, (row for task in tasks for row in _rows_of(task)))


def _rows_of(task: TaskCombined) -> Iterator[TableRow]:
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
            **{name: number(column[i]) for name, column in figures.items()},
            "noticed": None if d is None else d >= statistics.NOTICED and not task.few[i],
        }


def summary_rows(tasks: Sequence[TaskCombined]) -> Iterator[TableRow]:
    """The averages and minima of each task, over all perturbations, each level and each degree, without controls."""
    for task in tasks:
        scores = task.cells.scores
        damages = {i: change for i, change in enumerate(scores.perturbations) if not change.is_control}
        named = dict.fromkeys(change.degree for change in damages.values() if change.degree)
        # Numbers in ascending order, then other names in order of appearance.
        degrees = sorted(named, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0))
        scopes = {"all": list(damages)}
        scopes |= {
            f"level:{name}": [i for i, change in damages.items() if change.level == name] for name in LEVELS[:-1]
        }
        scopes |= {f"degree:{name}": [i for i, change in damages.items() if change.degree == name] for name in degrees}
        for score, (scope, rows) in product(task.scores, scopes.items()):
            if rows or scope == "all":
                described = {"evaluator": scores.scored.evaluator, "task": scores.task, "score": score, "scope": scope}
                yield described | figures_of(task.scores[score], scores.perturbations, rows)


def figures_of(scores: DiscernmentScores, perturbations: Sequence[Perturbation], rows: Sequence[int]) -> TableRow:
    """The average of some perturbations' scores with its interval, and their minimum."""
    levels, own = [perturbations[row].level for row in rows], scores.at(rows)
    weights = statistics.level_weights(own.d, levels)
    mean, minimum = statistics.average(own.d, levels)
    low, high = statistics.interval_of_sum(weights, own)
    at = int(np.where(weights > 0, own.d, np.inf).argmin()) if weights.any() else None
    return {
        "n_perturbations": sum(level != statistics.CONTROL for level in levels),
        "n_defined": int((weights > 0).sum()),
        "average": number(mean),
        "average_low": low,
        "average_high": high,
        "minimum": number(minimum),
        "minimum_at": None if at is None else perturbations[rows[at]].name,
    }


PLAIN, WEIGHTED = "d", "weighted_d"


def common_rows(tests: Sequence[Discernment]) -> list[list[TableRow]]:
    """The averages of each test on the perturbations that all tests have, with the columns of `COMMON_COLUMNS`.

    A task has rows if several tests have it.
    """
    rows: list[list[TableRow]] = [[] for _ in tests]
    for task in dict.fromkeys(task for test in tests for task in test.scores):
        compared = [number for number, test in enumerate(tests) if task in test.scores]
        if len(compared) > 1:
            names = _common_names([tests[number] for number in compared], task)
            for number in compared:
                test, damage = tests[number], _damage(tests[number])
                common = [i for i, change in damage.items() if change.name in names]
                for score in _scores_of(test, task):
                    scores = test.scores[task][score]
                    described = {"evaluator": test.scored.evaluator, "task": task, "score": score}
                    counts = {"n_own": int((~np.isnan(scores.d[list(damage)])).sum()), "n_common": len(common)}
                    full = {**described, **counts, **figures_of(scores, test.scored.plan.perturbations, common)}
                    rows[number].append({column: full[column] for column in COMMON_COLUMNS})
    return rows


def difference_rows(tests: Sequence[Discernment]) -> Iterator[TableRow]:
    """Yields, for each task and pair of tests of the same items, the difference of the averages, with its interval.

    The averages are of the perturbations that all tests have. Both are of the same items, so their errors are paired.
    """
    for task in dict.fromkeys(task for test in tests for task in test.scores):
        compared = [test for test in tests if task in test.scores]
        names = _common_names(compared, task)
        for first, second in combinations(compared, 2):
            if names and first.scored.collection.hash == second.scored.collection.hash:
                parts = []
                for test, sign in ((first, 1), (second, -1)):
                    rows = [i for i, change in _damage(test).items() if change.name in names]
                    scores = test.scores[task][PLAIN].at(rows)
                    levels = [test.scored.plan.perturbations[row].level for row in rows]
                    parts.append((scores, sign * statistics.level_weights(scores.d, levels)))
                columns = zip(*(scores for scores, _ in parts), strict=True)
                both = DiscernmentScores(*(np.concatenate(column, axis=-1) for column in columns))
                weights = np.concatenate([weights for _, weights in parts])
                low, high = statistics.interval_of_sum(weights, both)
                named = {"first": first.scored.evaluator, "second": second.scored.evaluator, "task": task}
                figures = {"difference": number(float(weights @ both.d)), "low": low, "high": high}
                yield {**named, "n_common": len(names), **figures}


def response_styles(tests: Sequence[Discernment]) -> Iterator[tuple[str, Floats, Floats]]:
    """Yields, for the originals and each perturbation, its name, mean scores over metrics, and their correlations.

    The scores are a matrix of tests × items, and the correlations (Pearson) one of tests × tests. Tests are compared
    if they are of the same items. Items without a score of any test are left out.
    """
    if len({test.scored.collection.hash for test in tests}) > 1 or len(tests) < 2:
        return
    tables: list[dict[str, Any]] = []
    for test in tests:
        counts = np.array([metric.combined and metric.higher_is_better for metric in test.scored.metrics], np.bool_)
        names = [ORIGINAL, *(change.name for change in test.scored.plan.perturbations)]
        by_name = zip(names, (test.scored.originals, *test.scored.damaged), strict=True)
        tables.append({name: np.ma.masked_invalid(own[counts]).mean(axis=0).filled(np.nan) for name, own in by_name})
    for name in tables[0]:
        scores = np.array([table[name] for table in tables if name in table])
        scores = scores[:, ~np.isnan(scores).any(axis=0)]
        if len(scores) == len(tests) and scores.shape[1] > 1:
            yield name, scores, np.array([[pearson(a, b) for b in scores] for a in scores], np.float64)


def _damage(test: Discernment) -> dict[int, Perturbation]:
    """The perturbations of a test by their number, without controls."""
    return {i: change for i, change in enumerate(test.scored.plan.perturbations) if not change.is_control}


def _scores_of(test: Discernment, task: str) -> list[str]:
    """The scores that a test has for a task: the plain one, and with weights a weighted one."""
    weighted = test.scores[task].get(WEIGHTED)
    has_weighted = weighted is not None and not np.isnan(weighted.d[list(_damage(test))]).all()
    return [PLAIN, WEIGHTED][: 1 + has_weighted]


def _common_names(tests: Sequence[Discernment], task: str) -> set[str]:
    """The names of the perturbations for which all tests have all their scores."""
    names = []
    for test in tests:
        defined = np.logical_and.reduce([~np.isnan(test.scores[task][name].d) for name in _scores_of(test, task)])
        names.append({change.name for i, change in _damage(test).items() if defined[i]})
    return set.intersection(*names)

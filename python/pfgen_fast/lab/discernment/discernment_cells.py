"""The cells of a test: for each perturbation and metric, how consistently and how far the scores fell.

A cell is undefined if it has too few items or too many missing scores. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Bools, Floats
from ...runs.statistics.paired_tests import of_stratum
from ..evaluators.evaluator import Metric
from ..statistics.discernment_scores import FEW, RankIntervals, change_interval, is_noticed, rank_intervals
from ..statistics.signed_rank import discernment_score, signed_rank
from .damage_scoring import rows_of_tasks
from .discernment_items import MIN_ITEMS
from .discernment_result import CELL_COLUMNS, Curve, Rows, Scored, TableRow, number, whole, with_columns
from .kinds import Perturbation

MISSING_AT_MOST = 0.2
"""The share of missing scores above which a cell is undefined."""

_COUNTS = ("n_pairs", "n_zero", "n", "units")
_TESTED = (
    *("share_lower", "share_equal", "share_higher", "mean_drop", "rank_biserial", "r_plus", "z", "log_p"),
    *("d", "ceiling_d", "exact_d", "reverse_d"),
)


@dataclass(frozen=True, eq=False)
class TaskCells:
    """The cells of one task; each figure is a matrix of perturbations × metrics."""

    scores: TaskScores
    intervals: RankIntervals  # perturbations × metrics, and × questions
    figures: Mapping[str, Floats]  # figures by their names in `CELL_COLUMNS`; NaN if undefined
    is_defined: NDArray[np.bool_]  # whether the cell is defined
    has_items: NDArray[np.bool_]  # whether each perturbation is possible for enough items

    @property
    def few(self) -> NDArray[np.bool_]:
        """Whether the scores of too few items differ for a meaningful test."""
        return self.is_defined & (self.figures["units"] < FEW)

    @property
    def noticed(self) -> NDArray[np.bool_]:
        """Whether the damage is noticed."""
        return self.is_defined & is_noticed(self.figures["d"], self.figures["units"])

    @property
    def rewarded(self) -> NDArray[np.bool_]:
        """Whether the damage is rewarded: scores rise as consistently as they fall for noticed damage."""
        return self.is_defined & is_noticed(self.figures["reverse_d"], self.figures["units"])


def cells_of(scores: TaskScores) -> TaskCells:
    """Tests each cell of a task."""
    columns, parts = zip(*(_figures(scores, metric) for metric in range(len(scores.metrics))), strict=True)
    figures = {name: np.stack([column[name] for column in columns], axis=1) for name in columns[0]}
    n_items = scores.n_possible[:, None]
    figures["n_missing"] = n_items - figures.pop("n_pairs")
    has_items = n_items >= MIN_ITEMS
    is_defined = has_items & (figures["n_missing"] <= MISSING_AT_MOST * n_items)
    for name, matrix in figures.items():
        if name not in ("n_missing", *_COUNTS):
            figures[name] = np.where(is_defined, matrix, np.nan)
    intervals = RankIntervals(*(np.stack(part, axis=1) for part in zip(*parts, strict=True)))
    return TaskCells(scores, intervals, figures, is_defined, has_items[:, 0])


def _figures(scores: TaskScores, metric: int) -> tuple[dict[str, Floats], RankIntervals]:
    """The figures of one metric, and their intervals, by perturbation."""
    damaged, original = scores.damaged(metric), scores.originals[metric]
    originals, changes = np.broadcast_to(original, damaged.shape), original - damaged
    tested = signed_rank(originals, damaged, clusters=scores.codes)
    intervals = rank_intervals(originals, damaged, tested, scores.codes)
    figures = {name: np.asarray(getattr(tested, name), np.float64) for name in (*_COUNTS, *_TESTED)}
    figures["d_low"], figures["d_high"] = map(discernment_score, (intervals.log_p_high, intervals.log_p_low))
    for name, values in (("mean_original", originals), ("mean_perturbed", damaged)):
        sums = np.where(np.isnan(changes), 0.0, values).sum(axis=1)
        # + 0.0, because a mean of 0 times -1 is -0.0.
        figures[name] = sums / np.maximum(1, figures["n_pairs"]) * scores.signs[metric] + 0.0
    # A rare change may be as large as any change, or as the difference of two originals.
    largest = max(np.nanmax(original) - np.nanmin(original), np.abs(np.nan_to_num(changes)).max(initial=0))
    ends = change_interval(changes, largest=float(largest), clusters=scores.codes)
    return figures | dict(zip(("drop_low", "drop_high"), ends, strict=True)), intervals


def cell_rows(tasks: Sequence[TaskCells]) -> Rows:
    """The rows of all cells, by task, in the order of the plan."""
    return with_columns(CELL_COLUMNS, (row for task in tasks for row in _rows_of(task)))


def _rows_of(task: TaskCells) -> Iterator[TableRow]:
    verdicts = {"few": task.few, "noticed": task.noticed}
    for i in range(len(task.scores.perturbations)):
        for j, metric in enumerate(task.scores.metrics):
            is_defined = bool(task.is_defined[i, j])
            yield {
                **task.scores.described(i),
                "metric": metric.name,
                **{name: number(matrix[i, j]) for name, matrix in task.figures.items()},
                **{name: whole(task.figures[name][i, j]) for name in ("n_missing", "n_zero", "n")},
                **{name: bool(matrix[i, j]) if is_defined else None for name, matrix in verdicts.items()},
            }


@dataclass(frozen=True, eq=False)
class TaskScores:
    """The scores of one task, with signs such that higher is better."""

    scored: Scored
    task: str
    rows: NDArray[np.intp]  # indices of the items in the collection
    codes: NDArray[np.int_]  # number of each item's question; items without a question have one each
    places: NDArray[np.intp]  # indices of the metrics that have a score for at least one original of the task

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.rows)

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The perturbations, in the order of the plan."""
        return self.scored.plan.perturbations

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics. Judges have different metrics for each task."""
        return tuple(self.scored.metrics[place] for place in self.places)

    @cached_property
    def signs(self) -> Floats:
        """By metric: 1 if higher is better, or else -1."""
        return np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])

    @cached_property
    def originals(self) -> Floats:
        """Metrics × items: the scores of the originals, negative if lower is better."""
        return self.scored.originals[np.ix_(self.places, self.rows)] * self.signs[:, None]

    @cached_property
    def n_possible(self) -> NDArray[np.intp]:
        """By perturbation, the number of items for which it is possible."""
        return np.asarray(self.scored.is_possible[:, self.rows].sum(axis=1))

    def described(self, number: int) -> TableRow:
        """The columns that describe the perturbation of a row, with its number of items."""
        change, n_items = self.perturbations[number], int(self.n_possible[number])
        return {
            "evaluator": self.scored.evaluator,
            "task": self.task,
            **{name: getattr(change, name) for name in ("level", "kind", "degree", "permille", "k", "method")},
            "n_items": n_items,
            "n_impossible": self.n_items - n_items,
        }

    def damaged(self, metric: int) -> Floats:
        """Perturbations × items: the scores of a metric, with the sign of `originals`."""
        damaged: Floats = self.scored.damaged[:, self.places[metric]][:, self.rows] * self.signs[metric]
        return damaged


def by_task(scored: Scored) -> Iterator[TaskScores]:
    """Yields the scores of each task; a task is left out if no original of it has a score."""
    items = scored.collection.items
    for task, rows in rows_of_tasks(items).items():
        places = np.flatnonzero(~np.isnan(scored.originals[:, rows]).all(axis=1))
        clusters = [(items[row].question is None, items[row].question or items[row].id) for row in rows]
        numbers = {cluster: number for number, cluster in enumerate(sorted(set(clusters)))}  # in any order of the items
        if places.size:
            yield TaskScores(scored, task, rows, np.array([numbers[cluster] for cluster in clusters]), places)


# --- one kind of damage in all its degrees


def kinds_of(perturbations: Sequence[Perturbation]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Yields the kinds of damage without controls, with the indices of their degrees in ascending order."""
    kinds = dict.fromkeys(change.kind for change in perturbations if not change.is_control)
    for kind in kinds:
        yield kind, np.array([i for i, change in enumerate(perturbations) if change.kind == kind], dtype=np.intp)


def profile_rows(tasks: Sequence[TaskCells]) -> Iterator[TableRow]:
    """Yields the rows of the profile: for each task, kind and metric, in the order of the plan."""
    for task in tasks:
        scores = task.scores
        for kind, kind_rows in kinds_of(scores.perturbations):
            for j, metric in enumerate(scores.metrics):
                rows = kind_rows[task.is_defined[kind_rows, j]]
                first = noticed_from(task.noticed[rows, j])
                yield {
                    "evaluator": scores.scored.evaluator,
                    "task": scores.task,
                    "level": scores.perturbations[kind_rows[0]].level,
                    "kind": kind,
                    "metric": metric.name,
                    "noticed_from": scores.perturbations[rows[first]].degree if first < len(rows) else None,
                    "verdict": verdict(task.noticed[rows, j], task.rewarded[rows, j]) if rows.size else None,
                }


def noticed_from(noticed: Bools) -> int:
    """The index of the degree from which on all degrees are noticed; the number of degrees if there is none."""
    return len(noticed) - int(np.logical_and.accumulate(noticed[::-1]).sum())


def verdict(noticed: Bools, rewarded: Bools) -> str:
    """The verdict of a metric on the degrees of a kind; see `PROFILE_COLUMNS`."""
    first = noticed_from(noticed)
    # Scores rise at the highest degree, or at another degree if the highest degree is not noticed.
    if rewarded[-1] or (rewarded.any() and first == len(noticed)):
        return "rewards"
    if first == len(noticed):
        return "needs much" if noticed.any() else "not noticed"
    return "notices" if first < (len(noticed) + 1) // 2 else "needs much"


def curves_of(task: TaskCells) -> Iterator[Curve]:
    """Yields the curve of each kind with several degrees, by metric, unless no item has all degrees.

    Its means have Student's intervals over questions. Degrees that are impossible for all items are left out.
    """
    from scipy.special import stdtrit

    scores = task.scores
    for kind, kind_rows in kinds_of(scores.perturbations):
        rows = kind_rows[scores.n_possible[kind_rows] > 0]
        degrees = [scores.perturbations[row] for row in rows]
        if len(degrees) < 2:
            continue
        rates = [change.permille for change in degrees]
        for j, metric in enumerate(scores.metrics):
            turned = np.vstack([scores.originals[j], scores.damaged(j)[rows]])
            is_complete = np.isfinite(turned).all(axis=0)
            if not is_complete.any():
                continue
            turned = turned[:, is_complete]
            own = turned * scores.signs[j] + 0.0
            mean, variances, _, units, freedom, _ = of_stratum(np.zeros(own.shape[1]), -own, scores.codes[is_complete])
            half = np.where(variances > 0, stdtrit(freedom, 0.975) * np.sqrt(variances), 0.0)
            half[units < 2] = np.nan
            yield Curve(
                task=scores.task,
                kind=kind,
                metric=metric.name,
                permille=np.array(range(len(rates) + 1) if None in rates else [0, *rates], dtype=np.float64),
                names=("original", *(change.degree or change.name for change in degrees)),
                mean=mean,
                mean_low=mean - half,
                mean_high=mean + half,
                n_items=int(is_complete.sum()),
            )

"""One kind of damage in all its degrees: sensitivity profiles and curves.

The profile has the degree from which on a metric notices the damage. Curves show how scores change with the degree,
over the items that have all degrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...runs.statistics.paired import of_stratum
from ..statistics.detectability import monotonicity, noticed_from, noticed_from_with
from ..statistics.signed_rank import Zeros, differences_on_grid
from .discernment_cells import TaskCells, TaskScores
from .discernment_plan import Perturbation
from .discernment_result import Curve, TableRow, number, whole

UNNOTICED = "none"
"""Stands for the degree from which on damage is noticed, if there is no such degree."""

NUMBERS_OF_ITEMS = (100, 20)
"""The numbers of items for which the profile has the degree from which on damage is noticed."""


def kinds_of(perturbations: Sequence[Perturbation]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Yields the kinds of damage without controls, with the indices of their degrees in ascending order."""
    kinds = dict.fromkeys(change.kind for change in perturbations if not change.is_control)
    for kind in kinds:
        yield kind, np.array([i for i, change in enumerate(perturbations) if change.kind == kind], dtype=np.intp)


class Gradation:
    """The scores of originals and of the texts of one kind, with signs such that higher is better.

    Degrees that are impossible for all items are left out.
    """

    def __init__(self, scores: TaskScores, rows: NDArray[np.intp]) -> None:
        rows = rows[scores.n_possible[rows] > 0]
        perturbations = [scores.perturbations[row] for row in rows]
        self.names = tuple(change.degree or change.name for change in perturbations)
        rates = [change.permille for change in perturbations]
        self._has_rates = None not in rates
        # 0 for the originals, then the degrees; 0, 1, 2, ... if a degree is not a rate.
        self.permille = np.array([0, *rates] if self._has_rates else range(len(rates) + 1), dtype=np.float64)
        self._originals, self._damaged, self._codes = scores.originals, scores.damaged(rows), scores.codes
        self._changes = scores.scored.differs_from_lower[rows][:, scores.rows]

    def complete(self, metric: int) -> tuple[NDArray[np.bool_], Floats]:
        """Which items have all scores of a metric, and these scores: a row for the originals and for each degree."""
        scores = np.vstack([self._originals[metric], self._damaged[:, metric]])
        is_complete = np.logical_not(np.isnan(scores).any(axis=0))
        return is_complete, scores[:, is_complete]

    def monotonicity(self, metric: int) -> float:
        """How consistently more damage lowers the score, from -1 to 1; NaN if no texts differ."""
        return monotonicity(self._originals[metric], self._damaged[:, metric], self._changes)

    def noticed_from_with(self, n_items: int, metric: int, zeros: Zeros) -> str | None:
        """The first degree from which on all are noticed with this number of items, or `none`; None for fewer items."""
        scores = self._originals[metric], self._damaged[:, metric]
        first = noticed_from_with(n_items, *scores, zeros=zeros, clusters=self._codes)
        return None if first is None else (*self.names, UNNOTICED)[first]

    def per_100_permille(self, metric: int) -> float:
        """The mean drop for each 100 per mille of damage: the slope of a line from the originals; NaN if undefined."""
        _, scores = self.complete(metric)
        if not self.names or not scores.size or not self._has_rates:
            return float("nan")
        rates, drops = self.permille / 100, (scores[0] - scores).mean(axis=1)
        return float((rates * drops).sum() / (rates * rates).sum())


def profile_rows(tasks: Sequence[TaskCells], zeros: Zeros) -> Iterator[TableRow]:
    """Yields the rows of the profile: for each task, kind and metric, in the order of the plan."""
    for task in tasks:
        scores, verdicts = task.scores, (task.noticed, task.rewarded, task.equivalent)
        for kind, kind_rows in kinds_of(scores.perturbations):
            for j, metric in enumerate(scores.metrics):
                rows = kind_rows[task.is_defined[kind_rows, j]]
                gradation = Gradation(scores, rows)
                first = int(noticed_from(task.noticed[rows, j]))
                yield {
                    "evaluator": scores.scored.evaluator,
                    "task": scores.task,
                    "level": scores.perturbations[kind_rows[0]].level,
                    "kind": kind,
                    "metric": metric.name,
                    **{f"detectable_at_{n}": gradation.noticed_from_with(n, j, zeros) for n in NUMBERS_OF_ITEMS},
                    "n80": whole(task.figures["n80"][rows[: first + 1][-1], j]) if rows.size else None,
                    "monotonicity": number(gradation.monotonicity(j)),
                    "drop_per_100_permille": number(gradation.per_100_permille(j)),
                    "missed_at_most": number(task.figures["missed_at_most"][rows, j].max()) if rows.size else None,
                    "verdict": verdict(*(matrix[rows, j] for matrix in verdicts)) if rows.size else None,
                }


def verdict(noticed: NDArray[np.bool_], rewarded: NDArray[np.bool_], equivalent: NDArray[np.bool_]) -> str:
    """The verdict of a metric on a kind of damage; see `PROFILE_COLUMNS`."""
    first = int(noticed_from(noticed))
    # Scores rise at the highest degree, or at another degree if the highest degree is not noticed.
    if rewarded[-1] or (rewarded.any() and first == len(noticed)):
        return "rewards"
    if first == len(noticed):
        return "needs much" if noticed.any() else "blind" if equivalent.all() else "not noticed"
    return "notices" if first < (len(noticed) + 1) // 2 else "needs much"


def curves_of(task: TaskCells) -> Iterator[Curve]:
    """Yields the curve of each kind with several degrees, by metric, unless no item has all degrees.

    Its means have Student's intervals over questions.
    """
    from scipy.special import stdtrit

    scores = task.scores
    for kind, rows in kinds_of(scores.perturbations):
        gradation = Gradation(scores, rows)
        if len(gradation.names) < 2:
            continue
        for j, metric in enumerate(scores.metrics):
            complete, turned = gradation.complete(j)
            if not complete.any():
                continue
            own = turned * scores.signs[j] + 0.0
            mean, variances, _, units, degrees, _ = of_stratum(np.zeros(own.shape[1]), -own, scores.codes[complete])
            half = np.where(variances > 0, stdtrit(degrees, 0.975) * np.sqrt(variances), 0.0)
            half[units < 2] = np.nan
            yield Curve(
                task=scores.task,
                kind=kind,
                metric=metric.name,
                permille=gradation.permille,
                names=("original", *gradation.names),
                mean=mean,
                mean_low=mean - half,
                mean_high=mean + half,
                share_lower=(differences_on_grid(np.broadcast_to(turned[0], turned.shape), turned) > 0).mean(axis=1),
                n_items=int(complete.sum()),
            )

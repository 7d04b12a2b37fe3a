"""One kind of damage at all its degrees, and what follows from it.

The sensitivity profile says how much damage it takes until a metric notices it; curves show how scores change with the
degree, over the items that have all degrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.detectability import monotonicity, noticed_from, noticed_from_with
from ..statistics.signed_rank import Zeros, differences_on_grid
from .cells import TaskCells
from .plan import Perturbation
from .result import Cell, Curve, number, whole
from .task_scores import Drawn, TaskScores

UNNOTICED = "none"
"""Stands for the degree from which on a damage is noticed, where it is noticed from none on."""

NUMBERS_OF_ITEMS = (100, 20)
"""For how many items it is said from which degree on a damage is noticed."""


def kinds_of(perturbations: Sequence[Perturbation]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """The kinds of damage without controls, with the places of their degrees, by rising degree."""
    kinds = dict.fromkeys(each.kind for each in perturbations if not each.is_control)
    for kind in kinds:
        yield kind, np.array([i for i, each in enumerate(perturbations) if each.kind == kind], dtype=np.intp)


class Gradation:
    """The scores of originals and of one kind's texts, all metrics turned so that higher is better.

    Degrees that are impossible for all items are left out.
    """

    def __init__(self, scores: TaskScores, rows: NDArray[np.intp]) -> None:
        rows = rows[[scores.perturbed[row].is_possible[scores.rows].any() for row in rows]]
        self.perturbations: tuple[Perturbation, ...] = tuple(scores.perturbations[row] for row in rows)
        self._originals, self._damaged = scores.originals, scores.damaged(rows)
        self._changes = np.array([scores.perturbed[row].differs_from_lower[scores.rows] for row in rows])

    def complete(self, metric: int) -> NDArray[np.bool_]:
        """Which items have a score of a metric for the original and at each degree."""
        return np.logical_not(np.isnan(self._all(metric)).any(axis=0))

    def scores(self, metric: int) -> Floats:
        """The scores of complete items only: originals first, then the degrees."""
        return self._all(metric)[:, self.complete(metric)]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the degrees; of a perturbation that has none, its own."""
        return tuple(each.degree or each.name for each in self.perturbations)

    def permille(self) -> Floats:
        """0 for the originals, then the degrees; 0, 1, 2, ... where one is no rate."""
        rates = [each.permille for each in self.perturbations]
        known = [rate for rate in rates if rate is not None]
        return np.array([0, *known] if len(known) == len(rates) else range(len(rates) + 1), dtype=np.float64)

    def share_lower(self, metric: int) -> Floats:
        """The share of the complete items that score lower than the original; 0 for the originals."""
        scores = self.scores(metric)
        originals = np.broadcast_to(scores[0], scores.shape)
        is_better = np.ones(len(scores), dtype=np.bool_)
        share: Floats = (differences_on_grid(originals, scores, is_better) > 0).mean(axis=1)
        return share

    def monotonicity(self, metric: int) -> float:
        """How far every further damage lowers the score, from -1 to 1; NaN if no texts differ."""
        return monotonicity(self._originals[metric], self._damaged[:, metric], self._changes)

    def noticed_from_with(self, n_items: int, metric: int, zeros: Zeros) -> str | None:
        """The first degree from which on all are noticed with so many items, `none` if there is none.

        None if there are fewer items, so that nothing can be said. An item counts whether or not it can be damaged.
        """
        first = noticed_from_with(n_items, self._originals[metric], self._damaged[:, metric], zeros=zeros)
        if first is None:
            return None
        return self.names[first] if first < len(self.names) else UNNOTICED

    def per_100_permille(self, metric: int) -> float:
        """The mean drop for each 100 per mille of damage: the slope of a line from the originals; NaN without."""
        scores = self.scores(metric)
        if not self.perturbations or not scores.size or any(each.permille is None for each in self.perturbations):
            return float("nan")
        rates = self.permille() / 100
        drops = (scores[0] - scores).mean(axis=1)
        return float((rates * drops).sum() / (rates * rates).sum())

    def _all(self, metric: int) -> Floats:
        return np.vstack([self._originals[metric], self._damaged[:, metric]])


def profile_rows(
    evaluator: str, tasks: Sequence[tuple[TaskScores, TaskCells]], zeros: Zeros
) -> Iterator[dict[str, Cell]]:
    """The profile of each task: a row for each kind and metric, in the order of the plan."""
    for scores, cells in tasks:
        for kind, rows in kinds_of(cells.perturbations):
            for j, metric in enumerate(cells.metrics):
                gradation = Gradation(scores, rows[cells.is_defined[rows, j]])
                yield {
                    "evaluator": evaluator,
                    "task": cells.task,
                    "level": cells.perturbations[rows[0]].level,
                    "kind": kind,
                    "metric": metric.name,
                    **{f"detectable_at_{n}": gradation.noticed_from_with(n, j, zeros) for n in NUMBERS_OF_ITEMS},
                    "n80": _n80(cells, rows, j),
                    "monotonicity": number(gradation.monotonicity(j)),
                    "drop_per_100_permille": number(gradation.per_100_permille(j)),
                    "verdict": verdict(cells, rows, j),
                }


def verdict(cells: TaskCells, rows: NDArray[np.intp], metric: int) -> str | None:
    """What a metric makes of a kind of damage, with all items: `notices`, `needs much`, `blind` or `rewards`.

    `notices`: from a degree in the lower half of the ladder on, its middle included. `needs much`: only from a higher
    degree on, or only here and there. `rewards`: scores rise at the highest degree, or at another if no degree is
    noticed throughout. None if no degree is defined.
    """
    rows = rows[cells.is_defined[rows, metric]]
    if not rows.size:
        return None
    noticed, rewarded = cells.noticed[rows, metric], cells.rewarded[rows, metric]
    first = int(noticed_from(noticed))
    is_noticed = first < len(rows)
    if rewarded[-1] or (rewarded.any() and not is_noticed):
        return "rewards"
    if not is_noticed:
        return "needs much" if noticed.any() else "blind"
    return "notices" if first < (len(rows) + 1) // 2 else "needs much"


def _n80(cells: TaskCells, rows: NDArray[np.intp], metric: int) -> int | None:
    """How many items notice the lightest degree that is noticed with all items, or if none is, the heaviest."""
    rows = rows[cells.is_defined[rows, metric]]
    if not rows.size:
        return None
    first = int(noticed_from(cells.noticed[rows, metric]))
    return whole(cells.figures["n80"][rows[min(first, len(rows) - 1)], metric])


def curves_of(scores: TaskScores, drawn: Drawn | None) -> Iterator[Curve]:
    """The curve of each kind with more than one degree, by metric; none where no item has all degrees."""
    for kind, rows in kinds_of(scores.perturbations):
        if len(rows) < 2:
            continue
        gradation = Gradation(scores, rows)
        for j, metric in enumerate(scores.metrics):
            complete = gradation.complete(j)
            if not complete.any():
                continue
            own = gradation.scores(j) * scores.signs[j] + 0.0
            interval = None if drawn is None else drawn.mean_interval(own, complete)
            yield Curve(
                task=scores.task,
                kind=kind,
                metric=metric.name,
                permille=gradation.permille(),
                names=("original", *gradation.names),
                mean=own.mean(axis=1),
                mean_low=None if interval is None else interval.low,
                mean_high=None if interval is None else interval.high,
                share_lower=gradation.share_lower(j),
                n_items=int(complete.sum()),
            )

"""One kind of damage at all its degrees, over the items that have all of them: what curves and profiles are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.detectability import monotonicity, noticed_from_with
from ..statistics.signed_rank import Zeros, differences_on_grid
from .plan import Perturbation
from .task_scores import TaskScores

UNNOTICED = "none"
"""Stands for the degree from which on a damage is noticed, where it is noticed from none on."""


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

"""One kind of damage at all its degrees, over the items that have all of them: what curves and profiles are made of."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.signed_rank import differences_on_grid
from .plan import Perturbation
from .task_scores import TaskScores


def kinds_of(perturbations: Sequence[Perturbation]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """The kinds of damage without controls, with the places of their degrees, by rising degree."""
    kinds = dict.fromkeys(each.kind for each in perturbations if not each.is_control)
    for kind in kinds:
        yield kind, np.array([i for i, each in enumerate(perturbations) if each.kind == kind], dtype=np.intp)


class Gradation:
    """The scores of originals and of one kind's texts, all metrics turned so that higher is better.

    Degrees that are impossible for all items are left out.

    Args:
        scores: The scores of one task.
        rows: The places of the kind's perturbations, by rising degree.
    """

    def __init__(self, scores: TaskScores, rows: NDArray[np.intp]) -> None:
        is_possible = scores.is_possible()[rows]
        rows = rows[is_possible.any(axis=1)]
        self.perturbations: tuple[Perturbation, ...] = tuple(scores.perturbations[row] for row in rows)
        self._originals, self._damaged = scores.originals, scores.damaged(rows)
        self._changes = np.array([scores.perturbed[row].differs_from_lower[scores.rows] for row in rows])

    def complete(self, metric: int) -> NDArray[np.bool_]:
        """Which items have a score of a metric for the original and at each degree."""
        return np.logical_not(np.isnan(self._all(metric)).any(axis=0))

    def scores(self, metric: int) -> Floats:
        """The scores of complete items only: originals first, then the degrees."""
        return self._all(metric)[:, self.complete(metric)]

    def permille(self) -> Floats:
        """0 for the originals, then the degrees; 0, 1, 2, ... where one is no rate."""
        rates = [each.permille for each in self.perturbations]
        known = [rate for rate in rates if rate is not None]
        return np.array([0, *known] if len(known) == len(rates) else range(len(rates) + 1), dtype=np.float64)

    def share_lower(self, metric: int) -> Floats:
        """The share of the complete items that score lower than the original; 0 for the originals."""
        scores = self.scores(metric)
        share: Floats = (self._differences(scores, 0, slice(None)) > 0).mean(axis=1)
        return share

    def monotonicity(self, metric: int) -> float:
        """How much more often further damage lowers a score than raises it, from -1 to 1.

        Counted are all pairs of degrees, the originals included, of which the texts differ; NaN if there are none.
        """
        complete = self.complete(metric)
        scores = self._all(metric)[:, complete]
        # Damage grows with the degree, so two texts differ if any step between them does.
        n_changes = np.vstack([np.zeros(scores.shape[1]), np.cumsum(self._changes[:, complete], axis=0)])
        balance, n_pairs = 0, 0
        for lighter, heavier in itertools.combinations(range(len(scores)), 2):
            differs = n_changes[heavier] > n_changes[lighter]
            n_pairs += int(differs.sum())
            difference = self._differences(scores, lighter, slice(heavier, heavier + 1))[0]
            balance += int(np.sign(difference[differs]).sum())
        return balance / n_pairs if n_pairs else float("nan")

    def per_100_permille(self, metric: int) -> float:
        """The mean drop for each 100 per mille of damage: the slope of a line from the originals; NaN without."""
        scores = self.scores(metric)
        if not scores.size or any(each.permille is None for each in self.perturbations):
            return float("nan")
        rates = self.permille() / 100
        drops = (scores[0] - scores).mean(axis=1)
        return float((rates * drops).sum() / (rates * rates).sum())

    def _all(self, metric: int) -> Floats:
        return np.vstack([self._originals[metric], self._damaged[:, metric]])

    @staticmethod
    def _differences(scores: Floats, lighter: int, heavier: slice) -> Floats:
        """How much lower the scores at some degrees are than at a lighter one, so that equal differences are equal."""
        damaged = scores[heavier]
        originals = np.broadcast_to(scores[lighter], damaged.shape)
        return differences_on_grid(originals, damaged, np.ones(len(damaged), dtype=np.bool_))

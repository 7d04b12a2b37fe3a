"""Averages of models under many weights at once: a score is linear in its weights, so that sums of verdicts suffice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ...errors import ChecklistError
from ...statistics.correlation import Floats
from ..scoring.scores import ModelScores, Scores
from ..suite import ChecklistSuite

CategoryWeights = Mapping[tuple[str, str], Any]
"""The weights of each category: a number for each question, or a row of numbers for each draw."""


@dataclass(frozen=True, eq=False)
class VerdictSums:
    """What the averages of models under any weights need."""

    suite: ChecklistSuite
    models: tuple[str, ...]
    left_out: tuple[str, ...]
    areas: tuple[str, ...]
    sums: Mapping[tuple[str, str], Floats]
    n_of_category: Mapping[tuple[str, str], Floats]
    n_judged: Floats
    n_missing: Floats

    @property
    def weights(self) -> dict[tuple[str, str], tuple[float, ...]]:
        """The weights of the suite."""
        return {key: self.suite.checklists[key].weights for key in self.sums}

    @property
    def equal_weights(self) -> dict[tuple[str, str], tuple[float, ...]]:
        """The same weight for each question."""
        return {key: (100 / n,) * n for key, n in ((key, sums.shape[1]) for key, sums in self.sums.items())}

    def averages(self, weights: CategoryWeights, *, missing_as_zero: bool = False) -> Floats:
        """The mean rescaled score of the areas: a row for each draw, or one; a column for each model."""
        n = self.n_judged + self.n_missing if missing_as_zero else self.n_judged
        of_areas = [self._rescaled(self._total(weights, area) / n[:, column]) for column, area in enumerate(self.areas)]
        return reduce(np.add, of_areas) / len(self.areas)

    def over_answers(self, weights: CategoryWeights) -> Floats:
        """The mean rescaled score of all judged answers, in the form of `averages`."""
        return self._rescaled(self._total(weights) / self.n_judged.sum(axis=1))

    def of_category(self, key: tuple[str, str], weights: CategoryWeights) -> Floats:
        """The sums of scores of one category, in the form of `averages`."""
        rows = np.atleast_2d(np.asarray(weights[key], dtype=np.float64))
        # Not a matrix product, whose sums would have the order of the BLAS that NumPy was built with.
        return reduce(np.add, (rows[:, [question]] * sums for question, sums in enumerate(self.sums[key].T)))

    def _total(self, weights: CategoryWeights, area: str | None = None) -> Floats:
        return reduce(np.add, (self.of_category(key, weights) for key in self.sums if area in (None, key[0])))

    def _rescaled(self, scores: Floats) -> Floats:
        scale = self.suite.rescaling
        return (scores - scale.centre) * scale.factor


def verdict_sums(scores: Scores) -> VerdictSums:
    """Adds up the verdicts of the main table."""
    suite = scores.suite
    used = {(task.area, task.category): None for task in suite.tasks if task.length is None}
    categories = [key for key in suite.checklists if key in used]
    areas = tuple(area for area in suite.areas if any(area == key[0] for key in categories))
    models = [one for one in scores.models if all(_has_judged(one, area) for area in areas)]
    if not models:
        raise ChecklistError("no model has a judged answer in every area of the suite; expected at least one")
    sums = {key: np.zeros((len(models), len(suite.checklists[key].questions))) for key in categories}
    n_of_category = {key: np.zeros(len(models)) for key in categories}
    for row, model in enumerate(models):
        for answer in model.answers:
            if answer.task.length is None:
                key = answer.task.area, answer.task.category
                sums[key][row] += answer.verdicts
                n_of_category[key][row] += 1
    return VerdictSums(
        suite,
        models=tuple(one.model for one in models),
        left_out=tuple(one.model for one in scores.models if one not in models),
        areas=areas,
        sums=sums,
        n_of_category=n_of_category,
        n_judged=np.column_stack(
            [reduce(np.add, (n for key, n in n_of_category.items() if key[0] == area)) for area in areas]
        ),
        n_missing=np.array([[len(one.areas[area].missing) for area in areas] for one in models], dtype=np.float64),
    )


def _has_judged(model: ModelScores, area: str) -> bool:
    return any(answer.task.area == area and answer.task.length is None for answer in model.answers)

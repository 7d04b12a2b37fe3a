"""Intervals of scores by the bootstrap over tasks within each part, and which models can be told apart.

The same draws of tasks serve all models. Trials of a task are drawn together, because they depend on one another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...statistics.paired import all_pairs
from ...statistics.resampling import interval
from ...statistics.stratified import Stratum, drawn_means, mean_of_strata
from ..judgements import AnswerKey
from ..tasks import Rescaling
from .scores import Part, Scores

_Floats = NDArray[np.float64]
_P = TypeVar("_P", bound=Part)
_K = TypeVar("_K", bound=Hashable)


def with_intervals(
    scores: Scores, draws: int, *, seed: int = 0, zeros: Mapping[str, Sequence[AnswerKey]] | None = None
) -> Scores:
    """The same scores with 95 % intervals, all pairs of models compared, and groups that cannot be told apart."""
    values = _Values.of(scores, zeros or {})
    n_ranked = sum(model.average.rescaled is not None for model in scores.models)
    if n_ranked > 1:
        pairs = all_pairs(*(stratum.values[:n_ranked] for stratum in values.areas.values()))
        scores = replace(scores, pairs=pairs, groups=pairs.groups)
    if not draws:
        return scores
    rescaling, seeds = scores.suite.rescaling, range(3 * seed, 3 * seed + 3)
    areas = _Drawn.of(values.areas, draws, seeds[0], rescaling)
    categories = _Drawn.of(values.categories, draws, seeds[1], rescaling)
    lengths = _Drawn.of(values.lengths, draws, seeds[2], rescaling)
    low, high = areas.of_averages()
    models = tuple(
        replace(
            model,
            areas=areas.of_parts(model.areas, place),
            categories=categories.of_parts(model.categories, place),
            lengths=lengths.of_parts(model.lengths, place),
            average=model.average
            if model.average.rescaled is None
            else replace(model.average, low=float(low[place]), high=float(high[place])),
        )
        for place, model in enumerate(scores.models)
    )
    return replace(scores, models=models, draws=draws)


@dataclass(frozen=True, eq=False)
class _Values:
    """The scores of all models (rows) on the tasks (columns) of each part."""

    areas: Mapping[str, Stratum]
    categories: Mapping[tuple[str, str], Stratum]
    lengths: Mapping[str, Stratum]

    @classmethod
    def of(cls, scores: Scores, zeros: Mapping[str, Sequence[AnswerKey]]) -> _Values:
        tasks = scores.suite.tasks
        columns = {task.key: column for column, task in enumerate(tasks)}
        totals, counts = np.zeros((2, len(scores.models), len(tasks)))
        for row, model in enumerate(scores.models):
            for answer in model.answers:
                column = columns[answer.task.key]
                totals[row, column] += answer.score
                counts[row, column] += 1
            for key in zeros.get(model.model, ()):
                counts[row, columns[key[:2]]] += 1

        def strata(parts: Iterable[tuple[_K, int]]) -> dict[_K, Stratum]:
            by_part: dict[_K, list[int]] = {}
            for part, column in parts:
                by_part.setdefault(part, []).append(column)
            return {part: Stratum(totals[:, inside], counts[:, inside]) for part, inside in by_part.items()}

        main = [(task, column) for column, task in enumerate(tasks) if task.length is None]
        return cls(
            strata((task.area, column) for task, column in main),
            strata(((task.area, task.category), column) for task, column in main),
            strata((task.length, column) for column, task in enumerate(tasks) if task.length is not None),
        )


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The rescaled means of all models (columns) in each draw (row), and their ends, by part."""

    means: Mapping[Any, _Floats]
    ends: Mapping[Any, tuple[_Floats, _Floats]]

    @classmethod
    def of(cls, strata: Mapping[_K, Stratum], draws: int, seed: int, rescaling: Rescaling) -> _Drawn:
        drawn = drawn_means(list(strata.values()), draws, seed=seed)
        means = {part: (found - rescaling.centre) * rescaling.factor for part, found in zip(strata, drawn, strict=True)}
        return cls(means, {part: interval(found) for part, found in means.items()})

    def of_parts(self, parts: Mapping[_K, _P], place: int) -> dict[_K, _P]:
        """The parts of the model in this place with their intervals, where they have two answers or more."""
        return {
            key: part
            if part.n < 2
            else replace(part, low=float(self.ends[key][0][place]), high=float(self.ends[key][1][place]))
            for key, part in parts.items()
        }

    def of_averages(self) -> tuple[_Floats, _Floats]:
        """The ends of the averages of all models."""
        return interval(mean_of_strata(list(self.means.values()))) if self.means else (np.zeros(0), np.zeros(0))

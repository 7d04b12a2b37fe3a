"""Intervals of scores by the bootstrap over tasks within each part, and groups of models that do not differ.

All models use the same draws of tasks. Trials of a task are drawn together, because they depend on one another.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ...statistics.correlation import Floats
from ...statistics.paired import all_pairs
from ...statistics.resampling import interval
from ...statistics.stratified import Stratum, drawn_means, mean_of_strata
from ..judgements import AnswerKey
from ..suite import PARTS
from .scores import Part, Scores

_P = TypeVar("_P", bound=Part)
_K = TypeVar("_K", bound=Hashable)
_Ends = Mapping[Any, tuple[Floats, Floats]]


def with_intervals(
    scores: Scores, draws: int, *, seed: int = 0, zeros: Mapping[str, Sequence[AnswerKey]] | None = None
) -> Scores:
    """The same scores with 95 % intervals, comparisons of all pairs, and groups of models that do not differ."""
    strata = _strata(scores, zeros or {})
    n_ranked = sum(model.average.rescaled is not None for model in scores.models)
    if n_ranked > 1:
        pairs = all_pairs(*(stratum.values[:n_ranked] for stratum in strata[0].values()))
        scores = replace(scores, pairs=pairs, groups=pairs.groups)
    if not draws:
        return scores
    rescale = scores.suite.rescaling
    ends: list[_Ends] = []
    for number, of_parts in enumerate(strata):
        drawn = drawn_means(list(of_parts.values()), draws, seed=3 * seed + number)
        means = [(found - rescale.centre) * rescale.factor for found in drawn]
        ends.append(dict(zip(of_parts, map(interval, means), strict=True)))
        if means and not number:  # the areas, whose mean is the average
            low, high = interval(mean_of_strata(means))
    areas, categories, lengths = ends
    models = tuple(
        replace(
            model,
            areas=_with_ends(model.areas, areas, place),
            categories=_with_ends(model.categories, categories, place),
            lengths=_with_ends(model.lengths, lengths, place),
            average=model.average
            if model.average.rescaled is None
            else replace(model.average, low=float(low[place]), high=float(high[place])),
        )
        for place, model in enumerate(scores.models)
    )
    return replace(scores, models=models, draws=draws)


def _strata(scores: Scores, zeros: Mapping[str, Sequence[AnswerKey]]) -> tuple[Mapping[Any, Stratum], ...]:
    """The scores of all models (rows) on the tasks (columns) of each area, category and length."""
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
    inside: list[dict[Any, list[int]]] = [{}, {}, {}]
    for column, task in enumerate(tasks):
        for parts, key_of in zip(inside, PARTS.values(), strict=True):
            parts.setdefault(key_of(task), []).append(column)
    return tuple(
        {part: Stratum(totals[:, of], counts[:, of]) for part, of in parts.items() if part is not None}
        for parts in inside
    )


def _with_ends(parts: Mapping[_K, _P], ends: _Ends, place: int) -> dict[_K, _P]:
    """The parts of model number `place`, each with its interval if the part has at least two answers."""
    return {
        key: part if part.n < 2 else replace(part, low=float(ends[key][0][place]), high=float(ends[key][1][place]))
        for key, part in parts.items()
    }

"""Curves: how scores change with the degree of a kind of damage, over the items that have all its degrees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .bootstrap import Drawn
from .gradation import Gradation, kinds_of
from .result import Curve
from .task_scores import TaskScores


def curves_of(scores: TaskScores, drawn: Drawn | None) -> Iterator[Curve]:
    """The curve of each kind with more than one degree, by metric; none where no item has all degrees."""
    for kind, rows in kinds_of(scores.perturbations):
        if len(rows) < 2:
            continue
        gradation = Gradation(scores, rows)
        for number, metric in enumerate(scores.metrics):
            complete = gradation.complete(number)
            if complete.any():
                yield _curve(scores, kind, number, metric.name, gradation, complete, drawn)


def _curve(
    scores: TaskScores,
    kind: str,
    number: int,
    metric: str,
    gradation: Gradation,
    complete: NDArray[np.bool_],
    drawn: Drawn | None,
) -> Curve:
    own = gradation.scores(number) * scores.signs[number] + 0.0
    interval = None if drawn is None else drawn.mean_interval(own, complete)
    return Curve(
        task=scores.task,
        kind=kind,
        metric=metric,
        permille=gradation.permille(),
        names=("original", *gradation.names),
        mean=own.mean(axis=1),
        mean_low=None if interval is None else interval.low,
        mean_high=None if interval is None else interval.high,
        share_lower=gradation.share_lower(number),
        n_items=int(complete.sum()),
    )

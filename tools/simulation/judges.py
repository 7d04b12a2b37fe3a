"""Claims of `make simulate` about methods of scoring: intervals over tasks, of few of them too."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from pfgen_fast.lab.statistics.correlation import resampled_pearson, resampled_spearman
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, interval_of_draws

from .claims import COVERAGE, Claim, within

METHODS = "Two methods of scoring answers: coverage of the interval of a figure over tasks"

_DRAWS = 400
_MANY = 100_000  # tasks that give the truth
_ANSWERS = 4  # of each task


def _two_scores(generator: Generator, n_tasks: int, n_questions: int = 1) -> np.ndarray:
    """Two judges (first axis) of the answers of four models, of which each has tasks that it likes."""
    shape = n_tasks, _ANSWERS, n_questions
    shared = 0.5 * generator.standard_normal((n_tasks, 1, 1)) + 0.7 * generator.standard_normal((n_tasks, _ANSWERS, 1))
    shared = shared + 0.5 * generator.standard_normal(shape) + np.linspace(-0.7, 0.7, _ANSWERS)[:, np.newaxis]
    own = 0.25 * generator.standard_normal((2, n_tasks, 1, 1)) + 0.6 * generator.standard_normal((2, *shape))
    return shared + own + np.array([0.0, 0.15])[:, np.newaxis, np.newaxis, np.newaxis]


def _figure(scores: np.ndarray, counts: Any, figure: str, is_skewed: bool) -> np.ndarray:
    """A figure of two columns in each draw of tasks."""
    x, y = np.exp(0.8 * scores) if is_skewed else scores
    part = resampled_spearman if figure == "Spearman" else resampled_pearson
    return part(x.ravel(), y.ravel(), np.repeat(np.arange(len(x)), _ANSWERS), counts)


@lru_cache
def _true_figure(*settings: Any) -> float:
    scores = _two_scores(np.random.default_rng(0), _MANY)
    return float(_figure(scores, np.ones((1, _MANY), dtype=np.int32), *settings)[0])


def _of_methods(generator: Generator, n_tasks: int, figure: str, is_skewed: bool) -> bool:
    counts = np.vstack([np.ones((1, n_tasks), dtype=np.int32), bootstrap_counts(n_tasks, _DRAWS)])
    value, *draws = _figure(_two_scores(generator, n_tasks), counts, figure, is_skewed).tolist()
    return bool(within(interval_of_draws(value, np.array(draws), n_tasks), _true_figure(figure, is_skewed)))


def claims_of_judges() -> Iterator[Claim]:
    """Those on two methods."""
    for n_tasks in (3, 5, 10, 20, 50, 200):
        usual, cost = COVERAGE if n_tasks >= 50 else (0.93, 1.0), 2 if n_tasks < 50 else 4
        for figure in ("Pearson", "Spearman"):
            yield Claim(METHODS, f"{figure}, {n_tasks} tasks", usual, _of_methods, (n_tasks, figure, False), 2 * cost)
            # Pearson's correlation of long tails is uncertain with any number of tasks.
            bounds = None if figure == "Pearson" else (0.9, 1.0)
            what = f"{figure}, {n_tasks} tasks, of columns with long tails"
            yield Claim(METHODS, what, bounds, _of_methods, (n_tasks, figure, True), 2 * cost)

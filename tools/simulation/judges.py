"""Claims of `make simulate` about judges and methods: intervals over tasks, of few of them too."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from pfgen_fast.lab.statistics.correlation import resampled_pearson, resampled_spearman, spearman_rows
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, interval_of_draws
from pfgen_fast.lab.statistics.raters import same_levels, tables_of

from .claims import COVERAGE, Claim, within

JUDGES = "Two judges of the same answers: coverage of the interval of a figure over tasks"
METHODS = "Two methods of scoring answers: coverage of the interval of a figure over tasks"
ORDERS = "Two tables of models: coverage of the interval of a figure over samples of as many tasks"

_DRAWS = 400
_MANY = 100_000  # tasks that give the truth
_LEVELS = np.linspace(0, 1, 5)
_OF_LEVELS = {"usual": (-1.5, -0.5, 0.3, 1.0), "top": (-3.2, -2.6, -2.0, -1.3)}
_ANSWERS = 4  # of each task
_CALLED = ("equal verdicts", "share"), ("quadratic kappa", "fisher")  # figures, and the scales of their intervals


def _two_scores(generator: Generator, n_tasks: int, n_questions: int = 1) -> np.ndarray:
    """Two judges (first axis) of the answers of four models, of which each has tasks that it likes."""
    shape = n_tasks, _ANSWERS, n_questions
    shared = 0.5 * generator.standard_normal((n_tasks, 1, 1)) + 0.7 * generator.standard_normal((n_tasks, _ANSWERS, 1))
    shared = shared + 0.5 * generator.standard_normal(shape) + np.linspace(-0.7, 0.7, _ANSWERS)[:, np.newaxis]
    own = 0.25 * generator.standard_normal((2, n_tasks, 1, 1)) + 0.6 * generator.standard_normal((2, *shape))
    return shared + own + np.array([0.0, 0.15])[:, np.newaxis, np.newaxis, np.newaxis]


def _tables(generator: Generator, n_tasks: int, world: str) -> np.ndarray:
    levels = np.searchsorted(_OF_LEVELS[world], _two_scores(generator, n_tasks, 5) + np.linspace(-0.6, 0.6, 5))
    return tables_of(levels.reshape(2, -1), np.repeat(np.arange(n_tasks), 5 * _ANSWERS), n_tasks, 5).astype(float)


@lru_cache
def _true_levels(world: str) -> tuple[np.ndarray, ...]:
    tables = _tables(np.random.default_rng(0), _MANY, world)
    return same_levels(tables.sum(axis=0, keepdims=True), _LEVELS)


def _of_levels(generator: Generator, n_tasks: int, number: int, world: str) -> bool:
    tables, counts = _tables(generator, n_tasks, world), bootstrap_counts(n_tasks, _DRAWS)
    value = same_levels(tables.sum(axis=0, keepdims=True), _LEVELS)[number][0]
    draws = same_levels(np.tensordot(counts, tables, 1), _LEVELS)[number]
    return within(interval_of_draws(value, draws, n_tasks, scale=_CALLED[number][1]), _true_levels(world)[number][0])


def _figure(scores: np.ndarray, counts: Any, figure: str, is_skewed: bool) -> np.ndarray:
    """A figure of two columns in each draw of tasks."""
    x, y = np.exp(0.8 * scores) if is_skewed else scores
    if figure == "mean absolute difference":
        return counts @ np.abs(x - y).mean(axis=(1, 2)) / counts.sum(axis=1)
    part = resampled_spearman if figure == "Spearman" else resampled_pearson
    return part(x.ravel(), y.ravel(), np.repeat(np.arange(len(x)), _ANSWERS), counts)


@lru_cache
def _true_figure(*settings: Any) -> float:
    scores = _two_scores(np.random.default_rng(0), _MANY)
    return float(_figure(scores, np.ones((1, _MANY), dtype=np.int32), *settings)[0])


def _of_methods(generator: Generator, n_tasks: int, figure: str, is_skewed: bool) -> bool:
    counts = np.vstack([np.ones((1, n_tasks), dtype=np.int32), bootstrap_counts(n_tasks, _DRAWS)])
    value, *draws = _figure(_two_scores(generator, n_tasks), counts, figure, is_skewed).tolist()
    scale = "logarithm" if figure == "mean absolute difference" else "fisher"
    ends = interval_of_draws(value, np.array(draws), n_tasks, scale=scale)
    return bool(within(ends, _true_figure(figure, is_skewed)))


def _orders(generator: Generator, n_tasks: int, n_models: int, counts: Any) -> np.ndarray:
    """Spearman's correlation of the means of models by two judges, in each draw of tasks."""
    quality = np.linspace(0, 0.3 * n_models, n_models)[:, np.newaxis]
    shared = quality + 0.5 * generator.standard_normal((n_models, n_tasks))
    judge_scores = shared + generator.standard_normal((2, n_models, n_tasks))
    x, y = np.swapaxes(judge_scores @ counts.T, 1, 2)
    return spearman_rows(x, y)


@lru_cache
def _mean_order(n_tasks: int, n_models: int) -> float:
    generator, whole = np.random.default_rng(0), np.ones((1, n_tasks))
    return float(np.mean([_orders(generator, n_tasks, n_models, whole) for _ in range(4_000)]))


def _of_orders(generator: Generator, *settings: Any) -> bool:
    n_tasks = settings[0]
    counts = np.vstack([np.ones((1, n_tasks), dtype=np.int32), bootstrap_counts(n_tasks, _DRAWS)])
    value, *draws = _orders(generator, *settings, counts).tolist()
    ends = interval_of_draws(value, np.array(draws), n_tasks, scale="linear", bounds=(-1, 1))
    return within(ends, _mean_order(*settings))


def claims_of_judges() -> Iterator[Claim]:
    """Those on two judges, two methods, and two tables of models."""
    for n_tasks in (3, 5, 10, 20, 50, 200):
        usual, cost = COVERAGE if n_tasks >= 50 else (0.93, 1.0), 2 if n_tasks < 50 else 4
        for number, (called, _) in enumerate(_CALLED):
            for world, bounds, part in (
                ("usual", usual, ""),
                ("top", (0.9, 1.0), ", most verdicts are the highest level"),
            ):
                name = f"{called}, {n_tasks} tasks{part}"
                if part and number and n_tasks < 10:
                    bounds = None  # often undefined
                yield Claim(JUDGES, name, bounds, _of_levels, (n_tasks, number, world), cost)
        for figure in ("Pearson", "Spearman", "mean absolute difference"):
            yield Claim(METHODS, f"{figure}, {n_tasks} tasks", usual, _of_methods, (n_tasks, figure, False), 2 * cost)
            # Pearson's correlation of long tails is uncertain with any number of tasks.
            bounds = None if figure == "Pearson" else (0.9, 1.0)
            what = f"{figure}, {n_tasks} tasks, of columns with long tails"
            yield Claim(METHODS, what, bounds, _of_methods, (n_tasks, figure, True), 2 * cost)
        for n_models in (5, 15) if n_tasks in (3, 10, 50) else ():
            what = f"Spearman, {n_models} models, {n_tasks} tasks"
            yield Claim(ORDERS, what, (0.93, 1.0), _of_orders, (n_tasks, n_models), cost)

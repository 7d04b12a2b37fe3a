"""Claims of `make simulate` about people: agreement and rates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, clustered_rate, interval_of_draws
from pfgen_fast.lab.statistics.raters import alpha, correlated

from .claims import Claim, within

AGREEMENT = "Agreement of annotators: coverage of its interval over tasks"
RATES = "Rates of reasonable verdicts: coverage, with several opinions on each answer"

_DRAWS = 400


def rated(
    generator: Generator,
    *,
    n_raters: int,
    n_units: int,
    noise: float = 1.2,
    strictness: float = 0.2,
    missing: float = 0.0,
) -> np.ndarray:
    """Ratings of 0 to 10, unrounded: a quality with standard deviation 2, each rater's strictness, and errors."""
    quality = generator.normal(6, 2, n_units)
    own = generator.normal(0, strictness, (n_raters, 1))
    values = quality + own + generator.normal(0, noise, (n_raters, n_units))
    return np.where(generator.random(values.shape) < missing, np.nan, np.clip(values, 0, 10))


def _agreement(generator: Generator, n_tasks: int, figure: str) -> bool:
    """Four annotators of two answers to each task; both figures are the answers' share of the variance."""
    tasks, counts = np.repeat(np.arange(n_tasks), 2), bootstrap_counts(n_tasks, _DRAWS)
    quality = generator.normal(0, 1.4, n_tasks)[tasks] + generator.normal(0, 1.4, 2 * n_tasks)
    values = quality + generator.normal(0, 1.2, (4, 2 * n_tasks))
    is_alpha = figure == "alpha"
    result = alpha(values, tasks, counts) if is_alpha else correlated(values[0], values[1], tasks, counts).pearson
    return within(interval_of_draws(result.value, result.draws, n_tasks), 2 * 1.4**2 / (2 * 1.4**2 + 1.2**2))


def _rate(generator: Generator, n_answers: int, n_opinions: int, truth: float, spread: float) -> bool:
    # Answers differ in the chance of a reasonable verdict, as verdicts on one answer depend on each other.
    chances = np.full(n_answers, truth)
    if spread:
        chances = generator.beta(truth * spread, (1 - truth) * spread, n_answers)
    values = generator.random((n_answers, n_opinions)) < chances[:, np.newaxis]
    clusters = np.repeat(np.arange(n_answers), n_opinions)
    _, low, high = clustered_rate(values.ravel().tolist(), clusters.tolist())
    return low <= truth <= high


def claims_of_raters() -> Iterator[Claim]:
    """Those on annotators and their opinions."""
    for figure in ("alpha", "Pearson"):
        for n_tasks in (3, 5, 10, 20, 50):
            yield Claim(AGREEMENT, f"{figure}, {n_tasks} tasks", (0.91, 0.99), _agreement, (n_tasks, figure), 2)
    worlds = ((20, 0.9, 0), (50, 0.9, 0), (50, 0.9, 5), (200, 0.9, 5), (200, 0.98, 5), (50, 0.5, 5))
    for n_answers, truth, spread in worlds:
        dependence = "dependent" if spread else "independent"
        case = f"{n_answers} answers, 5 opinions each, {dependence}, true share {truth:g}"
        yield Claim(RATES, case, (0.93, 0.99), _rate, (n_answers, 5, truth, spread))

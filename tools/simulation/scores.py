"""Claims of `make simulate` about scores and runs: intervals, differences, ranks, correlations, and trials.

A *world* makes the mean score of each question of runs whose truth is known.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from pfgen_fast import NgramSampler, Scorer, Suite
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.lab.experiments.stability import RunPairs
from pfgen_fast.lab.statistics.correlation import COEFFICIENTS, correlate
from pfgen_fast.runs.statistics.paired_tests import paired_difference
from pfgen_fast.runs.statistics.verdicts import decided, rank_ranges
from pfgen_fast.runs.trial_intervals import half_width, least_trials
from pfgen_fast.runs.trials import Trials, find_runs

from .claims import COVERAGE, FALSE_ALARMS, Claim, holds

PFGEN_BENCH = Path(os.environ.get("PFGEN_BENCH", "../shared/pfgen-bench"))

World = Callable[[Generator, int], np.ndarray]
Source = str | tuple[int, float, int]  # of trials: the model of a published run, or the arguments of `ngram_scores`


# ---- The means of questions


def trial_means(generator: Generator, means: np.ndarray, n_trials: int) -> np.ndarray:
    """The means of trials around the true means of questions: noise, and a keyword that is there or not."""
    hit = np.linspace(0.02, 0.98, means.shape[-1])
    keyword = generator.binomial(n_trials, hit, means.shape) / n_trials - hit
    return means + 0.1 * generator.standard_normal(means.shape) / n_trials**0.5 + keyword / 3


def usual(generator: Generator, n: int) -> np.ndarray:
    return 1.1 * generator.beta(5, 3, n)


def skewed(generator: Generator, n: int) -> np.ndarray:
    return generator.beta(1, 6, n)


TRUTH = {usual: 1.1 * 5 / 8, skewed: 1 / 7}  # the true means of these worlds


def two_runs(
    generator: Generator, n_questions: int, n_trials: tuple[int, int], apart: float, ties: float
) -> np.ndarray:
    """The question means of two runs that are equally good, but differ from question to question by `apart`."""
    means = usual(generator, n_questions)
    differences = apart * generator.standard_normal(n_questions) * (generator.uniform(size=n_questions) >= ties)
    pair = [means + differences / 2, means - differences / 2]
    # Where answers tie, both runs always answer in the same way.
    return np.stack(pair if ties else [trial_means(generator, m, n) for m, n in zip(pair, n_trials, strict=True)])


# ---- Trials: answers of the n-gram engine, and published ones


@cache
def ngram_scores(order: int, temperature: float, n_answers: int) -> np.ndarray:
    """The scores of so many answers to each question of the packaged suite; their means are the truth."""
    sampler, scorer = NgramSampler("mini", order=order, temperature=temperature), Scorer("mini")
    ids = [question.question_id for question in scorer.suite]
    return np.array([scorer.reward(item, sampler.sample(item, range(n_answers))) for item in ids])


@cache
def published_scores() -> dict[str, np.ndarray]:
    """The scores of the published runs of 100 trials, by model."""
    scorer = Scorer(Suite.load(PFGEN_BENCH / "data"))
    by_name = {}
    for run in find_runs([PFGEN_BENCH / "result"]):
        trials = Trials.of(run)
        average = scorer.score(trials.lines.questions, trials.lines.answers)["average"]
        rows = [average[trials.rows_by_question[question.question]] for question in scorer.suite]
        if {len(row) for row in rows} == {100}:
            by_name[run.folder.parent.name] = np.array(rows)
    return by_name


def drawn_trials(generator: Generator, source: Source, n_trials: int) -> tuple[np.ndarray, float]:
    """The scores of trials that are drawn from a source, and the mean of all scores of the source."""
    scores = published_scores()[source] if isinstance(source, str) else ngram_scores(*source)
    columns = generator.integers(scores.shape[1], size=(len(scores), n_trials))
    return np.take_along_axis(scores, columns, axis=1), scores.mean()


# ---- Draws: whether an interval held the truth, or an alarm was false


def _score(generator: Generator, world: World, n_questions: int, n_trials: int) -> bool:
    return holds(mean_interval(trial_means(generator, world(generator, n_questions), n_trials)), TRUTH[world])


def _holds_zero(generator: Generator, *pair: Any) -> bool:
    return holds(paired_difference(*two_runs(generator, *pair)), 0)


def _differs(generator: Generator, *pair: Any) -> bool:
    return bool(decided([paired_difference(*two_runs(generator, *pair))])[0].differs)


def _ranks(generator: Generator, n_alike: int) -> list[bool]:
    """Whether the rank range of each of 24 runs, equally good in stretches of `n_alike`, allows its true ranks."""
    n_runs, n_questions = 24, 50
    steps = np.arange(n_runs) // n_alike
    means = usual(generator, n_questions) - 0.08 * steps[:, None]
    means = means + 0.05 * generator.standard_normal(means.shape)
    ranges = rank_ranges(trial_means(generator, means, 10))
    true = [(1 + int((steps < step).sum()), int((steps <= step).sum())) for step in steps]
    return [low <= first and last <= high for (low, high), (first, last) in zip(ranges, true, strict=True)]


def _true_coefficient(name: str, rho: float) -> float:
    """Each coefficient of two normal columns that correlate by `rho`."""
    return {"Pearson": rho, "Spearman": 6 / np.pi * np.arcsin(rho / 2), "Kendall": 2 / np.pi * np.arcsin(rho)}[name]


def _correlated(generator: Generator, name: str, n_values: int, rho: float) -> bool:
    x, noise = generator.standard_normal((2, n_values))
    return holds(correlate(x, rho * x + (1 - rho**2) ** 0.5 * noise)[name], _true_coefficient(name, rho))


def _correlated_with_tails(generator: Generator, n_values: int) -> bool:
    """Pearson's correlation of two columns with a long tail: normal ones that correlate by 0.5 in an exponential."""
    x, noise = generator.standard_normal((2, n_values))
    return holds(correlate(np.exp(x), np.exp(0.5 * x + 0.75**0.5 * noise))["Pearson"], np.expm1(0.5) / np.expm1(1))


def _clustered(generator: Generator, name: str, n_clusters: int, rho: float) -> bool:
    """Runs of models, two or more of each: four fifths of the variance are the model's."""
    models = np.repeat(np.arange(n_clusters), 1 + generator.geometric(0.5, n_clusters))
    model_effects = generator.standard_normal((2, n_clusters))[:, models]
    x, noise = 0.8**0.5 * model_effects + 0.2**0.5 * generator.standard_normal((2, len(models)))
    y = rho * x + (1 - rho**2) ** 0.5 * noise
    return holds(correlate(x, y, clusters=models)[name], _true_coefficient(name, rho))


def _swapped(generator: Generator, n_runs: int, n_questions: int) -> float:
    """The share of pairs of equally good runs that `stability` counts as swapped between halves of the questions."""
    scores = usual(generator, n_questions) + 0.1 * generator.standard_normal((n_runs, n_questions))
    first, second = (half.mean(axis=1) for half in np.split(scores, 2, axis=1))
    return RunPairs.of(scores).agreement(first, second).swapped


def _of_trials(generator: Generator, source: Source, n_trials: int) -> bool:
    drawn, truth = drawn_trials(generator, source, n_trials)
    return abs(drawn.mean() - truth) <= half_width(list(drawn)) + 1e-12


# ---- The claims

SCORE = "Score: coverage of its interval over questions"
DIFFERENCE = "Difference of two runs: coverage of its interval over questions"
ALARMS = "Difference of two runs: false alarms"
RANKS = "Leaderboards of 24 runs: rank ranges that hold the rank"
TRIALS = "Score: coverage of its interval over trials"
CORRELATION = "Correlation: coverage of its interval"
STABILITY = "Stability: share of swapped pairs, of 12 equally good runs"


def claims() -> Iterator[Claim]:
    """Those on intervals over questions, differences and ranks."""
    for n_questions in (3, 8, 50):
        for n_trials in (1, 10, 100):
            case = f"{n_questions} questions, {n_trials} trial{'s' if n_trials > 1 else ''}"
            yield Claim(SCORE, case, COVERAGE, _score, (usual, n_questions, n_trials))
        case = f"{n_questions} questions, 10 trials"
        yield Claim(SCORE, f"{case}, most questions near 0", COVERAGE, _score, (skewed, n_questions, 10))
    for n_questions in (3, 8, 50):
        for n_trials in ((1, 1), (10, 10), (100, 100), (1, 100)):
            case = f"{n_questions} questions, {n_trials[0]} and {n_trials[1]} trials"
            for name, apart in (("the same model", 0.0), ("models differ by question", 0.1)):
                pair = (n_questions, n_trials, apart, 0)
                yield Claim(DIFFERENCE, f"{case}, {name}", COVERAGE, _holds_zero, pair)
                yield Claim(ALARMS, f"{case}, {name}", FALSE_ALARMS, _differs, pair)
        case, pair = f"{n_questions} questions, half of them ties", (n_questions, (1, 1), 0.1, 0.5)
        bounds = (0.93, 1.0) if n_questions > 3 else None  # three ties have no interval
        yield Claim(DIFFERENCE, case, bounds, _holds_zero, pair)
        yield Claim(ALARMS, case, FALSE_ALARMS, _differs, pair)
        case = f"{n_questions} questions, all of them ties"
        yield Claim(ALARMS, case, (0.0, 0.0), _differs, (n_questions, (1, 1), 0.0, 1.0))
    for n_alike, case in ((24, "all are equally good"), (3, "8 groups of 3 equally good runs")):
        yield Claim(RANKS, case, (0.95, 1.0), _ranks, (n_alike,), 10)


def claims_of_correlations() -> Iterator[Claim]:
    """Those on correlations, of independent values and of clusters, and on the figures of `stability`."""
    too_wide = (0.93, 1.0)  # intervals of ranks, with few values
    bounds = {name: COVERAGE if name == "Pearson" else too_wide for name in COEFFICIENTS}
    for n_values in (10, 16, 40):
        for rho in (0, 0.5, 0.9):
            for name in COEFFICIENTS:
                case = f"{name}, {n_values} values, of {rho:g}"
                yield Claim(CORRELATION, case, bounds[name], _correlated, (name, n_values, rho), 4)
    for n_values in (16, 40, 300):
        case = f"Pearson, {n_values} values, of columns with long tails"
        yield Claim(CORRELATION, case, None, _correlated_with_tails, (n_values,), 8 if n_values < 300 else 40)
    for n_clusters in (12, 40):
        for name in COEFFICIENTS:
            case = f"{name}, runs of {n_clusters} models, of 0.5"
            yield Claim(CORRELATION, case, bounds[name], _clustered, (name, n_clusters, 0.5), 8)
    case = "between halves of 50 questions (0.5 is true)"
    yield Claim(STABILITY, case, (0.47, 0.53), _swapped, (12, 50), 4)


def claims_of_trials(
    orders: Sequence[int] = (3, 5, 10), temperatures: Sequence[float] = (0.05, 0.2, 0.5, 1.0), n_answers: int = 10_000
) -> Iterator[Claim]:
    """Those on answers of the n-gram engine to the packaged suite."""
    for order, temperature in product(orders, temperatures):
        source = order, temperature, n_answers
        case = f"n-gram answers, order {order}, temperature {temperature:g}"
        for n_trials in (10, 100):
            low = 0.92 if n_trials == 10 else 0.93  # ten trials are the fewest that have an interval here
            yield Claim(TRIALS, f"{case}, {n_trials} trials", (low, 0.97), _of_trials, (source, n_trials), 2)


def claims_of_published() -> Iterator[Claim]:
    """Those on the answers of published runs, drawn again with replacement."""
    for name in published_scores():
        for n_trials in (least_trials(50), 10, 100):
            bounds = (0.93, 0.98) if n_trials < 10 else COVERAGE
            yield Claim(TRIALS, f"{name}, {n_trials} trials", bounds, _of_trials, (name, n_trials), 4)

"""Every interval and verdict that the program prints, simulated with known truth: how often does it hold?

`make simulate` runs the whole, some minutes, and writes its tables into docs/statistics.md; a small form of the same
claims is among the tests. A *world* makes the mean score of each question of runs whose truth is known; a *claim*
counts how often an interval holds the truth (coverage) or a difference is seen where there is none (false alarms).
"""

from __future__ import annotations

import argparse
import multiprocessing
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import get_args

import numpy as np
from makers import published
from pfgen_fast import Scorer
from pfgen_fast.experiments.cut_references import RunPairs
from pfgen_fast.generation.ngram_sampler import NgramSampler
from pfgen_fast.runs.precision import least_trials, least_trials_to_stop
from pfgen_fast.runs.trials import Trials, find_runs
from pfgen_fast.statistics.correlation import COEFFICIENTS, correlate
from pfgen_fast.statistics.mean_interval import mean_interval
from pfgen_fast.statistics.paired import all_pairs, paired_difference
from pfgen_fast.statistics.paired_resampling import PairedTest, against_baseline
from pfgen_fast.statistics.student import half_width, quantile

COVERAGE, FALSE_ALARMS = (0.93, 0.97), (0.0, 0.06)
"""What is promised: of 95 % intervals, and of verdicts at the level 0.05."""

_N_DRAWS = 999
"""Draws of paired tests; `compare --paired` has ten times as many, for p-values with another digit."""

_DOCUMENT = Path(__file__).parents[1] / "docs" / "statistics.md"
_DEGREES = np.unique(np.geomspace(1, 20_000, 400).round())


@dataclass(frozen=True)
class Claim:
    """Something that the program says, in a world whose truth is known.

    Attributes:
        table: The table that the claim stands in.
        what: What is claimed, of which size.
        simulate: Draws so many times, and tells each time whether the interval held, or an alarm was false.
        bounds: The share that is promised; None where the row is shown for comparison.
        cost: Draws are divided by this.
    """

    table: str
    what: str
    simulate: Callable[[np.random.Generator, int], Sequence[bool]]
    bounds: tuple[float, float] | None
    cost: int = 1

    def share(self, n: int) -> tuple[float, int]:
        """The share in so many draws, and how many they were; the seed follows from what is claimed."""
        seed = zlib.crc32(f"{self.table}, {self.what}".encode())
        found = self.simulate(np.random.default_rng(seed), max(50, n // self.cost))
        return float(np.mean(found)), len(found)

    def is_held(self, share: float, n: int) -> bool:
        """Whether the share is as promised, within three standard errors of so many draws."""
        if self.bounds is None:
            return True
        low, high = self.bounds
        return low - 3 * (low * (1 - low) / n) ** 0.5 <= share <= high + 3 * (high * (1 - high) / n) ** 0.5


# ---- Worlds: the means of questions


def _trial_means(generator: np.random.Generator, means: np.ndarray, n_trials: int) -> np.ndarray:
    """The means of trials around the true means of questions: noise, and a keyword that is there or not."""
    hit = np.linspace(0.02, 0.98, means.shape[-1])
    keyword = generator.binomial(n_trials, hit, means.shape) / n_trials - hit
    return means + 0.1 * generator.standard_normal(means.shape) / n_trials**0.5 + keyword / 3


def _usual(generator: np.random.Generator, n: int) -> np.ndarray:
    return 1.1 * generator.beta(5, 3, n)


def _skewed(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.beta(1, 6, n)


_USUAL, _SKEWED = 1.1 * 5 / 8, 1 / 7
"""The true means of these."""


def _score(
    world: Callable[..., np.ndarray], truth: float, n_questions: int, n_trials: int
) -> Callable[..., list[bool]]:
    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        found = []
        for _ in range(n):
            interval = mean_interval(_trial_means(generator, world(generator, n_questions), n_trials))
            found.append(interval.low <= truth <= interval.high)
        return found

    return simulate


def _pair(
    generator: np.random.Generator, n_questions: int, n_trials: tuple[int, int], apart: float, ties: float
) -> np.ndarray:
    """The question means of two runs that are equally good, but differ from question to question by `apart`."""
    means = _usual(generator, n_questions)
    differences = apart * generator.standard_normal(n_questions) * (generator.uniform(size=n_questions) >= ties)
    pair = [means + differences / 2, means - differences / 2]
    # Where answers tie, both runs always answer in the same way.
    return np.stack(pair if ties else [_trial_means(generator, m, n) for m, n in zip(pair, n_trials, strict=True)])


def _paired(
    n_questions: int, n_trials: tuple[int, int], apart: float, ties: float, method: Callable[..., tuple[bool, bool]]
) -> Callable[..., list[bool]]:
    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        return [method(*_pair(generator, n_questions, n_trials, apart, ties)) for _ in range(n)]

    return simulate


def _holds_zero(a: np.ndarray, b: np.ndarray) -> bool:
    found = paired_difference(a, b)
    return found.low is None or found.low <= 0 <= found.high  # without an interval nothing wrong is said


def _differs(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(paired_difference(a, b).differs())


# ---- For comparison: what was done before


def _bootstrap(n_questions: int, n_trials: int, draw_trials: bool, n_draws: int = 500) -> Callable[..., list[bool]]:
    """False alarms of the percentile bootstrap over questions, with or without drawing trials within them."""

    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        found = []
        for _ in range(n):
            means = _usual(generator, n_questions)
            runs = [np.stack([_trial_means(generator, means, 1) for _ in range(n_trials)], axis=1) for _ in "ab"]
            rows = generator.integers(n_questions, size=(n_draws, n_questions))
            if draw_trials:  # as before: for each question once in a draw, used again where the question is drawn again
                columns = generator.integers(n_trials, size=(2, n_draws, n_questions, n_trials))
                question = np.arange(n_questions)[None, :, None]
                a, b = (run[question, of_run].mean(axis=2) for run, of_run in zip(runs, columns, strict=True))
                differences = np.take_along_axis(a - b, rows, axis=1).mean(axis=1)
            else:
                differences = (runs[0].mean(axis=1) - runs[1].mean(axis=1))[rows].mean(axis=1)
            low, high = np.percentile(differences, [2.5, 97.5])
            found.append(not low <= 0 <= high)
        return found

    return simulate


def _questions_drawn(n_questions: int, n_trials: int, n_draws: int = 1000) -> Callable[..., list[bool]]:
    """Coverage of the percentile bootstrap over questions for a score."""

    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        found = []
        for _ in range(n):
            values = _trial_means(generator, _usual(generator, n_questions), n_trials)
            drawn = values[generator.integers(n_questions, size=(n_draws, n_questions))].mean(axis=1)
            low, high = np.percentile(drawn, [2.5, 97.5])
            found.append(low <= _USUAL <= high)
        return found

    return simulate


# ---- Runs against a baseline


def _resampled(
    n_questions: int, ties: float, method: Callable[[np.ndarray, np.ndarray], bool], n_runs: int = 1
) -> Callable[..., list[bool]]:
    """Runs that are as good as the baseline, but differ from question to question."""

    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        found = []
        for _ in range(n):
            baseline, run = _pair(generator, n_questions, (10, 10), 0.1, ties)
            others = run + (0.1 * generator.standard_normal((n_runs, n_questions)) if n_runs > 1 else 0)
            found.append(method(baseline, np.atleast_2d(others)))
        return found

    return simulate


def _any_differs(test: PairedTest) -> Callable[[np.ndarray, np.ndarray], bool]:
    def method(baseline: np.ndarray, runs: np.ndarray) -> bool:
        return any(found.differs() for found in against_baseline(baseline, runs, test=test, n_draws=_N_DRAWS))

    return method


def _interval_holds_zero(baseline: np.ndarray, runs: np.ndarray) -> bool:
    [found] = against_baseline(baseline, runs, n_draws=_N_DRAWS)
    return found.low is None or found.low <= 0 <= found.high


def _shifted(baseline: np.ndarray, runs: np.ndarray) -> bool:
    """The paired bootstrap as sacrebleu has it: means of draws around their mean, not studentized, not corrected."""
    differences = runs[0] - baseline
    generator = np.random.default_rng(12345)
    means = differences[generator.choice(len(differences), size=(_N_DRAWS, len(differences)))].mean(axis=1)
    n_farther = (abs(means - means.mean()) > abs(differences.mean())).sum()
    return (n_farther + 1) / (_N_DRAWS + 1) <= 0.05


# ---- Leaderboards


def _leaderboard(
    n_runs: int, n_alike: int, n_questions: int, correction: str, count: str, n_trials: int = 10
) -> Callable[..., list[float]]:
    """False alarms on a leaderboard whose runs are equally good in stretches of `n_alike`.

    Args:
        n_runs: The number of runs.
        n_alike: How many runs are equally good.
        n_questions: The number of questions.
        correction: The correction.
        count: `any` false alarm on the leaderboard, the `share` of false ones among all alarms, or the false ones
            among the pairs of `neighbours` that are equally good.
        n_trials: The number of trials.
    """
    steps = np.arange(n_runs) // n_alike
    are_alike = steps[:, None] == steps[None, :]

    def simulate(generator: np.random.Generator, n: int) -> list[float]:
        found: list[float] = []
        for _ in range(n):
            means = _usual(generator, n_questions) - 0.08 * steps[:, None]
            means = means + 0.05 * generator.standard_normal(means.shape)
            scores = _trial_means(generator, means, n_trials)
            order = np.argsort(-scores.mean(axis=1), kind="stable")
            differs = all_pairs(scores[order], correction=correction).differs
            alike = are_alike[np.ix_(order, order)]
            if count == "any":
                found.append(bool((differs & alike).any()))
            elif count == "share":
                found.append(float((differs & alike).sum() / max(1, differs.sum())))
            else:
                of_neighbours = np.diagonal(alike, 1)
                found.extend(np.diagonal(differs, 1)[of_neighbours].tolist())
        return found

    return simulate


# ---- Correlations


def _true_coefficient(name: str, rho: float) -> float:
    """Each coefficient of two normal columns that correlate by `rho`."""
    return {"Pearson": rho, "Spearman": 6 / np.pi * np.arcsin(rho / 2), "Kendall": 2 / np.pi * np.arcsin(rho)}[name]


def _correlated(name: str, n_values: int, rho: float) -> Callable[..., list[bool]]:
    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        found = []
        for _ in range(n):
            x, noise = generator.standard_normal((2, n_values))
            interval = correlate(x, rho * x + (1 - rho**2) ** 0.5 * noise)[name]
            found.append(interval.low <= _true_coefficient(name, rho) <= interval.high)
        return found

    return simulate


def _correlated_with_tails(n_values: int) -> Callable[..., list[bool]]:
    """Pearson's correlation of two columns with a long tail: normal ones that correlate by 0.5 in an exponential."""
    truth = np.expm1(0.5) / np.expm1(1)

    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        found = []
        for _ in range(n):
            x, noise = generator.standard_normal((2, n_values))
            interval = correlate(np.exp(x), np.exp(0.5 * x + 0.75**0.5 * noise))["Pearson"]
            found.append(interval.low <= truth <= interval.high)
        return found

    return simulate


def _clustered(name: str, n_clusters: int, rho: float, knows: bool) -> Callable[..., list[bool]]:
    """Runs of models, two or more of each: four fifths of the variance are the model's."""

    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        found = []
        for _ in range(n):
            models = np.repeat(np.arange(n_clusters), 1 + generator.geometric(0.5, n_clusters))
            of_models = generator.standard_normal((2, n_clusters))[:, models]
            x, noise = 0.8**0.5 * of_models + 0.2**0.5 * generator.standard_normal((2, len(models)))
            y = rho * x + (1 - rho**2) ** 0.5 * noise
            interval = correlate(x, y, clusters=models if knows else None)[name]
            found.append(interval.low <= _true_coefficient(name, rho) <= interval.high)
        return found

    return simulate


def _swapped(n_runs: int, n_questions: int, against_all: bool) -> Callable[..., list[float]]:
    """The share of pairs of equally good runs that `stability` says to be swapped between halves of the questions."""

    def simulate(generator: np.random.Generator, n: int) -> list[float]:
        found = []
        for _ in range(n):
            scores = _usual(generator, n_questions) + 0.1 * generator.standard_normal((n_runs, n_questions))
            half, usual = scores[:, : n_questions // 2].mean(axis=1), scores.mean(axis=1)
            other = usual if against_all else scores[:, n_questions // 2 :].mean(axis=1)
            found.append(RunPairs.of(scores).agreement((half, other), usual).swapped)
        return found

    return simulate


# ---- Trials: answers of the n-gram engine, and published ones


@cache
def ngram_scores(order: int, temperature: float, n_answers: int) -> np.ndarray:
    """The scores of so many answers to each question of the packaged suite; their means are the truth."""
    sampler, scorer = NgramSampler("mini", order=order, temperature=temperature), Scorer("mini")
    rows = [
        np.asarray(scorer.score(question.question_id, sampler.sample(question.question_id, range(n_answers))).average)
        for question in scorer.suite
    ]
    return np.array(rows)


@cache
def published_scores() -> dict[str, np.ndarray]:
    """The scores of the published runs of 100 trials, by model."""
    scorer = Scorer(published.suite())
    found = {}
    for run in find_runs([published.FOLDER / "result"]):
        trials = Trials.of(run)
        average = scorer.score(trials.lines.questions, trials.lines.answers)["average"]
        rows = [average[trials.rows_by_question[question.question]] for question in scorer.suite]
        if {len(row) for row in rows} == {100}:
            found[run.folder.parent.name] = np.array(rows)
    return found


def _drawn(generator: np.random.Generator, scores: np.ndarray, n_trials: int) -> np.ndarray:
    return np.take_along_axis(scores, generator.integers(scores.shape[1], size=(len(scores), n_trials)), axis=1)


def _of_trials(scores_of: Callable[[], np.ndarray], n_trials: int) -> Callable[..., list[bool]]:
    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        scores = scores_of()
        found = []
        for _ in range(n):
            drawn = _drawn(generator, scores, n_trials)
            found.append(abs(drawn.mean() - scores.mean()) <= half_width(list(drawn)) + 1e-12)
        return found

    return simulate


def _half_widths(drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and half width after each number of trials: `half_width`, for all numbers at once."""
    n = np.arange(1, drawn.shape[1] + 1)
    means = drawn.cumsum(axis=1) / n
    squares = ((drawn - drawn.mean(axis=1, keepdims=True)) ** 2).cumsum(axis=1)
    offsets = means - drawn.mean(axis=1, keepdims=True)
    parts = np.maximum(squares - n * offsets**2, 0) / np.maximum(n - 1, 1) / n
    parts[parts < 1e-20] = 0
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.nan_to_num(total**2 / (parts**2).sum(axis=0) * (n - 1), nan=1)
    return means.mean(axis=0), _quantiles(degrees) * np.sqrt(total) / len(drawn)


def _quantiles(degrees: np.ndarray) -> np.ndarray:
    return np.interp(np.log(np.maximum(degrees, 1)), np.log(_DEGREES), _known_quantiles())


@cache
def _known_quantiles() -> np.ndarray:
    return np.array([quantile(float(degrees)) for degrees in _DEGREES])


def _stopped(
    scores_of: Callable[[], np.ndarray], width: float, n_most: int, least: int | None = None
) -> Callable[..., list[bool]]:
    """Coverage of the interval at which `sweep --until-interval` stops, looking after every trial."""

    def simulate(generator: np.random.Generator, n: int) -> list[bool]:
        scores = scores_of()
        first = (least or least_trials_to_stop(len(scores))) - 1
        found = []
        for _ in range(n):
            means, halves = _half_widths(_drawn(generator, scores, n_most))
            is_known = halves[first:] <= width
            at = first + int(is_known.argmax()) if is_known.any() else n_most - 1
            found.append(abs(means[at] - scores.mean()) <= halves[at] + 1e-12)
        return found

    return simulate


# ---- The claims

SCORE = "Score: coverage of its interval over questions"
DIFFERENCE = "Difference of two runs: coverage of its interval over questions"
ALARMS = "Difference of two runs: false alarms"
BEFORE = "What is not used: false alarms of other tests"
GROUPS = "Leaderboards of 24 runs: false alarms"
RESAMPLED = "Runs against a baseline, by resampling: coverage of the interval of a difference"
RESAMPLED_ALARMS = "Runs against a baseline, by resampling: false alarms"
TRIALS = "Score: coverage of its interval over trials"
CORRELATION = "Correlation: coverage of its interval"
STABILITY = "Stability: share of swapped pairs, of 12 equally good runs"
STOP = "Sweeps that stop at an interval: coverage"


def claims() -> Iterator[Claim]:
    """Those on intervals over questions, differences and groups."""
    for n_questions in (3, 8, 50):
        for n_trials in (1, 10, 100):
            of = f"{n_questions} questions, {n_trials} trial{'s' if n_trials > 1 else ''}"
            yield Claim(SCORE, of, _score(_usual, _USUAL, n_questions, n_trials), COVERAGE)
        of = f"{n_questions} questions, 10 trials"
        yield Claim(SCORE, f"{of}, most questions near 0", _score(_skewed, _SKEWED, n_questions, 10), COVERAGE)
        yield Claim(SCORE, f"{of}, by a bootstrap (not used)", _questions_drawn(n_questions, 10), None, 2)
    for n_questions in (3, 8, 50):
        for n_trials in ((1, 1), (10, 10), (100, 100), (1, 100)):
            of = f"{n_questions} questions, {n_trials[0]} and {n_trials[1]} trials"
            for name, apart in (("the same model", 0.0), ("models differ by question", 0.1)):
                yield Claim(
                    DIFFERENCE, f"{of}, {name}", _paired(n_questions, n_trials, apart, 0, _holds_zero), COVERAGE
                )
                yield Claim(ALARMS, f"{of}, {name}", _paired(n_questions, n_trials, apart, 0, _differs), FALSE_ALARMS)
        of = f"{n_questions} questions, half of them ties"
        yield Claim(DIFFERENCE, of, _paired(n_questions, (1, 1), 0.1, 0.5, _holds_zero), (0.93, 1.0))
        yield Claim(ALARMS, of, _paired(n_questions, (1, 1), 0.1, 0.5, _differs), FALSE_ALARMS)
        of = f"{n_questions} questions, all of them ties"
        yield Claim(ALARMS, of, _paired(n_questions, (1, 1), 0.0, 1.0, _differs), (0.0, 0.0))
    for n_questions, n_trials in ((8, 10), (50, 1), (50, 10), (50, 50)):
        of = f"{n_questions} questions, {n_trials} trial{'s' if n_trials > 1 else ''}, the same model"
        cost = max(10, n_questions * n_trials // 20)
        yield Claim(
            BEFORE, f"bootstrap over questions and trials: {of}", _bootstrap(n_questions, n_trials, True), None, cost
        )
        yield Claim(BEFORE, f"bootstrap over questions: {of}", _bootstrap(n_questions, n_trials, False), None, cost)
    for correction in ("bh", "holm"):
        yield Claim(
            GROUPS,
            f"{correction}: any, all 24 equally good",
            _leaderboard(24, 24, 50, correction, "any"),
            FALSE_ALARMS,
            10,
        )
    yield Claim(GROUPS, "holm: any, 8 stretches of 3 alike", _leaderboard(24, 3, 50, "holm", "any"), FALSE_ALARMS, 10)
    yield Claim(
        GROUPS,
        "bh: share of all alarms, 8 stretches of 3 alike",
        _leaderboard(24, 3, 50, "bh", "share"),
        FALSE_ALARMS,
        10,
    )
    for correction in ("bh", "holm"):
        yield Claim(
            GROUPS,
            f"{correction}: of the equally good neighbours, 8 stretches of 3 alike",
            _leaderboard(24, 3, 50, correction, "neighbours"),
            FALSE_ALARMS,
            10,
        )


def claims_of_resampling() -> Iterator[Claim]:
    """Those on runs against a baseline; with few questions the bootstrap is too careful, which is promised as well."""
    for n_questions in (6, 8, 20, 50):
        for ties in (0.0, 0.5):
            of = f"{n_questions} questions" + (", half of them ties" if ties else "")
            usual = COVERAGE if n_questions >= 20 and not ties else (0.93, 1.0)
            yield Claim(RESAMPLED, of, _resampled(n_questions, ties, _interval_holds_zero), usual, 2)
            for test in get_args(PairedTest):
                simulate = _resampled(n_questions, ties, _any_differs(test))
                yield Claim(RESAMPLED_ALARMS, f"{test}: {of}", simulate, FALSE_ALARMS, 2)
        of = f"{n_questions} questions, any of 5 runs"
        for test in get_args(PairedTest):
            simulate = _resampled(n_questions, 0, _any_differs(test), n_runs=5)
            yield Claim(RESAMPLED_ALARMS, f"{test}: {of}", simulate, FALSE_ALARMS, 4)
        of = f"the bootstrap of sacrebleu (not used): {n_questions} questions"
        yield Claim(RESAMPLED_ALARMS, of, _resampled(n_questions, 0, _shifted), None, 2)


def claims_of_correlations() -> Iterator[Claim]:
    """Those on correlations, of independent values and of clusters, and on what `stability` counts."""
    for n_values in (10, 16, 40):
        for rho in (0, 0.5, 0.9):
            for name in COEFFICIENTS:
                bounds = COVERAGE if name == "Pearson" else (0.93, 1.0)  # those of ranks are too wide with few values
                simulate = _correlated(name, n_values, rho)
                yield Claim(CORRELATION, f"{name}, {n_values} values, of {rho:g}", simulate, bounds, 4)
    for n_values in (16, 40, 300):
        of = f"Pearson, {n_values} values, of columns with long tails"
        yield Claim(CORRELATION, of, _correlated_with_tails(n_values), None, 8 if n_values < 300 else 40)
    for n_clusters in (12, 40):
        for name in COEFFICIENTS:
            of = f"{name}, runs of {n_clusters} models, of 0.5"
            bounds = COVERAGE if name == "Pearson" else (0.93, 1.0)
            yield Claim(CORRELATION, of, _clustered(name, n_clusters, 0.5, True), bounds, 8)
        of = f"Pearson, runs of {n_clusters} models, of 0.5, as if they were independent (not used)"
        yield Claim(CORRELATION, of, _clustered("Pearson", n_clusters, 0.5, False), None, 8)
    of = "between halves of 50 questions (0.5 is true)"
    yield Claim(STABILITY, of, _swapped(12, 50, False), (0.47, 0.53), 4)
    yield Claim(STABILITY, "between 25 and all 50 questions (not used)", _swapped(12, 50, True), None, 4)


def claims_of_trials(
    orders: Sequence[int] = (3, 5, 10), temperatures: Sequence[float] = (0.05, 0.2, 0.5, 1.0), n_answers: int = 10_000
) -> Iterator[Claim]:
    """Those on answers of the n-gram engine to the packaged suite."""
    for order in orders:
        for temperature in temperatures:

            def scores_of(order: int = order, temperature: float = temperature) -> np.ndarray:
                return ngram_scores(order, temperature, n_answers)

            of = f"n-gram answers, order {order}, temperature {temperature:g}"
            for n_trials in (10, 100):
                low = 0.92 if n_trials == 10 else 0.93  # ten trials are the fewest that have an interval here
                yield Claim(TRIALS, f"{of}, {n_trials} trials", _of_trials(scores_of, n_trials), (low, 0.97), 2)
            for width in (0.02, 0.01, 0.005):
                simulate = _stopped(scores_of, width, 1000)
                yield Claim(STOP, f"{of}, ±{width:g}", simulate, COVERAGE, 2)
            if (order, temperature) == (10, 0.05):
                yield Claim(TRIALS, f"{of}, 2 trials (no interval is given)", _of_trials(scores_of, 2), None, 2)
                for least in (2, 20):
                    simulate = _stopped(scores_of, 0.01, 1000, least)
                    yield Claim(STOP, f"{of}, ±0.01, from trial {least} on (not used)", simulate, None, 2)


def claims_of_published() -> Iterator[Claim]:
    """Those on the answers of published runs, drawn again with replacement."""
    for name in published_scores():

        def scores_of(name: str = name) -> np.ndarray:
            return published_scores()[name]

        for n_trials in (least_trials(50), 10, 100):
            bounds = (0.93, 0.98) if n_trials < 10 else COVERAGE
            yield Claim(TRIALS, f"{name}, {n_trials} trials", _of_trials(scores_of, n_trials), bounds, 4)
        for width in (0.02, 0.01, 0.005):
            yield Claim(STOP, f"{name}, ±{width:g}", _stopped(scores_of, width, 200), COVERAGE, 2)


_wanted: list[Claim] = []
"""What is simulated; the processes are forked with it, because closures cannot be sent."""


def _share(number: int, n_draws: int) -> tuple[float, int]:
    return _wanted[number].share(n_draws)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4_000)
    parser.add_argument("--output", type=Path, default=_DOCUMENT)
    arguments = parser.parse_args()
    _wanted.extend([*claims(), *claims_of_resampling(), *claims_of_correlations(), *claims_of_trials()])
    if published.FOUND:
        _wanted.extend(claims_of_published())
    rows: dict[str, list[str]] = {}
    n_wrong = 0
    pool = ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork"))
    shares = pool.map(_share, range(len(_wanted)), repeat(arguments.draws))
    for claim, (share, n) in zip(_wanted, shares, strict=True):
        is_held = claim.is_held(share, n)
        n_wrong += not is_held
        promised = "–" if claim.bounds is None else "{:.2f} to {:.2f}".format(*claim.bounds)
        rows.setdefault(claim.table, []).append(f"| {claim.what} | {n:,} | {promised} | {share:.3f} |\n")
        print(f"{'' if is_held else '! '}{claim.table}: {claim.what}: {share:.4f} of {n:,}", flush=True)
    head = "| of | draws | promised | found |\n| --- | ---: | ---: | ---: |\n"
    tables = "".join(f"\n**{table}**\n\n{head}{''.join(of_table)}" for table, of_table in rows.items())
    before, begin, rest = arguments.output.read_text(encoding="utf-8").partition("<!-- simulated -->\n")
    _, end, after = rest.partition("<!-- /simulated -->")
    arguments.output.write_text(f"{before}{begin}{tables}\n{end}{after}", encoding="utf-8")
    raise SystemExit(f"{n_wrong} claims do not hold" if n_wrong else None)


if __name__ == "__main__":
    main()

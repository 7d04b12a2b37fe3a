"""Claims of `make simulate` about damage: intervals of d, of its averages and their differences, and false alarms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from numpy.random import Generator
from pfgen_fast.lab.statistics.discernment_scores import (
    RankIntervals,
    change_interval,
    combined_scores,
    interval_of_sum,
    rank_intervals,
)
from pfgen_fast.lab.statistics.signed_rank import discernment_score, log_tail, signed_rank

from .claims import FALSE_ALARMS, Claim

D = "Damage: coverage of the intervals of d and of the mean drop"
ALARMS = "Damage: false alarms"

_TESTS = 20  # computed together
_HELD = (0.93, 1.0)  # with few items, and if nearly all scores fall, more than promised
_SHIFTS = np.array([[0.0, 0.2, 0.4, 0.8, 1.5, 2.5], [0.1, 0.3, 0.5, 0.6, 1.0, 2.0]])  # of two evaluators
_WEIGHTS = {"d": np.eye(12)[3], "average of d": np.repeat([1 / 6, 0], 6), "difference": np.repeat([1 / 6, -1 / 6], 6)}


def falls(generator: Generator, n: int, n_answers: int, what: str, n_tests: int = 1, rho: float = 0.6) -> np.ndarray:
    """The falls of scores: tests × kinds of damage by two evaluators × items, which have effects in common."""
    n_questions = n // n_answers
    question_effects = generator.standard_normal((n_tests, 1, n_questions, 1))
    item_effects = generator.standard_normal((n_tests, 1, n_questions, n_answers))
    noise = generator.standard_normal((n_tests, _SHIFTS.size, n_questions, n_answers))
    own = 0.6 * item_effects + 0.8 * noise
    x = (rho**0.5 * question_effects + (1 - rho) ** 0.5 * own if n_answers > 1 else own).reshape(n_tests, -1, n)
    if what == "rare large rises":
        return np.where(x < -1.65, x - 20, 0.01 + abs(x))
    x = x + _SHIFTS.reshape(-1, 1)
    return np.rint(x) if what == "ratings" else x


@cache
def _shares(n: int, n_answers: int, what: str) -> np.ndarray:
    x = falls(np.random.default_rng(0), n, n_answers, what, max(400, 40_000 // n))
    result = signed_rank(x.reshape(-1, n), np.zeros((x.size // n, n))).rank_biserial
    return np.asarray(np.nanmean(result.reshape(x.shape[:2]), axis=0))


def _covers(generator: Generator, n: int, n_answers: int, what: str, figure: str) -> list[bool]:
    """Whether intervals hold the d of the true shares of ranks, for as many changes."""
    x, codes = falls(generator, n, n_answers, what, _TESTS).reshape(-1, n), np.arange(n) // n_answers
    tested = signed_rank(x, np.zeros(x.shape), clusters=codes)
    cells = RankIntervals(*(part[:, None] for part in rank_intervals(x, np.zeros(x.shape), tested, codes)))
    scores = combined_scores(tested.log_p[:, None], cells)
    scale = np.nan_to_num(tested.mean / np.sqrt(tested.variance)).reshape(_TESTS, -1)
    held = []
    for number, own in enumerate(scale):
        truth = _WEIGHTS[figure] @ discernment_score(log_tail(own * _shares(n, n_answers, what)))
        low, high = interval_of_sum(_WEIGHTS[figure], scores.at(slice(number * len(own), (number + 1) * len(own))))
        held.append(low is not None and high is not None and low - 1e-9 <= truth <= high + 1e-9)
    return held


def _covers_drop(generator: Generator, n: int, n_answers: int, what: str) -> np.ndarray:
    x = falls(generator, n, n_answers, what)[0]
    low, high = change_interval(x, largest=float(abs(x).max()), clusters=np.arange(n) // n_answers)
    truth = falls(np.random.default_rng(1), 100_000, 1, what)[0].mean(axis=1)
    return (low <= truth) & (truth <= high)


def _noticed(generator: Generator, n_questions: int, n_answers: int) -> bool:
    x = falls(generator, n_questions * n_answers, n_answers, "", rho=1.0)[0, :1]
    return float(signed_rank(x, 0 * x, clusters=np.arange(x.size) // n_answers).d[0]) >= 1


def claims_of_discernment() -> Iterator[Claim]:
    """Claims about 5 to 100 items, of one or several answers to each question."""
    sizes = ((5, 1), (10, 1), (20, 1), (50, 1), (100, 1), (100, 10))
    for (n, n_answers), figure in (*product(sizes, ["difference"]), ((10, 1), "d"), ((20, 2), "average of d")):
        part = f"{n} items" + (f", {n_answers} answers to each question" if n_answers > 1 else "")
        settings = (n, n_answers, "rare large rises", figure)
        yield Claim(D, f"{figure}, {part}, rare large rises", _HELD, _covers, settings, 2 * _TESTS)
        if (n, figure) in ((10, "d"), (100, "difference")):
            yield Claim(D, f"mean drop, {part}, ratings", _HELD, _covers_drop, (n, n_answers, "ratings"), 12)
    for n_questions, n_answers in ((10, 1), (10, 5), (50, 2)):
        answers = f", {n_answers} answers to each that correlate by 1" if n_answers > 1 else ""
        yield Claim(
            ALARMS, f"d of 1, {n_questions} questions{answers}", FALSE_ALARMS, _noticed, (n_questions, n_answers)
        )

"""Answers per second: the published mix as lists and as Arrow columns, and the small calls of a training loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pytest
from pfgen_fast import Scorer

from .published import Mix, Sample
from .timing import OracleTimes, Row, Timing, on_threads, score_each

LEAST_RATIO_ON_ONE_THREAD = 100.0
ROUNDS_OF_THE_MIX = 7
ROUNDS_OF_THE_SAMPLE = 25


class TimeScoring(Protocol):
    """Times a call that scores so many answers, and holds it to the ratio that is required, if any."""

    def __call__(
        self, what: str, call: Callable[[], object], n_answers: int, *, rounds: int, least_ratio: float = 0.0
    ) -> None: ...


@pytest.fixture
def time_scoring(timing: Timing, oracle_times: OracleTimes) -> TimeScoring:
    def measure(
        what: str, call: Callable[[], object], n_answers: int, *, rounds: int, least_ratio: float = 0.0
    ) -> None:
        before = oracle_times.answer_seconds()
        seconds = timing.median_seconds(call, rounds=rounds)
        if seconds is None:
            return
        ratio = min(before, oracle_times.answer_seconds()) * n_answers / seconds
        required = f">= {least_ratio:.0f}" if least_ratio else ""
        row = Row(what, f"{n_answers / seconds:,.0f} answers/s", f"{ratio:.0f}", required)
        timing.note(row, answers_per_second=n_answers / seconds, ratio=ratio)
        assert ratio >= least_ratio, f"{what}: {ratio:.1f} times the oracle, at least {least_ratio:.0f} is required"

    return measure


@pytest.mark.usefixtures("agreement")
@pytest.mark.parametrize("threads", [1, 2])
def test_score_the_mix_as_lists(time_scoring: TimeScoring, scorers: dict[int, Scorer], mix: Mix, threads: int) -> None:
    time_scoring(
        f"score, {len(mix):,} answers, lists of str, {on_threads(threads)}",
        lambda: scorers[threads].score(mix.questions, mix.answers),
        len(mix),
        rounds=ROUNDS_OF_THE_MIX,
        least_ratio=least_ratio(threads),
    )


@pytest.mark.usefixtures("arrow_agreement")
@pytest.mark.parametrize("threads", [1, 2])
def test_score_the_mix_as_arrow_columns(
    time_scoring: TimeScoring, scorers: dict[int, Scorer], arrow_mix: tuple[Any, Any], threads: int
) -> None:
    questions, answers = arrow_mix
    time_scoring(
        f"score, {len(answers):,} answers, Arrow columns, {on_threads(threads)}",
        lambda: scorers[threads].score(questions, answers),
        len(answers),
        rounds=ROUNDS_OF_THE_MIX,
        least_ratio=least_ratio(threads),
    )


@pytest.mark.usefixtures("agreement")
def test_score_the_sample_of_the_oracle(time_scoring: TimeScoring, scorers: dict[int, Scorer], sample: Sample) -> None:
    time_scoring(
        f"score, the {len(sample)} answers of the oracle, {on_threads(1)}",
        lambda: scorers[1].score(sample.question_ids, sample.answers),
        len(sample),
        rounds=ROUNDS_OF_THE_SAMPLE,
    )


@pytest.mark.usefixtures("agreement")
def test_score_one(time_scoring: TimeScoring, scorers: dict[int, Scorer], sample: Sample) -> None:
    time_scoring(
        "score_one, with details",
        lambda: score_each(scorers[1], sample),
        len(sample),
        rounds=ROUNDS_OF_THE_SAMPLE,
    )


@pytest.mark.usefixtures("agreement")
@pytest.mark.parametrize("size", [1, 8])
def test_reward(time_scoring: TimeScoring, scorers: dict[int, Scorer], sample: Sample, size: int) -> None:
    groups = sample.groups(size)

    def reward_each() -> None:
        for question_id, answers in groups:
            scorers[1].reward(question_id, answers)

    what = f"reward, {size} answer{'s' if size > 1 else ''} a call, {on_threads(1)}"
    time_scoring(what, reward_each, len(groups) * size, rounds=ROUNDS_OF_THE_SAMPLE)


def least_ratio(threads: int) -> float:
    """The requirement is for one thread; two are only shown."""
    return LEAST_RATIO_ON_ONE_THREAD if threads == 1 else 0.0

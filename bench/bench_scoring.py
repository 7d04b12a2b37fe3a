"""Answers a second: the mix as lists and as Arrow columns, on several threads; rewards of single answers and groups."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from pfgen_fast import Question, Reward, Scorer, Suite
from pfgen_fast.oracle import Oracle
from pfgen_fast.suite.units import PatternTokenizer

from .inputs import Mix
from .measuring import Measure, agree

pytestmark = pytest.mark.benchmark(group="scoring")
_ROUNDS = 30


@pytest.mark.parametrize("container", ["lists of str", "Arrow columns"])
def test_score(
    measure: Measure, container: str, scorers: Mapping[int, Scorer], oracle: Oracle, sample: Mix, mix: Mix, arrow: Any
) -> None:
    """All numbers of threads in turns with the oracle on its sample.

    The oracle takes a question a round, and the fastest time of each counts: long calls rarely escape other load.
    """
    columns = arrow if container == "Arrow columns" else (mix.questions, mix.answers)
    pieces = list(sample.by_question().items())
    calls = {f"{n} threads": partial(scorers[n].score, *columns) for n in scorers if n > 1}
    by_oracle = each_in_turn([partial(_score_each, oracle, *piece) for piece in pieces])
    own_times, *other_times, oracle_times = measure.all_times(
        max(_ROUNDS, len(pieces)), partial(scorers[1].score, *columns), {**calls, "oracle": by_oracle}
    )
    n = len(pieces)
    oracle_rate = (
        len(sample) / sum(min(oracle_times[start::n]) for start in range(n)) if len(oracle_times) >= n else np.nan
    )
    rates = {threads: len(mix) / min(times) for threads, times in zip(scorers, [own_times, *other_times], strict=True)}
    measure.info["answers_per_second_by_threads"] = {container: rates}
    what, faster = f"score, {len(mix):,} answers, {container}", "faster than oracle"
    if container == "lists of str":
        measure.row(f"oracle: score_one, {len(sample)} answers", oracle_rate, "answers/s")
    rate, ratio = (rates[1], rates[1] / oracle_rate), (rates[2], rates[2] / oracle_rate)
    measure.row(f"{what}, 1 thread", rate[0], "answers/s", rate[1], faster)
    measure.row(f"{what}, 2 threads", ratio[0], "answers/s", ratio[1], faster)
    measure.row(f"{container}: 2 threads against 1", rates[2] / rates[1], "times")


def each_in_turn(works: Iterable[Callable[[], object]]) -> Callable[[], object]:
    """Does the next part of some work in each call."""
    parts = cycle(works)
    return lambda: next(parts)()


def _score_each(oracle: Oracle, question: str, answers: Sequence[str]) -> None:
    for answer in answers:
        oracle.score_one(question, answer)


@pytest.mark.parametrize(
    ("what", "rounds"),
    [("the sample question by question", 25), ("the mix in its order", 9), ("the mix shuffled", 3)],
    ids=["same", "ordered", "shuffled"],
)
def test_reward(measure: Measure, scorers: Mapping[int, Scorer], sample: Mix, mix: Mix, what: str, rounds: int) -> None:
    scorer = scorers[1]
    calls = list(zip(mix.questions, mix.answers, strict=True))
    if what.endswith("by question"):
        ids = {question: scorer.suite[question].question_id for question in sample.by_question()}
        calls = [(ids[question], text) for question, texts in sample.by_question().items() for text in texts]
    elif what.endswith("shuffled"):
        calls = random.Random(0).sample(calls, len(calls))
    taken = measure.seconds(rounds, lambda: [scorer.reward(question, [answer]) for question, answer in calls])
    measure.row(f"reward of one answer, {what}", taken / len(calls) * 1e6, "us")


@pytest.mark.parametrize("size", [8, 16, 64])
@pytest.mark.parametrize("shape", [None, "recommended"])
def test_groups(measure: Measure, scorers: Mapping[int, Scorer], mix: Mix, size: int, shape: str | None) -> None:
    """Rewards of the completions of a random prompt a call: beside `Scorer.reward`, and with a shape beside without."""
    scorer = Scorer(scorers[1].suite, profile="normalised", threads=1) if shape else scorers[1]
    plain, reward, texts = Reward(scorer), Reward(scorer, shape), mix.by_question()
    draws = random.Random(0)
    calls = [(question, draws.choices(texts[question], k=size)) for question in draws.choices(list(texts), k=200)]
    for question, group in calls[:20]:
        agree("rewards of a group", plain(question, group).tolist(), scorer.reward(question, group).tolist())

    def rewarded(function: Callable[[str, list[str]], Any]) -> None:
        for question, group in calls:
            function(question, group)

    rewarded(reward)  # reads the references
    beside = {"plain": partial(rewarded, plain)} if shape else {"`Scorer.reward`": partial(rewarded, scorer.reward)}
    taken, taken_beside = measure.times(_ROUNDS, partial(rewarded, reward), beside)
    what = f"`Reward` of groups of {size}{', shape recommended' if shape else ''}, 1 thread"
    measure.row(what, taken / len(calls) * 1e6, "us", taken / taken_beside, *beside)


def test_profiles(measure: Measure, scorers: Mapping[int, Scorer], mix: Mix) -> None:
    """The rate of profile normalised beside that of leaderboard, on one thread."""
    normalised = Scorer(scorers[1].suite, profile="normalised", threads=1)
    columns = mix.questions, mix.answers
    expected = [normalised.score_one(*row)["average"] for row in zip(*(column[:50] for column in columns), strict=True)]
    agree("rewards in profile normalised", normalised.reward(*columns)[:50].tolist(), expected)
    normalised_times, leaderboard_times = measure.times(
        _ROUNDS, partial(normalised.reward, *columns), {"leaderboard": partial(scorers[1].reward, *columns)}
    )
    rate = len(mix) / normalised_times
    what = f"reward, {len(mix):,} answers, profile normalised, 1 thread"
    measure.row(what, rate, "answers/s", leaderboard_times / normalised_times, "leaderboard")


def test_words(measure: Measure) -> None:
    """Long answers in words beside the same answers with one character for each word, on one thread."""
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(1, 9))) for _ in range(5000)]
    symbols = {word: chr(0x4E00 + i) for i, word in enumerate(words)}
    texts = [[words[int(rng.paretovariate(0.7)) % len(words)] for _ in range(300)] for _ in range(700)]
    sides = []
    for tokenizer, columns in (
        (PatternTokenizer("words"), [" ".join(text) for text in texts]),
        (None, ["".join(map(symbols.__getitem__, text)) for text in texts]),
    ):
        asked = Question("Q1", "?", {"A": tuple(columns[:200])}, tokenizer=tokenizer)
        sides.append(partial(Scorer(Suite("words", (asked,), "0" * 40), threads=1).reward, "Q1", columns[200:]))
    agree("rewards of words", sides[0]().tolist(), sides[1]().tolist())
    words_time, symbols_time = measure.times(_ROUNDS, sides[0], {"symbols": sides[1]})
    what, ratio = "reward, 500 answers of 300 words, 1 thread", symbols_time / words_time
    measure.row(what, 500 / words_time, "answers/s", ratio, "a character for each word")


def test_reading_memory(measure: Measure, mix: Mix) -> None:
    """A lower bound: one pass over all answers, with two bytes for each code point."""
    stored = "".join(mix.answers).encode("utf-16-le")
    taken = measure.seconds(15, np.frombuffer(stored, np.uint64, count=len(stored) // 8).sum)
    what = f"floor: reading {len(stored) / 1e6:.0f} MB of answers from memory, 1 thread"
    measure.row(what, len(stored) / taken / 1e9, "GB/s")
    measure.row("  in answers per second", len(mix) / taken, "answers/s")

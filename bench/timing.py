"""What is measured and what it is held against: the oracle's times, and one row of the closing table per benchmark.

The core's times are medians over rounds. The oracle is timed right before and right after each of them, and the faster
counts: so load on the machine that lasts slows both sides, and load that comes for a moment cannot flatter the core.
The oracle's tables are built once, as they take seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pfgen_fast import Question, Suite
from pfgen_fast.oracle import Oracle
from pytest_benchmark.fixture import BenchmarkFixture

from .published import Sample


@dataclass(frozen=True)
class OracleTimes:
    """An oracle whose tables are built, and its times.

    Attributes:
        oracle: With the tables of the sample's questions.
        n_tabled_questions: How many questions these are.
        tables_seconds: Time for their tables, measured once.
        suite_seconds: The same scaled to the whole suite by code points of reference answers: an estimate.
        sample: The answers it scores.
    """

    oracle: Oracle
    n_tabled_questions: int
    tables_seconds: float
    suite_seconds: float
    sample: Sample

    def answer_seconds(self) -> float:
        """Time per answer of the sample without the tables, measured now."""
        return _seconds(lambda: score_each(self.oracle, self.sample)) / len(self.sample)


@dataclass(frozen=True)
class Row:
    """A row of the closing table."""

    what: str
    value: str
    ratio: str = ""
    required: str = ""


@dataclass(frozen=True)
class Timing:
    """Times one benchmark and notes its row."""

    benchmark: BenchmarkFixture
    table: list[Row]

    def median_seconds(
        self, function: Callable[..., object], *, rounds: int, setup: Callable[[], Any] | None = None
    ) -> float | None:
        """Median time of a call after one to warm up; None when pytest-benchmark is told not to time."""
        self.benchmark.pedantic(function, setup=setup, rounds=rounds, warmup_rounds=1)  # type: ignore[no-untyped-call]
        return None if self.benchmark.stats is None else float(self.benchmark.stats.stats.median)

    def note(self, row: Row, *, answers_per_second: float, ratio: float) -> None:
        """Enters a row into the closing table, and its numbers into what pytest-benchmark saves."""
        self.table.append(row)
        self.benchmark.extra_info["answers_per_second"] = round(answers_per_second, 1)
        self.benchmark.extra_info["ratio_to_oracle"] = round(ratio, 2)


def time_oracle_tables(suite: Suite, sample: Sample) -> OracleTimes:
    """Builds the tables of the sample's questions."""
    oracle = Oracle(suite)
    tabled = [suite[question_id] for question_id in dict.fromkeys(sample.question_ids)]
    tables_seconds = _seconds(lambda: [oracle.tables(question) for question in tabled])
    scale = sum(map(n_reference_code_points, suite)) / sum(map(n_reference_code_points, tabled))
    return OracleTimes(oracle, len(tabled), tables_seconds, tables_seconds * scale, sample)


def score_each(scorer: Any, sample: Sample) -> list[dict[str, Any]]:
    """What `score_one` of an oracle or a scorer returns for each answer of a sample."""
    pairs = zip(sample.question_ids, sample.answers, strict=True)
    return [scorer.score_one(question_id, answer) for question_id, answer in pairs]


def on_threads(threads: int) -> str:
    """A number of threads in words."""
    return f"{threads} thread" if threads == 1 else f"{threads} threads"


def n_reference_code_points(question: Question) -> int:
    """Size of all reference sets of a question, in code points."""
    return sum(len(answer) for answers in question.answers.values() for answer in answers)


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start

"""Time to index the whole suite, beside the oracle's tables for a few questions, scaled to the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pfgen_fast import Suite
from pfgen_fast.index import references

from .timing import OracleTimes, Row, Timing, on_threads

MOST_SECONDS_ON_ONE_THREAD = 10.0


@pytest.mark.usefixtures("agreement")
@pytest.mark.parametrize("threads", [1, 2])
def test_index_of_the_suite(timing: Timing, checkout: Path, oracle_times: OracleTimes, threads: int) -> None:
    def fresh_suite() -> tuple[tuple[Any, ...], dict[str, Any]]:
        # The index is kept for each Suite object: each round takes a new one, read outside of the timing.
        return (Suite.load(checkout / "data"),), {}

    def build(suite: Suite) -> None:
        references(suite, "leaderboard", threads)

    seconds = timing.median_seconds(build, rounds=3, setup=fresh_suite)
    if seconds is None:
        return
    (suite,), _ = fresh_suite()
    n_answers = sum(len(answers) for question in suite for answers in question.answers.values())
    ratio = oracle_times.suite_seconds / seconds
    required = f"<= {MOST_SECONDS_ON_ONE_THREAD:.0f} s" if threads == 1 else ""
    what = f"index of {len(suite)} questions, {on_threads(threads)}"
    row = Row(what, f"{seconds:.2f} s", f"{ratio:.1f} (scaled)", required)
    timing.note(row, answers_per_second=n_answers / seconds, ratio=ratio)
    assert threads > 1 or seconds <= MOST_SECONDS_ON_ONE_THREAD

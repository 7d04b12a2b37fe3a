"""Fixtures: the published suite and answers, the oracle's times, the check that all ways agree; and the closing table.

Every timing asks for `agreement` (those of Arrow columns for `arrow_agreement`), so nothing is timed that is not equal.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pfgen_fast import Scorer, ScoreTable, Suite
from pytest_benchmark.fixture import BenchmarkFixture

from .published import VARIABLE, Mix, Sample, checkout_folder, choose_sample, is_checkout, load_mix
from .timing import OracleTimes, Row, Timing, score_each, time_oracle_tables

TABLE = pytest.StashKey[list[Row]]()


@pytest.fixture(scope="session")
def checkout() -> Path:
    folder = checkout_folder()
    if not is_checkout(folder):
        pytest.skip(f"no runs.csv and data/ in {folder}: set {VARIABLE} to a pfgen-bench checkout that has them")
    return folder


@pytest.fixture(scope="session")
def suite(checkout: Path) -> Suite:
    return Suite.load(checkout / "data")


@pytest.fixture(scope="session")
def mix(checkout: Path) -> Mix:
    return load_mix(checkout)


@pytest.fixture(scope="session")
def sample(mix: Mix, suite: Suite) -> Sample:
    return choose_sample(mix, suite)


@pytest.fixture(scope="session")
def arrow_mix(mix: Mix) -> tuple[Any, Any]:
    """Questions and answers of the mix as pyarrow arrays of type string."""
    pyarrow = pytest.importorskip("pyarrow", reason="Arrow columns are timed with pyarrow: pip install pyarrow")
    return pyarrow.array(mix.questions, pyarrow.string()), pyarrow.array(mix.answers, pyarrow.string())


@pytest.fixture(scope="session")
def scorers(suite: Suite) -> dict[int, Scorer]:
    """Scorers of the suite by number of threads; they share one index."""
    return {threads: Scorer(suite, threads=threads) for threads in (2, 1)}


@pytest.fixture(scope="session")
def oracle_times(suite: Suite, sample: Sample, closing_table: list[Row]) -> OracleTimes:
    times = time_oracle_tables(suite, sample)
    answers_per_second = 1 / min(times.answer_seconds() for _ in range(3))
    tables = f"oracle: tables of {times.n_tabled_questions} of {len(suite)} questions"
    closing_table += [
        Row(tables, f"{times.tables_seconds:.2f} s"),
        Row("oracle: the same scaled by code points to the suite", f"{times.suite_seconds:.1f} s", "1"),
        Row(f"oracle: score_one, {len(sample)} answers", f"{answers_per_second:,.0f} answers/s", "1"),
    ]
    return times


@pytest.fixture(scope="session")
def mix_table(scorers: dict[int, Scorer], mix: Mix) -> ScoreTable:
    """Scores of the whole mix: lists of str, one thread."""
    return scorers[1].score(mix.questions, mix.answers)


@pytest.fixture(scope="session")
def agreement(
    scorers: dict[int, Scorer], mix: Mix, sample: Sample, mix_table: ScoreTable, oracle_times: OracleTimes
) -> None:
    """Core and oracle agree on the sample, and threads and entries of the core on the whole mix, to the last bit."""
    expected = score_each(oracle_times.oracle, sample)
    by_one = score_each(scorers[1], sample)
    # repr tells apart whatever differs in a bit, and the order of the keys.
    for row, of_oracle, of_one in zip(sample.rows, expected, by_one, strict=True):
        assert repr(of_one) == repr(of_oracle), f"score_one differs from the oracle at answer {row} of the mix"
        assert repr(mix_table.details(row)) == repr(of_oracle), f"score differs from the oracle at answer {row}"
    assert_same_bits(scorers[2].score(mix.questions, mix.answers), mix_table, "2 threads")
    rewards = scorers[1].reward(mix.questions, mix.answers)
    assert np.array_equal(rewards.view(np.int64), mix_table.average.view(np.int64)), "reward differs from score"


@pytest.fixture(scope="session")
def arrow_agreement(
    agreement: None, scorers: dict[int, Scorer], arrow_mix: tuple[Any, Any], mix_table: ScoreTable
) -> None:
    """Arrow columns give what lists of str give."""
    for threads, scorer in scorers.items():
        assert_same_bits(scorer.score(*arrow_mix), mix_table, f"Arrow columns, {threads} threads")


def assert_same_bits(table: ScoreTable, expected: ScoreTable, what: str) -> None:
    assert table.columns == expected.columns
    for column in expected.columns:
        assert table[column].tobytes() == expected[column].tobytes(), f"{what}: the column {column} differs"


@pytest.fixture(scope="session")
def closing_table(pytestconfig: pytest.Config) -> list[Row]:
    return pytestconfig.stash.setdefault(TABLE, [])


@pytest.fixture
def timing(benchmark: BenchmarkFixture, closing_table: list[Row]) -> Timing:
    return Timing(benchmark, closing_table)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the closing table, ready to be pasted into README.md."""
    table = config.stash.get(TABLE, [])
    if not table:
        return
    python = f"{platform.python_implementation()} {platform.python_version()}"
    terminalreporter.section("pfgen-fast beside its oracle")
    terminalreporter.line(f"{python}, {os.cpu_count()} cores; each ratio is to the oracle timed right before and after")
    terminalreporter.line("")
    head = Row("what", "value", "times the oracle", "required")
    cells = [(row.what, row.value, row.ratio, row.required) for row in (head, *table)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in (cells[0], _rule(widths), *cells[1:]):
        what, *numbers = row
        padded = [what.ljust(widths[0]), *(map(str.rjust, numbers, widths[1:]))]
        terminalreporter.line(f"| {' | '.join(padded)} |")


def _rule(widths: list[int]) -> tuple[str, ...]:
    return ("-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:]))

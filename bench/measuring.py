"""Measurements with pytest-benchmark: the sides take turns, and rows of the table follow from their times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

from .figures import Row
from .processes import Clock, Work, seconds


class Disagreement(Exception):
    """The two sides of a comparison give different results."""


def agree(what: str, result: object, expected: object) -> None:
    """Compares by repr, which distinguishes all different floats and orders of keys."""
    if repr(result) != repr(expected):
        raise Disagreement(f"{what}: results differ")


class Reported:
    """A clock that adds the times that other processes report: `@pytest.mark.benchmark(timer=REPORTED)`."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        self._seconds += seconds

    def __call__(self) -> float:
        return self._seconds


REPORTED = Reported()


class Measure:
    """One measure: a benchmark of pytest-benchmark, the other sides of its ratios, and the rows that follow.

    All sides have the same clock. With `quick`, there is a single round and little work.
    """

    def __init__(self, benchmark: BenchmarkFixture, clock: Clock, *, quick: bool) -> None:
        self._benchmark, self._clock, self.quick = benchmark, clock, quick
        self.info: dict[str, Any] = benchmark.extra_info

    def amount(self, n: int, least: int = 1) -> int:
        """This amount of work, or a hundredth of it in a quick run."""
        return max(least, n // 100) if self.quick else n

    def all_times(self, rounds: int, work: Work, others: Mapping[str, Work] | None = None) -> list[list[float]]:
        """The times of each side over several rounds, in each of which every side is called once, the work last.

        Those of the other sides are kept in `extra_info["in_turns_with"]`.
        """
        times: dict[str, list[float]] = {name: [] for name in others or {}}

        def take_turns() -> None:
            for name, other in (others or {}).items():
                times[name].append(seconds(other, self._clock))

        self._benchmark.pedantic(work, setup=take_turns, rounds=1 if self.quick else rounds)
        if times:
            self.info["in_turns_with"] = times
        stats = self._benchmark.stats
        return [stats.stats.data if stats else [float("nan")], *times.values()]

    def times(self, rounds: int, work: Work, others: Mapping[str, Work] | None = None) -> list[float]:
        """The fastest time of each side, the work first, so that load on the machine favours no side."""
        return [min(side_times) for side_times in self.all_times(rounds, work, others)]

    def seconds(self, rounds: int, work: Work) -> float:
        return self.times(rounds, work)[0]

    def row(self, what: str, value: float | None, unit: str = "", *more: Any, **others: Any) -> None:
        """Adds a row to the table, by the fields of `Row`."""
        self.rows(Row(what, value, unit, *more, **others))

    def rows(self, *rows: Row) -> None:
        self.info.setdefault("rows", []).extend(asdict(row) for row in rows)

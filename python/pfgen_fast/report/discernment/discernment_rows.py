"""Results of several tests side by side: each with a unique name and its tables as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...base.untrusted_text import in_one_line
from ...lab.discernment.discernment_result import Discernment
from ...lab.discernment.evaluator_comparison import common_rows
from ...lab.discernment.kinds import in_words

Row = Mapping[str, Any]
"""A row of a table by the names of its columns."""

AT_CEILING = 0.95
"""The share of the ceiling from which d is only a lower bound."""


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a test for one task."""

    test: Discernment  # result of the test for all tasks
    label: str  # name of the evaluator, unique among the tests
    task: str
    title: str  # label, with the task if there are several
    # averages on the perturbations that all have, with the columns of `COMMON_COLUMNS`; none if nothing is compared
    common: tuple[Row, ...] = ()
    is_compared: bool = False  # whether several evaluators have the task

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the evaluator's metrics."""
        return tuple(metric.name for metric in self.test.scored.metrics)

    @cached_property
    def words(self) -> dict[str, str]:
        """The perturbations of the plan in words, by name."""
        return perturbation_words(self.test)

    def rows(self, table: str, **values: object) -> list[Row]:
        """The rows of a table of the test, such as `cells`, for the task and with these values."""
        return having(getattr(self.test, table), task=self.task, **values)

    @cached_property
    def _damage(self) -> list[Row]:
        return [row for row in self.rows("cells") if not is_control(row)]

    def damage(self, **values: object) -> list[Row]:
        """The cells with these values, without those of controls."""
        return having(self._damage, **values)

    def summary(self, score: str, scope: str) -> Row | None:
        """The row of the summary for a score (`d`, `printed_d`, `weighted_d`) and a scope (`all`, `level:word`)."""
        return next(iter(self.rows("summary", score=score, scope=scope)), None)

    def in_common(self, score: str, scope: str) -> Row | None:
        """The row of averages on common perturbations, or that of the summary if nothing is compared."""
        if not self.common:
            return self.summary(score, scope)
        return next(iter(having(self.common, score=score, scope=scope)), None)

    @property
    def common_share(self) -> str:
        """How many perturbations are compared, such as `5 of 9`; empty if the evaluator has no others."""
        row = self.in_common("d", "all")
        return f"{row['n_common']} of {row['n_own']}" if self.common and row and row["n_common"] < row["n_own"] else ""


def results(tests: Sequence[Discernment]) -> list[Result]:
    """The results of each test, by task."""
    names = labels(tests)
    tasks = [list(dict.fromkeys(row["task"] for row in test.cells)) for test in tests]
    n_evaluators = Counter(task for own in tasks for task in own)
    return [
        Result(
            test,
            name,
            task,
            f"{name}, {in_one_line(task)}" if len(n_evaluators) > 1 else name,
            tuple(having(common, task=task)),
            n_evaluators[task] > 1,
        )
        for test, name, own, common in zip(tests, names, tasks, common_rows(tests), strict=True)
        for task in own
    ]


def labels(tests: Sequence[Discernment]) -> list[str]:
    """The evaluators' names; with that of the collection, or a number, where they are not unique."""
    names = [in_one_line(test.scored.evaluator, 60) for test in tests]
    if len(set(names)) < len(names):
        collections = [in_one_line(test.scored.collection.name, 40) for test in tests]
        names = [
            f"{name}: {collection}" if collection else name for name, collection in zip(names, collections, strict=True)
        ]
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def having(rows: Iterable[Row], **values: object) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def defined(rows: Iterable[Row]) -> list[Row]:
    """The rows whose d is defined."""
    return [row for row in rows if row["d"] is not None]


def name_of(row: Row) -> str:
    """The damage of a row in words; without its degree if the row is about all degrees of a kind."""
    return words_of(row["kind"], row.get("degree") or "", row.get("permille"), row.get("k"))


def raw_name(row: Row) -> str:
    """The name of a row's perturbation: `char_delete/30`."""
    return f"{row['kind']}/{row['degree']}" if row.get("degree") else str(row["kind"])


def words_of(kind: str, degree: str = "", permille: int | None = None, k: int | None = None) -> str:
    """The damage in words, safe to print."""
    return in_one_line(in_words(kind, degree, permille, k), 120)


def d_text(row: Row) -> str:
    """The d of a cell as it is shown: with "≥" at the ceiling."""
    if row["d"] is None:
        return ""
    text = f"{row['d']:.1f}" if row["d"] < 100 else f"{row['d']:.0f}"
    return f"≥{text}" if is_at_ceiling(row) else text


def perturbation_words(test: Discernment) -> dict[str, str]:
    """The perturbations of a test in words, by name."""
    return {
        perturbation.name: words_of(perturbation.kind, perturbation.degree, perturbation.permille, perturbation.k)
        for perturbation in test.scored.plan.perturbations
    }


def number_text(value: float) -> str:
    """A drop with three digits, more of them if it is large."""
    if 0 < abs(value) < 0.0005:
        return "<0.001" if value > 0 else ">-0.001"
    digits = max(0, 3 - len(str(int(abs(value))))) if abs(value) >= 1 else 3
    return f"{value:.{digits}f}"


def is_at_ceiling(row: Row) -> bool:
    """Whether the d of a cell is about as high as its number of items allows."""
    ceiling = row.get("ceiling_d")
    return bool(row["d"] and ceiling and row["d"] >= AT_CEILING * ceiling)


def is_rewarded(row: Row) -> bool:
    """Whether the scores of a cell rise, so that damage is rewarded."""
    return bool(row["reverse_d"] is not None and row["reverse_d"] >= 1 and not row.get("few"))


def is_control(row: Row) -> bool:
    """Whether the row is about a change that should not matter."""
    return bool(row["level"] == "control")

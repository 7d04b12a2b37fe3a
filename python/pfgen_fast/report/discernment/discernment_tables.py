"""The results of several tests side by side, and their tables: the columns of files, and those for readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.table import Column, Table
from ...base.untrusted_text import in_one_line
from ...lab.discernment import discernment_result as result
from ...lab.discernment.combined_metrics import common_rows, difference_rows, response_styles
from ...lab.discernment.discernment_result import Discernment, number
from ...lab.discernment.kinds import in_words
from ...lab.discernment.weights import ASSUMED
from ...lab.finding import Cell, finding_table

AT_CEILING = 0.95
"""The share of the ceiling from which d is only a lower bound."""


class Row(dict[str, Any]):
    """A row of a table by the names of its columns."""

    @property
    def words(self) -> str:
        """The damage of the row in words; without its degree if the row is about all degrees of a kind."""
        return words_of(self["kind"], self.get("degree") or "", self.get("permille"), self.get("k"))

    @property
    def name(self) -> str:
        """The name of the row's perturbation: `char_delete/30`."""
        return f"{self['kind']}/{self['degree']}" if self.get("degree") else str(self["kind"])

    @property
    def degree_text(self) -> str:
        """The degree of a cell, such as `30 %`."""
        return in_one_line(self["degree"], 20) if self["permille"] is None else f"{self['permille'] / 10:g} %"

    @property
    def d_text(self) -> str:
        """The d of a cell as it is shown: with "≥" at the ceiling."""
        if self["d"] is None:
            return ""
        text = f"{self['d']:.1f}" if self["d"] < 100 else f"{self['d']:.0f}"
        return f"≥{text}" if self.is_at_ceiling else text

    @property
    def is_at_ceiling(self) -> bool:
        """Whether the d of a cell is about as high as its number of items allows."""
        ceiling = self.get("ceiling_d")
        return bool(self["d"] and ceiling and self["d"] >= AT_CEILING * ceiling)

    @property
    def is_rewarded(self) -> bool:
        """Whether the scores of a cell rise, so that damage is rewarded."""
        return bool(self["reverse_d"] is not None and self["reverse_d"] >= 1 and not self.get("few"))

    @property
    def is_control(self) -> bool:
        """Whether the row is about a change that should not matter."""
        return bool(self["level"] == "control")


def words_of(kind: str, degree: str = "", permille: int | None = None, k: int | None = None) -> str:
    """The damage in words, safe to print."""
    return in_one_line(in_words(kind, degree, permille, k), 120)


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a test for one task."""

    test: Discernment  # result of the test for all tasks
    label: str  # name of the evaluator, unique among the tests
    task: str
    title: str  # label, with the task if there are several
    # averages on the perturbations that all have, with the columns of `COMMON_COLUMNS`; none if nothing is compared
    common: tuple[Row, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the evaluator's metrics."""
        return tuple(metric.name for metric in self.test.scored.metrics)

    def rows(self, table: str, **values: object) -> list[Row]:
        """The rows of a table of the test, such as `cells`, for the task and with these values."""
        return having(map(Row, getattr(self.test, table)), task=self.task, **values)

    def average(self, score: str = "d") -> Row | None:
        """The row of the average on common perturbations, or that of the summary if nothing is compared."""
        rows = having(self.common, score=score) if self.common else self.rows("summary", score=score, scope="all")
        return next(iter(rows), None)


def results(tests: Sequence[Discernment]) -> list[Result]:
    """The results of each test, by task."""
    names = labels(tests)
    tasks = [list(dict.fromkeys(row["task"] for row in test.cells)) for test in tests]
    has_tasks = len({task for own in tasks for task in own}) > 1
    rows = [[*map(Row, own)] for own in common_rows(tests)]
    return [
        Result(test, name, task, f"{name}, {in_one_line(task)}" if has_tasks else name, tuple(having(row, task=task)))
        for test, name, own, row in zip(tests, names, tasks, rows, strict=True)
        for task in own
    ]


def labels(tests: Sequence[Discernment]) -> list[str]:
    """The evaluators' names; with a number where they are not unique."""
    return numbered([in_one_line(test.scored.evaluator, 60) for test in tests], "{} ({})")


def numbered(names: Sequence[str], form: str) -> list[str]:
    """The names; from its second time on, a name is written in a form with its number."""
    counts = [names[: at + 1].count(name) for at, name in enumerate(names)]
    return [name if n == 1 else form.format(name, n) for name, n in zip(names, counts, strict=True)]


def having(rows: Iterable[Row], **values: object) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def defined(rows: Iterable[Row]) -> list[Row]:
    """The rows whose d is defined."""
    return [row for row in rows if row["d"] is not None]


_N_CODE_POINTS = 2000
_EXAMPLE_COLUMNS = ("evaluator", "perturbation", "metric", "which", "item", "original_score", "damaged_score",
                    "original", "damaged")  # fmt: skip
_WORK_COLUMNS = ("evaluator", "items", "damaged_texts", "impossible", "missing_scores", "seed", "weights",
                 "evaluator_signature", "signature")  # fmt: skip

_NAMES: Mapping[str, str] = {
    "kind": "damage",
    "n_items": "texts",
    "n_impossible": "impossible",
    "n_changed": "changed texts",
    "n_perturbations": "kinds and degrees",
    "n_own": "own kinds and degrees",
    "n_common": "common",
    "n_defined": "defined",
    "minimum_at": "lowest for",
    "n": "changed scores",
    "mean_original": "mean of originals",
    "share_lower": "share of lower scores",
    "d_low": "d from",
    "d_high": "d to",
    "ceiling_d": "highest possible d",
    "exact_d": "d of the exact test",
    "reverse_d": "d of rises",
    "rank_biserial": "consistency of falls",
    "few": "too few changes",
    "printed_d": "d as in the paper",
    "drop_low": "drop from",
    "drop_high": "drop to",
    "average_low": "average from",
    "average_high": "average to",
}
"""The names of columns for readers; the words of other columns are those of their names in the files."""

_HIDDEN = ("level", "kind", "degree", "permille", "k", "n_missing", "n_zero", "share_equal", "share_higher",
           "mean_perturbed", "r_plus", "z", "log_p")  # fmt: skip
"""The columns that readers do not need; they see the damage in words."""

_OPTIONAL = ("evaluator", "task")
"""The columns that readers need only if their values differ."""


def tables(tests: Sequence[Discernment], results: Sequence[Result]) -> list[Table]:
    """All tables, the shortest first; `results` are those of the tests."""
    by = weighted_by(tests)

    def stacked(name: str, title: str, columns: Sequence[str], digits: int) -> Table:
        return _stacked(name, title, columns, [row for test in tests for row in getattr(test, name)], digits)

    common = [row for part in results for row in part.common]
    title = f"Averages on the kinds and degrees that all evaluators and scores have{by}"
    return [
        *([_stacked("common", title, result.COMMON_COLUMNS, common, 2)] if common else []),
        *_differences(tests),
        *_styles(tests),
        stacked("summary", f"Averages and minima{by}", result.SUMMARY_COLUMNS, 2),
        stacked("profile", "Sensitivity profile", result.PROFILE_COLUMNS, 3),
        stacked("perturbations", f"Each kind and degree, its metrics combined{by}", result.PERTURBATION_COLUMNS, 2),
        stacked("cells", "Each metric", result.CELL_COLUMNS, 3),
        tests[0].scored.collection.lengths(),
        _work(tests),
        *_examples(tests),
    ]


def _differences(tests: Sequence[Discernment]) -> list[Table]:
    rows = list(difference_rows(tests))
    title = "Differences of the average d on these kinds and degrees, with 95 % intervals"
    cells = [tuple(row.values()) for row in rows]
    return [finding_table("differences", title, list(rows[0]), cells, 2)] if rows else []


def _styles(tests: Sequence[Discernment]) -> list[Table]:
    names, title = labels(tests), "Response styles: scores are means over metrics, and correlations Pearson's"
    rows = [
        (damage, name, len(own), float(own.mean()), float(own.std(ddof=1)), *map(number, correlations))
        for damage, scores, matrix in response_styles(tests)
        for name, own, correlations in zip(names, scores, matrix, strict=True)
    ]
    heads = ("texts", "evaluator", "n", "mean", "standard deviation", *(f"with {name}" for name in names))
    return [finding_table("styles", title, heads, rows, 2)] if rows else []


def weighted_by(tests: Sequence[Discernment]) -> str:
    """The weights of the weighted figures, for a title."""
    names = list(dict.fromkeys(test.weights for test in tests if test.weights is not None))
    texts = [f"{ASSUMED} weights" if name == ASSUMED else f"weights of {in_one_line(name, 100)}" for name in names]
    return f" (weighted: {', '.join(texts)})" if texts else ""


def _stacked(name: str, title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], digits: int) -> Table:
    """A table of all tests; its readers see the damage in words."""
    hidden = {*_HIDDEN, *(column for column in _OPTIONAL if len({row[column] for row in rows}) < 2)}
    described = [
        Column(
            name,
            _NAMES.get(name, name.replace("_", " ")),
            digits,
            form=_FORMS.get(name),
            view="files" if name in hidden else "all",
        )
        for name in columns
    ]
    cells = [tuple(row[column] for column in columns) for row in rows]
    if "kind" in columns:
        described.insert(0, Column("damage", view="readers"))
        cells = [(Row(row).words, *own) for row, own in zip(rows, cells, strict=True)]
    return finding_table(name, title, described, cells)


_FORMS: Mapping[str, Callable[[str], str]] = {
    "noticed_from": lambda name: f"{int(name) / 10:g} %" if name.isdecimal() else in_one_line(name, 40)
}


def _work(tests: Sequence[Discernment]) -> Table:
    """What each test scored, and its signatures."""
    rows: list[tuple[Cell, ...]] = []
    for test in tests:
        scored = test.scored
        n_impossible = scored.is_possible.size - scored.n_texts
        counts = (len(scored.collection), scored.n_texts, n_impossible, scored.n_missing)
        rows.append((scored.evaluator, *counts, scored.seed, test.weights, scored.signature, test.signature))
    return finding_table("work", "Signatures", _WORK_COLUMNS, tuple(rows), 2)


def _examples(tests: Sequence[Discernment]) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        (test.scored.evaluator, *(getattr(example, name) for name in _EXAMPLE_COLUMNS[1:-2]), *map(_bounded, texts))
        for test in tests
        for example in test.scored.examples
        for texts in [(example.original, example.damaged)]
    ]
    return [finding_table("examples", "Examples", _EXAMPLE_COLUMNS, tuple(rows), shown=())] if rows else []


def _bounded(text: str) -> str:
    return text if len(text) <= _N_CODE_POINTS else f"{text[: _N_CODE_POINTS - 1]}…"

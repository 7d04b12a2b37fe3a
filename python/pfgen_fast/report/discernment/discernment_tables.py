"""The tables of a test of evaluators: the columns of `lab.discernment.discernment_result`, as files hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ...base.table import Column, Table
from ...base.untrusted_text import in_one_line
from ...lab.discernment import discernment_result as result
from ...lab.discernment.discernment_result import Discernment
from ...lab.discernment.evaluator_comparison import DIFFERENCE, PLAIN, WEIGHTED, Agreement
from ...lab.discernment.weights import ASSUMED
from ...lab.experiments.finding import Cell, finding_table
from .discernment_rows import Result, Row, name_of, perturbation_words

Agreements = Mapping[tuple[int, int], Mapping[str, Agreement]]
"""By the numbers of two tests, in the order of the report, their agreement by task (`evaluator_comparison`)."""

_N_CODE_POINTS = 2000
_EXAMPLE_COLUMNS = (
    *("evaluator", "perturbation", "metric", "which", "item", "original_score", "damaged_score"),
    *("original", "damaged"),
)
_WORK_COLUMNS = (
    *("evaluator", "items", "damaged_texts", "impossible", "missing_scores", "seed", "weights"),
    *("evaluator_signature", "signature"),
)
_AGREEMENT_COLUMNS = ("first", "second", "task", "difference", "low", "high", "kendall", "n_perturbations")

_NAMES: Mapping[str, str] = {
    "kind": "damage",
    "n_items": "texts",
    "n_impossible": "impossible",
    "n_changed": "changed texts",
    "edit_share": "share of edited characters",
    "n_perturbations": "kinds and degrees",
    "n_defined": "defined",
    "minimum_at": "lowest for",
    "n": "changed scores",
    "mean_original": "mean of originals",
    "mean_drop": "mean drop",
    "share_lower": "share of lower scores",
    "d_low": "d from",
    "d_high": "d to",
    "ceiling_d": "highest possible d",
    "exact_d": "d of the exact test",
    "reverse_d": "d of rises",
    "rank_biserial": "consistency of falls",
    "few": "too few changes",
    "printed_d": "d as in the paper",
    "weighted_d": "weighted d",
    "calibrated_d": "calibrated d",
    "detectable_at_100": "noticed from, 100 texts",
    "detectable_at_20": "noticed from, 20 texts",
    "n80": "texts for a power of 80 %",
    "drop_per_100_permille": "drop for 10 % of damage",
    "drop_low": "drop from",
    "drop_high": "drop to",
    "missed_at_most": "missed at most, SD",
    "equivalent": "below the margin",
    "relative_drop": "drop relative to noticed damage",
    "average_low": "average from",
    "average_high": "average to",
}
"""The names of columns for readers; other columns have the same name as in the files."""

_SIDE_BY_SIDE = (
    *("evaluator", "kinds and degrees", "average d", "minimum d", "weighted average", "weighted minimum"),
    "weighted minus plain",
)

_VERDICTS: Mapping[str, str] = {"not noticed": "does not notice"}

_HIDDEN = (
    *("level", "degree", "permille", "k", "n_missing", "n_zero", "share_equal", "share_higher", "mean_perturbed"),
    *("r_plus", "z", "log_p", "significant_bh"),
)
"""The columns that readers do not need; `kind` is the damage in words."""

_OPTIONAL = ("evaluator", "task", "missed_at_most", "equivalent")
"""The columns that readers need only if their values differ."""


def tables(tests: Sequence[Discernment], results: Sequence[Result]) -> list[Table]:
    """All tables, the shortest first; `results` are those of the tests."""
    by = weighted_by(tests)
    stacked = partial(_stacked, tests)
    return [
        *common_tables(results, by),
        stacked("summary", f"Averages and minima{by}", result.SUMMARY_COLUMNS, 2),
        stacked("profile", "Sensitivity profile", result.PROFILE_COLUMNS, 3),
        *(
            [stacked("controls", "Changes that should not matter", result.CONTROL_COLUMNS, 3)]
            if any(test.controls for test in tests)
            else []
        ),
        stacked("perturbations", f"Each kind and degree, its metrics combined{by}", result.PERTURBATION_COLUMNS, 2),
        stacked("cells", "Each metric", result.CELL_COLUMNS, 3),
        _work(tests),
        *_examples(tests),
    ]


def common_tables(results: Sequence[Result], by: str = "") -> list[Table]:
    """The averages of all evaluators side by side, on the perturbations that all have; empty if nothing is compared."""
    rows = tuple(tuple(row[name] for name in result.COMMON_COLUMNS) for part in results for row in part.common)
    title = f"Averages on the kinds and degrees that all evaluators and scores have{by}"
    read = [_side_by_side(result) for result in results if result.common]
    kept = [place for place in range(len(_SIDE_BY_SIDE)) if any(row[place] for row in read)]
    columns = [Column(_SIDE_BY_SIDE[place], view="readers") for place in kept]
    for_readers = finding_table("common", title, columns, [[row[place] for place in kept] for row in read])
    return [for_readers, finding_table("common", title, result.COMMON_COLUMNS, rows, shown=())] if rows else []


def _side_by_side(result: Result) -> tuple[str, ...]:
    def figure(score: str, name: str) -> str:
        row = result.in_common(score, "all")
        if row is None or row[name] is None:
            return ""
        low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
        return f"{row[name]:.2f}" + ("" if low is None else f" ({low:.2f} to {high:.2f})")

    n_common = result.common_share or str(result.common[0]["n_common"])
    names = [(score, name) for score in (PLAIN, WEIGHTED) for name in ("average", "minimum")]
    return (result.title, n_common, *(figure(*key) for key in names), figure(DIFFERENCE, "average"))


def weighted_by(tests: Sequence[Discernment]) -> str:
    """The weights of the weighted figures, for a title."""
    names = list(dict.fromkeys(test.weights for test in tests if test.weights is not None))
    texts = [f"{ASSUMED} weights" if name == ASSUMED else f"weights of {in_one_line(name, 100)}" for name in names]
    return f" (weighted: {', '.join(texts)})" if texts else ""


def _stacked(tests: Sequence[Discernment], name: str, title: str, columns: Sequence[str], digits: int) -> Table:
    """A table of all tests; its columns for readers have the damage in words."""
    records = [(row, words) for test in tests for words in [perturbation_words(test)] for row in getattr(test, name)]
    shown = {column: [_read(column, *record) for record in records] for column in columns if column not in _HIDDEN}
    shown = {column: cells for column, cells in shown.items() if column not in _OPTIONAL or len(set(cells)) > 1}
    described = [
        *(Column(column, view="files") for column in columns),
        *(Column(column, _NAMES.get(column, ""), digits, view="readers") for column in shown),
    ]
    in_files = ([row[column] for column in columns] for row, _ in records)
    for_readers = zip(*shown.values(), strict=True)
    rows = [(*cells, *texts) for cells, texts in zip(in_files, for_readers, strict=True)]
    return finding_table(name, title, described, rows)


def _read(column: str, row: Row, words: Mapping[str, str]) -> Cell:
    """The cell of a column for readers; `words` has the perturbations in words, by name."""
    if column == "kind":
        return name_of(row)
    value: Cell = row[column]
    if not isinstance(value, str):
        return value
    if column.startswith("detectable_at_"):
        return _degree(value)
    scope, _, part = value.partition(":")
    if column == "scope" and part:
        return f"{part}s" if scope == "level" else f"degree {_degree(part)}"
    return {"minimum_at": words, "score": _NAMES, "verdict": _VERDICTS}.get(column, {}).get(value, value)


def _degree(name: str) -> str:
    return f"{int(name) / 10:g} %" if name.isdecimal() else name


def _work(tests: Sequence[Discernment]) -> Table:
    """The work, without requests and seconds, which differ if a test was killed and continued."""
    rows: list[tuple[Cell, ...]] = []
    for test in tests:
        work, scored = test.work, test.scored
        counts = (work.n_items, work.n_texts, work.n_impossible, work.n_missing)
        origin = (scored.seed, test.weights, scored.signature, test.signature)
        rows.append((scored.evaluator, *counts, *origin))
    return finding_table("work", "Signatures", _WORK_COLUMNS, tuple(rows), 2)


def _examples(tests: Sequence[Discernment]) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        (
            *(test.scored.evaluator, example.perturbation, example.metric, example.which, example.item),
            *(example.original_score, example.damaged_score, _bounded(example.original), _bounded(example.damaged)),
        )
        for test in tests
        for example in test.examples
    ]
    return [finding_table("examples", "Examples", _EXAMPLE_COLUMNS, tuple(rows), shown=())] if rows else []


def agreement_tables(agreements: Agreements, names: Sequence[str]) -> list[Table]:
    """A row for each pair and task; empty if there are no pairs."""
    rows: list[tuple[Cell, ...]] = [
        (
            *(names[first], names[second], task),
            *(agreement.difference, agreement.low, agreement.high, agreement.tau, agreement.n_perturbations),
        )
        for (first, second), by_task in agreements.items()
        for task, agreement in by_task.items()
    ]
    title = "Agreement: differences of the average d, and Kendall's correlation of d"
    return [finding_table("agreement", title, _AGREEMENT_COLUMNS, tuple(rows), 3)] if rows else []


def _bounded(text: str) -> str:
    return text if len(text) <= _N_CODE_POINTS else f"{text[: _N_CODE_POINTS - 1]}…"

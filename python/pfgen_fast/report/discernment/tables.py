"""The tables of a test of evaluators: the columns of `discernment.result`, as files hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...discernment import result
from ...discernment.result import Columns, Discernment
from ...discernment.weights import ASSUMED
from ...experiments.finding import Cell, Table
from ...files.untrusted_text import in_one_line
from ...statistics.evaluator_agreement import Agreement

Agreements = Mapping[tuple[int, int], Mapping[str, Agreement]]
"""By the numbers of two tests, in the order of the report, their agreement by task (`discernment.agreement`)."""

_N_CODE_POINTS = 2000
_EXAMPLE_COLUMNS = (
    *("evaluator", "perturbation", "metric", "which", "item", "original_score", "damaged_score"),
    *("original", "damaged"),
)
_WORK_COLUMNS = (
    *("evaluator", "items", "damaged_texts", "impossible", "missing_scores", "seed", "draws", "weights"),
    *("evaluator_signature", "signature"),
)
_AGREEMENT_COLUMNS = ("first", "second", "task", "difference", "low", "high", "kendall", "n_perturbations")
_CELLS_SHOWN = (
    *("evaluator", "task", "kind", "degree", "metric", "n_items", "n", "mean_original", "mean_drop", "share_lower"),
    *("rank_biserial", "d", "d_low", "d_high", "ceiling_d", "exact_d", "reverse_d", "few", "noticed"),
)
_PERTURBATIONS_SHOWN = (
    *("evaluator", "task", "kind", "degree", "method", "n_items", "n_impossible", "reason", "n_changed", "edit_share"),
    *("d", "d_low", "d_high", "printed_d", "weighted_d", "calibrated_d", "noticed"),
)


def tables(found: Sequence[Discernment]) -> list[Table]:
    """All tables, the shortest first."""
    by = weighted_by(found)
    title, controls = (
        "Controls: changes that should not matter",
        [one.controls for one in found if one.controls["kind"]],
    )
    return [
        _stacked("summary", f"Averages and minima{by}", result.SUMMARY_COLUMNS, [one.summary for one in found], 2),
        _stacked("profile", "Sensitivity profile", result.PROFILE_COLUMNS, [one.profile for one in found], 3),
        *([_stacked("controls", title, result.CONTROL_COLUMNS, controls, 3)] if controls else []),
        _stacked(
            "perturbations",
            f"Each kind and degree, its metrics combined{by}",
            result.PERTURBATION_COLUMNS,
            [one.perturbations for one in found],
            2,
            _PERTURBATIONS_SHOWN,
        ),
        _stacked("cells", "Each metric", result.CELL_COLUMNS, [one.cells for one in found], 3, _CELLS_SHOWN),
        _work(found),
        *_examples(found),
    ]


def weighted_by(found: Sequence[Discernment]) -> str:
    """The weights of the weighted figures, for a title."""
    names = list(dict.fromkeys(one.weights for one in found if one.weights is not None))
    texts = [f"{ASSUMED} weights" if name == ASSUMED else f"weights of {in_one_line(name, 100)}" for name in names]
    return f" (weighted: {', '.join(texts)})" if texts else ""


def _stacked(
    name: str,
    title: str,
    columns: tuple[str, ...],
    parts: Sequence[Columns],
    n_digits: int,
    shown: tuple[str, ...] | None = None,
) -> Table:
    rows = tuple(row for part in parts for row in zip(*(part[column] for column in columns), strict=True))
    same = {each for each in ("evaluator", "task") if len({row[columns.index(each)] for row in rows}) < 2}
    return Table(name, title, columns, rows, n_digits, tuple(each for each in shown or columns if each not in same))


def _work(found: Sequence[Discernment]) -> Table:
    """The work, without requests and seconds, which differ if a test was killed and continued."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        work, scored = one.work, one.scored
        counts = (work.n_items, work.n_texts, work.n_impossible, work.n_missing)
        made = (scored.seed, one.n_draws, one.weights, scored.signature, one.signature)
        rows.append((scored.evaluator, *counts, *made))
    return Table("work", "Signatures", _WORK_COLUMNS, tuple(rows), 2)


def _examples(found: Sequence[Discernment]) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        (
            *(one.scored.evaluator, example.perturbation, example.metric, example.which, example.item),
            *(example.original_score, example.damaged_score, _bounded(example.original), _bounded(example.damaged)),
        )
        for one in found
        for example in one.examples
    ]
    return [Table("examples", "Examples", _EXAMPLE_COLUMNS, tuple(rows), shown=())] if rows else []


def agreement_tables(agreements: Agreements, names: Sequence[str]) -> list[Table]:
    """A row for each pair and task; empty if there are no pairs."""
    rows: list[tuple[Cell, ...]] = [
        (names[first], names[second], task, *(one.difference, one.low, one.high, one.tau, one.n_perturbations))
        for (first, second), of_tasks in agreements.items()
        for task, one in of_tasks.items()
    ]
    title = "Agreement: differences of the average d, and Kendall's correlation of d"
    return [Table("agreement", title, _AGREEMENT_COLUMNS, tuple(rows), 3)] if rows else []


def _bounded(text: str) -> str:
    return text if len(text) <= _N_CODE_POINTS else f"{text[: _N_CODE_POINTS - 1]}…"

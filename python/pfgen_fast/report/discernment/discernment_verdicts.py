"""The verdicts of a test: one sentence for each result, and a table of verdicts by kind of damage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from ...base.table import Table
from ...base.untrusted_text import counted, few_names, in_one_line
from ...lab.experiments.finding import Cell, finding_table
from .discernment_rows import (
    Result,
    Row,
    d_text,
    defined,
    having,
    is_at_ceiling,
    is_control,
    is_rewarded,
    name_of,
    words_of,
)

BLIND, NOT_NOTICED = "blind", "not noticed"
LEGEND = (
    "a degree: noticed from this degree on; yes: noticed, the kind has no degrees; some: only some degrees are "
    "noticed; no: not noticed, with d at the highest degree; blind: the mean changes by at most this number of SD, "
    "less than the margin; ?: too few scores change to tell; rewarded: scores rise; penalised: scores fall although "
    "nothing is wrong"
)
"""Explains the cells of the table of verdicts."""

_MANY = 3
_NOTHING = "No evaluator has a discernment score."


def sentences(results: Sequence[Result]) -> list[str]:
    """The best of several results of each task, then a sentence on each result."""
    headlines = list(map(_headline, results))
    if len(results) == 1:
        return headlines
    compared = [result for result in results if result.is_compared]
    is_one_task = len({result.task for result in results}) == 1
    by_task = {
        task: _highest([result for result in compared if result.task == task], "" if is_one_task else task)
        for task in dict.fromkeys(result.task for result in compared)
    }
    best = " ".join(filter(None, by_task.values() if compared else [_highest(results, "")]))
    return [best or _NOTHING, *headlines]


def _headline(result: Result) -> str:
    known = defined(result.damage())
    if known and all(row["n"] == 0 for row in known):
        return f"{result.title} never moves: no damage changes any of its scores."
    profile = [row for row in result.rows("profile") if row["verdict"] is not None]
    controls = [row for row in result.rows("controls") if row["noticed"] is not None]
    kinds, harmless = (dict.fromkeys(row["kind"] for row in rows) for rows in (profile, controls))
    noticed = [kind for kind in kinds if having(profile, kind=kind, verdict="notices")]
    missed = dict.fromkeys(row["kind"] for row in missed_cells(result))
    rewarded = [kind for kind in kinds if having(profile, kind=kind, verdict="rewards")]
    penalised = [kind for kind in harmless if having(controls, kind=kind, noticed=True)]
    n_scores = len({row["metric"] for row in profile})
    any_score, some_score = (
        ("", "") if n_scores < 2 else (f" with at least one of its {n_scores} scores", " by some score")
    )
    lists = {
        f"not noticed{some_score}": missed,
        f"rewarded{some_score}": rewarded,
        "harmless, but penalised": penalised,
    }
    named = [
        f"{what}: {few_names([words_of(kind) for kind in names], _MANY, 400)}" for what, names in lists.items() if names
    ]
    first = f"{result.title} notices {len(noticed)} of {counted(len(kinds), 'kind')} of damage{any_score}"
    return "; ".join([first, *named]) + "."


def _highest(results: Sequence[Result], task: str) -> str:
    """The result with the highest average, on the perturbations that all have; empty if there is none."""
    rows = [(result.in_common if result.is_compared else result.summary)("d", "all") for result in results]
    averages = [(row["average"], result) for row, result in zip(rows, results, strict=True) if row and row["average"]]
    if not averages:
        return ""
    value, best = max(averages, key=lambda pair: pair[0])
    where = f" for the task {in_one_line(task)}" if task else ""
    is_part = best.is_compared and best.common_share
    on_common = f", on the {best.common_share} kinds and degrees that all have" if is_part else ""
    return (
        f"Of {len(results)} results{where}, {best.title} has the highest average discernment score, "
        f"{value:.1f}{on_common}."
    )


def missed_cells(result: Result) -> list[Row]:
    """The cells of highest degrees for each metric that does not notice a kind at any degree."""
    missed = (row for row in result.rows("profile") if row["verdict"] in (BLIND, NOT_NOTICED))
    cells = ((row["verdict"], result.damage(kind=row["kind"], metric=row["metric"])) for row in missed)
    return [
        row
        for verdict, kind_cells in cells
        if verdict == BLIND or not _is_unclear(kind_cells)
        for row in defined(kind_cells)[-1:]
    ]


def _is_unclear(cells: Iterable[Row]) -> bool:
    """Whether scores only fell, but too few of them for the damage to count as noticed."""
    return any(cell["few"] and cell["n"] and is_at_ceiling(cell) for cell in cells)


def verdict_table(results: Sequence[Result]) -> Table:
    """A row for each kind; a column for each metric or, if there are several results, for each result."""
    columns = {result.title: (result.rows("perturbations"), result.rows("cells")) for result in results}
    if len(results) == 1:
        by_metric = {metric: results[0].rows("cells", metric=metric) for metric in results[0].metrics}
        columns = {metric: (cells, cells) for metric, cells in by_metric.items()}
    rows = [row for _, cells in columns.values() for row in cells]
    kinds = {row["kind"]: is_control(row) for row in rows}
    lines: list[tuple[Cell, ...]] = []
    for kind in sorted(kinds, key=lambda kind: kinds[kind]):
        how = _penalised if kinds[kind] else _lightest
        cells = [how(having(combined, kind=kind), having(single, kind=kind)) for combined, single in columns.values()]
        name = in_one_line(name_of({"kind": kind}), 60)
        lines.append((f"{name} (harmless)" if kinds[kind] else name, *cells))
    names = [in_one_line(name, 40) for name in columns]
    whose = "each score notices" if len(results) == 1 else "each evaluator notices, its scores combined"
    return finding_table("verdicts", f"Verdicts: the lightest damage that {whose}", ("damage", *names), tuple(lines))


def _lightest(rows: Sequence[Row], cells: Sequence[Row]) -> str | None:
    """The degree from which a kind is noticed, or why there is none; the degrees of the rows rise."""
    known, known_cells = defined(rows), defined(cells)
    if not known:
        return None
    noticed = list(takewhile(lambda row: bool(row["noticed"]), reversed(known)))
    if noticed:
        degree, permille = noticed[-1]["degree"], noticed[-1]["permille"]
        return "yes" if len(rows) == 1 else in_one_line(degree, 20) if permille is None else f"{permille / 10:g} %"
    if any(map(is_rewarded, cells)):
        return "rewarded"
    if any(row["noticed"] for row in known):
        return "some"
    if known_cells and all(cell["equivalent"] and not cell["noticed"] for cell in known_cells):
        return f"blind ({max(cell['missed_at_most'] for cell in known_cells):.2f})"
    return "?" if _is_unclear(cells) else f"no ({d_text(known[-1])})"


def _penalised(rows: Sequence[Row], cells: Sequence[Row]) -> str | None:
    known = [row for row in rows if row["noticed"] is not None]
    if not known:
        return None
    return next((f"penalised ({d_text(row)})" for row in known if row["noticed"]), f"no ({d_text(known[-1])})")

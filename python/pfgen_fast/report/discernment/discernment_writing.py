"""Makes the files of one or several tests of evaluators, with a sentence and verdicts for each result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from ...base.table import Table
from ...base.untrusted_text import counted, few_names, in_one_line
from ...lab.discernment.discernment_result import Discernment
from ...lab.discernment.weights import ASSUMED
from ...lab.finding import Cell, Finding, Pair, finding_table, marked
from ..findings import write_finding
from .discernment_pictures import pictures
from .discernment_tables import Result, Row, defined, having, labels, results, tables, words_of

NAME = "discernment"
"""The beginning of the names of all files."""

_MANY = 4


def write_discernment(tests: Sequence[Discernment], folder: Path) -> list[Path]:
    """Writes the files of one or several tests, each atomically: a page, Markdown, tables and pictures."""
    return write_finding(finding_of(tests), folder)


def finding_of(tests: Sequence[Discernment]) -> Finding:
    """The finding of one or several tests, in words, tables, pictures and examples."""
    task_results = results(tests)
    names = labels(tests)
    named = ", ".join(names) if len(names) <= _MANY else f"{len(names)} evaluators"
    answer, *others = sentences(task_results)
    return Finding(
        NAME,
        answer,
        _paragraph(tests, names, task_results),
        (verdict_table(task_results), *tables(tests, task_results)),
        tuple(pictures(task_results)),
        tuple(_notes(tests, names)),
        question=f"How well {'does' if len(names) == 1 else 'do'} {named} notice damage?",
        sentences=(answer, *others) if others else (),
        example=next(filter(None, map(_example, task_results)), None),
    )


def _paragraph(tests: Sequence[Discernment], names: Sequence[str], results: Sequence[Result]) -> str:
    """Explains the figures, and says what each test scored."""
    ceilings = [row["ceiling_d"] for result in results for row in result.rows("cells") if row["ceiling_d"]]
    most = f" With these items, it can hardly exceed {max(ceilings):.1f}." if ceilings else ""
    parts = [
        "The discernment score d shows how consistently the damaged texts got lower scores than their originals: it is "
        f"the p-value of a paired rank test on a logarithmic scale, where 1 stands for p = 0.05.{most} It grows "
        f"with the number of items, and a d below 1 does not prove that there is no effect. Verdicts: {LEGEND}."
    ]
    for test, name in zip(tests, names, strict=True):
        scored = test.scored
        n_impossible = scored.is_possible.size - scored.n_texts
        parts.append(
            f"{name}: {scored.n_texts:,} damaged texts of {len(scored.collection):,} items, {n_impossible:,} "
            f"impossible ones, {scored.n_missing:,} scores missing."
        )
    return " ".join(parts)


def _notes(tests: Sequence[Discernment], names: Sequence[str]) -> list[str]:
    """The limits of the answer. A note that is not common to all tests begins with the names of its tests."""
    names_of: dict[str, list[str]] = {}
    for test, name in zip(tests, names, strict=True):
        for note in dict.fromkeys((*test.warnings, *test.notes)):
            names_of.setdefault(note, []).append(name)
    notes = [note if len(names) == len(tests) else f"{', '.join(names)}: {note}" for note, names in names_of.items()]
    if any(test.weights and test.weights.endswith(ASSUMED) for test in tests):
        notes.append("The weights of weighted d are assumed weights: no expert was asked.")
    return notes


# --- examples


def _example(result: Result) -> Pair | None:
    """A text with the highest degree of damage that some metric does not notice, or else with any damage.

    Of several texts, it is the one with the fewest changes.
    """
    missed: dict[str, list[str]] = {}
    for row in missed_cells(result):
        missed.setdefault(row.name, []).append(row["metric"])
    tasks = {item.id: item.task for item in result.test.scored.collection.items}
    candidates = []
    for example in result.test.scored.examples:
        if tasks[example.item] == result.task:
            pair = Pair("", marked(example.original, example.damaged))
            n_changed = sum(len(text) for text, change in pair.changes if change != "equal")
            candidates.append((example.perturbation not in missed, n_changed, example.perturbation, example.item, pair))
    if not candidates:
        return None
    *_, perturbation, item, pair = min(candidates, key=lambda candidate: candidate[:2])
    unseen = f", not noticed by {in_one_line(', '.join(missed[perturbation]))}" if perturbation in missed else ""
    title = f"Example of {result.title}: {result.words.get(perturbation, perturbation)}{unseen}"
    return replace(pair, title=in_one_line(f"{title} (item {item}: {_scores(result, perturbation, item)})", 1000))


def _scores(result: Result, perturbation: str, item: str) -> str:
    """All scores of an item, before and after a perturbation."""
    scored = result.test.scored
    row = [change.name for change in scored.plan.perturbations].index(perturbation)
    number = [candidate.id for candidate in scored.collection.items].index(item)
    return ", ".join(
        f"{in_one_line(name, 40)} {_score(before)} → {_score(after)}"
        for name, before, after in zip(
            result.metrics, scored.originals[:, number], scored.damaged[row, :, number], strict=True
        )
    )


def _score(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


LEGEND = (
    "a degree: noticed from this degree on; yes: noticed, the kind has no degrees; some: only some degrees are "
    "noticed; no: not noticed, with d at the highest degree; ?: too few scores change to tell; rewarded: scores "
    "rise; penalised: scores fall although nothing is wrong"
)
"""Explains the cells of the table of verdicts."""

_NOTHING = "The evaluators have no discernment score in common."


def sentences(results: Sequence[Result]) -> list[str]:
    """The best of several results of each task, then a sentence on each result."""
    headlines = list(map(_headline, results))
    compared = [result for result in results if result.common]
    if not compared:
        return headlines
    is_one_task = len({result.task for result in results}) == 1
    best = [
        _highest([result for result in compared if result.task == task], "" if is_one_task else task)
        for task in dict.fromkeys(result.task for result in compared)
    ]
    return [" ".join(filter(None, best)) or _NOTHING, *headlines]


def _headline(result: Result) -> str:
    known = defined(result.damage())
    if known and all(row["n"] == 0 for row in known):
        return f"{result.title} never moves: no damage changes any of its scores."
    profile = [row for row in result.rows("profile") if row["verdict"] is not None]
    controls = [row for row in result.rows("cells", level="control") if row["noticed"] is not None]
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
        f"{what}: {few_names([words_of(kind) for kind in names], 3, 400)}" for what, names in lists.items() if names
    ]
    first = f"{result.title} notices {len(noticed)} of {counted(len(kinds), 'kind')} of damage{any_score}"
    return "; ".join([first, *named]) + "."


def _highest(results: Sequence[Result], task: str) -> str:
    """The result with the highest average, on the perturbations that all have; empty if there is none."""
    averages = [(row["average"], result) for result in results if (row := result.average()) and row["average"]]
    if not averages:
        return ""
    value, best = max(averages, key=lambda pair: pair[0])
    where = f" for the task {in_one_line(task)}" if task else ""
    return f"Of {len(results)} results{where}, {best.title} has the highest average discernment score, {value:.1f}."


def missed_cells(result: Result) -> list[Row]:
    """The cells of highest degrees for each metric that does not notice a kind at any degree."""
    missed = result.rows("profile", verdict="not noticed")
    cells = [result.damage(kind=row["kind"], metric=row["metric"]) for row in missed]
    return [row for kind_cells in cells if not _is_unclear(kind_cells) for row in defined(kind_cells)[-1:]]


def _is_unclear(cells: Iterable[Row]) -> bool:
    """Whether scores only fell, but too few of them for the damage to count as noticed."""
    return any(cell["few"] and cell["n"] and cell.is_at_ceiling for cell in cells)


def verdict_table(results: Sequence[Result]) -> Table:
    """A row for each kind; a column for each metric or, if there are several results, for each result."""
    columns = {result.title: (result.rows("perturbations"), result.rows("cells")) for result in results}
    if len(results) == 1:
        by_metric = {metric: results[0].rows("cells", metric=metric) for metric in results[0].metrics}
        columns = {metric: (cells, cells) for metric, cells in by_metric.items()}
    rows = [row for _, cells in columns.values() for row in cells]
    kinds = {row["kind"]: row.is_control for row in rows}
    lines: list[tuple[Cell, ...]] = []
    for kind in sorted(kinds, key=lambda kind: kinds[kind]):
        how = _penalised if kinds[kind] else _lightest
        cells = [how(having(combined, kind=kind), having(single, kind=kind)) for combined, single in columns.values()]
        name = in_one_line(words_of(kind), 60)
        lines.append((f"{name} (harmless)" if kinds[kind] else name, *cells))
    names = [in_one_line(name, 40) for name in columns]
    whose = "each score notices" if len(results) == 1 else "each evaluator notices, its scores combined"
    return finding_table("verdicts", f"Verdicts: the lightest damage that {whose}", ("damage", *names), tuple(lines))


def _lightest(rows: Sequence[Row], cells: Sequence[Row]) -> str | None:
    """The degree from which a kind is noticed, or why there is none; the degrees of the rows rise."""
    known = defined(rows)
    if not known:
        return None
    noticed = list(takewhile(lambda row: bool(row["noticed"]), reversed(known)))
    if noticed:
        degree, permille = noticed[-1]["degree"], noticed[-1]["permille"]
        return "yes" if len(rows) == 1 else in_one_line(degree, 20) if permille is None else f"{permille / 10:g} %"
    if any(cell.is_rewarded for cell in cells):
        return "rewarded"
    if any(row["noticed"] for row in known):
        return "some"
    return "?" if _is_unclear(cells) else f"no ({known[-1].d_text})"


def _penalised(rows: Sequence[Row], cells: Sequence[Row]) -> str | None:
    known = [row for row in rows if row["noticed"] is not None]
    if not known:
        return None
    return next((f"penalised ({row.d_text})" for row in known if row["noticed"]), f"no ({known[-1].d_text})")

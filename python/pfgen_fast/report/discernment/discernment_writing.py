"""Makes the files of one or several tests of evaluators, with a sentence and verdicts for each result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path

from ...base.table import Table
from ...base.untrusted_text import counted, few_names, in_one_line
from ...lab.chart_data import Threshold
from ...lab.discernment.combined_metrics import difference_rows
from ...lab.discernment.discernment_result import Discernment
from ...lab.discernment.weights import ASSUMED
from ...lab.finding import Cell, Finding, Pair, finding_table, marked
from ..findings import write_finding
from .discernment_pictures import is_unclear, lightest_title, pictures, verdicts
from .discernment_tables import Result, Row, defined, labels, results, tables, words_of

NAME = "discernment"
"""The beginning of the names of all files."""

_MANY = 4
_N_EXAMPLES = 3


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
        sentences=(answer, *others),
        examples=tuple(islice((pair for result in task_results for pair in _examples(result)), _N_EXAMPLES)),
    )


def _paragraph(tests: Sequence[Discernment], names: Sequence[str], results: Sequence[Result]) -> str:
    """Explains the figures, and says what each test scored."""
    ceilings = [row["ceiling_d"] for result in results for row in result.rows("cells") if row["ceiling_d"]]
    most = f" With these items, it can hardly exceed {max(ceilings):.1f}." if ceilings else ""
    parts = [
        "The discernment score d shows how consistently the damaged texts got lower scores than their originals: it is "
        f"the p-value of a paired rank test on a logarithmic scale, where 1 stands for p = 0.05.{most} It grows "
        "with the number of items, and a d below 1 does not prove that there is no effect."
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
    names_of: defaultdict[str, list[str]] = defaultdict(list)
    for test, name in zip(tests, names, strict=True):
        for note in dict.fromkeys((*test.warnings, *test.notes)):
            names_of[note].append(name)
    notes = [note if len(names) == len(tests) else f"{', '.join(names)}: {note}" for note, names in names_of.items()]
    if any(test.weights and test.weights.endswith(ASSUMED) for test in tests):
        notes.append("The weights of weighted d are assumed weights: no expert was asked.")
    return notes


# --- examples


def _examples(result: Result) -> Iterator[Pair]:
    """One text for each kind that some metric never notices, or else of any kind, the shortest changes first."""
    missed: defaultdict[str, list[str]] = defaultdict(list)
    for row in missed_cells(result):
        missed[row.name].append(row["metric"])
    tasks = {item.id: item.task for item in result.test.scored.collection.items}
    candidates = []
    for example in result.test.scored.examples:
        if tasks[example.item] == result.task:
            changes = marked(example.original, example.damaged)
            n_changed = sum(len(text) for text, change in changes if change != "equal")
            name = example.perturbation
            candidates.append((name not in missed, n_changed, name, example.item, changes))
    candidates.sort(key=lambda candidate: candidate[:2])
    shown: set[str] = set()
    for is_noticed, _, perturbation, item, changes in candidates:
        kind = perturbation.partition("/")[0]
        if kind in shown or (shown and is_noticed):
            continue
        shown.add(kind)
        unseen = "" if is_noticed else f": not noticed by {in_one_line(', '.join(missed[perturbation]))}"
        of = f"{result.title}, " if result.title != result.label or result.common else ""
        title = f"{of}{result.words.get(perturbation, perturbation)}{unseen}"
        about = f"{item}: {_scores(result, perturbation, item)}"
        yield Pair(in_one_line(title, 400), changes, in_one_line(about, 1000))


def _scores(result: Result, perturbation: str, item: str) -> str:
    """All scores of an item, before and after a perturbation."""
    scored = result.test.scored
    row = [change.name for change in scored.plan.perturbations].index(perturbation)
    number = [candidate.id for candidate in scored.collection.items].index(item)
    pairs = zip(scored.originals[:, number], scored.damaged[row, :, number], strict=True)
    ends = [" → ".join(f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" for value in pair) for pair in pairs]
    return ", ".join(f"{in_one_line(name, 40)} {both}" for name, both in zip(result.metrics, ends, strict=True))


def sentences(results: Sequence[Result]) -> list[str]:
    """What a result notices, then what it does not; of several results, faults and the best of each task first."""
    _, by_kind = verdicts(results)
    if len(results) == 1:
        return _described(results[0], by_kind)
    described = [_described(own, {kind: [by_kind[kind][at]] for kind in by_kind}) for at, own in enumerate(results)]
    tasks = dict.fromkeys(result.task for result in results if result.common)
    is_of_several = len({result.task for result in results}) > 1
    best = [_best([result for result in results if result.task == task], is_of_several) for task in tasks]
    first = [" ".join(filter(None, best)) or "The evaluators have no discernment score in common."] if tasks else []
    return [*_blind_spots(results, by_kind), *first, *map(" ".join, described)]


def _blind_spots(results: Sequence[Result], by_kind: Mapping[str, Sequence[Threshold]]) -> list[str]:
    """Which results miss, reward or penalise which kinds, in a sentence."""
    kinds_of: defaultdict[str, list[str]] = defaultdict(list)
    verbs = {"never": ("misses", "miss"), "rewarded": ("rewards", "reward"), "penalised": ("penalises", "penalise")}
    for fault, kind in product(verbs, by_kind):
        if names := [at.title for at, cell in zip(results, by_kind[kind], strict=True) if cell.text == fault]:
            who = {1: names[0], len(results): "both" if len(results) == 2 else f"all {len(results)}"}.get(len(names))
            kinds_of[f"{who or few_names(names, 3, 200)} {verbs[fault][len(names) > 1]}"].append(words_of(kind))
    spots = "; ".join(f"{who} {few_names(kinds, 2, 200)}" for who, kinds in islice(kinds_of.items(), 3))
    first, _, others = spots.partition(" ")
    return [f"{first.capitalize() if first in ('both', 'all') else first} {others}."] if spots else []


def _described(result: Result, by_kind: Mapping[str, Sequence[Threshold]]) -> list[str]:
    """How many kinds a result notices and penalises; then the names of those that it should judge otherwise."""
    damage = defined(result.damage())
    if damage and all(row["n"] == 0 for row in damage):
        return [f"{result.title} never moves: no damage changes any of its scores."]
    controls = {row["kind"] for row in result.rows("cells", level="control")}
    known = {kind: cells for kind, cells in by_kind.items() if any(cell.text != "–" for cell in cells)}
    n_scores = max(map(len, by_kind.values()), default=1)
    with_any, by_some = (f" with at least one of its {n_scores} scores", " by some score") if n_scores > 1 else ("", "")
    faults = {"never": f"not noticed{by_some}", "rewarded": f"rewarded{by_some}", "penalised": "penalised"}
    kinds_of = {fault: [kind for kind in known if any(cell.text == fault for cell in known[kind])] for fault in faults}
    n_noticed = sum(any(cell.start is not None for cell in cells) for cells in known.values())
    first = f"{result.title} notices {n_noticed} of {counted(len(known.keys() - controls), 'kind')} of damage{with_any}"
    if n_penalised := len(kinds_of["penalised"]):
        first += f", but penalises {n_penalised} of {counted(len(known.keys() & controls), 'harmless change')}"
    named = {faults[fault]: few_names(list(map(words_of, kinds)), 3, 400) for fault, kinds in kinds_of.items() if kinds}
    others = "; ".join(map(": ".join, named.items()))
    return [f"{first}.", f"{others[0].upper()}{others[1:]}."] if others else [f"{first}."]


def _best(results: Sequence[Result], is_of_several_tasks: bool) -> str:
    """The result with the highest average, on the perturbations that all have, and those not distinguished from it."""
    averages = [(row["average"], result) for result in results if (row := result.average()) and row["average"]]
    if not averages:
        return ""
    value, best = max(averages, key=lambda pair: pair[0])
    name, close = best.test.scored.evaluator, []
    for pair in difference_rows([result.test for result in results]):
        if pair["task"] == best.task and name in (pair["first"], pair["second"]) and pair["low"] <= 0 <= pair["high"]:
            close.append(in_one_line(pair["second"] if pair["first"] == name else pair["first"], 60))
    where = f" for the task {in_one_line(best.task)}" if is_of_several_tasks else ""
    unsure = f"; not distinguished from it: {few_names(close, 3, 400)}" if close else ""
    return f"Of {len(results)} results{where}, {best.title} has the highest average d, {value:.1f}{unsure}."


def missed_cells(result: Result) -> list[Row]:
    """The cells of highest degrees for each metric that does not notice a kind at any degree."""
    missed = result.rows("profile", verdict="not noticed")
    cells = [result.damage(kind=row["kind"], metric=row["metric"]) for row in missed]
    return [row for kind_cells in cells if not is_unclear(kind_cells) for row in defined(kind_cells)[-1:]]


def verdict_table(results: Sequence[Result]) -> Table:
    """A row for each kind, harmless changes last; a column for each metric or, of several results, for each result."""
    names, by_kind = verdicts(results)
    controls = {row["kind"] for result in results for row in result.rows("cells", level="control")}
    lines: list[tuple[Cell, ...]] = []
    for kind in sorted(by_kind, key=lambda kind: kind in controls):
        cells = [None if verdict.text == "–" else verdict.text for verdict in by_kind[kind]]
        lines.append((in_one_line(words_of(kind), 60), *cells))
    return finding_table("verdicts", lightest_title(results), ("damage", *names), tuple(lines))

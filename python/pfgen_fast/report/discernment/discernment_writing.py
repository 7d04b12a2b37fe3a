"""Makes the files of one or several tests of evaluators, with a sentence and verdicts for each result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base.table import Table
from ...base.untrusted_text import counted, few_names, in_one_line
from ...lab.chart_data import Threshold
from ...lab.discernment.combined_metrics import difference_rows
from ...lab.discernment.discernment_result import Discernment
from ...lab.discernment.weights import ASSUMED
from ...lab.finding import Finding, Pair, finding_table, marked
from ..findings import write_finding
from .discernment_pictures import lightest_title, pictures, verdicts
from .discernment_tables import Result, defined, labels, results, tables, words_of

NAME = "discernment"
"""The beginning of the names of all files."""

_WHAT_D_IS = "d measures how consistently scores fall; the mean drop shows how far. d = 1 means p = 0.05."
_FAULTS = {"never": "not noticed by", "rewarded": "rewarded by", "penalised": "penalised by"}


def write_discernment(tests: Sequence[Discernment], folder: Path) -> list[Path]:
    """Writes the files of one or several tests, each atomically: a page, Markdown, tables and pictures."""
    return write_finding(finding_of(tests), folder)


def finding_of(tests: Sequence[Discernment]) -> Finding:
    """The finding of one or several tests, in words, tables, pictures and examples."""
    task_results = results(tests)
    names = labels(tests)
    named = few_names(names, 4, 40)
    first, details = _sentences(task_results)
    return Finding(
        NAME,
        first[0],
        "\n".join([*details, *_paragraphs(tests, names, task_results)]),
        (verdict_table(task_results), *tables(tests, task_results)),
        tuple(pictures(task_results)),
        tuple(_notes(tests, names)),
        question=f"How well {'does' if len(names) == 1 else 'do'} {named} notice damage?",
        sentences=tuple(first),
        examples=tuple(_examples(tests, names, task_results)),
        title=f"discernment of {named} on {counted(len(tests[0].scored.collection), 'text')}",
    )


def _paragraphs(tests: Sequence[Discernment], names: Sequence[str], results: Sequence[Result]) -> list[str]:
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
    return parts


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


def _examples(tests: Sequence[Discernment], names: Sequence[str], results: Sequence[Result]) -> Iterator[Pair]:
    """A text of each kind, the most missed kinds first: of a fault its heaviest degree, then the shortest change."""
    titles, by_kind = verdicts(results)
    candidates = []
    for test in tests:
        damages = {damage.name: damage for damage in test.scored.plan.perturbations}
        heaviest = {damage.kind: damage for damage in damages.values()}
        for (name, item), example in {(own.perturbation, own.item): own for own in test.scored.examples}.items():
            texts = [cell.text for cell in by_kind[damages[name].kind]]
            n_faults = sum(map(texts.count, _FAULTS))
            changes = marked(example.original, example.damaged)
            n_changed = sum(len(text) for text, change in changes if change != "equal")
            is_light = n_faults > 0 and damages[name] != heaviest[damages[name].kind]
            rank = "never" not in texts, -n_faults, is_light, n_changed
            candidates.append((rank, damages[name], item, changes, test))
    shown: dict[str, Any] = {}
    for _, damage, *parts in sorted(candidates, key=lambda candidate: candidate[0]):
        shown.setdefault(damage.kind, (damage, *parts))
    for kind, (damage, item, changes, test) in shown.items():
        words = words_of(kind, damage.degree, damage.permille, damage.k)
        missed = {verb: [title for title, cell in zip(titles, by_kind[kind], strict=True) if cell.text == fault]
                  for fault, verb in _FAULTS.items()}  # fmt: skip
        faults = "; ".join(f"{verb} {', '.join(who)}" for verb, who in missed.items() if who)
        same = [(test.scored.collection.hash, test.scored.plan, test.scored.seed) for test in (test, *tests)]
        scores = [f"{f'{label}: ' * (len(tests) > 1)}{_scores(own, damage.name, item)}"
                  for label, own, source in zip(names, tests, same[1:], strict=True) if source == same[0]]  # fmt: skip
        title, about = f"{words}: {faults}" if faults else words, f"{item}: {'; '.join(scores)}"
        yield Pair(in_one_line(title, 400), changes, in_one_line(about, 1000), kind)


def _scores(test: Discernment, perturbation: str, item: str) -> str:
    """All scores of an item, before and after a perturbation."""
    scored = test.scored
    row = [change.name for change in scored.plan.perturbations].index(perturbation)
    number = [candidate.id for candidate in scored.collection.items].index(item)
    pairs = zip(scored.originals[:, number], scored.damaged[row, :, number], strict=True)
    ends = [" → ".join(f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" for value in pair) for pair in pairs]
    names = (in_one_line(metric.name, 40) for metric in scored.metrics)
    return ", ".join(f"{name} {both}" for name, both in zip(names, ends, strict=True))


def _sentences(results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """What a result notices and what it does not; of compared results, first the best of each task and what d is."""
    _, by_kind = verdicts(results)
    if len(results) == 1:
        return _described(results[0], by_kind), []
    described = [_described(own, {kind: [by_kind[kind][at]] for kind in by_kind}) for at, own in enumerate(results)]
    tasks = dict.fromkeys(result.task for result in results if result.common)
    is_of_several = len({result.task for result in results}) > 1
    best = [*filter(None, (_best([own for own in results if own.task == task], is_of_several) for task in tasks))]
    details = [*map(" ".join, described)]
    if not tasks:
        return details, []
    none = ["The evaluators have no discernment score in common."]
    return [*(best or none), *_common_faults(results), *([_WHAT_D_IS] if best else [])], details


def _common_faults(results: Sequence[Result]) -> list[str]:
    """What compared results should judge otherwise: by fault the kinds, each with its results."""
    titles, by_kind = verdicts(results)
    sentences = []
    for fault, words in {"never": "Not noticed", "rewarded": "Rewarded", "penalised": "Penalised"}.items():
        who = {kind: [title for title, cell in zip(titles, cells, strict=True) if cell.text == fault]
               for kind, cells in by_kind.items()}  # fmt: skip
        named = [f"{words_of(kind)} ({few_names(who[kind], 3, 400) if len(who[kind]) < len(titles) else 'by all'})"
                 for kind in sorted(who, key=lambda kind: -len(who[kind])) if who[kind]]  # fmt: skip
        if named:
            sentences.append(f"{words}: {few_names(named, 3, 400)}.")
    return [" ".join(sentences)] if sentences else []


def _described(result: Result, by_kind: Mapping[str, Sequence[Threshold]]) -> list[str]:
    """How many kinds a result notices and penalises; then the names of those that it should judge otherwise."""
    damage = [row for row in defined(result.rows("cells")) if not row.is_control]
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
    """The result with the highest average, on the perturbations that all have, and by how much it is the highest."""
    averages = [(row["average"], result) for result in results if (row := result.average()) and row["average"]]
    if not averages:
        return ""
    value, best = max(averages, key=lambda pair: pair[0])
    name, pairs = best.test.scored.evaluator, []
    for pair in difference_rows([result.test for result in results]):
        if pair["task"] == best.task and name in (pair["first"], pair["second"]):
            sign, other = (1, pair["second"]) if pair["first"] == name else (-1, pair["first"])
            by, (low, high) = sign * pair["difference"], sorted((sign * pair["low"], sign * pair["high"]))
            text = f"{in_one_line(other, 60)} ({by:+.1f}, 95 % interval {low:.1f} to {high:.1f})"
            pairs.append((low <= 0, by, text))
    where = f" for the task {in_one_line(best.task)}" if is_of_several_tasks else ""
    above, close = ([text for is_close, _, text in sorted(pairs) if is_close is kind] for kind in (False, True))
    groups = {"significantly above": above, "not distinguished from": close}
    tested = "; ".join(f"{words} {few_names(texts, 3, 400)}" for words, texts in groups.items() if texts)
    has = "has" if close or not pairs else "notices damage best: it has"
    tested = tested or "not tested against the others, which scored other items"
    return f"{best.title} {has} the highest average d{where}, {value:.1f}, {tested}."


def verdict_table(results: Sequence[Result]) -> Table:
    """A row for each kind, harmless changes last; a column for each metric or, of several results, for each result."""
    names, by_kind = verdicts(results)
    controls = {row["kind"] for result in results for row in result.rows("cells", level="control")}
    kinds = sorted(by_kind, key=lambda kind: kind in controls)
    texts = [(in_one_line(words_of(kind), 60), *(cell.text for cell in by_kind[kind])) for kind in kinds]
    rows = [tuple(None if text == "–" else text for text in row) for row in texts]
    return finding_table("verdicts", lightest_title(results), ("damage", *names), rows)

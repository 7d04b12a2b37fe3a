"""Makes the files of one or several tests of evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...discernment.agreement import comparison_warnings
from ...discernment.paper import Published
from ...discernment.result import Discernment, Example
from ...discernment.weights import ASSUMED
from ...experiments.finding import Comparison, Finding, Pair, PairGroup
from ...files.untrusted_text import in_one_line
from ..differences import marked
from ..findings import write_finding
from .paper import paper_tables
from .pictures import pictures
from .rows import Result, labels, results
from .tables import Agreements, agreement_tables, tables
from .words import agreement_remarks, answer, paragraph, remarks, work_done

NAME = "discernment"
"""The beginning of the names of all files."""

_MANY = 4


def write_discernment(
    found: Sequence[Discernment],
    folder: Path,
    *,
    published: Sequence[Published] | None = None,
    agreements: Agreements | None = None,
    report: Path | None = None,
) -> list[Path]:
    """Writes the files of one or several tests, each atomically: a page, Markdown, tables and pictures."""
    return write_finding(finding_of(found, published or (), agreements or {}), folder, report=report)


def finding_of(
    found: Sequence[Discernment], published: Sequence[Published] = (), agreements: Agreements | None = None
) -> Finding:
    """The finding of one or several tests, in words, tables, pictures and examples."""
    of_tasks = results(found)
    names = labels(found)
    named = ", ".join(names) if len(names) <= _MANY else f"{len(names)} evaluators"
    pairs = agreements or {}
    return Finding(
        NAME,
        answer(of_tasks),
        paragraph(of_tasks),
        (*tables(found), *agreement_tables(pairs, names), *paper_tables(of_tasks, published)),
        tuple(pictures(of_tasks)),
        tuple(_notes(found, names)),
        question=f"How well {'does' if len(names) == 1 else 'do'} {named} notice damage?",
        remarks=(*remarks(of_tasks), *agreement_remarks(pairs, names), work_done(found, names)),
        comparisons=tuple(one for result in of_tasks for one in _comparisons(result)),
    )


def _notes(found: Sequence[Discernment], names: Sequence[str]) -> list[str]:
    """The limits of the answer. A note that is not common to all tests begins with the names of its tests."""
    said: dict[str, list[str]] = {}
    for one, name in zip(found, names, strict=True):
        for note in dict.fromkeys((*one.warnings, *one.notes)):
            said.setdefault(note, []).append(name)
    notes = [note if len(of) == len(found) else f"{', '.join(of)}: {note}" for note, of in said.items()]
    if any(one.weights and one.weights.endswith(ASSUMED) for one in found):
        notes.append("The weights of weighted d are assumed weights: no expert was asked.")
    return [*comparison_warnings(found), *notes]


# --- examples


def _comparisons(result: Result) -> list[Comparison]:
    """The items whose scores fell most and least in each cell, by kind of damage; none if there are no examples."""
    kinds = {one.name: one.kind for one in result.found.scored.plan.perturbations}
    tasks = {item.id: item.task for item in result.found.scored.collection.items}
    by_kind: dict[str, dict[tuple[str, str], list[Example]]] = {}
    for example in result.found.examples:
        if tasks.get(example.item, result.task) == result.task:
            of_kind = by_kind.setdefault(kinds.get(example.perturbation, example.perturbation), {})
            of_kind.setdefault((example.perturbation, example.item), []).append(example)
    groups = tuple(
        PairGroup(in_one_line(kind), tuple(map(_pair, of_kind.values()))) for kind, of_kind in by_kind.items()
    )
    title = f"Examples of {result.title}: the largest and the smallest drop of each score"
    return [Comparison(title, groups, "original", "damaged")] if groups else []


def _pair(examples: Sequence[Example]) -> Pair:
    """A damaged text with all the scores that it is an example for."""
    first = examples[0]
    said = "; ".join(
        f"{in_one_line(one.metric, 40)} {_score(one.original_score)} → {_score(one.damaged_score)} ({one.which} drop)"
        for one in examples
    )
    title = f"{in_one_line(first.perturbation)}, item {in_one_line(first.item, 40)}: {said}"
    return Pair(title, *marked(first.original, first.damaged))


def _score(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"

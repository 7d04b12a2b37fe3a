"""Makes the files of one or several tests of evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...discernment.agreement import comparison_warnings
from ...discernment.paper import Published
from ...discernment.result import Discernment
from ...discernment.weights import ASSUMED
from ...experiments.finding import Finding
from ..findings import write_finding
from .agreements import Agreements, agreement_remarks, agreement_tables
from .examples import comparison
from .paper import paper_tables
from .pictures import pictures
from .rows import labels, results
from .tables import tables
from .words import answer, in_short, paragraph, remarks, work_done

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
    pairs = agreements or {}
    compared = (comparison(result) for result in of_tasks)
    return Finding(
        NAME,
        answer(of_tasks),
        paragraph(of_tasks),
        (*tables(found), *agreement_tables(pairs, names), *paper_tables(of_tasks, published)),
        tuple(pictures(of_tasks)),
        tuple(_notes(found, names)),
        question=_question(names),
        remarks=(
            *in_short(of_tasks),
            *(one for result in of_tasks for one in remarks(result)),
            *agreement_remarks(pairs, names),
            work_done(found, names),
        ),
        comparisons=tuple(one for one in compared if one is not None),
    )


def _question(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"How well does {names[0]} notice damage?"
    return f"How well do {', '.join(names) if len(names) <= _MANY else f'{len(names)} evaluators'} notice damage?"


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

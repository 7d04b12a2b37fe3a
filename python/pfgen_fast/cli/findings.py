"""Writes the files of a finding and prints it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .app import note, print_line, shown

if TYPE_CHECKING:
    from ..lab.experiments.finding import Finding


def show_finding(finding: Finding, folder: Path, *, quiet: bool, is_said: Sequence[str] = ()) -> None:
    """Writes the files of a finding and, unless quiet, prints it; notes in `is_said` were printed before."""
    from ..report.findings import write_finding

    page, *others = write_finding(finding, folder)
    if not quiet:
        say_finding(finding, is_said)
        print_line(f"{shown(page)} and {len(others)} other files")


def say_finding(finding: Finding, is_said: Sequence[str] = ()) -> None:
    """Prints the sentences of a finding: its answer, its notes and its paragraph."""
    for sentence in finding.first:
        print_line((shown(sentence), "bold"))
    note(*(sentence for sentence in finding.notes if sentence not in is_said))
    print_line(shown(finding.paragraph))

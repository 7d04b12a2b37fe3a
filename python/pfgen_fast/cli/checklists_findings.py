"""How findings of `checklists` are presented: as text, as JSON, or as a page with tables and pictures."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import Json, print_json, print_line, shown
from .checklists_options import Draws, JudgedOptions, Seed
from .checklists_printing import print_table
from .findings import say_finding, show_finding

if TYPE_CHECKING:
    from ..checklists.scoring.text_tables import TextTable
    from ..experiments.finding import Finding, Table

_MOST_ROWS = 30


@dataclass(frozen=True)
class FindingOptions(JudgedOptions):
    """The options of commands that end with a finding; its output is checked before anything is computed."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a page, tables and pictures to this directory. Default: print text only.",
            metavar="DIR",
        ),
    ] = None
    as_json: Json = False

    def __post_init__(self) -> None:
        if self.output is not None:
            from ..files.writing import check_folder
            from ..report.findings import check_libraries

            check_folder(self.output)
            check_libraries()

    def present(self, finding: Finding, data: Mapping[str, Any], *, tables: Sequence[str] = ()) -> None:
        """Writes a page of the finding if a directory is given, and prints it as text, or its data as JSON."""
        is_silent = self.quiet or self.as_json
        if self.output is not None:
            show_finding(finding, self.output, report=None, quiet=is_silent)
        elif not is_silent:
            say_finding(finding)
        if self.as_json:
            print_json(data)
        elif not self.quiet:
            _print_tables(finding, tables, has_page=self.output is not None)

    def finish(self, finding: Finding, data: Mapping[str, Any] | None = None, *, tables: Sequence[str] = ()) -> None:
        """Presents the finding; exits with 3 if lines could not be read."""
        self.present(finding, finding.to_dict() if data is None else data, tables=tables)
        self.faults.end()


@dataclass(frozen=True)
class DrawnFindingOptions(FindingOptions):
    """Likewise, with bootstrap draws."""

    draws: Draws = 1000
    seed: Seed = 0


def _print_tables(finding: Finding, names: Sequence[str], *, has_page: bool) -> None:
    tables = finding.shown_tables
    if names:
        for table in tables:
            if table.name in names:
                print_table(_readable(table, len(table.rows)))
        return
    for table in tables[:1]:
        print_table(_readable(table, _MOST_ROWS))
        if len(table.rows) > _MOST_ROWS:
            print_line((f"and {len(table.rows) - _MOST_ROWS:,} more rows", "dim"))
    if len(tables) > 1 and not has_page:
        titles = "; ".join(table.title for table in tables[1:])
        print_line((f"more with --output DIR or --json: {shown(titles)}", "dim"))


def _readable(table: Table, n_rows: int) -> TextTable:
    """The first rows of a table, with the leading texts as names of the rows."""
    from ..checklists.scoring.text_tables import TextTable

    names = itertools.takewhile(table.is_text, range(len(table.columns)))
    rows = tuple(map(tuple, table.texts()[:n_rows]))
    return TextTable(table.title, table.columns, rows, max(1, len(list(names))))

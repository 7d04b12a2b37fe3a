"""How the commands of `checklists` that find something out say it: as text, as JSON, or as a page with its files."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import note, print_json, print_line, shown, stdout, styled
from .checklists_printing import print_table
from .findings import show_finding

if TYPE_CHECKING:
    from ..checklists.scoring.text_tables import TextTable
    from ..experiments.finding import Finding, Table

_MOST_ROWS = 30

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the page, tables and pictures. Default: text only.", metavar="DIR"),
]


def check_output(output: Path | None) -> None:
    """Raises PfgenError, before anything is computed, for a folder that cannot be written or missing libraries."""
    if output is None:
        return
    from ..files.writing import check_folder
    from ..report.findings import check_libraries

    check_folder(output)
    check_libraries()


def present(finding: Finding, output: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Prints a finding as text or as JSON, and writes its files if a folder is given."""
    if output is not None:
        show_finding(finding, output, report=None, quiet=quiet or as_json)
    if as_json:
        print_json(finding.to_dict())
    elif output is None and not quiet:
        _print(finding)


def _print(finding: Finding) -> None:
    stdout().print(styled((shown(finding.answer), "bold")))
    for sentence in finding.notes:
        note(sentence)
    stdout().print(shown(finding.paragraph))
    tables = finding.shown_tables
    for table in tables[:1]:
        print_table(_readable(table))
        if len(table.rows) > _MOST_ROWS:
            print_line((f"and {len(table.rows) - _MOST_ROWS:,} more rows", "dim"))
    if len(tables) > 1:
        titles = "; ".join(table.title for table in tables[1:])
        print_line((f"more with --output DIR or --json: {shown(titles)}", "dim"))


def _readable(table: Table) -> TextTable:
    """The first rows of a table, with the leading texts as names of the rows."""
    from ..checklists.scoring.text_tables import TextTable

    names = itertools.takewhile(table.is_text, range(len(table.columns)))
    rows = tuple(map(tuple, table.texts()[:_MOST_ROWS]))
    return TextTable(table.title, table.columns, rows, max(1, len(list(names))))

"""How the commands of `checklists` that find something out say it: as text, as JSON, or as a page with its files."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .app import print_json, print_line, shown
from .checklists_printing import print_table
from .findings import say_finding, show_finding

if TYPE_CHECKING:
    from ..checklists.scoring.text_tables import TextTable
    from ..experiments.finding import Finding, Table

_MOST_ROWS = 30


def check_page(folder: Path | None) -> None:
    """Raises PfgenError, before anything is computed, for a folder that cannot be written or missing libraries."""
    if folder is None:
        return
    from ..files.writing import check_folder
    from ..report.findings import check_libraries

    check_folder(folder)
    check_libraries()


def present(
    finding: Finding,
    folder: Path | None,
    *,
    quiet: bool,
    tables: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
) -> None:
    """Writes a page of a finding if a folder is given, and prints the finding as text or as JSON."""
    is_silent = quiet or data is not None
    if folder is not None:
        show_finding(finding, folder, report=None, quiet=is_silent)
    elif not is_silent:
        say_finding(finding)
    if data is not None:
        print_json(data)
    elif not quiet:
        _print_tables(finding, tables, has_page=folder is not None)


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

"""How the commands of `checklists` that find something out say it: as text, as JSON, or as a page with its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import note, print_json, print_line, shown, stdout, styled
from .findings import show_finding
from .layout import rest, shortened, width_of

if TYPE_CHECKING:
    from ..experiments.finding import Finding, Table

_MOST_ROWS = 30
_NARROWEST = 16

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
        _print_table(table)
    if len(tables) > 1:
        titles = "; ".join(table.title for table in tables[1:])
        print_line((f"more with --output DIR or --json: {shown(titles)}", "dim"))


def _print_table(table: Table) -> None:
    is_text = [table.is_text(number) for number in range(len(table.columns))]
    rows = [list(table.columns), *table.texts()[:_MOST_ROWS]]
    rows = [[shown(cell) for cell in row] for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    spare = rest(sum(widths) + 2 * (len(widths) - 1))
    for number in sorted(range(len(widths)), key=lambda number: -widths[number]):
        if spare is not None and spare < 0 and is_text[number]:
            cut = max(widths[number] + spare, min(widths[number], _NARROWEST))
            spare += widths[number] - cut
            widths[number] = cut
    print_line((shown(table.title), "bold"))
    for row in rows:
        cells = (
            _padded(shortened(cell, width), width, to_the_right=not text)
            for cell, width, text in zip(row, widths, is_text, strict=True)
        )
        print_line("  ".join(cells).rstrip())
    if len(table.rows) > _MOST_ROWS:
        print_line((f"and {len(table.rows) - _MOST_ROWS:,} more rows", "dim"))


def _padded(cell: str, width: int, *, to_the_right: bool) -> str:
    blanks = " " * (width - width_of(cell))
    return blanks + cell if to_the_right else cell + blanks

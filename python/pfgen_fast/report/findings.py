"""Writes the files of a finding: a page, Markdown, CSV for each table, PNG and SVG for each picture."""

from __future__ import annotations

import base64
from pathlib import Path

from .. import __version__
from ..experiments.finding import Finding, Table
from ..files.foreign_text import in_one_line, utf8
from ..files.writing import write_whole
from .charts import drawn
from .drawing import stored_alike
from .templating import library, own_code, source, template


def write_finding(finding: Finding, folder: Path) -> list[Path]:
    """Writes the files of a finding, each atomically.

    Returns:
        The paths of the files, the page first.

    Raises:
        PfgenError: Jinja or matplotlib is not installed, or a file cannot be written.
    """
    library("matplotlib", extra="experiments")
    contents: dict[str, bytes] = {}
    vectors: list[str] = []
    for picture in finding.pictures:
        name = finding.file_name(picture)
        png, svg = stored_alike(drawn(picture.chart), ("png", "svg"))
        contents |= {f"{name}.png": png, f"{name}.svg": svg}
        vectors.append(base64.b64encode(svg).decode())
    for table in finding.tables:
        contents[f"{finding.file_name(table)}.csv"] = utf8(table.to_csv())
    contents[f"{finding.name}.md"] = utf8(finding.to_markdown())
    written = []
    for name, content in {f"{finding.name}.html": _page(finding, vectors).encode(), **contents}.items():
        write_whole(folder / name, content)
        written.append(folder / name)
    return written


def _page(finding: Finding, vectors: list[str]) -> str:
    page: str = template("experiment.html.jinja").render(
        finding=finding,
        notes=[in_one_line(note, 400) for note in finding.notes],
        pictures=list(zip(finding.pictures, vectors, strict=True)),
        tables=[(table, _columns(table)) for table in finding.tables],
        **own_code(source("report.css") + source("experiment.css")),
        version=__version__,
    )
    return page


def _columns(table: Table) -> list[tuple[str, bool]]:
    """The name of each column, and whether it contains only numbers."""
    return [(name, not table.is_text(column)) for column, name in enumerate(table.columns)]

"""Writes the files of a finding: a page, Markdown, CSV for each table, PNG and SVG for each picture."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base.file_writing import write_whole
from ..base.untrusted_text import in_one_line, utf8
from ..lab.experiments.chart_data import HeatMap
from ..lab.experiments.finding import Finding, Table
from .charts import drawn
from .drawing import stored_alike
from .heat_maps import level_of
from .inline_svg import inline_svg
from .templating import markup, page_text


def write_finding(finding: Finding, folder: Path) -> list[Path]:
    """Writes the files of a finding, each atomically."""
    contents: dict[str, bytes] = {}
    for picture in finding.pictures:
        name = finding.file_name(picture)
        png, svg = stored_alike(drawn(picture.chart), ("png", "svg"))
        contents |= {f"{name}.png": png, f"{name}.svg": svg}
    for table in finding.tables:
        contents[f"{finding.file_name(table)}.csv"] = utf8(table.to_csv())
    contents[f"{finding.name}.md"] = utf8(finding.to_markdown())
    contents = {f"{finding.name}.html": _page(finding, contents).encode(), **contents}
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]


def _page(finding: Finding, files: dict[str, bytes]) -> str:
    page = page_text(
        "experiment.html.jinja",
        style="experiment.css",
        scripts=("sorting.js", "experiment.js"),
        finding=finding,
        notes=finding.shown_notes,
        heat_maps=[picture for picture in finding.pictures if isinstance(picture.chart, HeatMap)],
        level_of=level_of,
        pictures=[
            (
                picture.title,
                markup(inline_svg(files[f"{finding.file_name(picture)}.svg"], f"picture-{number}", picture)),
            )
            for number, picture in enumerate(finding.pictures)
        ],
        tables=[_shown(finding, table) for table in finding.tables if table.shown != ()],
    )
    return "".join(page)


def _shown(finding: Finding, table: Table) -> dict[str, Any]:
    """A table for the template: each cell with its text, and the name of a run if it is one."""
    runs, readable = frozenset(finding.runs), table.readable()

    def shown(cell: object, text: str) -> Sequence[str | None]:
        return text, in_one_line(cell, 200) if isinstance(cell, str) and cell in runs else None

    return {
        "name": table.name,
        "title": table.title,
        "file": f"{finding.file_name(table)}.csv",
        "csv": base64.b64encode(utf8(table.to_csv())).decode(),
        "columns": [(name, not readable.is_text(column)) for column, name in enumerate(readable.columns)],
        "rows": [list(map(shown, cells, texts)) for cells, texts in zip(readable.rows, readable.texts(), strict=True)],
    }

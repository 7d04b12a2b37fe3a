"""Writes the files of a finding: a page, Markdown, CSV for each table, PNG and SVG for each picture.

The files of pictures are drawn by matplotlib; the page draws the same charts by charts.js, from their data.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.file_writing import write_whole
from ..base.table import Table
from ..base.untrusted_text import in_one_line, utf8
from ..lab.chart_data import Density, HeatCell, HeatMap, Points, Ranges, Thresholds
from ..lab.finding import N_EXAMPLES, Finding
from .charts import drawn, level_of
from .drawing import stored_alike
from .pages import markup, page_json, page_text

_PICTURED = ("verdicts", "matrix")  # tables whose cells a picture of the page shows
_N_SHORT = 8  # rows of a table that is not folded
_N_BINS = 40  # of each axis of a density


def write_finding(finding: Finding, folder: Path) -> list[Path]:
    """Writes the files of a finding, each atomically."""
    files = {f"{finding.name}.html": "".join(finding_page(finding)).encode()}
    for picture in finding.pictures:
        name = finding.file_name(picture)
        files[f"{name}.png"], files[f"{name}.svg"] = stored_alike(drawn(picture.chart), ("png", "svg"))
    files |= {f"{finding.file_name(table)}.csv": utf8(table.to_csv()) for table in finding.file_tables}
    files[f"{finding.name}.md"] = utf8(finding.to_markdown())
    for name, content in files.items():
        write_whole(folder / name, content)
    return [folder / name for name in files]


def finding_page(finding: Finding) -> Iterator[str]:
    """Yields the page of a finding in pieces."""
    pictures = [picture for picture in finding.pictures if picture not in finding.first_pictures]
    return page_text(
        "finding.html.jinja",
        section={"discernment": "Discernment", "annotation": "Annotation"}.get(finding.name, "Experiments"),
        headline=finding.first[0],
        finding=finding,
        sentences=finding.first[1:],
        notes=finding.shown_notes,
        color_of=_color_of,
        best=_figure_rows(finding),
        pictures=pictures,
        charts=markup(page_json({picture.name: _data_of(picture.chart) for picture in finding.pictures})),
        n_examples=N_EXAMPLES,
        places={example.kind: place for place, example in enumerate(finding.examples)},
        tables=[_shown(finding, table) for table in finding.shown_tables if table.name not in _PICTURED],
    )


def _figure_rows(finding: Finding) -> list[tuple[Any, ...]]:
    """The bars of a finding's card: name, text, low, value or None, high, and the axis's end if not the highest."""
    for chart in (picture.chart for picture in finding.pictures if picture.name == "averages"):
        if isinstance(chart, Ranges) and chart.low is not None and chart.high is not None:
            rows = zip(chart.names, chart.values.tolist(), chart.low.tolist(), chart.high.tolist(), strict=True)
            return [(name, f"{value:.1f}", low, value, high) for name, value, low, high in rows]
    table, counts = finding.tables[0], list[Sequence[Any]]()
    if finding.name == "annotation":
        counts += table.rows
    elif finding.name == "discernment":  # kinds of damage that each score notices
        for name, cells in [*zip(table.heads(), zip(*table.rows, strict=True), strict=True)][1:]:
            damage = [cell for cell in cells if cell not in (None, "ignored", "penalised")]
            n_missed = sum(cell in ("never", "rewarded", "some", "unclear") for cell in damage)
            counts.append((name, len(damage) - n_missed, len(damage)))
    return [(name, f"{n:,} of {of:,}", 0, None, n / (of or 1), 1) for name, n, of in counts]


def _color_of(cell: HeatCell, chart: HeatMap) -> str:
    """The name of a cell's colour in finding.css."""
    level = level_of(cell.value, chart.highest)
    return "fault" if cell.is_fault else "undefined" if level is None else str(level)


def _shown(finding: Finding, table: Table) -> dict[str, Any]:
    """A table for the template: each cell with its text, and the name of a run if it is one."""
    whole = next(full for full in finding.file_tables if full.name == table.name)
    runs, to_left, cells = frozenset(finding.runs), table.text_columns(), table.for_readers().rows
    return {
        "name": table.name,
        "title": table.title,
        "file": f"{finding.file_name(table)}.csv",
        "is_open": len(table) <= _N_SHORT and not finding.first_pictures,
        "csv": base64.b64encode(utf8(whole.to_csv())).decode(),
        "columns": [(head, place not in to_left) for place, head in enumerate(table.heads())],
        "rows": [
            [
                (text, in_one_line(cell, 200) if isinstance(cell, str) and cell in runs else None)
                for cell, text in zip(row, texts, strict=True)
            ]
            for row, texts in zip(cells, table.texts(), strict=True)
        ],
    }


# --- pictures


def _data_of(chart: Any) -> dict[str, Any]:
    """The data of a chart for finding.js: its kind and its fields, with None for values that are not finite."""
    panels = {"panels": list(map(_binned, chart.panels))} if isinstance(chart, Density) else {}
    is_table = isinstance(chart, HeatMap | Thresholds)
    return {"kind": type(chart).__name__, **({} if is_table else _plain(chart)), **panels}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray | list | tuple):
        return [*map(_plain, value.tolist() if isinstance(value, np.ndarray) else value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _binned(points: Points) -> dict[str, Any]:
    """The numbers of points in rectangles, in place of the points."""
    ends = [(values.min(), values.max()) for values in (points.x, points.y)]
    if points.has_diagonal:
        ends = [(min(ends)[0], max(ends[0][1], ends[1][1]))] * 2
    counts, *edges = np.histogram2d(points.x, points.y, bins=_N_BINS, range=ends)
    places = np.nonzero(counts)
    middles = [((edge[:-1] + edge[1:]) / 2)[place].tolist() for edge, place in zip(edges, places, strict=True)]
    sizes = [float(edge[1] - edge[0]) for edge in edges]
    few = dataclasses.replace(points, x=np.array(middles[0]), y=np.array(middles[1]), labels=(), runs=())
    return {**_plain(few), "counts": counts[places].astype(int).tolist(), "sizes": sizes}

"""Writes the files of a finding: a page, Markdown, CSV for each table, PNG and SVG for each picture.

A page embeds its pictures as SVG in its own colours, and their points have names and values. The policy of the page
allows no styles in attributes, so they become presentation attributes. Colours of black, white and of scales become
variables of the page's style, which knows light and dark.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..base.file_writing import write_whole
from ..base.table import Table
from ..base.untrusted_text import in_one_line, utf8
from ..lab.chart_data import HeatCell, HeatMap, Ranges, Scatter
from ..lab.finding import Finding, Picture
from .charts import ON_DIVERGING, ON_LEVEL, POINTS, drawn, level_of
from .drawing import DIVERGING, FAULT, LEVELS, stored_alike
from .pages import markup, page_text

_SVG, _XLINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
_COLORS = {
    "#000000": "currentColor",
    "#ffffff": "var(--ground)",
    "#cccccc": "var(--line)",
    FAULT: "var(--loss)",
    **{color: f"var(--level-{number})" for number, color in enumerate(LEVELS)},
    **{color: f"var(--diverging-{number})" for number, color in enumerate(DIVERGING)},
}
_FONT = re.compile(r"(?:[^,]* )?(?P<size>[0-9.]+px) ")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_WIDE = 700.0  # points of type
_N_SHORT = 12  # rows of a table that is not folded

ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", _XLINK[1:-5])


Mark = tuple[str, str | None]
"""The text of a point and the run that it stands for, if any."""


def write_finding(finding: Finding, folder: Path) -> list[Path]:
    """Writes the files of a finding, each atomically."""
    contents: dict[str, bytes] = {}
    for picture in finding.pictures:
        name = finding.file_name(picture)
        png, svg = stored_alike(drawn(picture.chart), ("png", "svg"))
        contents |= {f"{name}.png": png, f"{name}.svg": svg}
    for table in finding.file_tables:
        contents[f"{finding.file_name(table)}.csv"] = utf8(table.to_csv())
    contents[f"{finding.name}.md"] = utf8(finding.to_markdown())
    contents = {f"{finding.name}.html": _page(finding, contents).encode(), **contents}
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]


def _page(finding: Finding, files: dict[str, bytes]) -> str:
    page = page_text(
        "finding.html.jinja",
        generator=f"pfgen-fast {finding.name}",
        headline=finding.first[0],
        style="finding.css",
        scripts=("finding.js",),
        finding=finding,
        sentences=finding.first[1:],
        notes=finding.shown_notes,
        color_of=_color_of,
        pictures=[
            (
                picture.title,
                picture,
                None
                if isinstance(picture.chart, HeatMap)
                else markup(inline_svg(files[f"{finding.file_name(picture)}.svg"], f"picture-{number}", picture)),
            )
            for number, picture in enumerate(finding.pictures)
            if picture not in finding.first_pictures
        ],
        tables=[_shown(finding, table, files) for table in finding.shown_tables if table.name != "verdicts"],
    )
    return "".join(page)


def _color_of(cell: HeatCell, chart: HeatMap) -> str:
    """The name of a cell's colour in finding.css."""
    level = level_of(cell.value, chart.highest)
    return "fault" if cell.is_fault else "undefined" if level is None else str(level)


def _shown(finding: Finding, table: Table, files: dict[str, bytes]) -> dict[str, Any]:
    """A table for the template: each cell with its text, and the name of a run if it is one."""
    file = f"{finding.file_name(table)}.csv"
    runs, to_left, cells = frozenset(finding.runs), table.text_columns(), table.for_readers().rows
    return {
        "name": table.name,
        "title": table.title,
        "file": file,
        "is_open": len(table) <= _N_SHORT and not finding.first_pictures,
        "csv": base64.b64encode(files[file]).decode(),
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


def inline_svg(svg: bytes, name: str, picture: Picture) -> str:
    """An SVG of matplotlib as an element of a page."""
    root = ElementTree.fromstring(svg)
    groups = {element.get("id"): element for element in root.iter(_tag("g"))}
    for element in root.iter():
        element[:] = [child for child in element if child.tag not in (_tag("metadata"), _tag("style"))]
        _use_attributes(element)
    for number, marks in enumerate(marks_of(picture.chart)):
        if (group := groups.get(f"{POINTS}{number}")) is not None:
            _mark_points(group, marks)
    for element in root.iter():
        _own_ids(element, name)
    is_wide = float(root.get("viewBox", "0 0 0 0").split()[2]) > _WIDE
    root.attrib |= {
        "class": "drawing wide" if is_wide else "drawing",
        "fill": "currentColor",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
        "role": "group" if any(marks_of(picture.chart)) else "img",
        "aria-label": in_one_line(picture.title, 400),
    }
    return ElementTree.tostring(root, encoding="unicode")


def marks_of(chart: object) -> list[list[Mark]]:
    """The marks of the points of each panel; empty for charts whose points have no names."""
    if isinstance(chart, Scatter):
        return [
            _marks(points.labels or points.runs, points.runs, [f"{across} {x:.4g}, {up} {y:.4g}" for x, y in values])
            for points in chart.panels
            for across, up, values in [(points.x_label, points.y_label, zip(points.x, points.y, strict=True))]
        ]
    if not isinstance(chart, Ranges):
        return []
    texts = [f"{value:.4g}" for value in chart.values]
    if chart.low is not None and chart.high is not None:
        ends = zip(texts, chart.low, chart.high, strict=True)
        texts = [f"{text} ({low:.4g} to {high:.4g})" for text, low, high in ends]
    return [_marks(chart.names, chart.runs, texts)]


def _marks(names: Sequence[str], runs: Sequence[str | None], texts: Sequence[str]) -> list[Mark]:
    known = zip(names, texts, runs or [None] * len(names), strict=bool(names))
    return [(f"{in_one_line(name)}: {text}", run) for name, text, run in known]


def _tag(name: str) -> str:
    return f"{{{_SVG}}}{name}"


def _use_attributes(element: ElementTree.Element) -> None:
    """Replaces the style attribute by presentation attributes without the font family."""
    for declaration in element.attrib.pop("style", "").split(";"):
        name, _, value = map(str.strip, declaration.partition(":"))
        if name == "font":
            font = _FONT.match(value)
            name, value = "font-size", font["size"] if font else "9px"
        if name and not name.startswith("-"):
            element.set(name, _COLORS.get(value, value))


def _own_ids(element: ElementTree.Element, prefix: str) -> None:
    """Makes the ids of a picture unique on its page."""
    if identity := element.get("id"):
        if identity.startswith((ON_LEVEL, ON_DIVERGING)):  # several elements have it
            element.set("class", identity)
            del element.attrib["id"]
        else:
            element.set("id", f"{prefix}-{identity}")
    if (target := element.get(_XLINK, "")).startswith("#"):
        element.set(_XLINK, f"#{prefix}-{target[1:]}")
    for name, value in element.attrib.items():
        if "url(#" in value:
            element.set(name, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))


def _mark_points(group: ElementTree.Element, marks: list[Mark]) -> None:
    use = _tag("use")
    places = [(parent, at) for parent in group.iter() for at, child in enumerate(parent) if child.tag == use]
    if len(places) != len(marks):  # a point is outside of its panel, so that the marks cannot be assigned
        return
    # The shape loses its looks, because each use of it has its own, which a style can change.
    for shape in group.iter(_tag("path")):
        for name in ("fill", "stroke", "stroke-width"):
            shape.attrib.pop(name, None)
    for number, ((parent, index), (text, run)) in enumerate(zip(places, marks, strict=True)):
        # Only one point of a panel is reached by Tab; finding.js goes to the others by the arrow keys.
        tab = "0" if number == 0 else "-1"
        point = ElementTree.Element(_tag("g"), {"tabindex": tab, "role": "img", "class": "point"})
        if run is not None:
            point.set("data-run", in_one_line(run, 200))
        ElementTree.SubElement(point, _tag("title")).text = text
        point.append(parent[index])
        parent[index] = point

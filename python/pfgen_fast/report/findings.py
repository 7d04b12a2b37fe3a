"""Writes the files of a finding: a page, Markdown, CSV for each table, PNG and SVG for each picture.

Beside them come a record, which says what was found and which files there are, and the page of all experiments in the
folder, which is made of such records.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

from ..errors import PfgenError
from ..experiments.chart_data import HeatMap
from ..experiments.finding import Finding, Table
from ..files.lock import held
from ..files.reading import read_stored
from ..files.untrusted_json import checked, items, member, read_json, text
from ..files.untrusted_text import in_one_line, link_target, utf8
from ..files.writing import write_whole
from .charts import drawn
from .drawing import stored_alike
from .heat_maps import level_of
from .inline_svg import Link, inline_svg, thumbnail
from .page_files import PAGE, may_replace, write_page
from .templating import markup, page_text

GENERATOR = "pfgen-fast: experiments"
"""The generator that the page of all experiments names; pages without it are not replaced."""

_ENDING = ".finding.json"
_MAX_BYTES = 1 << 20
_MAX_PICTURE = 1 << 18
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_PATIENCE_SECONDS = 10.0


class Record(NamedTuple):
    """The facts about an experiment in the page of all experiments."""

    name: str  # name of the experiment
    question: str  # question that it answers
    answer: str  # answer in one sentence
    notes: tuple[str, ...]  # what limits the answer
    files: tuple[str, ...]  # names of its files, the page first

    @property
    def file_name(self) -> str:
        """The name of the file that holds the record."""
        return self.name + _ENDING

    def to_json(self) -> bytes:
        """The record as its file holds it."""
        return utf8(json.dumps(self._asdict(), ensure_ascii=False, indent=1) + "\n")


def write_index(folder: Path) -> Path | None:
    """Writes the page of all experiments in a folder; returns None if there is an `index.html` of another origin."""
    path = folder / PAGE
    # Of two experiments that end at the same time, the second sees the record of the first.
    with held(folder / ".index.lock", patience=_PATIENCE_SECONDS):
        if not may_replace(path, GENERATOR):
            return None
        records = list(_records(folder))
        drawn = {record.name: drawing for record in records if (drawing := _thumbnail(folder, record))}
        page = page_text(
            "experiments.html.jinja",
            style="experiment.css",
            scripts=("experiments.js",),
            generator=GENERATOR,
            records=records,
            thumbnails={name: markup(drawing) for name, drawing in drawn.items()},
        )
        write_page(path, page)
    return path


def _records(folder: Path) -> Iterator[Record]:
    """The records whose names are those of their files, with the files that are there and named after them."""
    for path in sorted(folder.glob(f"*{_ENDING}")):
        try:
            record = checked(read_json(path, limit=_MAX_BYTES), _checked, str(path))
        except PfgenError:
            continue
        if record.file_name != path.name or not _PLAIN.fullmatch(record.name):
            continue
        own = re.compile(rf"{record.name}(-[A-Za-z0-9_-]+)?\.(html|md|csv|png|svg)")
        there = tuple(name for name in record.files if own.fullmatch(name) and (folder / name).is_file())
        if f"{record.name}.html" in there:
            yield record._replace(files=there)


def _thumbnail(folder: Path, record: Record) -> str | None:
    """The first picture of an experiment that is neither damaged nor so large that it would slow down the page."""
    for name in record.files:
        if name.endswith(".svg"):
            try:
                if drawing := thumbnail(read_stored(folder / name, limit=_MAX_PICTURE), record.name):
                    return drawing
            except (PfgenError, ElementTree.ParseError, RecursionError, ValueError):
                continue
    return None


def _checked(value: Any) -> Record:
    return Record(
        name=member(value, "name", text),
        question=member(value, "question", _sentence),
        answer=member(value, "answer", _sentence),
        notes=member(value, "notes", lambda notes: items(notes, _sentence)),
        files=member(value, "files", lambda files: items(files, text)),
    )


def _sentence(value: Any) -> str:
    return in_one_line(text(value), 1000)


def write_finding(finding: Finding, folder: Path, *, report: Path | None = None) -> list[Path]:
    """Writes the files of a finding, each atomically, and the page of all experiments in the folder."""
    contents: dict[str, bytes] = {}
    for picture in finding.pictures:
        name = finding.file_name(picture)
        png, svg = stored_alike(drawn(picture.chart), ("png", "svg"))
        contents |= {f"{name}.png": png, f"{name}.svg": svg}
    for table in finding.tables:
        contents[f"{finding.file_name(table)}.csv"] = utf8(table.to_csv())
    contents[f"{finding.name}.md"] = utf8(finding.to_markdown())
    address = None if report is None else link_target(report, folder)
    contents = {f"{finding.name}.html": _page(finding, contents, address).encode(), **contents}
    notes = tuple(finding.shown_notes)
    record = Record(finding.name, finding.question, finding.answer, notes, tuple(contents))
    written = []
    for name, content in {**contents, record.file_name: record.to_json()}.items():
        write_whole(folder / name, content)
        written.append(folder / name)
    index = write_index(folder)
    return written if index is None else [*written, index]


def _page(finding: Finding, files: dict[str, bytes], report: str | None) -> str:
    def link(run: str) -> str | None:
        if report is None or run not in runs:
            return None
        name = quote(utf8(in_one_line(run, 200)), safe="/:!~*'()")  # as report/state.js writes it
        return f"{report}#run={name}"

    runs = frozenset(finding.runs)
    page = page_text(
        "experiment.html.jinja",
        style="experiment.css",
        scripts=("sorting.js", "experiment.js"),
        finding=finding,
        report=report,
        notes=finding.shown_notes,
        heat_maps=[picture for picture in finding.pictures if isinstance(picture.chart, HeatMap)],
        level_of=level_of,
        pictures=[
            (
                picture.title,
                markup(inline_svg(files[f"{finding.file_name(picture)}.svg"], f"picture-{number}", picture, link)),
            )
            for number, picture in enumerate(finding.pictures)
        ],
        tables=[_shown(finding, table, link) for table in finding.tables if table.shown != ()],
    )
    return "".join(page)


def _shown(finding: Finding, table: Table, link: Link) -> dict[str, Any]:
    """A table for the template: each cell with its text, and the name and address of a run if it is one."""
    runs, readable = frozenset(finding.runs), table.readable()

    def shown(cell: object, text: str) -> Sequence[str | None]:
        if not isinstance(cell, str) or cell not in runs:
            return text, None, None
        return text, in_one_line(cell, 200), link(cell)

    return {
        "name": table.name,
        "title": table.title,
        "file": f"{finding.file_name(table)}.csv",
        "csv": base64.b64encode(utf8(table.to_csv())).decode(),
        "columns": [(name, not readable.is_text(column)) for column, name in enumerate(readable.columns)],
        "rows": [list(map(shown, cells, texts)) for cells, texts in zip(readable.rows, readable.texts(), strict=True)],
    }

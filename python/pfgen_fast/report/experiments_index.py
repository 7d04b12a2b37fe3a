"""The page of all experiments in a folder, made again from their records whenever one of them is written there.

A record is a small file `NAME.finding.json`. Other files, such as foreign or damaged records, are ignored, and an
`index.html` from another program stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ..errors import PfgenError
from ..files.lock import held
from ..files.reading import read_stored
from ..files.untrusted_json import checked, items, member, read_json, text
from ..files.untrusted_text import in_one_line, utf8
from .inline_svg import thumbnail
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

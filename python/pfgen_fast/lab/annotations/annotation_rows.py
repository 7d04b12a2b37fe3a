"""The rows of exports of annotators and of tables that other tools wrote.

An export has JSON lines: a header with the annotator and the suite, a row for each decision, and an end with the number
of rows, so a file that was cut off is noticed:

    {"kind": "annotations", "format": 1, "annotator": "a1", "suite": NAME, "questions_sha256": HASH, "sheet": HASH}
    {"kind": "mark", "id", "length", "response_sha256", "verdicts": [0.75, 1], "overall": 8, "comment": "..."}
    {"kind": "pair", "id", "length", "first_sha256", "second_sha256", "choice": "first" | "second" | "tie"}
    {"kind": "judgement", "id", "length", "response_sha256", "judgement": HASH, "question": 1, "is_reasonable": true}
    {"kind": "instruction", "id", "length", "question": "...", "is_yes": true}
    {"kind": "vote", "task", "perturbation", "metric"}
    {"kind": "end", "rows": 5}

Undecided parts of a row are null. A table has the same rows without header and end, in any format of `tables`, with a
column `annotator` (`voter` for votes); its rows need no kind, because their columns show it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from ...base.errors import AnnotationError, PfgenError, TrialsError
from ...base.file_reading import open_regular, read_text
from ...base.journal import json_line
from ...base.untrusted_json import checked, count, member, text, unexpected
from ...base.untrusted_text import in_one_line
from ...tables.formats import table_rows

Kind = Literal["instruction", "mark", "pair", "judgement", "vote"]
"""A yes or no about an instruction, a mark of an answer, a choice of two answers, an opinion on a judge's verdict, or a
vote on a kind of damage; pages ask in this order."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_DECIDED: Mapping[Kind, tuple[str, ...]] = {
    "instruction": ("is_yes",),
    "mark": ("verdicts", "overall"),
    "pair": ("choice",),
    "judgement": ("question", "is_reasonable"),
    "vote": ("metric",),
}
"""The columns of each kind with a decision, or with the part of the item that was decided."""

FORMAT = 1

_HEADER, _END = "annotations", "end"
_COLUMNS: Mapping[str, Kind] = {
    "is_yes": "instruction",
    "choice": "pair",
    "is_reasonable": "judgement",
    "metric": "vote",
}
"""The columns by which rows without a kind are recognised; other rows are marks."""


@dataclass(frozen=True)
class Header:
    """The first line of an export."""

    annotator: str
    suite: str  # name of the suite
    questions_sha256: str  # hash of what was asked; empty for votes
    sheet: str = ""  # hash of the sheet


@dataclass(frozen=True)
class Row:
    """A decision of an annotator, as it was read."""

    kind: Kind
    annotator: str  # from the header or a column; empty if both are missing
    cells: Mapping[str, Any]
    where: str  # place in the file, for error messages

    @property
    def is_complete(self) -> bool:
        """Whether the annotator has decided all parts of the row."""
        decided = [self.cells[name] for name in _DECIDED[self.kind] if name in self.cells]
        return None not in decided and not any(isinstance(cell, list) and None in cell for cell in decided)


@dataclass(frozen=True)
class AnnotationFile:
    """The rows of an export, or of a table (without a header)."""

    path: Path
    header: Header | None
    rows: tuple[Row, ...]


def read_rows(path: Path, *, error: type[PfgenError]) -> AnnotationFile:
    """Reads an export or a table; raises an `error` if it is damaged or an export that was cut off."""
    header: Header | None = None
    rows: list[Row] = []
    n_expected: int | None = None
    try:
        for number, (where, cells) in enumerate(table_rows(path)):
            kind = cells.get("kind")
            if kind == _HEADER and number == 0:
                header = checked(cells, _header, where, error=error)
            elif header is not None and n_expected is not None:
                raise error(f"{where}: a row after the end of the export; expected one export in each file")
            elif kind == _END and header is not None:
                n_expected = checked(cells, lambda head: member(head, "rows", count), where, error=error)
            else:
                rows.append(_row(cells, kind, header, where, error))
    except TrialsError as problem:
        hint = " (the export is cut off or damaged; export it again)" if is_export(path) else ""
        raise error(f"{problem}{hint}") from None
    if header is not None and n_expected != len(rows):
        expected = "no end" if n_expected is None else f"{n_expected:,} rows at its end"
        raise error(f"{path}: the export is cut off: {len(rows):,} rows and {expected}; export it again")
    return AnnotationFile(path, header, tuple(rows))


def export_lines(header: Header, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The content of an export; each row has its kind."""
    listed = [json_line(dict(row)) for row in rows]
    first = json_line({"kind": _HEADER, "format": FORMAT, **asdict(header)})
    return b"".join([first, *listed, json_line({"kind": _END, "rows": len(listed)})])


def is_export(path: Path) -> bool:
    """Whether a file begins like an export, whatever follows."""
    try:
        with open_regular(path) as file:
            return f'"{_HEADER}"'.encode() in file.read(80)
    except OSError:
        return False


def _header(cells: Mapping[str, Any]) -> Header:
    if cells.get("format") != FORMAT:
        raise unexpected(f"the format {FORMAT}", cells.get("format")).inside(".format")
    names = ("annotator", "suite", "questions_sha256", "sheet")
    return Header(**{name: member(cells, name, text) for name in names})


def _row(cells: dict[str, Any], kind: Any, header: Header | None, where: str, error: type[PfgenError]) -> Row:
    if kind in (None, ""):
        kind = next((named for column, named in _COLUMNS.items() if column in cells), "mark")
    if kind not in KINDS:
        raise error(f"{where}: the kind {in_one_line(repr(kind), 40)}; expected one of {', '.join(KINDS)}")
    named = cells.get("annotator") or cells.get("voter")
    annotator = header.annotator if header is not None else "" if named is None else str(named)
    return Row(kind, annotator, cells, where)


@dataclass(frozen=True)
class Asked:
    """What all annotators are asked, and how the pages look."""

    suite: str  # name of the suite
    questions_sha256: str  # hash of what is asked (see `Header`)
    language: str  # language of the page: `en` or `ja`
    guideline: str  # Markdown
    levels: Sequence[Mapping[str, Any]]  # {"value": 0.25, "text": "..."}, ascending
    content_language: str = ""  # language of the instructions and answers, such as `ja`; empty if unknown


@dataclass(frozen=True, kw_only=True)
class Sheet(Asked):
    """What one annotator sees.

    An item is a JSON object with a `kind` and the keys of its row in the export (`annotation_rows`), and in addition:

        instruction  instruction
        mark       instruction, reference (or null), response, questions (texts)
        pair       instruction, reference (or null), questions, first, second (texts of the answers)
        judgement  instruction, reference (or null), response, verdicts: [{"question": 1, "text", "verdict", "reason"}]
        vote       description, before, after (an example, or null), metrics: [{"name", "text"}]
    """

    annotator: str
    items: Sequence[Mapping[str, Any]]

    @cached_property
    def sha256(self) -> str:
        """The hash of everything that the annotator sees; the browser's storage belongs to this sheet."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return hashlib.sha256(json.dumps(content, ensure_ascii=True, sort_keys=True).encode()).hexdigest()

    @property
    def header(self) -> Header:
        """The first line of the export."""
        return Header(self.annotator, self.suite, self.questions_sha256, self.sha256)


SHOWN = {
    *("instruction", "reference", "response", "questions", "first", "second", "verdicts"),
    *("description", "before", "after", "metrics"),
}
"""The keys of items that the page only shows."""


def row_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an item that rows about it repeat."""
    return {name: value for name, value in item.items() if name not in SHOWN}


_PACKAGED = Path(__file__).parents[2] / "data" / "annotation"


def guideline_text(name: str, path: Path | None = None) -> str:
    """The guideline for annotators in a file of UTF-8, or our own one of a name."""
    return read_text(path or _PACKAGED / f"guideline-{name}.md", error=AnnotationError, limit=1 << 20)

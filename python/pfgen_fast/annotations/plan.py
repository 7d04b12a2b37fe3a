"""A plan: the sheets of all annotators, and a record of them for the maker, which names models and judges.

plan.json           the record; not for annotators
pages/NAME.html     the page of each annotator
exports/NAME.jsonl  the exports that annotators send back
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..errors import AnnotationError
from ..files.json_writing import json_bytes
from ..files.reading import read_stored
from ..files.untrusted_json import any_object, checked, entries, items, member, one_of, read_json, text
from ..files.untrusted_text import few_names, in_one_line
from .assignment import Stratum, assign, is_swapped, spread
from .rows import KINDS, Kind, Row, about, read_rows
from .sheets import Sheet, row_of

PLAN_FILE, PAGES, EXPORTS = "plan.json", "pages", "exports"

_OTHER = {"first": "second", "second": "first", "first_sha256": "second_sha256", "second_sha256": "first_sha256"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


@dataclass(frozen=True)
class Item:
    """What an annotator decides about, together with what only the maker of the sheets knows of it."""

    kind: Kind
    key: str  # identity of the item
    content: Mapping[str, Any]  # what the annotator sees, as `sheets.Sheet` describes it
    stratum: tuple[str, ...]  # items are spread evenly over strata, such as areas and models
    source: tuple[str, ...]  # models and judges, which the annotator does not see

    def swapped(self) -> Item:
        """A pair with its answers in reverse order."""
        content = {name: self.content[_OTHER.get(name, name)] for name in self.content}
        return replace(self, content=content, source=self.source[::-1])


@dataclass(frozen=True)
class Asked:
    """What all annotators are asked, and how the pages look."""

    suite: str  # name of the suite
    questions_sha256: str
    language: str  # language of the pages
    guideline: str
    levels: Sequence[Mapping[str, Any]]
    content_language: str = ""  # language of the texts


@dataclass(frozen=True)
class AnnotationPlan:
    """The sheets of all annotators."""

    sheets: tuple[Sheet, ...]
    record: Mapping[str, Any]  # content of plan.json
    n_items: int
    n_shared: int


def make_plan(
    items: Sequence[Item],
    annotators: Sequence[str],
    asked: Asked,
    *,
    overlap: float,
    raters: int | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> AnnotationPlan:
    """Distributes items, or `limit` of them, evenly over areas and models, to annotators."""
    check_annotators(annotators)
    if limit is not None:
        order = spread(*_keys_and_strata(items), seed)
        items = [items[number] for number in sorted(order[:limit])]
    keys, strata = _keys_and_strata(items)
    assigned = assign(keys, strata, annotators, overlap=overlap, raters=raters, seed=seed)

    def seen(name: str) -> list[Item]:
        # Items of one kind follow each other, so that an annotator does not change tasks all the time.
        chosen = sorted((items[number] for number in assigned.of[name]), key=lambda item: KINDS.index(item.kind))
        return [item.swapped() if item.kind == "pair" and is_swapped(item.key, name, seed) else item for item in chosen]

    of = {name: seen(name) for name in annotators}
    look = {field.name: getattr(asked, field.name) for field in fields(asked)}
    sheets = tuple(Sheet(annotator=name, items=[item.content for item in of[name]], **look) for name in annotators)
    record = {
        "format": 1,
        "suite": asked.suite,
        "questions_sha256": asked.questions_sha256,
        "seed": seed,
        "overlap": overlap,
        "raters": len(annotators) if raters is None else raters,
        "items": dict(Counter(item.kind for item in items)),
        "shared": len(assigned.shared),
        "annotators": {
            sheet.annotator: {"sheet": sheet.sha256, "items": [_recorded(item) for item in of[sheet.annotator]]}
            for sheet in sheets
        },
    }
    return AnnotationPlan(sheets, record, len(items), len(assigned.shared))


def _keys_and_strata(items: Sequence[Item]) -> tuple[list[str], list[Stratum]]:
    return [item.key for item in items], [(item.kind, *item.stratum) for item in items]


def check_annotators(names: Sequence[str]) -> None:
    """Raises AnnotationError for names that are repeated, or that are no names of files."""
    if repeated := [name for name, n in Counter(map(str.casefold, names)).items() if n > 1]:
        raise AnnotationError(f"--annotator: {few_names(repeated)} is repeated; expected different names")
    for name in names:
        if not _NAME.fullmatch(name):
            raise AnnotationError(
                f"--annotator {in_one_line(repr(name), 50)}: expected at most 40 letters, digits and any of _ . -, "
                "because a page has this name"
            )


def check_plan_folder(folder: Path, plan: AnnotationPlan) -> None:
    """Raises AnnotationError if a folder holds another plan or other files: annotators may have begun."""
    path = folder / PLAN_FILE
    if path.exists():
        if read_stored(path) != json_bytes(plan.record):
            raise AnnotationError(
                f"{path}: the plan of other runs, options or another suite, whose pages annotators may have begun; "
                "choose another folder"
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise AnnotationError(f"{folder}: holds other files; expected a new or empty folder")


def read_export(folder: Path, annotator: str, sheet_sha256: str) -> tuple[Row, ...]:
    """The rows of an annotator's export; empty if it is missing.

    Raises:
        AnnotationError: The export is damaged, or belongs to another sheet.
    """
    path = folder / EXPORTS / f"{annotator}.jsonl"
    if not path.exists():
        return ()
    file = read_rows(path, error=AnnotationError)
    if file.header is None or file.header.sheet != sheet_sha256:
        raise AnnotationError(f"{path}: the export of another sheet or annotator; remove it, or rename it")
    return file.rows


def _recorded(item: Item) -> dict[str, Any]:
    row = {name: value for name, value in row_of(item.content).items() if value is not None}
    return {**row, "source": list(item.source)}


@dataclass(frozen=True)
class Planned:
    """The sheet of one annotator, as the plan records it."""

    sheet_sha256: str
    items: Sequence[str]  # what each item is about, in the order of the page


@dataclass(frozen=True)
class Progress:
    """What one annotator has done; items are numbered from 1, as on the page."""

    n_items: int
    left: Sequence[int]  # items that are not done
    n_begun: int  # of these, the number of items with a part of the decisions, or a comment


def read_planned(folder: Path) -> dict[str, Planned]:
    """The sheets in the plan of a directory, by annotator."""

    def item(value: Any) -> str:
        found = any_object(value)
        member(found, "kind", one_of(KINDS))
        return _about({name: value for name, value in found.items() if name != "source"})

    def planned(value: Any) -> Planned:
        return Planned(member(value, "sheet", text), member(value, "items", lambda listed: items(listed, item)))

    path = folder / PLAN_FILE
    if not path.exists():
        raise AnnotationError(f"{folder}: no {PLAN_FILE} here; expected a directory that 'annotate -o' has written")
    found = checked(
        read_json(path, error=AnnotationError),
        lambda record: member(record, "annotators", lambda sheets: entries(sheets, planned)),
        str(path),
        error=AnnotationError,
    )
    check_annotators(list(found))
    return found


def progress_of(folder: Path, annotator: str, planned: Planned) -> Progress:
    """Compares an annotator's export with the plan."""
    are_complete: dict[str, bool] = {}
    for row in read_export(folder, annotator, planned.sheet_sha256):
        subject = _about({**row.cells, "kind": row.kind})
        are_complete[subject] = are_complete.get(subject, True) and row.is_complete
    left = [number for number, subject in enumerate(planned.items, start=1) if not are_complete.get(subject)]
    n_begun = sum(planned.items[number - 1] in are_complete for number in left)
    return Progress(len(planned.items), left, n_begun)


def _about(cells: Mapping[str, Any]) -> str:
    """What a row or a recorded item is about; the plan leaves out null."""
    return about({name: value for name, value in cells.items() if value is not None})

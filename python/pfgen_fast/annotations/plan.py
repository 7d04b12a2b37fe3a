"""A plan: the sheets of all annotators, and a record of them for the maker, which names models and judges.

plan.json           the record; not for annotators
pages/NAME.html     the page of each annotator
exports/NAME.jsonl  the exports, which `annotate --serve` writes, or annotators send
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import AnnotationError
from ..files.json_writing import json_bytes
from ..files.reading import read_stored
from ..files.untrusted_text import few_names, in_one_line
from .assignment import Stratum, assign, is_swapped, spread
from .items import Item
from .rows import KINDS, Row, read_rows
from .sheets import Sheet, row_of

PLAN_FILE, PAGES, EXPORTS = "plan.json", "pages", "exports"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


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

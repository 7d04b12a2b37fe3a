"""What annotators have done and left, by the plan and the exports beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import AnnotationError
from ..files.untrusted_json import any_object, checked, entries, items, member, one_of, read_json, text
from .plan import PLAN_FILE, check_annotators, read_export
from .rows import KINDS, about


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

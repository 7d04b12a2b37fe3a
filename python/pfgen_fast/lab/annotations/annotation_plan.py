"""A plan: the sheets of all annotators, and a record of them for the maker, which names models and judges.

plan.json           the record; not for annotators
pages/NAME.html     the page of each annotator
exports/NAME.jsonl  the exports that annotators send back
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import AnnotationError
from ...base.file_reading import read_stored
from ...base.untrusted_json import any_object, checked, entries, items, json_bytes, member, one_of, read_json, text
from ...base.untrusted_text import counted, few_names, in_one_line
from .annotation_rows import KINDS, Asked, Kind, Row, Sheet, about, read_rows, row_of

Stratum = tuple[str, ...]
"""The area, the category, the model and so on of an item."""


@dataclass(frozen=True)
class Assignment:
    """The items of each annotator, by their numbers."""

    items: Mapping[str, tuple[int, ...]]  # by annotator, in the order of the page
    shared: tuple[int, ...]  # items with several annotators


def assign(
    keys: Sequence[str],
    strata: Sequence[Stratum],
    annotators: Sequence[str],
    *,
    overlap: float,
    raters: int | None = None,
    seed: int = 0,
) -> Assignment:
    """Assigns items to annotators.

    `overlap` is the share of items that `raters` annotators see (all annotators by default). The numbers of items of
    two annotators differ by at most one, and annotators get about the same number of items of each area and model.
    """
    n, n_annotators = len(keys), len(annotators)
    _check(n, n_annotators, overlap, raters)
    raters = n_annotators if raters is None else raters
    ordered = spread(keys, strata, seed)
    n_shared = round(overlap * n) if n_annotators > 1 else 0
    # Shared items are the first of the spread order, so they are spread over strata, too.
    numbers: dict[str, list[int]] = {name: [] for name in annotators}
    seen: dict[str, Counter[tuple[int, str]]] = {name: Counter() for name in annotators}
    for place, item in enumerate(ordered):
        values = list(enumerate(strata[item]))

        def burden(name: str, values: Sequence[tuple[int, str]] = values, item: int = item) -> tuple[Any, ...]:
            n_alike = sum(seen[name][value] for value in values)
            return len(numbers[name]), n_alike, _hash(seed, name, "turn", keys[item])

        for name in sorted(annotators, key=burden)[: raters if place < n_shared else 1]:
            numbers[name].append(item)
            seen[name].update(values)
    orders = {name: sorted(items, key=lambda item: _hash(seed, name, keys[item])) for name, items in numbers.items()}
    return Assignment({name: tuple(order) for name, order in orders.items()}, tuple(ordered[:n_shared]))


def spread(keys: Sequence[str], strata: Sequence[Stratum], seed: int) -> list[int]:
    """The numbers of all items in random order, so that each beginning has its share of every area, model and so on."""
    by_stratum: dict[Stratum, list[int]] = {}
    for item in sorted(range(len(keys)), key=lambda item: _hash(seed, "item", keys[item]), reverse=True):
        by_stratum.setdefault(strata[item], []).append(item)
    totals = Counter(value for stratum in strata for value in enumerate(stratum))
    names, numbers = list(by_stratum), {value: number for number, value in enumerate(totals)}
    # A shorter stratum is filled up with a value without weight.
    values = np.full((len(names), max(map(len, names), default=0)), len(numbers), dtype=np.intp)
    for row, name in zip(values, names, strict=True):
        row[: len(name)] = [numbers[value] for value in enumerate(name)]
    step = np.array([*(1 / totals[value] for value in numbers), 0.0])
    taken = np.zeros(len(step))  # share of the items of each value that have been taken
    order: list[int] = []
    for _ in keys:
        number = int(taken[values].sum(axis=1).argmin())
        order.append(by_stratum[names[number]].pop())
        taken[values[number]] += step[values[number]]
        if not by_stratum[names[number]]:
            del by_stratum[names[number]], names[number]
            values = np.delete(values, number, axis=0)
    return order


def is_swapped(key: str, annotator: str, seed: int) -> bool:
    """Whether the two answers of a pair are shown in reverse order, which is random by annotator and pair."""
    return _hash(seed, annotator, f"swapped {key}")[0] % 2 == 1


def _check(n: int, n_annotators: int, overlap: float, raters: int | None) -> None:
    if not 0 <= overlap <= 1:
        raise AnnotationError(f"--overlap {overlap:g}: expected a share from 0 to 1, such as 0.2")
    if n_annotators > n:
        raise AnnotationError(
            f"{counted(n_annotators, 'annotator')} for {counted(n, 'item')}: expected at least one item for each "
            "annotator; choose fewer annotators or more answers"
        )
    if raters is not None and not 2 <= raters <= n_annotators:
        raise AnnotationError(f"--raters {raters}: expected at least 2, and at most all annotators ({n_annotators})")


def _hash(*parts: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()


PLAN_FILE, PAGES, EXPORTS = "plan.json", "pages", "exports"

_OTHER = {"first": "second", "second": "first", "first_sha256": "second_sha256", "second_sha256": "first_sha256"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


@dataclass(frozen=True)
class SheetItem:
    """What an annotator decides about, together with what only the maker of the sheets knows of it."""

    kind: Kind
    key: str  # identity of the item
    content: Mapping[str, Any]  # what the annotator sees, as `Sheet` describes it
    stratum: tuple[str, ...]  # items are spread evenly over strata, such as areas and models
    source: tuple[str, ...]  # models and judges, which the annotator does not see

    @property
    def recorded(self) -> dict[str, Any]:
        """The item in plan.json."""
        row = {name: value for name, value in row_of(self.content).items() if value is not None}
        return {**row, "source": list(self.source)}

    def swapped(self) -> SheetItem:
        """A pair with its answers in reverse order."""
        content = {name: self.content[_OTHER.get(name, name)] for name in self.content}
        return replace(self, content=content, source=self.source[::-1])


@dataclass(frozen=True)
class AnnotationPlan:
    """The sheets of all annotators."""

    sheets: tuple[Sheet, ...]
    record: Mapping[str, Any]  # content of plan.json
    n_items: int
    n_shared: int


def make_plan(
    items: Sequence[SheetItem],
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
        order = spread([item.key for item in items], [(item.kind, *item.stratum) for item in items], seed)
        items = [items[number] for number in sorted(order[:limit])]
    keys, strata = [item.key for item in items], [(item.kind, *item.stratum) for item in items]
    assigned = assign(keys, strata, annotators, overlap=overlap, raters=raters, seed=seed)

    def seen(name: str) -> list[SheetItem]:
        # Items of one kind follow each other, so that an annotator does not change tasks all the time.
        chosen = sorted((items[number] for number in assigned.items[name]), key=lambda item: KINDS.index(item.kind))
        return [item.swapped() if item.kind == "pair" and is_swapped(item.key, name, seed) else item for item in chosen]

    own = {name: seen(name) for name in annotators}
    contents = {name: [item.content for item in own[name]] for name in annotators}
    sheets = tuple(Sheet(**vars(asked), annotator=name, items=contents[name]) for name in annotators)
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
            sheet.annotator: {"sheet": sheet.sha256, "items": [item.recorded for item in own[sheet.annotator]]}
            for sheet in sheets
        },
    }
    return AnnotationPlan(sheets, record, len(items), len(assigned.shared))


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
        content = any_object(value)
        member(content, "kind", one_of(KINDS))
        return _about({name: value for name, value in content.items() if name != "source"})

    def planned(value: Any) -> Planned:
        return Planned(member(value, "sheet", text), member(value, "items", lambda listed: items(listed, item)))

    path = folder / PLAN_FILE
    if not path.exists():
        raise AnnotationError(f"{folder}: no {PLAN_FILE} here; expected a directory that 'annotate -o' has written")
    plans = checked(
        read_json(path, error=AnnotationError),
        lambda record: member(record, "annotators", lambda sheets: entries(sheets, planned)),
        str(path),
        error=AnnotationError,
    )
    check_annotators(list(plans))
    return plans


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

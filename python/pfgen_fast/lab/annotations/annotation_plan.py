"""A plan: the sheets of all annotators, and a record of them for the maker, which names models and judges.

plan.json           the record; not for annotators
pages/NAME.html     the page of each annotator
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import AnnotationError
from ...base.file_reading import read_stored
from ...base.untrusted_json import json_bytes, read_json
from ...base.untrusted_text import counted
from ..finding import Finding, finding_table
from .annotation_rows import KINDS, AnnotationFile, Asked, Kind, Sheet, row_of

Stratum = tuple[str, ...]
"""The area, the category, the model and so on of an item."""


@dataclass(frozen=True)
class Assignment:
    """The items of each annotator, by their numbers."""

    items: Mapping[str, tuple[int, ...]]  # by annotator, in the order of the page
    shared: tuple[int, ...]  # items with several annotators


def assign(
    keys: Sequence[str], strata: Sequence[Stratum], annotators: Sequence[str], *, overlap: float, seed: int = 0
) -> Assignment:
    """Assigns items to annotators; all annotators see a share of the items, the `overlap`.

    The numbers of items of two annotators differ by at most one, and annotators get about the same number of items of
    each area and model.
    """
    if not 0 <= overlap <= 1:
        raise AnnotationError(f"--overlap {overlap:g}: expected a share from 0 to 1, such as 0.2")
    if len(annotators) > len(keys):
        raise AnnotationError(
            f"{counted(len(annotators), 'annotator')} for {counted(len(keys), 'item')}: expected at least one item for "
            "each annotator; choose fewer annotators or more answers"
        )
    ordered = spread(keys, strata, seed)
    n_shared = round(overlap * len(keys)) if len(annotators) > 1 else 0
    # Shared items are the first of the spread order, so they are spread over strata, too.
    numbers: dict[str, list[int]] = {name: list(ordered[:n_shared]) for name in annotators}
    seen: dict[str, Counter[tuple[int, str]]] = {name: Counter() for name in annotators}
    for item in ordered[n_shared:]:
        values = list(enumerate(strata[item]))

        def burden(name: str, values: Sequence[tuple[int, str]] = values, item: int = item) -> tuple[Any, ...]:
            n_alike = sum(seen[name][value] for value in values)
            return len(numbers[name]), n_alike, _hash(seed, name, "turn", keys[item])

        name = min(annotators, key=burden)
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


def _hash(*parts: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()


PLAN_FILE, PAGES = "plan.json", "pages"

_OTHER = {"first": "second", "second": "first", "first_sha256": "second_sha256", "second_sha256": "first_sha256"}


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
    limit: int | None = None,
    seed: int = 0,
) -> AnnotationPlan:
    """Distributes items, or `limit` of them, evenly over areas and models, to annotators."""
    if limit is not None:
        order = spread([item.key for item in items], [(item.kind, *item.stratum) for item in items], seed)
        items = [items[number] for number in sorted(order[:limit])]
    keys, strata = [item.key for item in items], [(item.kind, *item.stratum) for item in items]
    assigned = assign(keys, strata, annotators, overlap=overlap, seed=seed)

    def seen(name: str) -> list[SheetItem]:
        # Items of one kind follow each other, so that an annotator does not change tasks all the time.
        chosen = sorted((items[number] for number in assigned.items[name]), key=lambda item: KINDS.index(item.kind))
        # The order of the two answers of a pair is random by annotator.
        swaps = [item.kind == "pair" and _hash(seed, name, f"swapped {item.key}")[0] % 2 == 1 for item in chosen]
        return [item.swapped() if is_swapped else item for item, is_swapped in zip(chosen, swaps, strict=True)]

    own = {name: seen(name) for name in annotators}
    sheets = [Sheet(**vars(asked), annotator=name, items=[item.content for item in own[name]]) for name in annotators]
    record = {
        "format": 1,
        "suite": asked.suite,
        "questions_sha256": asked.questions_sha256,
        "seed": seed,
        "overlap": overlap,
        "items": dict(Counter(item.kind for item in items)),
        "shared": len(assigned.shared),
        "annotators": {
            sheet.annotator: {"sheet": sheet.sha256, "items": [item.recorded for item in own[sheet.annotator]]}
            for sheet in sheets
        },
    }
    return AnnotationPlan(tuple(sheets), record, len(items), len(assigned.shared))


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


_OF_ITEM = (*("kind", "id", "length", "response_sha256", "first_sha256", "second_sha256"),
            *("judgement", "task", "perturbation"))  # fmt: skip


def progress_of(path: Path, exports: Sequence[AnnotationFile]) -> Finding:
    """How many items of a plan each annotator has finished, by the exports of its sheets."""
    finished: dict[str, int] = {}
    for export in exports:
        items: dict[Stratum, bool] = {}
        for row in export.rows:
            item = tuple(str(row.cells.get(column)) for column in _OF_ITEM)
            items[item] = items.get(item, True) and row.is_complete
        sheet = export.header.sheet if export.header else ""
        finished[sheet] = max(finished.get(sheet, 0), sum(items.values()))
    try:
        plan = read_json(path, error=AnnotationError)["annotators"]
        rows = [(name, finished.get(str(own["sheet"]), 0), len(own["items"])) for name, own in plan.items()]
    except (AttributeError, KeyError, TypeError):
        raise AnnotationError(f"{path}: expected a plan that 'pfgen-fast annotate' has written") from None
    n_ready, n_done = sum(n == of for _, n, of in rows), sum(n for _, n, _ in rows)
    n_items = counted(sum(of for *_, of in rows), "item")
    answer = f"{n_ready} of {counted(len(rows), 'annotator')} finished all items; {n_done:,} of {n_items} are decided."
    about = "An annotator without an export has no finished item. A judge's verdicts on an answer are one item."
    table = finding_table("progress", "Finished items by annotator", ("annotator", "finished", "items"), rows, shown=())
    return Finding("annotation", answer, about, (table,), (), question="How far are the annotators?")

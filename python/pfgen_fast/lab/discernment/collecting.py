"""Makes a collection from a data set that has several texts (references or answers) for each item.

Rules: docs/discernment_rules.md, section 9.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ...base.errors import DiscernmentError
from ...base.untrusted_text import counted, in_one_line, utf8
from ...tables.formats import check_value_table, writing_values
from ..evaluators.evaluator import language_of
from .damage.text_reading import TextReading
from .discernment_items import Collection, CollectionItem, checked_item
from .item_files import ItemColumns, item_rows

Choice = Literal["longest", "sentences"]

COLUMNS = ("id", "task", "language", "question", "context", "text", "references", "alternative")
"""The columns of a written collection."""

_SAME = ("task", "language", "question", "context", "alternative")
"""What must be the same in all rows of an item."""


@dataclass(frozen=True)
class Bounds:
    """The allowed lengths of a text, in code points."""

    low: int = 1
    high: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.low <= (self.low if self.high is None else self.high):
            raise DiscernmentError(f"lengths from {self.low} to {self.high}: expected two numbers in ascending order")

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {counted(self.low, 'character')}"
        return f"{self.low:,} to {counted(self.high, 'character')}"

    def hold(self, text: str) -> bool:
        """Whether a text has an allowed length."""
        return self.low <= len(text) and (self.high is None or len(text) <= self.high) and not text.isspace()


@dataclass(frozen=True)
class Collected:
    """A collection that was made from a data set."""

    collection: Collection
    donors: tuple[CollectionItem, ...]  # items that were not drawn and whose questions the collection does not have
    n_read: int  # number of items in the data set
    n_fitting: int  # number of items with a text of an allowed length


def collect(
    path: str | Path,
    *,
    columns: ItemColumns | None = None,
    encoding: str | None = None,
    choice: Choice = "longest",
    bounds: Bounds | None = None,
    n_items: int | None = None,
    seed: int = 0,
) -> Collected:
    """Chooses one text of each item, and draws items; the other texts of an item become its references."""
    bounds = bounds or Bounds()
    read = _merged(item_rows(path, columns or ItemColumns(), encoding, needs_text=False))
    seen: dict[str, str] = {}
    fitting = [checked_item(item, where, seen) for where, whole in read if (item := _chosen(whole, choice, bounds))]
    wanted = len(fitting) if n_items is None else n_items
    if not fitting or wanted > len(fitting):
        expected = f"expected {counted(max(1, wanted), 'item')} with a text of {bounds}"
        raise DiscernmentError(f"{path}: {expected}, found {len(fitting):,} of {len(read):,}")
    drawn = set(sorted((item.id for item in fitting), key=lambda name: _order(seed, name))[:wanted])
    items = tuple(item for item in fitting if item.id in drawn)
    questions = {item.question for item in items} - {None}
    texts = {text for item in items for text in (item.text, *item.references)}
    donors = tuple(
        item for item in fitting if item.id not in drawn and item.question not in questions and item.text not in texts
    )
    return Collected(Collection(items, str(path)), donors, len(read), len(fitting))


def _merged(rows: Iterable[tuple[str, CollectionItem]]) -> list[tuple[str, CollectionItem]]:
    """The items with all their texts as references; several rows may have texts of one item."""
    merged: dict[str, tuple[str, CollectionItem]] = {}
    for where, item in rows:
        if item.perturbed:
            raise DiscernmentError(
                f"{where}: has damaged texts, which belong to one text; leave out the column perturbed"
            )
        first, known = merged.setdefault(item.id, (where, item))
        for key in _SAME:
            if getattr(item, key) != getattr(known, key):
                raise DiscernmentError(
                    f"{where}: the {key} of item {in_one_line(item.id, 60)} differs from that in {first}; expected the "
                    "same in all rows of an item"
                )
        texts = (*(() if first == where else known.references), item.text, *item.references)
        merged[item.id] = first, replace(known, references=tuple(dict.fromkeys(texts)))
    return list(merged.values())


def _chosen(item: CollectionItem, choice: Choice, bounds: Bounds) -> CollectionItem | None:
    """The item with one of its texts, and the others as references; None if no text has an allowed length."""
    fitting = [text for text in item.references if bounds.hold(text)]
    if not fitting:
        return None

    def n_sentences(text: str) -> int:
        return len(TextReading(text, item.language or language_of(text)).sentences)

    text = max(fitting, key=len if choice == "longest" else n_sentences)
    return replace(item, text=text, references=tuple(other for other in item.references if other != text))


def _order(seed: int, name: str) -> bytes:
    """The place of an item in the random order, which does not depend on other items."""
    return hashlib.sha256(utf8(f"discern collect\0{seed}\0{name}")).digest()


def write_items(path: Path, items: Iterable[CollectionItem]) -> None:
    """Writes items as a table that `read_collection` reads."""
    has_lists = check_value_table(path) == ".jsonl"
    with writing_values(path, dict.fromkeys(COLUMNS, str)) as write:
        write(_rows(items, has_lists))


def _rows(items: Iterable[CollectionItem], has_lists: bool) -> Iterator[list[Any]]:
    for item in items:
        listed = list(item.references)
        row: Mapping[str, Any] = {
            **vars(item),
            "references": listed if has_lists else json.dumps(listed, ensure_ascii=False) if listed else None,
        }
        yield [row[name] for name in COLUMNS]

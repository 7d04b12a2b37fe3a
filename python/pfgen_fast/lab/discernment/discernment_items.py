"""Collections: the texts to be damaged, with their tasks, questions, references and so on; reads them from tables."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...base.errors import DiscernmentError
from ...base.untrusted_json import parse_json, unexpected
from ...base.untrusted_text import in_one_line
from ...tables.formats import reader_of
from ...tables.table_rows import AnyColumns
from ..evaluators.evaluator import Item, language_of
from .damage.text_reading import LANGUAGES
from .kinds import task_named, unknown

MIN_ITEMS = 10
"""The default for the smallest number of items with which a cell is defined."""

LEAST_ITEMS = 5
"""The lowest value that users may choose instead."""

_TASKS_WITH_QUESTIONS = ("qa", "answers")


@dataclass(frozen=True)
class CollectionItem(Item):
    """A text to be damaged, with its context.

    Attributes:
        alternative: The wrong ending of a story.
        perturbed: Ready-made damaged texts by the name of their perturbation (`kind/degree`).
    """

    alternative: str | None = None
    perturbed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Collection:
    """The items of a test. Their IDs are distinct and each has a language.

    Attributes:
        items: The items.
        name: The source of the items, in a few words.
        notes: Notes on the items for readers of the results, one sentence each.
    """

    items: tuple[CollectionItem, ...]
    name: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, items: Iterable[Item], *, name: str = "", notes: Sequence[str] = ()) -> Collection:
        """Makes a collection of items. Items are checked, and a language is found for each item without a language.

        Example:
            >>> collection = Collection.of([Item("1", "氷は水に浮く。", "answers", question="なぜ？")])
            >>> collection.items[0].language
            'ja'
        """
        return cls(tuple(_checked(items)), name, tuple(notes))

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of everything in the items; the order of the items does not matter."""
        digest = hashlib.sha256()
        for item in sorted(self.items, key=lambda item: item.id):
            parts = [item.id, item.text, item.question, item.task, item.language, item.context, list(item.references)]
            digest.update(json.dumps([*parts, item.alternative, sorted(item.perturbed.items())]).encode() + b"\n")
        return digest.hexdigest()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the items, in order of first appearance."""
        return tuple(dict.fromkeys(item.task for item in self.items))

    def check_size(self, min_items: int = MIN_ITEMS) -> None:
        """Raises DiscernmentError if the test has too few items, or if `min_items` is too low."""
        if min_items < LEAST_ITEMS:
            raise DiscernmentError(f"min_items: expected at least {LEAST_ITEMS}, not {min_items}")
        if len(self) < min_items:
            where = f"{self.name}: " if self.name else ""
            lower = f"; --min-items lowers this to at least {LEAST_ITEMS}" if min_items > LEAST_ITEMS else ""
            raise DiscernmentError(f"{where}{len(self)} items, expected at least {min_items}{lower}")


def _checked(items: Iterable[Item]) -> Iterable[CollectionItem]:
    seen: dict[str, str] = {}
    for number, item in enumerate(items, start=1):
        where = f"item {number}" if not item.id else f"item {in_one_line(item.id, 60)}"
        yield checked_item(item, where, seen)


def checked_item(item: Item, where: str, seen: dict[str, str]) -> CollectionItem:
    """Checks an item, and returns it with a language and the usual name of its task."""
    if not item.id:
        raise DiscernmentError(f"{where}: an item without an ID; expected a unique text")
    if item.id in seen:
        raise DiscernmentError(
            f"{where}: the ID {in_one_line(repr(item.id), 60)} is also in {seen[item.id]}; expected a unique ID"
        )
    if not item.text or item.text.isspace():
        raise DiscernmentError(f"{where}: the text is empty; expected more than white space")
    if not item.task or item.task.isspace():
        raise DiscernmentError(f"{where}: an item without a task; expected a name such as answers")
    task = task_named(item.task)
    if task in _TASKS_WITH_QUESTIONS and not item.question:
        raise DiscernmentError(f"{where}: no question; items of the task {task} need a question")
    if item.language is not None and item.language not in LANGUAGES:
        raise unknown("language", item.language, LANGUAGES, where=where)
    seen[item.id] = where
    language = item.language or language_of(item.text)
    if isinstance(item, CollectionItem):
        is_ready = item.task == task and item.language is not None
        return item if is_ready else replace(item, task=task, language=language)
    rest = (item.question, item.context, item.references)
    return CollectionItem(item.id, item.text, task, language, *rest)


KEYS = ("id", "text", "task", "language", "question", "context", "references", "alternative", "perturbed")
"""The keys of an item, which are the default names of the columns."""

Row = Mapping[str, Any]
"""The values of an item by key, or by column name."""

_PERTURBED = "perturbed."
_MAX_NAME = 200
_MAX_ITEMS = 1_000_000
_MAX_CODE_POINTS = 1 << 30


def read_collection(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
    language: str | None = None,
    encoding: str | None = None,
) -> Collection:
    """Reads the items of a table, one in each row.

    Texts of a CSV or TSV file are kept unchanged, and an empty cell is a missing value. `references` is a JSON list of
    texts or one text, and `perturbed` is a JSON object. Other columns are ignored.

    Args:
        path: The table, in any format of `tables`; `-` for JSON lines on stdin.
        columns: The columns whose names differ from the keys of an item, by key. The key `perturbed.char_typo/1` stands
            for the column with the texts of this perturbation.
        task: The task of items without a task.
        language: The language of items without a language; None to find it from the text.
        encoding: The encoding of a CSV or TSV file.

    Raises:
        DiscernmentError: An item breaks the rules; the message names the line.
        TrialsError: The file cannot be read or is not a table.
    """
    seen: dict[str, str] = {}
    rows = item_rows(path, columns or {}, task=task, language=language, encoding=encoding)
    return Collection(tuple(checked_item(item, where, seen) for where, item in rows), str(path))


def item_rows(
    path: str | Path, columns: Mapping[str, str], *, encoding: str | None = None, **more: Any
) -> Iterator[tuple[str, CollectionItem]]:
    """Yields the items of a table with their places, and checks the types, the columns and the size of the table.

    `more` are the options of `_item`.
    """
    for key in columns:
        if key.startswith(_PERTURBED):
            check_perturbation_name(key.removeprefix(_PERTURBED), "columns")
        elif key not in KEYS:
            raise unknown("key of an item", key, KEYS)
    needed = (*(columns.get(key, key) for key in KEYS), *columns.values())
    names: dict[str, None] = {}
    n_items = size = 0
    with contextlib.closing(reader_of(path, encoding)(_Distinct(needed=needed), 1024)) as batches:
        for batch in batches:
            names.update(dict.fromkeys(batch.names))
            for number, row in enumerate(batch.rows()):
                item = _item(row, where := batch.location(number), columns, **more)
                texts = (item.text, item.context or "", item.alternative or "", *item.references)
                n_items, size = n_items + 1, size + sum(map(len, (*texts, *item.perturbed.values())))
                if n_items > _MAX_ITEMS or size > _MAX_CODE_POINTS:
                    raise DiscernmentError(
                        f"{path}: more than {_MAX_ITEMS:,} items or {_MAX_CODE_POINTS:,} characters, which is the limit"
                    )
                yield where, item
    for column in columns.values():
        if column not in names:
            raise unknown("column", column, names, where=str(path))
    if not n_items:
        raise DiscernmentError(f"{path}: no items; expected one in each row")


def collection_of(items: Collection | Iterable[Item | Row], language: str | None = None) -> Collection:
    """Makes a collection of items, or of rows with the keys of an item; all in one language if it is given."""
    if not isinstance(items, Collection):
        numbered = enumerate(items, start=1)
        items = Collection.of(
            _item(row, f"item {number}", {}) if isinstance(row, Mapping) else row for number, row in numbered
        )
    if language is None:
        return items
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    return replace(items, items=tuple(replace(item, language=language) for item in items.items))


@dataclass(frozen=True)
class _Distinct(AnyColumns):
    """Accepts any columns, but each needed column at most once."""

    needed: tuple[str, ...] = ()

    def check(self, names: Sequence[str], location: str) -> None:
        for column in self.needed:
            if names.count(column) > 1:
                raise DiscernmentError(f"{location}: the column {column!r} appears {names.count(column)} times")


def _item(
    row: Row,
    where: str,
    columns: Mapping[str, str],
    *,
    task: str | None = None,
    language: str | None = None,
    needs_text: bool = True,
) -> CollectionItem:
    """The item of a row; only the types of its values are checked.

    Without `needs_text`, the first reference of a row stands for a missing text.
    """
    names = {key: columns.get(key, key) for key in KEYS}
    text_of = {
        key: _text(row.get(names[key]), where, names[key])
        for key in KEYS
        if key not in ("id", "references", "perturbed")
    }
    references = _references(row.get(names["references"]), where, names["references"])
    either = [names["text"]] if needs_text else [names["text"], names["references"]]
    for key, possible in (("id", [names["id"]]), ("text", either)):
        if row.get(names[key]) is None and (needs_text or key == "id" or set(possible).isdisjoint(row)):
            there = ", ".join(in_one_line(repr(name), 60) for name in list(row)[:20]) or "none"
            listed = " or ".join(map(repr, possible))
            raise DiscernmentError(f"{where}: no {key} in column {listed}; its columns are {there}")
    name = row[names["id"]]
    if isinstance(name, int) and not isinstance(name, bool) and abs(name) < 1 << 64:
        name = str(name)  # formats read `1` as different types
    name = _text(name, where, names["id"]) or ""
    task = text_of["task"] or task
    if task is None:
        raise DiscernmentError(
            f"{where}: no task in column {names['task']!r}; expected a task, or one for all items (--task)"
        )
    perturbed = _perturbed(row.get(names["perturbed"]), where, names["perturbed"])
    for key, column in columns.items():
        if key.startswith(_PERTURBED) and (text := _text(row.get(column), where, column)):
            perturbed[key.removeprefix(_PERTURBED)] = text
    return CollectionItem(
        name,
        text_of["text"] or ("" if needs_text else next(iter(references), "")),
        task,
        text_of["language"] or language,
        text_of["question"],
        text_of["context"],
        references,
        text_of["alternative"],
        perturbed,
    )


def _text(value: Any, where: str, column: str) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    raise _unexpected("a text", value, where, column)


def _references(value: Any, where: str, column: str) -> tuple[str, ...]:
    if isinstance(value, str) and value.startswith('["'):
        value = parse_json(value, f"{where}, column {column!r}", error=DiscernmentError)
    if isinstance(value, str) or value is None:
        return (value,) if value else ()
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise _unexpected("a list of texts", value, where, column)
    return tuple(text for text in value if text)


def _perturbed(value: Any, where: str, column: str) -> dict[str, str]:
    """Damaged texts by the names of their perturbations; a Parquet map comes as a list of pairs."""
    if isinstance(value, str) and value:
        value = parse_json(value, f"{where}, column {column!r}", error=DiscernmentError)
    if isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        value = {str(name): text for name, text in value}
    if value is None or value in ("", {}):
        return {}
    if not isinstance(value, dict):
        raise _unexpected("an object of texts by the name of their perturbation", value, where, column)
    for name in value:
        check_perturbation_name(name, where)
    texts = ((name, _text(text, where, f"{column}.{name}")) for name, text in value.items())
    return {name: text for name, text in texts if text is not None}


def _unexpected(expected: str, value: Any, where: str, column: str) -> DiscernmentError:
    return DiscernmentError(f"{where}, column {in_one_line(repr(column), 260)}: {unexpected(expected, value)}")


def check_perturbation_name(name: str, where: str) -> None:
    """Raises DiscernmentError unless a name is a kind, or a kind, a slash and a degree."""
    parts = name.split("/")
    if len(parts) > 2 or not all(part and part == part.strip() for part in parts) or len(name) > _MAX_NAME:
        raise DiscernmentError(
            f"{where}: the name of a perturbation is kind/degree, such as char_delete/minor, not "
            f"{in_one_line(repr(name), 60)}"
        )

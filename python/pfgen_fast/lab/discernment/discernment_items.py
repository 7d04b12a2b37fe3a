"""Collections: the texts to be damaged, with their tasks, questions, references and so on; reads them from tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...base.errors import DiscernmentError
from ...base.table import Table
from ...base.untrusted_json import parse_json, unexpected
from ...base.untrusted_text import few_names, in_one_line
from ...suite.questions import language_of
from ...tables.formats import table_rows
from ..evaluators.evaluator import Item
from ..words import length_table
from .damage.text_reading import LANGUAGES
from .damage.text_reading import read as reading
from .kinds import task_named, unknown

MIN_ITEMS = 10
"""The smallest number of items with which a cell is defined."""

_TASKS_WITH_QUESTIONS = ("qa", "answers")
_TASKS_WITH_SOURCES = ("summarization", "story", "qa", "translation")
_SHORTEST_TEXT = 20
"""The length from which a value of another column may be a text, in code points."""


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

    def lengths(self) -> Table:
        """The lengths of the texts, by task; words of texts that are all Japanese are their characters."""
        texts = {task: [item.text for item in self.items if item.task == task] for task in self.tasks}
        return length_table(texts, "nltk" if any(item.language != "ja" for item in self.items) else "characters")

    def check_size(self) -> None:
        """Raises DiscernmentError if the test has too few items."""
        if len(self) < MIN_ITEMS:
            where = f"{self.name}: " if self.name else ""
            raise DiscernmentError(f"{where}{len(self)} items, expected at least {MIN_ITEMS}")


def _checked(items: Iterable[Item]) -> Iterable[CollectionItem]:
    seen: dict[str, str] = {}
    for number, item in enumerate(items, start=1):
        where = f"item {number}" if not item.id else f"item {in_one_line(item.id, 60)}"
        yield _checked_item(item, where, seen)


def _checked_item(item: Item, where: str, seen: dict[str, str]) -> CollectionItem:
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
"""The keys of an item, which are the columns of a table."""

Row = Mapping[str, Any]
"""The values of an item by key."""

_MAX_NAME = 200
_MAX_ITEMS = 1_000_000
_MAX_CODE_POINTS = 1 << 30


def read_collection(
    path: str | Path,
    *,
    task: str | None = None,
    language: str | None = None,
    columns: Mapping[str, str] = {},
    longer_than: int = 0,
) -> Collection:
    """Reads the items of a table, one in each row.

    Texts of a CSV or TSV file are kept unchanged, and an empty cell is a missing value. `references` is a JSON list of
    texts or one text, and `perturbed` is a JSON object. If `text` is a list of texts, the text with the most sentences
    is damaged, and the others are references. Other columns are ignored. In a table without a column of IDs, the number
    of a row is its ID. There, and if columns are named, a row that repeats a text with its question and context is left
    out.

    Args:
        path: The table, in any format of `tables`; `-` for JSON lines on stdin.
        task: The task of items without a task.
        language: The language of items without a language; None to find it from the text.
        columns: By key of an item, such as `context` or `perturbed.char_typo/minor`, the name of its column.
        longer_than: Items whose texts have at most this many code points are left out.

    Raises:
        DiscernmentError: An item breaks the rules, or the column `text` seems to be the source; the message names the
            line.
        TrialsError: The file cannot be read or is not a table.
    """
    seen: dict[str, str] = {}
    items: dict[object, CollectionItem] = {}
    n_rows = size = 0
    is_numbered = False
    for n_rows, (where, own) in enumerate(table_rows(path), start=1):
        row = _by_key(own, columns, where)
        is_numbered = "id" not in row and (is_numbered or n_rows == 1)
        item = _item({**row, "id": n_rows} if is_numbered else row, where, task, language)
        key = (item.text, item.question, item.context) if is_numbered or columns else n_rows
        if len(item.text) <= longer_than or key in items:
            continue
        item = _checked_item(item, where, seen)
        if "text" not in columns:
            _check_source(item, row, where)
        texts = (item.text, item.context or "", item.alternative or "", *item.references, *item.perturbed.values())
        size += sum(map(len, texts))
        if len(items) >= _MAX_ITEMS or size > _MAX_CODE_POINTS:
            raise DiscernmentError(
                f"{path}: more than {_MAX_ITEMS:,} items or {_MAX_CODE_POINTS:,} characters, which is the limit"
            )
        items[key] = item
    if not items:
        longer = f" with a text of more than {longer_than:,} characters" if longer_than else ""
        raise DiscernmentError(f"{path}: no items; expected one in each row{longer}")
    out = f"Of {n_rows:,} rows, {n_rows - len(items):,} are left out: repeated texts, or texts that are too short."
    return Collection(tuple(items.values()), str(path), (out,) if len(items) < n_rows else ())


def _by_key(row: Row, columns: Mapping[str, str], where: str) -> Row:
    """The row by the keys of an item; a column that is named for a key is not read under its own name."""
    for key, column in columns.items():
        if column not in row:
            raise DiscernmentError(
                f"{where}: no column {in_one_line(repr(column), 60)} for {key}; the columns are {_listed(row)}"
            )
    own = {name: value for name, value in row.items() if name not in {*columns, *columns.values()}}
    own |= {key: row[column] for key, column in columns.items() if "." not in key}
    ready = {key.partition(".")[2]: row[column] for key, column in columns.items() if "." in key}
    return {**own, "perturbed": ready} if ready else own


def _check_source(item: CollectionItem, row: Row, where: str) -> None:
    """Raises DiscernmentError if the text seems to be the source of a shorter text in another column."""
    if item.task not in _TASKS_WITH_SOURCES or item.context is not None:
        return
    names = []
    for name in [name for name in row if name == "references" or name not in KEYS]:
        texts = row[name] if isinstance(row[name], list | tuple) else [row[name]]
        n_code_points = max((len(text) for text in texts if isinstance(text, str)), default=0)
        if _SHORTEST_TEXT <= n_code_points * (1 + (name == "references")) < len(item.text):
            names.append(in_one_line(name, 60))
    if names:
        raise DiscernmentError(
            f"{where}: the column 'text' may be the source of {few_names(names, 3)}, because there is no context; "
            f"expected --column context=text --column text={names[0]}, or --column text=text to damage 'text'"
        )


def _listed(row: Row) -> str:
    return ", ".join(in_one_line(repr(name), 60) for name in list(row)[:20]) or "none"


def _item(row: Row, where: str, task: str | None = None, language: str | None = None) -> CollectionItem:
    """The item of a row; only the types of its values are checked."""
    for key in ("id", "text"):
        if row.get(key) is None:
            raise DiscernmentError(f"{where}: no {key} in column {key!r}; its columns are {_listed(row)}")
    name = row["id"]
    if isinstance(name, int) and not isinstance(name, bool) and abs(name) < 1 << 64:
        name = str(name)  # formats read `1` as different types
    others: tuple[str, ...] = ()
    if isinstance(row["text"], list | tuple) and (texts := _references(row["text"], where, "text")):
        text = max(texts, key=lambda text: len(reading(text, language or language_of(text)).sentences))
        row, others = {**row, "text": text}, tuple(other for other in texts if other != text)
    keys = ("text", "task", "language", "question", "context", "alternative")
    values = {key: _text(row.get(key), where, key) for key in keys}
    task = values["task"] or task
    if task is None:
        raise DiscernmentError(f"{where}: no task in column 'task'; expected a task, or one for all items (--task)")
    return CollectionItem(
        _text(name, where, "id") or "",
        values["text"] or "",
        task,
        values["language"] or language,
        values["question"],
        values["context"],
        (*others, *_references(row.get("references"), where)),
        values["alternative"],
        _perturbed(row.get("perturbed"), where),
    )


def _text(value: Any, where: str, column: str) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    raise _unexpected("a text", value, where, column)


def _references(value: Any, where: str, column: str = "references") -> tuple[str, ...]:
    if isinstance(value, str) and value.startswith('["'):
        value = parse_json(value, f"{where}, column 'references'", error=DiscernmentError)
    if isinstance(value, str) or value is None:
        return (value,) if value else ()
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise _unexpected("a list of texts", value, where, column)
    return tuple(text for text in value if text)


def _perturbed(value: Any, where: str) -> dict[str, str]:
    """Damaged texts by the names of their perturbations, each of which is a kind, or a kind, a slash and a degree."""
    if isinstance(value, str) and value:
        value = parse_json(value, f"{where}, column 'perturbed'", error=DiscernmentError)
    if not value:
        return {}
    if not isinstance(value, dict):
        raise _unexpected("an object of texts by the name of their perturbation", value, where, "perturbed")
    for name in value:
        parts = name.split("/")
        if len(parts) > 2 or not all(part and part == part.strip() for part in parts) or len(name) > _MAX_NAME:
            raise DiscernmentError(
                f"{where}: the name of a perturbation is kind/degree, such as char_delete/minor, not "
                f"{in_one_line(repr(name), 60)}"
            )
    texts = ((name, _text(text, where, f"perturbed.{name}")) for name, text in value.items())
    return {name: text for name, text in texts if text is not None}


def _unexpected(expected: str, value: Any, where: str, column: str) -> DiscernmentError:
    return DiscernmentError(f"{where}, column {in_one_line(repr(column), 260)}: {unexpected(expected, value)}")

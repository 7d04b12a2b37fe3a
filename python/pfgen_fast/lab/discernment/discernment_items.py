"""Collections: the texts to be damaged, with their tasks, questions, references and so on.

`item_files.read_collection` makes a collection from a file, and `originals` from a run or a suite.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line
from ..evaluators.evaluator import Item, language_of
from .damage.text_reading import LANGUAGES
from .names import task_named, unknown

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

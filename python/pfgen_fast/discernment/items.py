"""Collections: the texts that are damaged, with what belongs to each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..evaluators.evaluator import Item


@dataclass(frozen=True)
class CollectionItem(Item):
    """A text to be damaged, with what belongs to it.

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
        name: Where they come from, in a few words.
        notes: What a reader of the results must know about them, one sentence each.
    """

    items: tuple[CollectionItem, ...]
    name: str = ""
    notes: tuple[str, ...] = ()

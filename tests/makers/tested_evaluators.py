"""Small collections, and evaluators that are functions of a text, for tests of discernment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pfgen_fast._core import TextColumn
from pfgen_fast.discernment import Collection, CollectionItem, Perturbation, Plan, discern
from pfgen_fast.discernment.plan import perturbations_named
from pfgen_fast.evaluators import Item, Metric

_SUBJECTS = ("Ice", "Snow", "Oak", "Cork", "Iron", "Sand", "Milk", "Rain", "Salt", "Glass", "Wax", "Coal")


def some_items(n: int = 12, *, task: str = "headlines", n_sentences: int = 3) -> list[CollectionItem]:
    """Items whose texts differ in their words and lengths."""
    return [
        CollectionItem(
            f"item {number}",
            " ".join(
                f"{_SUBJECTS[(number + place) % len(_SUBJECTS)]} does not float in the {place + number}th cold lake."
                for place in range(n_sentences)
            ),
            task,
            "en",
        )
        for number in range(n)
    ]


def a_collection(n: int = 12, *, task: str = "headlines", n_sentences: int = 3) -> Collection:
    return Collection.of(some_items(n, task=task, n_sentences=n_sentences), name="some texts")


def a_plan(*names: str) -> Plan:
    """A plan of perturbations such as `char_delete/30`; a kind alone stands for all its usual degrees."""
    return Plan(tuple(each for name in names for each in perturbations_named(name)))


def given(name: str, level: str = "word") -> Perturbation:
    """A perturbation whose texts come with the items."""
    kind, _, degree = name.partition("/")
    return Perturbation(kind, degree, level=level, method="given")


def length(item: Item, text: str) -> float:
    return float(len(text))


def letters(item: Item, text: str) -> float:
    """How many letters there are, which is not changed by other white space."""
    return float(sum(character.isalpha() for character in text))


def similarity(item: Item, text: str) -> float:
    """The share of the original's characters that stand where they stood."""
    return sum(own == other for own, other in zip(item.text, text, strict=False)) / len(item.text)


@dataclass
class ByText:
    """An evaluator whose metrics are functions of item and text."""

    functions: Mapping[str, Callable[[Item, str], float]]
    name: str = "by text"
    metrics: Sequence[Metric] = ()
    is_deterministic: bool = True
    calls: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.metrics = self.metrics or tuple(Metric(name) for name in self.functions)

    @property
    def signature(self) -> str:
        return f"by text:{sorted(self.functions)}"

    def score(self, items: Sequence[Item], texts: TextColumn) -> dict[str, np.ndarray]:
        self.calls.append(len(texts))
        return {
            name: np.array(
                [np.nan if text is None else of(item, text) for item, text in zip(items, texts.tolist(), strict=True)]
            )
            for name, of in self.functions.items()
        }


def rows(columns):
    """The rows of a table as dictionaries."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def one(columns, **wanted):
    """The one row with these values."""
    (found,) = (row for row in rows(columns) if all(row[name] == value for name, value in wanted.items()))
    return found


def discerned(evaluator=None, items=None, plan=None, **options):
    evaluator = evaluator or ByText({"similarity": similarity})
    items = a_collection() if items is None else items
    return discern(evaluator, items, plan or a_plan("char_delete"), **{"draws": 0, **options})

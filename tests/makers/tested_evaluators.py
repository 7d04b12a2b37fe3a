"""Small collections, evaluators that are functions of a text, and a language model that damages texts by itself."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from pfgen_fast import DiscernmentError
from pfgen_fast._core import TextColumn
from pfgen_fast.lab.discernment.discern import discern
from pfgen_fast.lab.discernment.discernment_items import Collection, CollectionItem
from pfgen_fast.lab.discernment.discernment_plan import Plan, perturbations_named
from pfgen_fast.lab.discernment.kinds import Perturbation
from pfgen_fast.lab.discernment.model_damage import MADE
from pfgen_fast.lab.evaluators.evaluator import Item, Metric

_SUBJECTS = ("Ice", "Snow", "Oak", "Cork", "Iron", "Sand", "Milk", "Rain", "Salt", "Glass", "Wax", "Coal")


def some_items(n: int = 12) -> list[CollectionItem]:
    """Items whose texts differ in their words and lengths."""
    texts = (
        " ".join(f"{_SUBJECTS[(number + at) % 12]} does not float in the {at + number}th cold lake." for at in range(3))
        for number in range(n)
    )
    return [CollectionItem(f"item {number}", text, "headlines", "en") for number, text in enumerate(texts)]


def a_collection(n: int = 12) -> Collection:
    return Collection.of(some_items(n), name="some texts")


def a_plan(*names: str) -> Plan:
    """A plan of perturbations such as `char_delete/30`; a kind alone stands for all its usual degrees."""
    return Plan(tuple(item for name in names for item in perturbations_named(name)))


def given_texts(name: str, level: str = "word") -> Perturbation:
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
    calls: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.metrics = self.metrics or tuple(Metric(name) for name in self.functions)

    @property
    def signature(self) -> str:
        return f"by text:{sorted(self.functions)}"

    def score(self, items: Sequence[Item], texts: TextColumn) -> dict[str, np.ndarray]:
        self.calls.append(len(texts))
        pairs = list(zip(items, texts.tolist(), strict=True))
        return {
            name: np.array([np.nan if text is None else function(item, text) for item, text in pairs])
            for name, function in self.functions.items()
        }


def column(rows, name):
    """The values of a column of a table."""
    return [row[name] for row in rows]


def row_with(rows, **wanted):
    """The one row with these values."""
    (result,) = (row for row in rows if all(row[name] == value for name, value in wanted.items()))
    return result


def discerned(evaluator=None, items=None, plan=None, **options):
    evaluator = evaluator or ByText({"similarity": similarity})
    items = a_collection() if items is None else items
    return discern(evaluator, items, plan or a_plan("char_delete"), **options)


def problem(function, *arguments, **options):
    """What the error of a call says."""
    with pytest.raises(DiscernmentError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def text_in(prompt: str) -> str:
    """The text that a prompt of ours asks to change."""
    match = re.search(r"(?:\[Text\]|［文章］)\n(.*)\n(?:\[End of the text\]|［文章の終わり］)", prompt, re.DOTALL)
    assert match is not None
    return match[1]


def damaged(prompt: str, seed: int) -> str:
    """A usable reply: the text with four letters more."""
    digest = hashlib.sha1(f"{prompt}\0{seed}".encode()).hexdigest()
    return f"{text_in(prompt)}{digest[:4]}"


def moody_damaged(prompt: str, seed: int) -> str:
    """As `damaged`, but some are wrapped up, and most replies are not usable."""
    digest = hashlib.sha1(f"{seed}\0{prompt}".encode()).digest()
    text = damaged(prompt, seed)
    replies = (text, f'Changed text: "{text}"', text_in(prompt), "Sorry, no.", "x" * 9999)
    return replies[digest[0] % len(replies)]


EVERY: list[Perturbation] = list(MADE.values())
MINOR, PARAPHRASE = MADE["grammar_error/minor"], MADE["paraphrase"]

"""The damaged texts of a collection, one kind of damage after the other, so that only one kind's texts are in memory.

Where the texts come from (rules, a language model, the items themselves) makes no difference to what follows.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..evaluators.evaluator import Item, text_column
from ..evaluators.table import ORIGINAL
from ..native import _core
from .analysers import Analyser
from .items import Collection, CollectionItem
from .kinds import ALIASES, KINDS, Impossible
from .perturbing import Donors, Perturbed, perturbed_columns
from .plan import Perturbation, Plan

if TYPE_CHECKING:
    from collections.abc import Iterable


class Column(Protocol):
    """The texts of one perturbation; `edit_share` is there too if a model made them."""

    @property
    def texts(self) -> _core.TextColumn:
        """A text for each item; null where the perturbation is impossible."""

    @property
    def impossible(self) -> NDArray[np.uint8]:
        """By item, why it is impossible, a value of `Impossible`; 0 where it is possible."""


Maker = Callable[[Sequence[CollectionItem], Sequence[Perturbation]], Sequence[Column]]
"""Makes the texts of kinds for which a language model is asked: one column for each perturbation."""

REASONS = {
    Impossible.NO_SITE: "nothing to damage",
    Impossible.TOO_FEW_SITES: "too little to damage",
    Impossible.NO_CANDIDATE: "nothing to put there",
    Impossible.UNCHANGED: "the text would be the same",
    Impossible.NOTHING_LEFT: "nothing would be left",
}
"""Why a text cannot be damaged, in words."""


@dataclass(frozen=True, eq=False)
class Damaged:
    """The texts of one perturbation."""

    perturbation: Perturbation
    texts: _core.TextColumn  # A text for each item; null where the perturbation is impossible
    impossible: NDArray[np.uint8]  # by item, why it is impossible, a value of `Impossible`; 0 where it is possible
    # by item, whether the text differs from that of the degree below (for the lowest degree: from the original); False
    # where impossible
    differs_from_lower: NDArray[np.bool_]
    # median edit distance in characters as a share of the original's length; None unless a model made the texts
    edit_share: float | None = None

    @property
    def reason(self) -> str | None:
        """The most common reason, in words, why the perturbation is impossible; None if it is possible for all."""
        counts = np.bincount(self.impossible, minlength=max(Impossible) + 1)[1:]
        if not counts.any():
            return None
        code = Impossible(int(np.argmax(counts)) + 1)
        if code is Impossible.NO_CANDIDATE and self.perturbation.method != "rule":
            return "no usable reply" if self.perturbation.method == "model" else "no text given"
        return REASONS[code]


class Damage:
    """Damages the texts of a collection as a plan says."""

    def __init__(
        self,
        collection: Collection,
        plan: Plan,
        *,
        seed: int = 0,
        donors: Iterable[str] | None = None,
        maker: Maker | None = None,
        threads: int | None = None,
        analyser: Analyser | None = None,
    ) -> None:
        if analyser is not None:
            plan = replace(plan, analyser=analyser.signature)
        self.collection, self.plan, self.seed, self._analyser = collection, plan, seed, analyser
        self.maker, self._threads = maker, threads
        self._column = text_column([item.text for item in collection.items])
        self._donors = self._checked_donors(donors)
        self._has_pool = donors is not None
        asked = [each.name for each in plan.perturbations if each.method == "model"]
        if asked and maker is None:
            raise DiscernmentError(
                f"{asked[0]}: its texts are made by a language model, and none is there to be asked; "
                "expected a plan of rules only, or a model"
            )

    def is_from_outside(self, perturbation: Perturbation) -> bool:
        """Whether the texts of a perturbation do not follow from the items, the plan and the seed."""
        return perturbation.method == "model" or (self._has_pool and _takes_from_others(perturbation))

    def __iter__(self) -> Iterator[list[Damaged]]:
        """The texts, a list for each kind with all its degrees, in the order of the plan."""
        for _, degrees in itertools.groupby(self.plan.perturbations, key=lambda each: each.kind):
            yield self._of_kind(tuple(degrees))

    def _of_kind(self, degrees: Sequence[Perturbation]) -> list[Damaged]:
        found, lower = [], self._column
        for _, group in itertools.groupby(degrees, key=lambda each: each.method):
            perturbations = tuple(group)
            for perturbation, column in zip(perturbations, self._columns(perturbations), strict=True):
                differs = column.texts.differs_from(lower)
                edit_share = getattr(column, "edit_share", None)
                found.append(Damaged(perturbation, column.texts, column.impossible, differs, edit_share))
                lower = column.texts
        return found

    def _columns(self, degrees: Sequence[Perturbation]) -> Sequence[Column]:
        method = degrees[0].method
        if method == "given":
            return [self._given(each.name) for each in degrees]
        if method == "model":
            assert self.maker is not None
            return self.maker(self.collection.items, degrees)
        kind = ALIASES.get(degrees[0].kind, degrees[0].kind)
        items = self.collection.items
        needs = KINDS[kind].needs
        return perturbed_columns(
            self._column,
            kind,
            degrees,
            seed=self.seed,
            languages=[item.language for item in items],
            donors=self._donors if needs == "donors" else None,
            alternatives=[item.alternative for item in items] if needs == "alternative" else None,
            threads=self._threads,
            analyser=self._analyser,
        )

    def _given(self, name: str) -> Perturbed:
        texts: list[str | None] = []
        reasons = np.zeros(len(self._column), dtype=np.uint8)
        for row, item in enumerate(self.collection.items):
            text = item.perturbed.get(name)
            reasons[row] = _refusal(text, item.text)
            texts.append(None if reasons[row] else text)
        return Perturbed(text_column(texts), reasons)

    def _checked_donors(self, pool: Iterable[str] | None) -> Donors | None:
        if not any(_takes_from_others(each) for each in self.plan.perturbations):
            return None
        if pool is not None:
            return Donors.pool(list(pool))
        return Donors(self._column, [item.question for item in self.collection.items])


class PerturbedText(NamedTuple):
    """A text of a test."""

    item: str  # ID of the item
    perturbation: str  # name of the perturbation; `original` for the undamaged text
    text: str


def texts_of(damage: Damage) -> Iterator[PerturbedText]:
    """All texts of a test, to be scored elsewhere: the originals first, and no text where there can be none."""
    items = damage.collection.items
    for item in items:
        yield PerturbedText(item.id, ORIGINAL, item.text)
    for kind in damage:
        for damaged in kind:
            for item, text in zip(items, damaged.texts.tolist(), strict=True):
                if text is not None:
                    yield PerturbedText(item.id, damaged.perturbation.name, text)


def all_texts(
    damage: Damage, stand_ins: Sequence[_core.TextColumn] | None = None
) -> tuple[list[Item], _core.TextColumn]:
    """All texts of a test in one column: the originals, then each perturbation of all items."""
    if stand_ins is not None:
        damage = copy.copy(damage)
        damage.maker = _StandIns(stand_ins)
    items = damage.collection.items
    columns = [text_column([item.text for item in items])]
    columns += [damaged.texts for kind in damage for damaged in kind]
    return list[Item](items) * len(columns), _core.TextColumn.joined("texts", columns)


class _StandIns:
    def __init__(self, columns: Sequence[_core.TextColumn]) -> None:
        self._columns = iter(columns)

    def __call__(self, items: Sequence[Item], perturbations: Sequence[Perturbation]) -> list[Column]:
        nothing = np.zeros(len(items), dtype=np.uint8)
        return [Perturbed(column, nothing) for column in itertools.islice(self._columns, len(perturbations))]


def _refusal(text: str | None, original: str) -> int:
    if text is None:
        return Impossible.NO_CANDIDATE
    if not text.strip():
        return Impossible.NOTHING_LEFT
    return Impossible.UNCHANGED if text == original else 0


def _takes_from_others(perturbation: Perturbation) -> bool:
    kind = KINDS.get(ALIASES.get(perturbation.kind, perturbation.kind))
    return perturbation.method == "rule" and kind is not None and kind.needs == "donors"


def groups_of(items: Sequence[Item]) -> list[int]:
    """A number for each item: items with the same question have the same; an item without a question has its own."""
    numbers: dict[tuple[str, str], int] = {}
    keys = (("question", item.question) if item.question is not None else ("item", item.id) for item in items)
    return [numbers.setdefault(key, len(numbers)) for key in keys]

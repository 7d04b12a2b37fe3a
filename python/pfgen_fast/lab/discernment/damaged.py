"""The damaged texts of a collection, kind by kind, so that only the texts of one kind are in memory.

The texts come from rules, from a language model, or with the items; later steps treat them alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...base.errors import DiscernmentError
from ...base.native import _core
from ..evaluators.evaluator import Item, text_column
from ..evaluators.table_evaluator import ORIGINAL
from .analysers import Analyser, open_analyser
from .damage.donors import Donors
from .discernment_items import Collection
from .discernment_plan import Perturbation, Plan, usual_plan
from .item_files import Row, collection_of
from .kinds import KINDS, Impossible
from .perturbing import Perturbed, listed, perturbed_columns

if TYPE_CHECKING:
    from .model_damage import DamageModel

REASONS: Mapping[Impossible, str] = {
    Impossible.NO_SITE: "nothing to damage",
    Impossible.TOO_FEW_SITES: "too little to damage",
    Impossible.NO_CANDIDATE: "nothing to put there",
    Impossible.UNCHANGED: "the text would be the same",
    Impossible.NOTHING_LEFT: "nothing would be left",
}
"""The reasons why a text cannot be damaged, as phrases."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Damaged(Perturbed):
    """The texts of one perturbation of a plan."""

    perturbation: Perturbation
    # by item, whether the text differs from that of the degree below (for the lowest degree: from the original); False
    # where impossible
    differs_from_lower: NDArray[np.bool_]

    @property
    def reason(self) -> str | None:
        """The most common reason why the perturbation is impossible; None if it is possible for all items."""
        counts = np.bincount(self.impossible, minlength=max(Impossible) + 1)[1:]
        if not counts.any():
            return None
        code = Impossible(int(np.argmax(counts)) + 1)
        if code is Impossible.NO_CANDIDATE and self.perturbation.method != "rule":
            return "no usable reply" if self.perturbation.method == "model" else "no text given"
        return REASONS[code]


class Damage:
    """The damaged texts that `discern` has scored; the arguments are the same."""

    def __init__(
        self,
        items: Collection | Iterable[Item | Row],
        plan: Plan | None = None,
        *,
        seed: int = 0,
        language: str | None = None,
        donors: Iterable[str] | None = None,
        maker: DamageModel | None = None,
        analyser: Analyser | str | None = None,
    ) -> None:
        self.collection = collection_of(items, language)
        plan = usual_plan(self.collection.items) if plan is None else plan
        self._analyser = open_analyser(analyser)
        self.plan = plan if self._analyser is None else replace(plan, analyser=self._analyser.signature)
        self.seed, self.maker = seed, maker
        self.originals = text_column([item.text for item in self.collection.items])
        self._has_pool = donors is not None
        questions = [item.question for item in self.collection.items]
        sources = self.originals if donors is None else list(donors)
        self._donors = Donors(listed(sources, "donors"), questions if donors is None else None)
        asked = [change.name for change in plan.perturbations if change.method == "model"]
        if asked and maker is None:
            raise DiscernmentError(
                f"{asked[0]}: a language model makes its texts; expected a model, or a plan without such kinds"
            )

    def is_from_outside(self, perturbation: Perturbation) -> bool:
        """Whether the texts of a perturbation depend on more than items, plan and seed."""
        if perturbation.method == "rule":
            return self._has_pool and KINDS[perturbation.rule].needs == "donors"
        return perturbation.method == "model"

    def __iter__(self) -> Iterator[list[Damaged]]:
        """Yields a list for each kind, with the texts of all its degrees, in the order of the plan."""
        for _, degrees in itertools.groupby(self.plan.perturbations, key=lambda change: change.kind):
            yield list(self._of_kind(degrees))

    def _of_kind(self, degrees: Iterable[Perturbation]) -> Iterator[Damaged]:
        lower = self.originals
        for method, group in itertools.groupby(degrees, key=lambda change: change.method):
            perturbations = tuple(group)
            for perturbation, column in zip(perturbations, self._columns(method, perturbations), strict=True):
                yield Damaged(
                    texts=column.texts,
                    impossible=column.impossible,
                    edit_share=column.edit_share,
                    perturbation=perturbation,
                    differs_from_lower=column.texts.differs_from(lower),
                )
                lower = column.texts

    def _columns(self, method: str, degrees: Sequence[Perturbation]) -> Sequence[Perturbed]:
        items = self.collection.items
        if method == "given":
            return [self._given(change.name) for change in degrees]
        if method == "model":
            assert self.maker is not None
            return self.maker(items, degrees)
        needs_alternatives = KINDS[degrees[0].rule].needs == "alternative"
        return perturbed_columns(
            self.originals,
            degrees[0].rule,
            degrees,
            seed=self.seed,
            languages=[item.language for item in items],
            donors=self._donors,
            alternatives=[item.alternative for item in items] if needs_alternatives else None,
            analyser=self._analyser,
        )

    def _given(self, name: str) -> Perturbed:
        pairs = [(item.perturbed.get(name), item.text) for item in self.collection.items]
        impossible = np.array([_refusal(text, original) for text, original in pairs], dtype=np.uint8)
        texts = [None if code else text for (text, _), code in zip(pairs, impossible, strict=True)]
        return Perturbed(text_column(texts), impossible)


def _refusal(text: str | None, original: str) -> int:
    if text is None:
        return Impossible.NO_CANDIDATE
    if not text.strip():
        return Impossible.NOTHING_LEFT
    return Impossible.UNCHANGED if text == original else 0


def texts_of(damage: Damage) -> Iterator[tuple[str, str, str]]:
    """Yields item, perturbation and text of all texts of a test: the originals, then all damaged texts."""
    items = damage.collection.items
    for item in items:
        yield item.id, ORIGINAL, item.text
    for damaged in itertools.chain.from_iterable(damage):
        for item, text in zip(items, damaged.texts.tolist(), strict=True):
            if text is not None:
                yield item.id, damaged.perturbation.name, text


def all_texts(damage: Damage) -> tuple[list[Item], _core.TextColumn]:
    """All texts of a test in one column: the originals, then each perturbation of all items."""
    columns = [damage.originals, *(damaged.texts for kind in damage for damaged in kind)]
    return list[Item](damage.collection.items) * len(columns), _core.TextColumn.joined("texts", columns)

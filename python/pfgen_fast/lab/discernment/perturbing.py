"""Damages texts, kind by kind, so that only the texts of one kind are in memory.

The texts come from rules (`damage`), from a language model, or with the items; later steps treat them alike. A text
that a rule makes depends only on kind, degree, text, seed and donors.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import DiscernmentError
from ...base.native import _core, worded
from ...suite.questions import language_of
from ..evaluators.evaluator import Item, text_column
from ..evaluators.table_evaluator import ORIGINAL
from .damage import damaged_texts
from .damage.sites import Donors
from .damage.text_reading import LANGUAGES
from .discernment_items import Collection
from .discernment_plan import Plan, amount_of, kind_named, usual_plan
from .kinds import KINDS, Impossible, Perturbation


@dataclass(frozen=True, eq=False)
class Perturbed:
    """The texts of one perturbation."""

    texts: _core.TextColumn  # a text for each original; null if the perturbation is impossible
    impossible: NDArray[np.uint8]  # reason why it is impossible, a value of `Impossible`; 0 if it is possible


Maker = Callable[[Sequence[Item], Sequence[Perturbation]], Sequence[Perturbed]]
"""Makes the texts of perturbations by a model, such as a `DamageModel`."""


def perturb(
    texts: Any,
    kind: str,
    *,
    permille: int | None = None,
    k: int | None = None,
    seed: int = 0,
    language: str | Sequence[str | None] | None = None,
    questions: Sequence[str | None] | None = None,
    donors: Sequence[str] | None = None,
    alternatives: Sequence[str | None] | None = None,
) -> list[str | None]:
    """Damages texts.

    Args:
        texts: The texts.
        kind: The kind of damage, a key of `KINDS` or `ALIASES`.
        permille: The share of a text's sites to damage, 1 to 1,000 per mille.
        k: The number of sites to damage, instead of a share; 1 or more.
        seed: The seed of the random choices.
        language: `ja` or `en`: one for all texts or one for each text. By default, and for None, Japanese if the text
            has hiragana, katakana or kanji.
        questions: The question of each text. A text takes no parts from texts with the same question; without
            questions, it takes no parts from itself.
        donors: Texts to take parts from, instead of the texts with other questions.
        alternatives: The wrong ending of each text, for `wrong_ending`.

    Returns:
        The damaged texts; None if the damage is impossible.

    Raises:
        DiscernmentError: A kind or degree is unknown, or the lengths differ.
        TrialsError: An entry is not a text.

    Example:
        >>> perturb(["Water is wet. Ice floats on it.", "Ice."], "word_delete", permille=200)
        ['Water is wet. Ice floats it.', None]
    """
    originals = listed(texts, "texts")
    n = len(originals)
    languages = [language] * n if language is None or isinstance(language, str) else language
    others = [None] * n if alternatives is None else listed(alternatives, "alternatives", nulls_allowed=True)
    groups = [None] * n if questions is None else questions
    for name, column in (("languages", languages), ("alternatives", others), ("questions", groups)):
        if len(column) != n:
            raise DiscernmentError(f"{name}: {len(column)} entries for {n} texts; expected one for each")
    for unknown_language in set(languages) - {None, *LANGUAGES}:
        raise DiscernmentError(f"unknown language {unknown_language!r}; expected 'ja' or 'en'")
    needs_donors = donors is None and kind_named(kind).needs == "donors"
    pool = Donors(originals, groups) if needs_donors else Donors(listed(() if donors is None else donors, "donors"))
    (outcome,) = perturbed_columns(
        originals,
        [Perturbation(kind, permille=permille, k=k)],
        seed=seed,
        languages=[known or language_of(text) for known, text in zip(languages, originals, strict=True)],
        donors=pool,
        alternatives=others,
    )
    return outcome.texts.tolist()


def perturbed_columns(
    originals: Sequence[str],
    degrees: Sequence[Perturbation],
    *,
    seed: int,
    languages: Sequence[str],
    donors: Donors,
    alternatives: Sequence[str | None],
) -> list[Perturbed]:
    """Damages texts in several degrees of one kind; if the donors have groups, the texts are the donors."""
    rule = kind_named(degrees[0].rule)
    if rule.method != "rule":
        rules = ", ".join(kind.name for kind in KINDS.values() if kind.method == "rule")
        raise DiscernmentError(
            f"kind {rule.name!r} is made by a language model; expected a kind made by rules: {rules}"
        )
    amounts = []
    for degree in degrees:
        if rule.has_degrees or degree.permille is not None or degree.k is not None:
            amount = amount_of(degree.kind, degree.permille, degree.k)
            degree = replace(degree, k=amount) if degree.permille is None else replace(degree, permille=amount)
        amounts.append(degree)
    options: dict[str, Any] = {"seed": operator.index(seed), "donors": donors}
    rows = zip(originals, languages, donors.groups or [None] * len(originals), alternatives, strict=True)
    outcomes = [
        damaged_texts(text, rule.name, amounts, language=language, group=group, alternative=other, **options)
        for text, language, group, other in rows
    ]
    columns = []
    for column in zip(*outcomes, strict=True) if outcomes else [()] * len(degrees):
        texts = [None if isinstance(outcome, Impossible) else outcome for outcome in column]
        reasons = [outcome if isinstance(outcome, Impossible) else 0 for outcome in column]
        columns.append(Perturbed(text_column(texts), np.array(reasons, dtype=np.uint8)))
    return columns


def listed(texts: Any, name: str, *, nulls_allowed: bool = False) -> list[Any]:
    """The texts of a column, after a check of each entry; `name` is for error messages."""
    with worded():
        return _core.TextColumn(texts, name, nulls_allowed).tolist()


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
    """The damaged texts of a collection, by kind; the arguments are those of `discern`."""

    def __init__(
        self, items: Collection | Iterable[Item], plan: Plan | None = None, *, seed: int = 0, maker: Maker | None = None
    ) -> None:
        self.collection = items if isinstance(items, Collection) else Collection.of(items)
        self.plan = usual_plan(self.collection.items) if plan is None else plan
        self.seed, self.maker = seed, maker
        self.originals = text_column([item.text for item in self.collection.items])
        self._donors = Donors(self.originals.tolist(), [item.question for item in self.collection.items])
        asked = [change.name for change in self.plan.perturbations if change.method == "model"]
        if asked and maker is None:
            raise DiscernmentError(
                f"{asked[0]}: a language model makes its texts; expected a model, or a plan without such kinds"
            )

    def __iter__(self) -> Iterator[list[Damaged]]:
        """Yields a list for each kind, with the texts of all its degrees, in the order of the plan."""
        for _, degrees in itertools.groupby(self.plan.perturbations, key=lambda change: change.kind):
            same_kind: list[Damaged] = []
            for method, group in itertools.groupby(degrees, key=lambda change: change.method):
                perturbations = tuple(group)
                for perturbation, column in zip(perturbations, self._columns(method, perturbations), strict=True):
                    lower = same_kind[-1].texts if same_kind else self.originals
                    differs = column.texts.differs_from(lower)
                    same_kind.append(Damaged(**vars(column), perturbation=perturbation, differs_from_lower=differs))
            yield same_kind

    def _columns(self, method: str, degrees: Sequence[Perturbation]) -> Sequence[Perturbed]:
        items = self.collection.items
        if method == "given":
            return [self._given(change.name) for change in degrees]
        if method == "model":
            assert self.maker is not None
            return self.maker(items, degrees)
        return perturbed_columns(
            [item.text for item in items],
            degrees,
            seed=self.seed,
            languages=[item.language or language_of(item.text) for item in items],
            donors=self._donors,
            alternatives=[item.alternative for item in items],
        )

    def _given(self, name: str) -> Perturbed:
        texts = [item.perturbed.get(name) for item in self.collection.items]
        impossible = np.zeros(len(texts), dtype=np.uint8)
        for row, (text, item) in enumerate(zip(texts, self.collection.items, strict=True)):
            if text is None:
                impossible[row] = Impossible.NO_CANDIDATE
            elif not text.strip() or text == item.text:
                impossible[row] = Impossible.UNCHANGED if text.strip() else Impossible.NOTHING_LEFT
                texts[row] = None
        return Perturbed(text_column(texts), impossible)


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

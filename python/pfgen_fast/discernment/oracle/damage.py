"""What the kinds share: the text with its random choices, the number of sites that a degree takes, and edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ..kinds import Impossible
from . import randomness
from .texts import Analysis, Span, TextReading


class Degree(Protocol):
    """How much is damaged: a share of the sites in per mille, or their number; neither where a kind has no degrees."""

    @property
    def permille(self) -> int | None:
        """The share."""

    @property
    def k(self) -> int | None:
        """The number."""


Damage = Callable[[Degree], "str | Impossible"]
"""Gives the text as damaged by a degree. The choices behind it are made once for all degrees."""


@dataclass(frozen=True)
class Case:
    """A text that a kind damages."""

    kind: str
    reading: TextReading  # text, read in its language
    seed: int  # seed of the random choices
    donors: tuple[str, ...] = ()  # other texts that may be taken from: sorted, each once
    alternative: str | None = None  # wrong ending of a story
    # analysis of a Japanese text, if an analyser finds words and not the rules
    analyse: Callable[[str], Analysis] | None = None

    def generator(self) -> randomness.Generator:
        """A generator in the state of this kind and text."""
        return randomness.Generator(randomness.state(self.kind, self.reading.text, self.seed))

    def choices(self, n_sites: int) -> Choices:
        """The random choices of a kind with this number of sites."""
        return Choices(self.generator(), n_sites)


class Choices:
    """The order in which sites are taken, and a generator for what is done at each."""

    def __init__(self, generator: randomness.Generator, n_sites: int) -> None:
        self.order = generator.shuffled(n_sites)
        self._states = [generator.next() for _ in self.order]

    def at(self, site: int) -> randomness.Generator:
        """A fresh generator for the choice at a site, the same at every degree."""
        return randomness.Generator(self._states[site])


def n_taken(degree: Degree, n_sites: int) -> int:
    """How many of the sites a degree takes; a number of sites is taken as it is, even if there are fewer."""
    if degree.k is not None:
        return degree.k
    if degree.permille is None:
        raise ValueError("the kind has degrees; expected permille or k")
    return max(1, (degree.permille * n_sites + 500) // 1000)


class Edit(NamedTuple):
    """A part of a text, and what takes its place."""

    part: Span
    new: str


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with each part replaced; the parts do not overlap."""
    pieces = []
    end = 0
    for part, new in sorted(edits):
        pieces += [text[end : part.start], new]
        end = part.end
    return "".join([*pieces, text[end:]])


def few_or_none(n_sites: int) -> Impossible:
    """Why a text with this number of sites cannot be damaged if that is too few."""
    return Impossible.TOO_FEW_SITES if n_sites else Impossible.NO_SITE


def damaged_part(n_sites: int, damaged_sites: Callable[[int], str]) -> Damage:
    """Damage to some of the sites and never to all: `damaged_sites` gives the text with so many damaged sites."""

    def damaged(degree: Degree) -> str | Impossible:
        k = n_taken(degree, n_sites)
        return few_or_none(n_sites) if k >= n_sites else damaged_sites(k)

    return damaged


def replaced_sites(case: Case, sites: Sequence[Span], new: Callable[[Span, randomness.Generator], str]) -> Damage:
    """Each site is replaced by what `new` makes of it; a degree that takes more sites than there are takes all."""
    choices = case.choices(len(sites))

    def damaged(degree: Degree) -> str | Impossible:
        if not sites:
            return Impossible.NO_SITE
        taken = choices.order[: n_taken(degree, len(sites))]
        edits = [Edit(sites[i], new(sites[i], choices.at(i))) for i in taken]
        return edited(case.reading.text, edits)

    return damaged


def swapped_neighbours(case: Case, parts: list[Span], sites: list[int]) -> Damage:
    """Parts of the text change places with the next; `sites` are the numbers of those that can."""
    places = list(_apart(sites, case.choices(len(sites)).order))

    def damaged(degree: Degree) -> str | Impossible:
        k = n_taken(degree, len(sites))
        if not sites or (degree.k is not None and k > len(places)):
            return few_or_none(len(sites))
        return edited(case.reading.text, [edit for i in places[:k] for edit in _swap(case.reading, parts, i)])

    return damaged


def _apart(sites: list[int], order: list[int]) -> Iterator[int]:
    """The sites in this order, without sites that overlap one that is swapped already."""
    swapped: set[int] = set()
    for site in order:
        i = sites[site]
        if not swapped & {i, i + 1}:
            swapped |= {i, i + 1}
            yield i


def _swap(reading: TextReading, parts: list[Span], i: int) -> list[Edit]:
    return [Edit(parts[i], reading.of(parts[i + 1])), Edit(parts[i + 1], reading.of(parts[i]))]

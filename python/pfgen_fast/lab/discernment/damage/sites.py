"""Common parts of all kinds: texts with random choices, the number of sites of a degree, and edits.

Random numbers are those of SplitMix64, whose state depends only on the kind, the text and the seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..kinds import Impossible, Perturbation
from .text_reading import Span, TextReading

_BITS = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


Damaging = Callable[[Perturbation], "str | Impossible"]
"""Returns the text with the damage of a degree; the random choices are made once for all degrees."""


class Generator:
    """SplitMix64."""

    def __init__(self, state: int) -> None:
        self.state = state & _BITS

    def next(self) -> int:
        """The next number of 64 bits."""
        self.state = (self.state + _STEP) & _BITS
        return _mixed(self.state)

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return self.next() * n >> 64

    def shuffled(self, n: int) -> list[int]:
        """The numbers 0 to n - 1 in random order."""
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


def _mixed(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _BITS
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _BITS
    return z ^ z >> 31


def _first(state: int) -> int:
    """The first number of a generator in this state."""
    return Generator(state).next()


class Choices:
    """The order in which sites are taken, and a generator for the choice at each site."""

    def __init__(self, generator: Generator, n_sites: int) -> None:
        self.order = generator.shuffled(n_sites)
        self._state = generator.state

    def at(self, site: int) -> Generator:
        """Makes a generator for the choice at a site, the same for every degree."""
        return Generator(_mixed(self._state + (site + 1) * _STEP & _BITS))


@dataclass(frozen=True)
class Case:
    """A text to be damaged by a kind."""

    kind: str
    reading: TextReading  # text, read in its language
    seed: int  # seed of the random choices
    donors: Donors  # texts to take parts from
    group: Hashable = None  # group of the text among those of the donors
    alternative: str | None = None  # wrong ending of a story

    def generator(self) -> Generator:
        """Makes a generator in the state of this kind and text."""
        text = self.reading.text.encode("utf-8", "surrogatepass")
        stream = hashlib.sha256(b"discernment\0" + self.kind.encode() + b"\0" + text).digest()[:8]
        return Generator(_first(_first(int.from_bytes(stream, "big")) ^ self.seed & _BITS))

    def choices(self, n_sites: int) -> Choices:
        """Makes the random choices of a kind with this number of sites."""
        return Choices(self.generator(), n_sites)

    def replaced(self, sites: Sequence[Span], new: Callable[[Span, Generator], str]) -> Damaging:
        """Replaces each taken site by the result of `new`; a degree with more sites than the text has takes all."""
        choices = self.choices(len(sites))

        def damaged(degree: Perturbation) -> str | Impossible:
            if not sites:
                return Impossible.NO_SITE
            taken = choices.order[: n_taken(degree, len(sites))]
            return edited(self.reading.text, [Edit(sites[i], new(sites[i], choices.at(i))) for i in taken])

        return damaged

    def swapped(self, parts: list[Span], sites: list[int]) -> Damaging:
        """Swaps parts of the text with the next part; `sites` are the numbers of the parts that can be swapped."""
        places: list[int] = []  # the sites in random order, without sites that overlap a site before them
        used: set[int] = set()
        for number in self.choices(len(sites)).order:
            site = sites[number]
            if used.isdisjoint((site, site + 1)):
                used |= {site, site + 1}
                places.append(site)

        def damaged(degree: Perturbation) -> str | Impossible:
            k = n_taken(degree, len(sites))
            if not sites or (degree.k is not None and k > len(places)):
                return few_or_none(len(sites))
            pairs = [(parts[i], parts[i + 1]) for i in places[:k]]
            swaps = [*pairs, *((second, first) for first, second in pairs)]
            return edited(self.reading.text, [Edit(part, self.reading.of(other)) for part, other in swaps])

        return damaged


def n_taken(degree: Perturbation, n_sites: int) -> int:
    """The number of sites that a degree takes; an absolute number may exceed the number of sites."""
    if degree.k is not None:
        return degree.k
    assert degree.permille is not None
    return max(1, (degree.permille * n_sites + 500) // 1000)


class Edit(NamedTuple):
    """A part of a text, and its replacement."""

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
    """The reason why a text cannot be damaged: it has too few sites, or no site."""
    return Impossible.TOO_FEW_SITES if n_sites else Impossible.NO_SITE


def damaged_part(n_sites: int, damaged_sites: Callable[[int], str]) -> Damaging:
    """Damages some of the sites, but never all: `damaged_sites` returns the text with this number of damaged sites."""

    def damaged(degree: Perturbation) -> str | Impossible:
        k = n_taken(degree, n_sites)
        return few_or_none(n_sites) if k >= n_sites else damaged_sites(k)

    return damaged


class Candidates:
    """Distinct parts, sorted by code points, without those at some indexes."""

    def __init__(self, parts: Sequence[str], left_out: Iterable[int]) -> None:
        self._parts = parts
        self._left_out = sorted(set(left_out))

    def __len__(self) -> int:
        return len(self._parts) - len(self._left_out)

    def __getitem__(self, number: int) -> str:
        for index in self._left_out:
            if index > number:
                break
            number += 1
        return self._parts[number]


class _Parts:
    """The distinct parts of all donors, sorted, and those that only one group has."""

    def __init__(self, parts_by_group: Iterable[tuple[Hashable, Iterable[str]]]) -> None:
        groups: dict[str, set[Hashable]] = {}
        for group, parts in parts_by_group:
            for part in parts:
                groups.setdefault(part, set()).add(group)
        self.sorted = sorted(groups)
        self.index = {part: i for i, part in enumerate(self.sorted)}
        self.only_in: dict[Hashable, list[int]] = {}
        for i, part in enumerate(self.sorted):
            group, *others = groups[part]
            if not others:
                self.only_in.setdefault(group, []).append(i)


class Donors:
    """Texts whose parts are inserted into other texts.

    With groups, a text takes parts only from texts of other groups, such as answers to other questions. A text without
    a group (None) is its own group. Without groups, every text may take parts from every donor.
    """

    def __init__(self, texts: Sequence[str], groups: Sequence[str | None] | None = None) -> None:
        self.texts = texts
        self.groups: list[Hashable] | None = None
        if groups is not None:
            self.groups = [row if group is None else group for row, group in enumerate(groups)]
        self._parts: dict[Hashable, _Parts] = {}

    def candidates(
        self, key: Hashable, parts_of: Callable[[str], Iterable[str]], group: Hashable, without: Iterable[str]
    ) -> Candidates:
        """The parts that texts of other groups have, without those that a text has itself (`without`).

        `key` names `parts_of`, which returns the parts of a donor and is called once for each.
        """
        if key not in self._parts:
            groups = self.groups or [None] * len(self.texts)
            self._parts[key] = _Parts(zip(groups, map(parts_of, self.texts), strict=True))
        parts = self._parts[key]
        left_out = [] if self.groups is None else parts.only_in.get(group, [])
        return Candidates(parts.sorted, [*left_out, *(parts.index[part] for part in without if part in parts.index)])

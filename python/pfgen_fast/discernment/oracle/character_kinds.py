"""Damage to characters: `char_delete`, `char_typo`, `char_swap`, `char_repeat`, `truncate`, `loop`."""

from __future__ import annotations

from ..kinds import Impossible
from .damage import Case, Damage, Degree, Edit, edited, few_or_none, n_taken, replaced_sites, swapped_neighbours
from .texts import Span, TextReading
from .typing_errors import typing_error

_LOOP = 10
"""How many characters at the end a loop repeats."""


def char_delete(case: Case) -> Damage:
    """Letters and digits are missing."""
    sites = _alphanumeric(case.reading)
    choices = case.choices(len(sites))

    def damaged(degree: Degree) -> str | Impossible:
        k = n_taken(degree, len(sites))
        if len(sites) < 2 or k >= len(sites):
            return few_or_none(len(sites))
        return edited(case.reading.text, [Edit(sites[site], "") for site in choices.order[:k]])

    return damaged


def char_typo(case: Case) -> Damage:
    """Letters and digits have typing errors."""
    sites = _alphanumeric(case.reading)
    choices = case.choices(len(sites))

    def damaged(degree: Degree) -> str | Impossible:
        k = n_taken(degree, len(sites))
        if len(sites) < 2 or k > len(sites):
            return few_or_none(len(sites))
        edits = [Edit(sites[i], typing_error(case.reading.of(sites[i]), choices.at(i))) for i in choices.order[:k]]
        return edited(case.reading.text, edits)

    return damaged


def char_repeat(case: Case) -> Damage:
    """Letters and digits are written twice."""
    return replaced_sites(case, _alphanumeric(case.reading), lambda site, _: case.reading.of(site) * 2)


def char_swap(case: Case) -> Damage:
    """Neighbouring letters and digits have changed places."""
    characters = case.reading.characters
    sites = [i for i in range(len(characters) - 1) if _can_swap(case.reading, characters[i], characters[i + 1])]
    return swapped_neighbours(case, characters, sites)


def truncate(case: Case) -> Damage:
    """The end of the text is missing."""
    reading = case.reading

    def damaged(degree: Degree) -> str | Impossible:
        n = len(reading.characters)
        k = n_taken(degree, n)
        if k >= n:
            return few_or_none(n)
        return reading.text[: reading.characters[n - k].start]

    return damaged


def loop(case: Case) -> Damage:
    """The end of the text repeats itself, as that of a degenerate model does."""
    characters = [case.reading.of(character) for character in case.reading.characters]

    def damaged(degree: Degree) -> str | Impossible:
        if not characters:
            return Impossible.NO_SITE
        k = n_taken(degree, len(characters))
        end = characters[-_LOOP:]
        return case.reading.text + "".join((end * (k // len(end) + 1))[:k])

    return damaged


def _alphanumeric(reading: TextReading) -> list[Span]:
    return [character for character in reading.characters if reading.is_alphanumeric(character)]


def _can_swap(reading: TextReading, one: Span, other: Span) -> bool:
    both = reading.is_alphanumeric(one) and reading.is_alphanumeric(other)
    return both and reading.of(one) != reading.of(other)

"""Damage to characters: `char_...`, `truncate`, `loop`; and controls: `identity`, `newline`, `punctuation`, `width`."""

from __future__ import annotations

import re
import string
from collections.abc import Callable

from ..kinds import Impossible
from .damage import (
    Case,
    Damage,
    Degree,
    Edit,
    damaged_part,
    edited,
    few_or_none,
    n_taken,
    replaced_sites,
    swapped_neighbours,
)
from .texts import Span, TextReading
from .typing_errors import full_width, typing_error

_LOOP = 10
"""The number of characters at the end that a loop repeats."""

_WIDE_PUNCTUATION = {"、": "，", "。": "．"}
_WIDE_LETTERS = {one: full_width(one) for one in string.ascii_letters + string.digits}
_QUOTES = {'"': "“”", "'": "‘’"}
_OPENING_BEHIND = re.compile(r"[\s(\[{]")


def char_delete(case: Case) -> Damage:
    """Deletes letters and digits."""
    sites = _alphanumeric(case.reading)
    order = case.choices(len(sites)).order
    return damaged_part(len(sites), lambda k: edited(case.reading.text, [Edit(sites[i], "") for i in order[:k]]))


def char_typo(case: Case) -> Damage:
    """Makes typing errors at letters and digits."""
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
    """Doubles letters and digits."""
    return replaced_sites(case, _alphanumeric(case.reading), lambda site, _: case.reading.of(site) * 2)


def char_swap(case: Case) -> Damage:
    """Swaps neighbouring letters and digits."""
    characters = case.reading.characters
    sites = [i for i in range(len(characters) - 1) if _can_swap(case.reading, characters[i], characters[i + 1])]
    return swapped_neighbours(case, characters, sites)


def truncate(case: Case) -> Damage:
    """Cuts off the end of the text."""
    text, characters = case.reading.text, case.reading.characters
    return damaged_part(len(characters), lambda k: text[: characters[-k].start])


def loop(case: Case) -> Damage:
    """Repeats the end of the text, like a degenerate model."""
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


def identity(case: Case) -> Damage:
    """Keeps the text."""
    return lambda _: case.reading.text


def newline(case: Case) -> Damage:
    """Adds a line break at the end."""
    return lambda _: case.reading.text + "\n"


def punctuation(case: Case) -> Damage:
    """Replaces signs by signs of the same meaning: commas and periods in Japanese, quotes in English."""
    reading = case.reading

    def curly(place: int) -> str:
        code_point = reading.text[place]
        if code_point not in _QUOTES:
            return code_point
        is_opening = place == 0 or _OPENING_BEHIND.match(reading.seen[place - 1])
        return _QUOTES[code_point][0 if is_opening else 1]

    if reading.language == "en":
        return _exchanged(reading, curly)
    return _exchanged(reading, lambda place: _WIDE_PUNCTUATION.get(reading.text[place], reading.text[place]))


def width(case: Case) -> Damage:
    """Replaces ASCII letters and digits by their full-width forms in Japanese."""
    reading = case.reading
    if reading.language == "en":
        return lambda _: Impossible.NO_SITE
    return _exchanged(reading, lambda place: _WIDE_LETTERS.get(reading.text[place], reading.text[place]))


def _exchanged(reading: TextReading, new: Callable[[int], str]) -> Damage:
    """The text with a new code point at each index; code points that join a character stay."""
    places = range(len(reading.text))
    changed = "".join(new(place) if place in reading.character_at else reading.text[place] for place in places)
    return lambda _: Impossible.NO_SITE if changed == reading.text else changed

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
"""How many characters at the end a loop repeats."""

_WIDE_PUNCTUATION = {"、": "，", "。": "．"}
_WIDE_LETTERS = {one: full_width(one) for one in string.ascii_letters + string.digits}
_QUOTES = {'"': "“”", "'": "‘’"}
_OPENING_BEHIND = re.compile(r"[\s(\[{]")


def char_delete(case: Case) -> Damage:
    """Letters and digits are missing."""
    sites = _alphanumeric(case.reading)
    order = case.choices(len(sites)).order
    return damaged_part(len(sites), lambda k: edited(case.reading.text, [Edit(sites[i], "") for i in order[:k]]))


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
    text, characters = case.reading.text, case.reading.characters
    return damaged_part(len(characters), lambda k: text[: characters[-k].start])


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


def identity(case: Case) -> Damage:
    """The same text."""
    return lambda _: case.reading.text


def newline(case: Case) -> Damage:
    """The text ends with a new line."""
    return lambda _: case.reading.text + "\n"


def punctuation(case: Case) -> Damage:
    """Other signs of the same meaning: commas and periods in Japanese, quotes in English."""
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
    """Letters and digits of ASCII are full width, in Japanese."""
    reading = case.reading
    if reading.language == "en":
        return lambda _: Impossible.NO_SITE
    return _exchanged(reading, lambda place: _WIDE_LETTERS.get(reading.text[place], reading.text[place]))


def _exchanged(reading: TextReading, new: Callable[[int], str]) -> Damage:
    """The text with another code point at each place; those that join a character stay."""
    places = range(len(reading.text))
    changed = "".join(new(place) if place in reading.character_at else reading.text[place] for place in places)
    return lambda _: Impossible.NO_SITE if changed == reading.text else changed

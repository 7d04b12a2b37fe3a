"""Changes that should not matter: `identity`, `newline`, `punctuation`, `width`."""

from __future__ import annotations

import re
import string
from collections.abc import Callable

from ..kinds import Impossible
from .damage import Case, Damage
from .texts import TextReading
from .typing_errors import full_width

_WIDE_PUNCTUATION = {"、": "，", "。": "．"}
_WIDE_LETTERS = {one: full_width(one) for one in string.ascii_letters + string.digits}
_QUOTES = {'"': "“”", "'": "‘’"}
_OPENING_BEHIND = re.compile(r"[\s(\[{]")


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

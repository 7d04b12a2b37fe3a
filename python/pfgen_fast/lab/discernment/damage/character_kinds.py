"""Damage to characters: `char_...`, `truncate`, `loop`; and controls: `identity`, `newline`, `punctuation`, `width`."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from ..kinds import Impossible, Perturbation
from .sites import Case, Damaging, Edit, Generator, damaged_part, edited, few_or_none, n_taken
from .text_reading import TextReading, tables

_LOOP = 10
"""The number of characters at the end that a loop repeats."""
_FULL_WIDTH = 0xFEE0
"""The distance of full-width forms from ASCII."""
_KATAKANA = 0x60
"""The distance of katakana from hiragana."""

_DIGITS = tuple(string.digits)
_WIDE_PUNCTUATION = {"、": "，", "。": "．"}
_WIDE_LETTERS = {character: chr(ord(character) + _FULL_WIDTH) for character in string.ascii_letters + string.digits}
_QUOTES = {'"': "“”", "'": "‘’"}
_OPENING_BEHIND = re.compile(r"[\s(\[{]")


def char_delete(case: Case) -> Damaging:
    """Deletes letters and digits."""
    sites = case.reading.alphanumeric
    order = case.choices(len(sites)).order
    return damaged_part(len(sites), lambda k: edited(case.reading.text, [Edit(sites[i], "") for i in order[:k]]))


def char_typo(case: Case) -> Damaging:
    """Makes typing errors at letters and digits."""
    sites = case.reading.alphanumeric
    damage = case.replaced(sites, lambda site, generator: typing_error(case.reading.of(site), generator))

    def damaged(degree: Perturbation) -> str | Impossible:
        if len(sites) < 2 or n_taken(degree, len(sites)) > len(sites):
            return few_or_none(len(sites))
        return damage(degree)

    return damaged


def char_repeat(case: Case) -> Damaging:
    """Doubles letters and digits."""
    return case.replaced(case.reading.alphanumeric, lambda site, _: case.reading.of(site) * 2)


def char_swap(case: Case) -> Damaging:
    """Swaps neighbouring letters and digits."""
    reading, parts = case.reading, case.reading.alphanumeric
    sites = [
        i
        for i in range(len(parts) - 1)
        if parts[i].end == parts[i + 1].start and reading.of(parts[i]) != reading.of(parts[i + 1])
    ]
    return case.swapped(parts, sites)


def truncate(case: Case) -> Damaging:
    """Cuts off the end of the text."""
    bounds = case.reading.bounds
    return damaged_part(len(bounds) - 1, lambda k: case.reading.text[: bounds[-1 - k]])


def loop(case: Case) -> Damaging:
    """Repeats the end of the text, like a degenerate model."""
    text, bounds = case.reading.text, case.reading.bounds
    n_characters = len(bounds) - 1

    def damaged(degree: Perturbation) -> str | Impossible:
        if not text:
            return Impossible.NO_SITE
        n_loops, rest = divmod(n_taken(degree, n_characters), min(_LOOP, n_characters))
        start = max(0, n_characters - _LOOP)
        return text + text[bounds[start] :] * n_loops + text[bounds[start] : bounds[start + rest]]

    return damaged


def identity(case: Case) -> Damaging:
    """Keeps the text."""
    return lambda _: case.reading.text


def newline(case: Case) -> Damaging:
    """Adds a line break at the end."""
    return lambda _: case.reading.text + "\n"


def punctuation(case: Case) -> Damaging:
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


def width(case: Case) -> Damaging:
    """Replaces ASCII letters and digits by their full-width forms in Japanese."""
    reading = case.reading
    if reading.language == "en":
        return lambda _: Impossible.NO_SITE
    return _exchanged(reading, lambda place: _WIDE_LETTERS.get(reading.text[place], reading.text[place]))


def _exchanged(reading: TextReading, new: Callable[[int], str]) -> Damaging:
    """The text with a new code point at each index; code points that join a character stay."""
    places = range(len(reading.text))
    changed = "".join(reading.text[place] if place in reading.joining else new(place) for place in places)
    return lambda _: Impossible.NO_SITE if changed == reading.text else changed


def typing_error(character: str, generator: Generator) -> str:
    """The text that is typed instead of a character; empty if its key is missed."""
    possible = _possible_errors(character[0])
    return possible[generator.below(len(possible))].typed(character, generator)


def ascii_form(base: str) -> str:
    """The ASCII form of a code point in ASCII or full width; empty for other code points."""
    if "\uff01" <= base <= "\uff5e":
        return chr(ord(base) - _FULL_WIDTH)
    return base if base.isascii() else ""


def in_form_of(base: str, key: str) -> str:
    """A small letter or digit in the case and width of another character."""
    written = key.upper() if base.isupper() else key
    return written if base.isascii() else _WIDE_LETTERS[written]


def _has_letter(base: str) -> bool:
    return ascii_form(base).lower() in tables().keyboard_neighbours


def _has_key(base: str) -> bool:
    return _has_letter(base) or ascii_form(base) in _DIGITS


def _wrong_key(base: str, generator: Generator) -> str:
    key = ascii_form(base).lower()
    if _has_letter(base):
        neighbours = tables().keyboard_neighbours[key]
        return in_form_of(base, neighbours[generator.below(len(neighbours))])
    return in_form_of(base, _DIGITS[(_DIGITS.index(key) + 1 + generator.below(9)) % 10])


def _shift(base: str) -> int:
    return _KATAKANA if "\u30a1" <= base <= "\u30f6" else 0


def _kana(base: str) -> str:
    """The hiragana of a katakana; other code points stay."""
    return chr(ord(base) - _shift(base))


def _other_of_row(base: str, generator: Generator) -> str:
    (row,) = (row for row in tables().kana_rows if _kana(base) in row)
    others = row.replace(_kana(base), "")
    return chr(ord(others[generator.below(len(others))]) + _shift(base))


class _Error(NamedTuple):
    """A typing error: whether it can happen at a base code point, and the text that is typed instead."""

    applies: Callable[[str], bool]
    typed: Callable[[str, Generator], str]


def _confused(partners: Callable[[], Mapping[str, str]]) -> _Error:
    """Confuses a character with its partner in a table."""
    return _Error(
        lambda base: _kana(base) in partners(),
        lambda character, _: chr(ord(partners()[_kana(character[0])]) + _shift(character[0])),
    )


_ERRORS = (
    _Error(_has_key, lambda character, generator: _wrong_key(character[0], generator) + character[1:]),
    _Error(_has_letter, lambda character, generator: _wrong_key(character[0], generator) + character),
    _confused(lambda: tables().voicing),
    _confused(lambda: tables().small_kana),
    _Error(
        lambda base: any(_kana(base) in row for row in tables().kana_rows),
        lambda character, generator: _other_of_row(character[0], generator),
    ),
    _confused(lambda: tables().lookalikes),
    _Error(lambda _: True, lambda character, _: ""),
    _Error(lambda _: True, lambda character, _: character * 2),
)
"""All typing errors, in the order of the rules."""


@cache
def _possible_errors(base: str) -> list[_Error]:
    return [error for error in _ERRORS if error.applies(base)]

"""One typing error at a character: a wrong key, a wrong kana or kanji, a missed key, or a key pressed twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..tables import tables
from .randomness import Generator

_DIGITS = tuple("0123456789")
_FULL_WIDTH = 0xFEE0
"""The distance of full-width forms from ASCII."""
_KATAKANA = 0x60
"""The distance of katakana from hiragana."""


def typing_error(character: str, generator: Generator) -> str:
    """The text that is typed instead of a character; empty if its key is missed."""
    possible = [error for error in _ERRORS if error.applies(character[0])]
    return possible[generator.below(len(possible))].typed(character, generator)


def ascii_form(base: str) -> str:
    """The ASCII form of a code point in ASCII or full width; empty for other code points."""
    if "\uff01" <= base <= "\uff5e":
        return chr(ord(base) - _FULL_WIDTH)
    return base if base.isascii() else ""


def in_form_of(base: str, key: str) -> str:
    """A small letter or digit in the case and width of another character."""
    written = key.upper() if base.isupper() else key
    return written if base.isascii() else full_width(written)


def full_width(code_point: str) -> str:
    """The full-width form of an ASCII code point."""
    return chr(ord(code_point) + _FULL_WIDTH)


def _key(base: str) -> str:
    return ascii_form(base).lower()


def _has_letter(base: str) -> bool:
    return _key(base) in tables().keyboard_neighbours


def _has_key(base: str) -> bool:
    return _has_letter(base) or _key(base) in _DIGITS


def _wrong_key(base: str, generator: Generator) -> str:
    if _has_letter(base):
        neighbours = tables().keyboard_neighbours[_key(base)]
        return in_form_of(base, neighbours[generator.below(len(neighbours))])
    return in_form_of(base, _DIGITS[(_DIGITS.index(_key(base)) + 1 + generator.below(9)) % 10])


def _shift(base: str) -> int:
    return _KATAKANA if "\u30a1" <= base <= "\u30f6" else 0


def _kana(base: str) -> str:
    """The hiragana of a katakana; other code points stay."""
    return chr(ord(base) - _shift(base))


def _in_row(base: str) -> bool:
    return any(_kana(base) in row for row in tables().kana_rows)


def _other_of_row(base: str, generator: Generator) -> str:
    (row,) = (row for row in tables().kana_rows if _kana(base) in row)
    others = row.replace(_kana(base), "")
    return chr(ord(others[generator.below(len(others))]) + _shift(base))


class _Error(NamedTuple):
    """A typing error: whether it can happen at a base code point, and the text that is typed instead."""

    applies: Callable[[str], bool]
    typed: Callable[[str, Generator], str]


def _confused(table: str) -> _Error:
    """Confuses a character with its partner in a table."""

    def partners() -> Mapping[str, str]:
        found: Mapping[str, str] = getattr(tables(), table)
        return found

    return _Error(
        lambda base: _kana(base) in partners(),
        lambda character, _: chr(ord(partners()[_kana(character[0])]) + _shift(character[0])),
    )


_ERRORS = (
    _Error(_has_key, lambda character, generator: _wrong_key(character[0], generator) + character[1:]),
    _Error(_has_letter, lambda character, generator: _wrong_key(character[0], generator) + character),
    _confused("voicing"),
    _confused("small_kana"),
    _Error(_in_row, lambda character, generator: _other_of_row(character[0], generator)),
    _confused("lookalikes"),
    _Error(lambda _: True, lambda character, _: ""),
    _Error(lambda _: True, lambda character, _: character * 2),
)
"""All typing errors, in the order of the rules."""

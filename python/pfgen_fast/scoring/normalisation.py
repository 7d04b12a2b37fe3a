"""Words and normalised texts (docs/scoring.md, sections 8 and 10) in plain Python, for the oracle.

Unicode 13.0 is fixed, but Python's own tables may be newer. For the code points that 13.0 assigns they are the same;
the others are listed in a file, and are left alone here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path

from ..suite.units import PATTERNS, PatternTokenizer, Token, Tokenizer

_SPANS = Path(__file__).with_name("unassigned_in_unicode_13.txt").read_text(encoding="ascii")
_class = "".join(re.sub("[0-9A-F]+", lambda digits: f"\\U{digits[0]:0>8}", _SPANS).split())
_unassigned = re.compile(f"([{_class}]+)")
_LATIN = ((0x41, 0x24F), (0x1E00, 0x1EFF), (0x2132, 0x2132), (0x2183, 0x2183), (0x2C60, 0x2C7F), (0xA722, 0xA7FF))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    if name != "words":
        return re.compile(PATTERNS[name])
    return re.compile(rf"[^\W{_class}]+|[^\w\s]|[{_class}]")  # in newer versions of Python, \w has newer letters


def tokens_of(tokenizer: Tokenizer, text: str) -> list[Token]:
    """The tokens of a text."""
    if not isinstance(tokenizer, PatternTokenizer):
        return tokenizer.tokens([text])[0]
    return [Token(match.group(), *match.span()) for match in _pattern(tokenizer.name).finditer(text)]


def nfkc(text: str) -> str:
    """The normalisation form KC by Unicode 13.0; its unassigned code points are starters that compose with nothing."""
    return "".join(
        part if i % 2 else unicodedata.normalize("NFKC", part) for i, part in enumerate(_unassigned.split(text))
    )


def normalised(text: str, *, has_spaces: bool = False) -> str:
    """The NFKC form of a text without what the rule leaves out, and with small Latin letters.

    With spaces, each run of characters that are left out becomes one, but none at the beginning and the end.
    """
    form = nfkc(text)
    units = "".join(_small(form[i]) if _is_unit(form, i) else " " for i in range(len(form)))
    return (" " if has_spaces else "").join(units.split())


def aligned(text: str, *, has_spaces: bool = False) -> list[range]:
    """For each character of a text, the indexes in its normalised text of the units that it becomes or is a part of."""
    indexes = _unit_indexes(nfkc(text), has_spaces)
    ranges: list[range] = []
    for segment in _segments(text):
        kept = [index for index in islice(indexes, len(nfkc(segment))) if index is not None]
        ranges += [range(kept[0], kept[-1] + 1) if kept else range(0)] * len(segment)
    return ranges


def _unit_indexes(form: str, has_spaces: bool) -> Iterator[int | None]:
    """For each character of a text in NFKC, its index in the normalised text; None if it is left out."""
    index, is_after_gap = -1, False
    for i in range(len(form)):
        is_unit = _is_unit(form, i)
        if is_unit:
            index += 2 if has_spaces and is_after_gap and index >= 0 else 1
        is_after_gap = not is_unit
        yield index if is_unit else None


def _segments(text: str) -> Iterator[str]:
    """Parts of a text that do not affect each other's NFKC forms."""
    segment = ""
    for character in text:
        joins = unicodedata.combining(unicodedata.normalize("NFKD", character)[0])
        if segment and not joins and nfkc(segment + character) == nfkc(segment) + nfkc(character):
            yield segment
            segment = ""
        segment += character
    if segment:
        yield segment


def _is_unit(text: str, i: int) -> bool:
    if text[i] == ".":
        return i > 0 and category(text[i - 1]) == "Nd" and category(text[i + 1 : i + 2]) == "Nd"
    return category(text[i])[0] not in "PZC"


@lru_cache(maxsize=4096)
def category(character: str) -> str:
    """The general category of a character by Unicode 13.0; `Cn` for no character."""
    return "Cn" if not character or _unassigned.match(character) else unicodedata.category(character)


@lru_cache(maxsize=4096)
def _small(character: str) -> str:
    """The simple lower-case mapping of a Latin letter; any other character is returned unchanged."""
    if character == "\u0130":
        return "i"  # `lower` has the full mapping, which adds a dot
    return character.lower() if any(first <= ord(character) <= last for first, last in _LATIN) else character

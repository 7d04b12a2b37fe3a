"""Texts as profile normalised reads them (docs/scoring.md, section 10), in plain Python, for the oracle.

Unicode 13.0 is fixed, but Python's own tables may be newer. For the code points that 13.0 assigns they are the same;
the others are listed in a file, and are left alone here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

_SPANS = Path(__file__).with_name("unassigned_in_unicode_13.txt").read_text(encoding="ascii")
_class = "".join(re.sub("[0-9A-F]+", lambda digits: f"\\U{digits[0]:0>8}", _SPANS).split())
_unassigned = re.compile(f"([{_class}]+)")
_LATIN = ((0x41, 0x24F), (0x1E00, 0x1EFF), (0x2132, 0x2132), (0x2183, 0x2183), (0x2C60, 0x2C7F), (0xA722, 0xA7FF))


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


def _is_unit(text: str, i: int) -> bool:
    if text[i] == ".":
        return i > 0 and _category(text[i - 1]) == "Nd" and _category(text[i + 1 : i + 2]) == "Nd"
    return _category(text[i])[0] not in "PZC"


@lru_cache(maxsize=4096)
def _category(character: str) -> str:
    return "Cn" if not character or _unassigned.match(character) else unicodedata.category(character)


@lru_cache(maxsize=4096)
def _small(character: str) -> str:
    """The simple lower-case mapping of a Latin letter; any other character is returned unchanged."""
    if character == "\u0130":
        return "i"  # `lower` has the full mapping, which adds a dot
    return character.lower() if any(first <= ord(character) <= last for first, last in _LATIN) else character

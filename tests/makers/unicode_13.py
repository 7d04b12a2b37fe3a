"""Code points with the same properties in the core, whose table is that of Unicode 13.0, and in this Python."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from hypothesis import strategies as st

from .documented import tool

maker = tool("make_unicode_table")


@cache
def traits() -> list[int]:
    """The properties of each code point by the C++ source."""
    source = maker.TABLE.read_text()
    numbers, *blocks = (list(map(int, re.findall(r"\d+", listed))) for listed in re.findall(r"\{([\d,\s]+)\}", source))
    return [value for number in numbers for value in blocks[number]]


CHANGED = "\u1734"
"""A code point that became a spacing mark in Unicode 14.0, which the rule of the final sigma does not skip."""


def is_stable(code_point: str) -> bool:
    """Whether a code point is what it was in Unicode 13.0, or was and is unassigned."""
    is_assigned = bool(traits()[ord(code_point)] & maker.ASSIGNED)
    return code_point != CHANGED and (is_assigned or unicodedata.category(code_point) == "Cn")


CODE_POINTS = st.characters().filter(is_stable)
"""Any such code point, also unassigned ones, lone surrogates and NUL."""

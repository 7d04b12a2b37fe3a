"""Which code points mean the same to every version of Python: all but those assigned after Unicode 13.0."""

from __future__ import annotations

from bisect import bisect_right

from hypothesis import strategies as st

# By DerivedAge.txt; code points between them that are not assigned yet are left out too.
_ASSIGNED_LATER = """
558 58B-58C 5C8-5C9 61D 870-89F 8B5 8C8-8D2 B53-B54 C3C C5C-C5D CDC-CDD CF3 ECE 170D 1715-171F 180F 1AC1-1AF0
1B4C-1B4F 1B7D-1B7F 1C89-1C8A 1DFA 208F 209D-209F 20C0-20C4 2427-2429 2B96 2C2F 2C5F 2E53-2E63 2FFC-2FFF 31E4-31EF
9FFD-9FFF A7C0-A7C1 A7CB-A7F4 AB6C-AB6D FBC2-FBD2 FD40-FD4F FD90-FD91 FDC8-FDCF FDFE-FDFF 10570-105F3 10780-107BF
10940-10959 10D40-10D8F 10EC2-10EFF 10F70-10F89 11070-11075 110C2 1123F-11241 11380-113E2 116B9 116D0-116E3
11740-11746 11AB0-11ABF 11B00-11BF9 11DB0-11DF1 11F00-11F5A 1246F 12475-1247F 12550-12FF2 1342F 13439-143FA
16100-16139 16A70-16AC9 16D40-16D79 16EA0-16ED3 16FF2-16FF6 187F8-187FF 18CD6-18CFF 18D09-1AFFE 1B11F-1B132 1B155
1B168 1CC00-1CFC3 1D127-1D128 1D1E9-1D1FF 1D250-1D2D3 1D6A6 1DB00-1DFFF 1E030-1E08F 1E290-1E2AE 1E4D0-1E7FE 1F1AE
1F6D8-1F6DF 1F774-1F77F 1F7D9-1F7DB 1F7F0-1F7FF 1F8B2-1F8D8 1F979 1F9CC 1FA54-1FA57 1FA75-1FA77 1FA7B-1FA7C
1FA87-1FA8F 1FAA9-1FAAF 1FAB7-1FABF 1FAC3-1FACF 1FAD7-1FAFA 1FBCB-1FBEF 1FBFA 2A6DE-2A6DF 2B735-2B73F 2B81E
2CEA2-2CEAD 2EBF0-2EE5D 31350-3FC3F
"""

_RANGES = tuple(
    (int(first, 16), int(last or first, 16))
    for first, _, last in (written.partition("-") for written in _ASSIGNED_LATER.split())
)


def is_stable(code_point: str) -> bool:
    """Whether a code point has the properties of Unicode 13.0 in every version of Python."""
    first_above = bisect_right(_RANGES, (ord(code_point), 0x110000))
    return first_above == 0 or _RANGES[first_above - 1][1] < ord(code_point)


CODE_POINTS = st.characters().filter(is_stable)
"""Any such code point, also unassigned ones, lone surrogates and NUL."""

"""Writes the table with which the core normalises texts (docs/scoring.md, section 10), by Unicode 13.0.

It also writes the list of code points that 13.0 does not assign, which the oracle needs. Options and Pythons: as for
tools/make_unicode_table.py.

    python3.10 tools/make_normalisation_table.py [--check]
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, pairwise
from textwrap import fill

from make_unicode_table import N_CODE_POINTS, ROOT, in_blocks, rows, write_or_check

TABLE = ROOT / "cpp" / "src" / "text" / "normalisation_table.cpp"
UNASSIGNED = ROOT / "python" / "pfgen_fast" / "scoring" / "unassigned_in_unicode_13.txt"

UNIT, DIGIT, STOP, JOINS, EXPANDS = 1, 2, 4, 8, 16
LATIN = ((0x41, 0x24F), (0x1E00, 0x1EFF), (0x2132, 0x2132), (0x2183, 0x2183), (0x2C60, 0x2C7F), (0xA722, 0xA7FF))
HANGUL = range(0xAC00, 0xD7A4)  # their decompositions and compositions are computed
VOWELS, FINALS = range(0x1161, 0x1176), range(0x11A8, 0x11C3)


def written_by_version(is_assigned: Callable[[int], bool]) -> dict[str, str]:
    """The content of each file, by path."""
    assigned = [chr(code_point) for code_point in range(N_CODE_POINTS) if is_assigned(code_point)]
    pairs = compositions(assigned)
    return {str(TABLE): table(assigned, pairs), str(UNASSIGNED): unassigned(assigned)}


def unassigned(assigned: Iterable[str]) -> str:
    """The ranges of code points between the assigned ones, in hexadecimal digits."""
    known = sorted({-1, *map(ord, assigned), N_CODE_POINTS})
    gaps = [(a + 1, b - 1) for a, b in pairwise(known) if b > a + 1]
    return fill(" ".join(f"{first:X}-{last:X}" for first, last in gaps), 120, break_on_hyphens=False) + "\n"


def compositions(assigned: Iterable[str]) -> list[tuple[int, int, int]]:
    """The pairs of code points that compose, and what to, without syllables of Hangul."""
    listed = []
    for character in assigned:
        parts = unicodedata.decomposition(character).split()
        is_pair = len(parts) == 2 and not parts[0].startswith("<")
        if is_pair and unicodedata.normalize("NFC", character) == character:
            listed.append((int(parts[0], 16), int(parts[1], 16), ord(character)))
    return sorted(listed)


def small(character: str) -> str:
    """The simple lower-case mapping of a Latin letter."""
    if character == "\u0130":
        return "i"
    return character.lower() if any(first <= ord(character) <= last for first, last in LATIN) else character


def class_of(character: str, seconds: set[int]) -> tuple[int, int, int, int]:
    """The class of an assigned code point: what NFKC and normalisation add to it, its flags and combining class."""
    folded, first = unicodedata.normalize("NFKC", character), unicodedata.normalize("NFKD", character)[0]
    joins = JOINS if unicodedata.combining(first) or ord(first) in seconds else 0
    combining = unicodedata.combining(character)
    if joins and any(unicodedata.category(item)[0] in "PZCN" for item in folded):
        raise ValueError(f"{character!a} joins the character before it, but has no unit for each part")
    if len(folded) > 1:
        return 0, 0, joins | EXPANDS, combining
    category = unicodedata.category(folded)
    flags = joins | (0 if category[0] in "PZC" else UNIT) | (DIGIT if category == "Nd" else 0)
    flags |= STOP if folded == "." else 0
    return ord(folded) - ord(character), ord(small(folded)) - ord(character), flags, combining


def table(assigned: Sequence[str], pairs: Sequence[tuple[int, int, int]]) -> str:
    """The C++ source."""
    seconds = {second for _, second, _ in pairs} | {*VOWELS, *FINALS}
    classes: dict[tuple[int, int, int, int], int] = {(0, 0, 0, 0): 0}  # the first is that of unassigned code points
    numbers = [0] * N_CODE_POINTS
    decomposed: dict[int, list[int]] = {}
    for character in assigned:
        numbers[ord(character)] = classes.setdefault(class_of(character, seconds), len(classes))
        parts = list(map(ord, unicodedata.normalize("NFKD", character)))
        if parts != [ord(character)] and ord(character) not in HANGUL:
            decomposed[ord(character)] = parts
    if not all(len(parts) < 19 for parts in decomposed.values()):
        raise ValueError("a character has more parts than the rules say")
    block_numbers, blocks = in_blocks(numbers)
    ends = list(accumulate(map(len, decomposed.values())))
    lines = [
        "// How characters are normalised, by Unicode 13.0. Written by tools/make_normalisation_table.py.",
        "// clang-format off",
        '#include "text/normalisation_table.hpp"',
        "",
        "namespace pfgen {",
        "",
        f"const std::uint8_t kNormalisationBlocks[{len(block_numbers)}] = {{",
        *rows(block_numbers),
        "};",
        "",
        f"const std::uint16_t kNormalisationClasses[{len(blocks)}][kCharactersPerBlock] = {{",
        *blocks,
        "};",
        "",
        f"const NormalisationClass kClassOfNumber[{len(classes)}] = {{",
        *packed(f"{{{shift},{unit_shift},{flags},{combining}}}," for shift, unit_shift, flags, combining in classes),
        "};",
        "",
        f"const char32_t kDecomposed[{len(decomposed)}] = {{",
        *rows(list(decomposed)),
        "};",
        "",
        f"const std::uint16_t kPartsEnd[{len(ends)}] = {{",
        *rows(ends),
        "};",
        "",
        f"const char32_t kParts[{ends[-1]}] = {{",
        *rows(list(chain(*decomposed.values()))),
        "};",
        "",
        f"const Composition kCompositions[{len(pairs)}] = {{",
        *packed(f"{{{first},{second},{composite}}}," for first, second, composite in pairs),
        "};",
        "",
        f"const std::size_t kDecomposedCount = {len(decomposed)};",
        f"const std::size_t kCompositionCount = {len(pairs)};",
        "",
        "}  // namespace pfgen",
    ]
    return "\n".join(lines) + "\n"


def packed(items: Iterable[str]) -> list[str]:
    """Items in lines of up to 120 characters."""
    return fill(" ".join(items), 120, break_on_hyphens=False).splitlines()


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, written_by_version))

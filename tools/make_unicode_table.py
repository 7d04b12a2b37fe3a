"""Writes the properties of code points that the core needs, by Unicode 13.0, as a table of the core.

Python's own properties are used, which for the code points of 13.0 are the same in every version since. Which those
are, a newer Python does not know: `--ages` names the file `DerivedAge.txt` of any later version of Unicode.

    python tools/make_unicode_table.py --ages DerivedAge.txt           # with any Python
    python3.10 tools/make_unicode_table.py [--check]                   # whose Unicode is 13.0
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "cpp" / "src" / "text" / "unicode_table.cpp"
VERSION = (13, 0)
N_CODE_POINTS = 0x110000
BLOCK_SIZE = 128

ALPHANUMERIC, SPACE, PUNCTUATION, SYMBOL, NUMBER, CASED, CASE_IGNORABLE, LOWERED = (1 << bit for bit in range(8))


def traits(code_point: int, is_assigned: bool) -> int:
    """The properties of a code point; an unassigned code point has none."""
    if not is_assigned:
        return 0
    character = chr(code_point)
    result = ALPHANUMERIC if character.isalnum() else 0
    result |= SPACE if character.isspace() else 0
    result |= {"P": PUNCTUATION, "S": SYMBOL, "N": NUMBER}.get(unicodedata.category(character)[0], 0)
    result |= LOWERED if character.lower() != character else 0
    if f"{character}Σ".lower().endswith("ς"):  # after which the capital sigma is a final one
        result |= CASED
    elif f"A{character}Σ".lower().endswith("ς"):
        result |= CASE_IGNORABLE
    return result


def assigned_by(ages: Path) -> Callable[[int], bool]:
    """Whether a code point is assigned in Unicode 13.0, by `DerivedAge.txt`."""
    known = bytearray(N_CODE_POINTS)
    for line in ages.read_text(encoding="utf-8").splitlines():
        match = re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\d+)\.(\d+)", line)
        if match and (int(match[3]), int(match[4])) <= VERSION:
            for code_point in range(int(match[1], 16), int(match[2] or match[1], 16) + 1):
                known[code_point] = unicodedata.category(chr(code_point)) != "Cn"  # not the noncharacters
    return lambda code_point: bool(known[code_point])


def lower_ranges(all_traits: list[int]) -> list[tuple[int, int, int, int]]:
    """Runs of code points that lower case shifts by the same distance: the first, the last, the step, the distance."""
    ranges: list[tuple[int, int, int, int]] = []
    for code_point in range(N_CODE_POINTS):
        lowered = chr(code_point).lower()
        if not all_traits[code_point] & LOWERED or len(lowered) > 1:
            continue
        first, last, step, distance = ranges[-1] if ranges else (0, 0, 0, 0)
        gap = code_point - last
        if distance == ord(lowered) - code_point and gap <= 2 and (first == last or gap == step):
            ranges[-1] = (first, code_point, gap, distance)
        else:
            ranges.append((code_point, code_point, 1, ord(lowered) - code_point))
    return ranges


def table(is_assigned: Callable[[int], bool]) -> str:
    """The C++ source: blocks of code points, equal ones once, and the block of each run of code points."""
    all_traits = [traits(code_point, is_assigned(code_point)) for code_point in range(N_CODE_POINTS)]
    numbers, blocks = in_blocks(all_traits)
    ranges = lower_ranges(all_traits)
    lines = [
        "// Properties of code points by Unicode 13.0. Written by tools/make_unicode_table.py.",
        "// clang-format off",
        '#include "text/unicode.hpp"',
        "",
        "namespace pfgen {",
        "",
        f"const std::uint8_t kBlockOfCodePoints[{len(numbers)}] = {{",
        *rows(numbers),
        "};",
        "",
        f"const Traits kTraits[{len(blocks)}][kTraitsPerBlock] = {{",
        *blocks,
        "};",
        "",
        f"const LowerRange kLowerRanges[{len(ranges)}] = {{",
        *(f"{{{first},{last},{step},{distance}}}," for first, last, step, distance in ranges),
        "};",
        f"const std::size_t kLowerRangeCount = {len(ranges)};",
        "",
        "}  // namespace pfgen",
    ]
    return "\n".join(lines) + "\n"


def in_blocks(values: Sequence[int]) -> tuple[list[int], list[str]]:
    """The number of the block of each run of code points, and the initialiser of each block, equal ones once."""
    blocks: dict[tuple[int, ...], int] = {}
    numbers = [
        blocks.setdefault(tuple(values[begin : begin + BLOCK_SIZE]), len(blocks))
        for begin in range(0, N_CODE_POINTS, BLOCK_SIZE)
    ]
    if len(blocks) > 256:
        raise ValueError(f"{len(blocks)} blocks have no numbers of one byte")
    return numbers, ["{" + "\n".join(rows(block)) + "}," for block in blocks]


def rows(values: bytes | Sequence[int]) -> list[str]:
    """Numbers in lines of 32."""
    return ["".join(f"{value}," for value in values[begin : begin + 32]) for begin in range(0, len(values), 32)]


def write_or_check(description: str | None, texts: Callable[[Callable[[int], bool]], dict[str, str]]) -> int:
    """Writes or checks the texts by path that belong to the code points that Unicode 13.0 assigns; the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--ages", type=Path, help="DerivedAge.txt of Unicode 13.0 or later")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file would change")
    options = parser.parse_args()
    if options.ages:
        is_assigned = assigned_by(options.ages)
    elif unicodedata.unidata_version == "13.0.0":
        is_assigned = lambda code_point: unicodedata.category(chr(code_point)) != "Cn"  # noqa: E731
    else:
        parser.error(f"Python's Unicode is {unicodedata.unidata_version}, not 13.0.0; give --ages DerivedAge.txt")
    made_texts = {Path(path): text for path, text in texts(is_assigned).items()}
    if options.check:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in made_texts.items()))
    for path, text in made_texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda is_assigned: {str(TABLE): table(is_assigned)}))

"""Writes the tables of discernment's rules (keyboard neighbours, kana, particles, negations, ...) for the core.

python tools/make_perturbation_tables.py [--check]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "python" / "pfgen_fast" / "data" / "discernment" / "tables.json"
HEADER = ROOT / "cpp" / "src" / "perturbation" / "tables.hpp"
TEXT = "std::u32string_view"


def header(tables: dict[str, Any]) -> str:
    """The C++ header: the lists of the JSON file in their order."""
    keyboard = tables["keyboard_neighbours"]
    letters = [chr(code_point) for code_point in range(ord("a"), ord("z") + 1)]
    followers = [{"newline": "\n", "end of text": ""}.get(text, text) for text in tables["negation_ja_followed_by"]]
    lists = [
        ("kKeyboardNeighbours", "of each letter from a to z", [keyboard[letter] for letter in letters]),
        ("kVoicingPairs", "", tables["voicing"]),
        ("kSmallKanaPairs", "", tables["small_kana"]),
        ("kKanaRows", "", tables["kana_rows"]),
        ("kLookalikePairs", "", tables["lookalikes"]),
        ("kNegationFollowers", "empty: the end of the text", followers),
        ("kAuxiliaries", "", tables["auxiliaries"]),
        ("kAbbreviations", "", tables["abbreviations"]),
    ]
    lines = [
        "// Tables for the rules of perturbation. Written by tools/make_perturbation_tables.py from",
        "// python/pfgen_fast/data/discernment/tables.json.",
        "// clang-format off",
        "#pragma once",
        "",
        "#include <array>",
        "#include <string_view>",
        "#include <utility>",
        "",
        "namespace pfgen {",
        "",
    ]
    for name, comment, texts in lists:
        note = f"  // {comment}" if comment else ""
        lines += [
            f"inline constexpr std::array<{TEXT}, {len(texts)}> {name}{{{note}",
            *wrapped([quoted(text) for text in texts]),
            "};",
        ]
    lines.append(f"inline constexpr {TEXT} kParticles = {quoted(''.join(tables['particles']))};")
    sets = tables["function_words"]
    longest = max(map(len, sets))
    lines += [
        "// Behind the last word of a set there are empty ones.",
        f"inline constexpr std::array<std::array<{TEXT}, {longest}>, {len(sets)}> kFunctionWords{{{{",
        *(f"    {{{', '.join(map(quoted, words))}}}," for words in sets),
        "}};",
    ]
    pairs = tables["negation_ja"]
    lines += [
        f"inline constexpr std::array<std::pair<{TEXT}, {TEXT}>, {len(pairs)}> kJapaneseNegations{{{{",
        *(f"    {{{quoted(left)}, {quoted(right)}}}," for left, right in pairs),
        "}};",
        "",
        "}  // namespace pfgen",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return 'U"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def wrapped(items: Sequence[str], width: int = 80) -> list[str]:
    """The items with commas, in lines of about `width` characters."""
    lines = ["   "]
    for item in items:
        if len(lines[-1]) + len(item) > width:
            lines.append("   ")
        lines[-1] += f" {item},"
    return lines


def main() -> int:
    text = header(json.loads(SOURCE.read_text(encoding="utf-8")))
    if "--check" in sys.argv[1:]:
        return 0 if HEADER.read_text(encoding="utf-8") == text else 1
    HEADER.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

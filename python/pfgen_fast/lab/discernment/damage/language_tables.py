"""The facts about languages that the kinds of damage use: neighbours on the keyboard, kana, particles, negations, ...

They are in `data/discernment/tables.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ....base.file_reading import read_stored

FILE = Path(__file__).parents[3] / "data" / "discernment" / "tables.json"


@dataclass(frozen=True)
class Tables:
    """Facts about Japanese, English and the keyboard. Random choices depend on their order."""

    keyboard_neighbours: Mapping[str, str]  # neighbours of each small letter on the keyboard
    kana_rows: tuple[str, ...]  # hiragana of each row, by consonant
    voicing: Mapping[str, str]  # partner of each hiragana that is written with or without a voicing mark
    small_kana: Mapping[str, str]  # partner of each hiragana that is written large or small
    lookalikes: Mapping[str, str]  # partner of each kanji that looks like another
    particles: tuple[str, ...]
    function_words: tuple[tuple[str, ...], ...]  # sets of English words that can replace each other in a sentence
    negation_ja: Mapping[str, str]  # the opposite of each Japanese predicate, affirmative or negative
    negation_ja_followed_by: tuple[str, ...]  # texts that may follow a predicate
    negation_ja_at_end: bool  # whether a predicate may end the text
    auxiliaries: tuple[str, ...]  # English verbs that `not` can follow
    abbreviations: frozenset[str]  # English abbreviations whose period ends no sentence


@cache
def tables() -> Tables:
    """The packaged tables."""
    stored: dict[str, Any] = json.loads(read_stored(FILE))
    followed_by = stored["negation_ja_followed_by"]
    named = {"newline": "\n", "end of text": ""}
    return Tables(
        keyboard_neighbours=stored["keyboard_neighbours"],
        kana_rows=tuple(stored["kana_rows"]),
        voicing=_partners(stored["voicing"]),
        small_kana=_partners(stored["small_kana"]),
        lookalikes=_partners(stored["lookalikes"]),
        particles=tuple(stored["particles"]),
        function_words=tuple(map(tuple, stored["function_words"])),
        negation_ja=dict(stored["negation_ja"]),
        negation_ja_followed_by=tuple(named.get(text, text) for text in followed_by if text != "end of text"),
        negation_ja_at_end="end of text" in followed_by,
        auxiliaries=tuple(stored["auxiliaries"]),
        abbreviations=frozenset(stored["abbreviations"]),
    )


@cache
def tables_hash() -> str:
    """The SHA-256 of the tables."""
    return hashlib.sha256(read_stored(FILE)).hexdigest()


def _partners(pairs: Sequence[str]) -> dict[str, str]:
    return {pair[place]: pair[1 - place] for pair in pairs for place in (0, 1)}

"""Whether the lengths that answers claim are true."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..words import count_words

_END = 300
"""The number of characters at the end of an answer that may contain a claim of its length."""

_NUMBER = r"(?P<number>[0-9０-９][0-9０-９,，]{0,12})"
_ABOUT = r"(?:about|approximately|approx\.?|around|roughly|over|almost|nearly|~|約)?\s{0,3}"
_CLAIMS = {
    "words": (
        rf"\b(?:word\s?count|number\s+of\s+words|total\s+words|words)\**\s{{0,3}}[:=：]\**\s{{0,3}}{_ABOUT}{_NUMBER}",
        rf"\bword\s?count\s+(?:of|is)\s+{_ABOUT}{_NUMBER}",
        rf"\b(?:length\s{{0,3}}:|totals|totalling|totaling|total\s+of)\s+{_ABOUT}{_NUMBER}\+?\s{{1,3}}words\b",
        rf"(?:^|\n)[^\w\n]{{0,9}}{_ABOUT}{_NUMBER}\+?\s{{1,3}}words\W{{0,9}}(?:\n|$)",
        rf"[(\[]{_ABOUT}{_NUMBER}\+?\s{{1,3}}words[)\]]",
    ),
    "characters": (
        rf"(?:総?文字数|字数)\s{{0,3}}[:=：は]\s{{0,3}}{_ABOUT}{_NUMBER}",
        rf"[(（\[［【]\s{{0,3}}(?:全|計|以上|合計)?[、,]?{_ABOUT}{_NUMBER}\s{{0,3}}(?:文字|字)\s{{0,3}}[)）\]］】]",
        rf"(?:^|\n)[^\w\n]{{0,9}}(?:全|計|以上|合計)?[、,]?{_ABOUT}{_NUMBER}\s{{0,3}}(?:文字|字)\W{{0,9}}(?:\n|$)",
    ),
}
_DIGIT = re.compile("[0-9０-９]")
_PATTERNS = [(unit, re.compile(pattern, re.IGNORECASE)) for unit, patterns in _CLAIMS.items() for pattern in patterns]


@dataclass(frozen=True, slots=True)
class Claim:
    """The length that an answer claims for itself, and the counted length."""

    claimed: int
    counted: int
    unit: Literal["words", "characters"]

    @property
    def is_wrong(self) -> bool:
        """Whether the two lengths differ by more than a tenth."""
        return abs(self.claimed - self.counted) * 10 > self.counted


def claim_in(answer: str, n_words: int) -> Claim | None:
    """The last claim of a number of words or characters at the end of an answer; None without a claim."""
    end = answer[-_END:]
    if not _DIGIT.search(end):
        return None
    found = [(match.start("number"), unit, match["number"]) for unit, one in _PATTERNS for match in one.finditer(end)]
    if not found:
        return None
    _, unit, number = max(found)
    claimed = int(re.sub("[,，]", "", number))
    if unit == "words":
        return Claim(claimed, n_words, "words")
    return Claim(claimed, count_words(answer, "characters"), "characters")

"""Rules about the text of an answer: phrases of rejection, claims of its own length, sentences that are repeated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import Literal

from ...base.errors import ChecklistError
from ...base.untrusted_json import read_toml
from .words import count_words

PACKAGED = Path(__file__).parents[2] / "data" / "checklists" / "rejections.toml"
PUBLISHED_PHRASES = ("Given the", "Given the constraints of this platform")
"""The phrase that the published figures follow from, and the longer phrase that the paper names."""

_BEFORE = " \t\r\n\f\v\u3000\xa0*#>\"'`“”‘’«»「『【（("
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")


class Rejections:
    """Finds the phrase that an answer begins with."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self.phrases = tuple(phrases)
        # Longer phrases come first, so the most specific phrase is reported.
        longest_first = sorted(self.phrases, key=len, reverse=True)
        self._begins = {_folded(phrase): phrase for phrase in longest_first}
        # Case folding turns a character into one to three characters.
        self._n_characters = max(map(len, self._begins), default=0)

    def phrase_of(self, answer: str) -> str | None:
        """The longest phrase that the answer begins with, after white space, `*`, `#` and quotes; None without one."""
        begin = _folded(answer.lstrip(_BEFORE)[: self._n_characters])
        return next((phrase for folded, phrase in self._begins.items() if begin.startswith(folded)), None)

    def within(self, phrase: str) -> list[str]:
        """The phrases that a phrase begins with, and itself."""
        return [begin for folded, begin in self._begins.items() if _folded(phrase).startswith(folded)]


def phrases_for(language: str) -> tuple[str, ...]:
    """The packaged phrases of a language, such as `en` or `en-GB`; empty if there are none."""
    table = read_toml(PACKAGED, error=ChecklistError).get(language.partition("-")[0].casefold(), {})
    return tuple(table.get("phrases", ()))


def _folded(phrase: str) -> str:
    return phrase.translate(_APOSTROPHES).casefold()


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
class LengthClaim:
    """The length that an answer claims for itself, and the counted length."""

    claimed: int
    counted: int
    unit: Literal["words", "characters"]

    @property
    def is_wrong(self) -> bool:
        """Whether the two lengths differ by more than a tenth."""
        return abs(self.claimed - self.counted) * 10 > self.counted


def claim_in(answer: str, n_words: int) -> LengthClaim | None:
    """The last claim of a number of words or characters at the end of an answer; None without a claim."""
    end = answer[-_END:]
    if not _DIGIT.search(end):
        return None
    sizes = [(match.start("number"), unit, match["number"]) for unit, form in _PATTERNS for match in form.finditer(end)]
    if not sizes:
        return None
    _, unit, number = max(sizes)
    claimed = int(re.sub("[,，]", "", number))
    if unit == "words":
        return LengthClaim(claimed, n_words, "words")
    return LengthClaim(claimed, count_words(answer, "characters"), "characters")


_BEHIND = " \t\r\n\f\v\u3000\xa0*_~`#\"'”’»」』】)]}）］｝》〉-—–="


_CLOSING = (".", "!", "?", "。", "．", "！", "？", "…", "♪")


_TAG = re.compile(r"<[^<>\s]{1,20}>$")


MIN_CHARACTERS = 20
"""Shorter sentences may occur several times."""


_CLOSERS = "[\"'”’»)\\]}）］」』】》〉]*"


# A sentence ends with a mark before white space, with a full-width mark before anything, and at an empty line.
# Abbreviations end sentences, too: it only matters that equal sentences are cut alike.
# Matching takes linear time: no mark is a closing quote, so an attempt that fails after a mark stops at the next mark.
_BREAK = re.compile(rf"[.!?]{_CLOSERS}(?=\s|\Z)|[。．！？][.!?。．！？]*{_CLOSERS}|\n[^\S\n]*\n")


def has_closing_punctuation(text: str) -> bool:
    """Whether a text ends like a sentence; quotes, brackets, marks of Markdown or an end token may follow."""
    end = text.rstrip(_BEHIND)
    return (
        end.endswith(_CLOSING)
        or text.rstrip().endswith(("```", "|", "---", "***"))
        or bool(_TAG.search(text.rstrip()[-30:]))
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, not empty, with white space folded to single blanks."""
    ends = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    parts = (text[begin:end] for begin, end in pairwise(ends))
    return [folded for sentence in parts if (folded := " ".join(sentence.split()))]


@dataclass(frozen=True, slots=True)
class Repeated:
    """The commonest sentence of a text."""

    sentence: str = ""
    count: int = 0
    longest_run: int = 0


def repeated(listed: Sequence[str], min_characters: int = MIN_CHARACTERS) -> Repeated:
    """The commonest sentence; sentences shorter than the minimum are ignored, and do not interrupt a run."""
    long = [sentence for sentence in listed if len(sentence) >= min_characters]
    if not long:
        return Repeated()
    sentence, count = Counter(long).most_common(1)[0]
    return Repeated(sentence, count, max(sum(1 for _ in run) for _, run in groupby(long)))


@dataclass(frozen=True)
class LengthFigures:
    """How far some answers meet the wanted lengths."""

    n: int
    mean_words: float
    mean_absolute_length_error: float
    mean_shortfall: float
    share_long_enough: float


def length_figures(counted_and_wanted: Iterable[tuple[int | None, int | None]]) -> LengthFigures | None:
    """The figures of the answers whose numbers of words and wanted words are known; None without any."""
    listed = [(words, wanted) for words, wanted in counted_and_wanted if words is not None and wanted is not None]
    if not listed:
        return None
    return LengthFigures(
        len(listed),
        fmean(words for words, _ in listed),
        fmean(abs(words - wanted) for words, wanted in listed),
        fmean(max(0, wanted - words) for words, wanted in listed),
        fmean(words >= wanted for words, wanted in listed),
    )

"""Rules about the text of an answer: phrases of rejection, sentences that are repeated, and wanted lengths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from ...base.errors import ChecklistError
from ...base.untrusted_json import read_toml

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


MIN_CHARACTERS = 20
"""Shorter sentences may occur several times."""


_CLOSERS = "[\"'”’»)\\]}）］」』】》〉]*"


# A sentence ends with a mark before white space, with a full-width mark before anything, and at an empty line.
# Abbreviations end sentences, too: it only matters that equal sentences are cut alike.
# Matching takes linear time: no mark is a closing quote, so an attempt that fails after a mark stops at the next mark.
_BREAK = re.compile(rf"[.!?]{_CLOSERS}(?=\s|\Z)|[。．！？][.!?。．！？]*{_CLOSERS}|\n[^\S\n]*\n")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, not empty, with white space folded to single blanks."""
    ends = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    parts = (text[begin:end] for begin, end in pairwise(ends))
    return [folded for sentence in parts if (folded := " ".join(sentence.split()))]


def most_repeated(listed: Sequence[str], min_characters: int = MIN_CHARACTERS) -> int:
    """How often the commonest sentence occurs; sentences shorter than the minimum are ignored."""
    return max(Counter(sentence for sentence in listed if len(sentence) >= min_characters).values(), default=0)


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

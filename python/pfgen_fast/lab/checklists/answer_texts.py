"""Rules about the text of an answer: phrases of rejection, sentences that are repeated, and wanted lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

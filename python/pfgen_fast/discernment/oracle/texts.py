"""Reads a text as characters, words and sentences, in Japanese or English.

A character is a code point with those that join it, such as combining marks. Patterns look at `TextReading.seen`, where
each joining code point stands as the first of its character, so that no match ends within a character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ..tables import tables

LANGUAGES = ("ja", "en")

_ZERO_WIDTH_JOINER = "\u200d"
_WORDS = {"ja": re.compile("[KTA]+H*|H+"), "en": re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")}
_SENTENCES_JA = re.compile(r"[^。．！？!?\n]*(?:[。．！？!?\n]+[」』）)\]”’\"']*|$)")
_ENDS_EN = re.compile(r"(?<![.!?])[.!?]+[\"')\]”’]*(?=\s+[\"“(\[]?[A-Z0-9]|\s*$)|\n+")
_INITIAL = re.compile(r"\(?[A-Z]\.")
_CLASSES = (
    ("H", ((0x3041, 0x309F),)),
    ("T", ((0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F))),
    ("K", ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))),
)


class Span(NamedTuple):
    """A part of a text: the index of its first code point, and the index after its last code point."""

    start: int
    end: int


class Analysis(NamedTuple):
    """The words, terms and particles that an analyser found in a Japanese text; terms and particles are words, too."""

    words: tuple[Span, ...]
    terms: tuple[Span, ...]
    particles: tuple[Span, ...]


class TextReading:
    """A text in one language, read by the rules."""

    def __init__(self, text: str, language: str, analysis: Analysis | None = None) -> None:
        self.text = text
        self.language = language
        self.analysis = analysis
        starts = [i for i in range(len(text)) if i == 0 or not _joins(text[i - 1], text[i])]
        self.characters = _spans_between([*starts, len(text)])
        self.character_at = {character.start: number for number, character in enumerate(self.characters)}
        """The index of the character that begins at a code point."""
        self.seen = "".join(text[start] * (end - start) for start, end in self.characters)
        """The text with each joining code point replaced by the first code point of its character."""

    def of(self, span: Span) -> str:
        """The text of a part."""
        return self.text[span.start : span.end]

    def is_alphanumeric(self, character: Span) -> bool:
        """Whether a character is a letter or digit in any script."""
        return self.text[character.start].isalnum()

    def stripped(self, part: Span) -> Span:
        """A part without the white space at its ends; if it is only white space, an empty part at its start."""
        seen = self.seen[part.start : part.end].rstrip()
        return Span(part.start + len(seen) - len(seen.lstrip()), part.start + len(seen))

    def has_joining(self, part: Span) -> bool:
        """Whether a part has a code point that joins a character."""
        return any(i not in self.character_at for i in range(*part))

    @cached_property
    def classes(self) -> str:
        """The class of each code point: H hiragana, T katakana, K kanji, A other letters and digits, O the rest."""
        classes: list[str] = []
        for start, end in self.characters:
            found = _class_of(self.text[start])
            if self.text[start] == "ー" and classes and classes[-1] == "H":
                found = "H"
            classes += found * (end - start)
        return "".join(classes)

    @cached_property
    def words(self) -> list[Span]:
        """The words."""
        if self.analysis is not None:
            return list(self.analysis.words)
        looked_at = self.classes if self.language == "ja" else self.seen
        return [Span(*match.span()) for match in _WORDS[self.language].finditer(looked_at)]

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences, each with the white space around it; end to end they are the text."""
        # White space alone belongs to the sentence before it, or at the beginning of the text to the first sentence.
        starts = [piece.start for piece in self._pieces() if self.seen[piece.start : piece.end].strip()]
        return _spans_between([0, *starts[1:], len(self.text)])

    def _pieces(self) -> list[Span]:
        if self.language == "ja":
            return [Span(*match.span()) for match in _SENTENCES_JA.finditer(self.seen) if match.group()]
        ends = [match.end() for match in _ENDS_EN.finditer(self.seen) if not self._is_abbreviation(match)]
        return _spans_between([0, *ends, len(self.text)])

    def _is_abbreviation(self, match: re.Match[str]) -> bool:
        """Whether a match that could end a sentence is the period of an abbreviation or an initial."""
        if match.group() != ".":
            return False
        start = match.start()
        while start and not self.seen[start - 1].isspace():
            start -= 1
        run = self.seen[start : match.end()]
        return run.lower().lstrip('("“[') in tables().abbreviations or _INITIAL.fullmatch(run) is not None


def language_of(text: str) -> str:
    """The language of a text if none is given: `ja` if it has hiragana, katakana or kanji, else `en`."""
    return "ja" if any(_class_of(code_point) in "HTK" for code_point in text) else "en"


def is_blank(text: str) -> bool:
    """Whether a text has only white space."""
    return not TextReading(text, LANGUAGES[0]).seen.strip()


def _joins(before: str, code_point: str) -> bool:
    return (
        before == _ZERO_WIDTH_JOINER
        or unicodedata.category(code_point) in ("Mn", "Mc", "Me")
        or code_point in "\u200c\u200d"
        or "\ufe00" <= code_point <= "\ufe0f"
        or "\U0001f3fb" <= code_point <= "\U0001f3ff"
    )


def _class_of(code_point: str) -> str:
    if code_point in "々〆〇":
        return "K"
    for name, ranges in _CLASSES:
        if any(low <= ord(code_point) <= high for low, high in ranges):
            return name
    return "A" if code_point.isalnum() else "O"


def _spans_between(places: list[int]) -> list[Span]:
    """The nonempty parts between these indices."""
    return [Span(start, end) for start, end in pairwise(places) if start < end]

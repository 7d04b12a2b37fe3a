"""Reads a text as characters, words and sentences, in Japanese or English.

A character is a code point with those that join it, such as combining marks. Patterns look at `TextReading.seen`, where
each joining code point stands as the first of its character, so that no match ends within a character. Properties are
those of Unicode 13.0 in every Python: code points that 13.0 does not assign are replaced in `seen`, and the others have
kept their properties since.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ....base.file_reading import read_stored
from ....scoring.normalisation import category

LANGUAGES = ("ja", "en")

_WORDS = {"ja": re.compile("[KTA]+H*|H+"), "en": re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")}
_SENTENCES_JA = re.compile(r"[^。．！？!?\n]*(?:[。．！？!?\n]+[」』）)\]”’\"']*|$)")
_ENDS_EN = re.compile(r"(?<![.!?])[.!?]+[\"')\]”’]*(?=\s+[\"“(\[]?[A-Z0-9]|\s*$)|\n+")
_INITIAL = re.compile(r"\(?[A-Z]\.")
_CLASSES = {
    "H": re.compile("[\u3041-\u309f]"),
    "T": re.compile("[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]"),
    "K": re.compile("[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0003ffff々〆〇]"),
}
_JOINING = re.compile("[\u200c\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")

# The letters of code points (below).
_JOINED = re.compile("(?<=z).|[mz]")
_UNASSIGNED = re.compile("[htko]")
_AFTER_HIRAGANA = re.compile("H[m-]+")
_WITH_MARKS = re.compile("([^m])m+")
_NOT_A_CHARACTER = "\uffff"


class _Letters(dict[int, str]):
    """A letter for each code point, looked up once.

    H hiragana, T katakana, K kanji, A other letters and digits, O the rest, in lower case if unassigned; m joins the
    character before it, z too (the zero-width joiner), - is the prolonged sound mark.
    """

    def __missing__(self, code_point: int) -> str:
        self[code_point] = letter = _letter(chr(code_point))
        return letter


def _letter(character: str) -> str:
    if character in "\u200dー":
        return "z" if character == "\u200d" else "-"
    letter = _class_of(character)
    if category(character) == "Cn":
        return letter.lower()
    return "m" if category(character) in ("Mn", "Mc", "Me") or _JOINING.match(character) else letter


def _class_of(character: str) -> str:
    for name, pattern in _CLASSES.items():
        if pattern.match(character):
            return name
    return "A" if character.isalnum() and category(character) != "Cn" else "O"


_LETTERS = _Letters()


class Span(NamedTuple):
    """A part of a text: the index of its first code point, and the index after its last code point."""

    start: int
    end: int


class TextReading:
    """A text in one language, read by the rules.

    Attributes:
        text: The text.
        language: `ja` or `en`.
        joining: The indexes of the code points that join the character before them.
        bounds: The index of the first code point of each character, and the length of the text.
        seen: The text with each joining code point replaced by the first code point of its character.
    """

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self._letters = text.translate(_LETTERS)
        self.joining = frozenset(match.start() for match in _JOINED.finditer(self._letters, 1))
        self.bounds = [i for i in range(len(text) + 1) if i not in self.joining]
        self.seen = text
        if _UNASSIGNED.search(self._letters):
            pairs = zip(text, self._letters, strict=True)
            self.seen = "".join(_NOT_A_CHARACTER if letter in "htko" else character for character, letter in pairs)
        if self.joining:
            self.seen = "".join(self.seen[start] * (end - start) for start, end in pairwise(self.bounds))

    def of(self, span: Span) -> str:
        """The text of a part."""
        return self.text[span.start : span.end]

    def character(self, start: int) -> Span:
        """The character that begins at a code point."""
        end = start + 1
        while end in self.joining:
            end += 1
        return Span(start, end)

    @cached_property
    def characters(self) -> list[Span]:
        """The characters."""
        return spans_between(self.bounds)

    @cached_property
    def alphanumeric(self) -> list[Span]:
        """The characters that are letters or digits in any script."""
        return [Span(start, end) for start, end in pairwise(self.bounds) if self.seen[start].isalnum()]

    def stripped(self, part: Span) -> Span:
        """A part without the white space at its ends; if it is only white space, an empty part at its start."""
        seen = self.seen[part.start : part.end].rstrip()
        return Span(part.start + len(seen) - len(seen.lstrip()), part.start + len(seen))

    @cached_property
    def classes(self) -> str:
        """The class of each code point: H hiragana, T katakana, K kanji, A other letters and digits, O the rest."""
        letters = self._letters
        if self.joining:
            first = _class_of(self.text[0]) if letters[0] in "mz" else letters[0]
            letters = first + "".join("m" if i in self.joining else letters[i] for i in range(1, len(letters)))
        elif letters[:1] in ("m", "z"):
            letters = _class_of(self.text[0]) + letters[1:]
        letters = _AFTER_HIRAGANA.sub(lambda match: "H" * len(match[0]), letters.upper().replace("M", "m"))
        return _WITH_MARKS.sub(lambda match: match[1] * len(match[0]), letters.replace("-", "T"))

    @cached_property
    def words(self) -> list[Span]:
        """The words."""
        looked_at = self.classes if self.language == "ja" else self.seen
        return [Span(*match.span()) for match in _WORDS[self.language].finditer(looked_at)]

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences, each with the white space around it; end to end they are the text."""
        # White space alone belongs to the sentence before it, or at the beginning of the text to the first sentence.
        starts = [piece.start for piece in self._pieces() if self.seen[piece.start : piece.end].strip()]
        return spans_between([0, *starts[1:], len(self.text)])

    def _pieces(self) -> list[Span]:
        if self.language == "ja":
            return [Span(*match.span()) for match in _SENTENCES_JA.finditer(self.seen) if match.group()]
        ends = [match.end() for match in _ENDS_EN.finditer(self.seen) if not self._is_abbreviation(match)]
        return spans_between([0, *ends, len(self.text)])

    def _is_abbreviation(self, match: re.Match[str]) -> bool:
        """Whether a match that could end a sentence is the period of an abbreviation or an initial."""
        if match.group() != ".":
            return False
        start = match.start()
        while start and not self.seen[start - 1].isspace():
            start -= 1
        run = self.seen[start : match.end()]
        return run.lower().lstrip('("“[') in tables().abbreviations or _INITIAL.fullmatch(run) is not None

    @cached_property
    def stripped_sentences(self) -> list[str]:
        """The sentences without the white space around them."""
        return [self.of(self.stripped(sentence)) for sentence in self.sentences]


read = lru_cache(maxsize=4096)(TextReading)
"""Reads a text by the rules; all kinds and degrees share the result."""


def is_blank(text: str) -> bool:
    """Whether a text has only white space."""
    rest = text.lstrip()
    if rest and (len(rest) == len(text) or _LETTERS[ord(rest[0])] not in "mz"):
        return False
    return not TextReading(text, LANGUAGES[0]).seen.strip()


def spans_between(places: list[int]) -> list[Span]:
    """The nonempty parts between these indices."""
    return [Span(start, end) for start, end in pairwise(places) if start < end]


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

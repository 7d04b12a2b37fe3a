"""Optional morphological analysers, which replace the rules that find Japanese words, names and particles.

Figures depend on the analyser and its dictionary, so the plan's hash covers both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, Protocol

from ...base.errors import DiscernmentError
from ...base.native import optional
from .damage.text_reading import Analysis, Span, TextReading
from .names import unknown

ANALYSERS = ("sudachi",)

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_WORDS = ("補助記号", "空白")
_N_KEPT = 100_000
# Sudachi accepts at most 49,149 bytes, and at most 65,535 bytes after normalisation; a code point may become 33 bytes.
_MAX_CODE_POINTS = 1_500


class Analyser(Protocol):
    """Reads Japanese texts."""

    @property
    def signature(self) -> str:
        """The names and versions of everything that affects the result."""

    def analysed(self, text: str) -> Analysis:
        """The words, names and particles of a text. They must not overlap, and must not split a character."""


def open_analyser(analyser: Analyser | str | None) -> Analyser | None:
    """Opens an analyser if it is given by its name."""
    if not isinstance(analyser, str):
        return analyser
    if analyser not in ANALYSERS:
        raise unknown("analyser", analyser, ANALYSERS)
    return sudachi_analyser()


class SudachiAnalyser:
    """Sudachi with its small dictionary and its longest units; results are cached by text."""

    def __init__(self) -> None:
        wanted: dict[str, Any] = {"extra": "japanese", "needed_for": "the analyser sudachi", "error": DiscernmentError}
        sudachi = optional("sudachipy", **wanted)
        optional("sudachidict_small", **wanted)
        self._tokenizer = sudachi.Dictionary(dict="small").tokenizer(mode=sudachi.SplitMode.C)
        self.signature = f"sudachipy {version('sudachipy')}, sudachidict-small {version('sudachidict-small')}, C"
        self.analysed = lru_cache(_N_KEPT)(self._analyse)

    def _analyse(self, text: str) -> Analysis:
        """The morphemes, the proper nouns and the particles of a text."""
        reading = TextReading(text, "ja")
        ends = {0, *(character.end for character in reading.characters)}
        words: list[Span] = []
        terms: list[Span] = []
        particles: list[Span] = []
        for start, end in _parts(reading):
            # Sudachi does not accept lone surrogates.
            for morpheme in self._tokenizer.tokenize(_SURROGATE.sub("\ufffd", text[start:end])):
                word = Span(start + morpheme.begin(), start + morpheme.end())
                part_of_speech = morpheme.part_of_speech()
                if part_of_speech[0] in _NO_WORDS or not ends.issuperset(word) or word.start == word.end:
                    continue
                words.append(word)
                if part_of_speech[1] == "固有名詞":
                    terms.append(word)
                elif part_of_speech[0] == "助詞":
                    particles.append(word)
        return Analysis(tuple(words), tuple(terms), tuple(particles))


sudachi_analyser = cache(SudachiAnalyser)
"""The analyser, opened once."""


def _parts(reading: TextReading) -> Iterator[Span]:
    """The whole text if it is short, or else its sentences; long sentences are cut into pieces of equal length."""
    whole = Span(0, len(reading.text))
    for sentence in [whole] if whole.end <= _MAX_CODE_POINTS else reading.sentences:
        for start in range(sentence.start, sentence.end, _MAX_CODE_POINTS):
            yield Span(start, min(start + _MAX_CODE_POINTS, sentence.end))

"""Tints: how common the parts of an answer are in the reference answers, as one digit per character.

Tints are not scores: scoring skips some characters and cuts the answer (docs/scoring.md, section 3), tinting does not.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.untrusted_text import harmless
from ..suite.questions import Question
from ..suite.suite import Suite
from ..suite.units import Spelling

LEVELS = (
    "below 0.5 %: dotted underline",
    "0.5 % to 2 %",
    "2 % to 5 %",
    "5 % to 10 %",
    "above 10 %: bold",
    "above 25 %: bold",
)
"""The meaning of each level: the share of reference answers that hold the 3-grams over a character."""

BOUNDS = (0.005, 0.02, 0.05, 0.10, 0.25)
"""The shares between the levels; the last two belong to the level below them."""

_TAGS = {"0": "s", "4": "b", "5": "b"}
"""The element of each tint level that has one: rare characters are struck through, common ones bold."""

_Keys = NDArray[np.uint64]
_Ints = NDArray[np.int64]


class TintTable(NamedTuple):
    """The data by which pages tint answers: the number of reference answers of each set that hold a 3-gram."""

    grams: str  # 3-grams of the answers that any reference answer holds, joined
    counts: list[list[int]]  # for each set, the number of reference answers that hold each 3-gram
    sizes: list[int]  # number of reference answers of each set


class QuestionTints:
    """Tints answers to one question, whose references are counted once."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._sets = [_frequencies(question.spelling, tuple(texts)) for texts in question.answers.values()]

    def levels(self, answers: Sequence[str]) -> list[str]:
        """The levels (see `LEVELS`) of the characters of answers: how common the 3-grams over each of them are."""
        return _tints(self.question, self._sets, answers)

    def table(self, answers: Sequence[str]) -> TintTable:
        """The table that tints these answers, where the units are characters."""
        three_grams, _ = _three_grams(*_code_points(answers))
        keys, _ = np.unique(three_grams, return_counts=True)  # with counts, it sorts, which is much faster than hashing
        held = np.array([counts.look_up(keys) for counts in self._sets], dtype=np.int64)
        is_held = held.any(axis=0)
        parts = [keys[is_held] >> np.uint64(shift) for shift in (42, 21, 0)]
        content: bytes = (np.stack(parts, axis=1) & np.uint64(0x1FFFFF)).astype("<u4").tobytes()
        grams = content.decode("utf-32-le", "surrogatepass")
        return TintTable(grams, held[:, is_held].tolist(), [counts.size for counts in self._sets])


def pooled_tints(suite: Suite, question_id: str, answers: Sequence[str]) -> list[str]:
    """Like `QuestionTints.levels`, but over all sets together, as the published README.md of a run is tinted."""
    question = suite[question_id]
    references = tuple(text for texts in question.answers.values() for text in texts)
    pooled = [_frequencies(question.spelling, references)]
    if question.spelling is None:  # 3-grams with a literal `^` before or `$` after the answer count too
        return [levels[1:-1] for levels in _tints(question, pooled, [f"^{answer}$" for answer in answers])]
    return _tints(question, pooled, answers)


def tinted_html(answer: str, levels: Sequence[str]) -> str:
    """An answer as HTML, with an element around each stretch of rare or common characters."""
    pieces = []
    for tag, stretch in groupby(zip(answer, levels, strict=True), key=lambda pair: _TAGS.get(pair[1])):
        shown = "".join(_character(character) for character, _ in stretch)
        pieces.append(f"<{tag}>{shown}</{tag}>" if tag else shown)
    return "".join(pieces)


@lru_cache(maxsize=10_000)
def _character(character: str) -> str:
    """A character of an answer as HTML that is no Markdown either."""
    shown = repr(character)[1:-1] if character < " " else harmless(character)
    if shown in "_*`{}[]()#+-.!|":
        return f"&#{ord(shown)};"
    return html.escape(shown).replace("\\", "&#92;")


class Frequencies:
    """The 3-grams of some reference answers as sorted keys, and the number of answers that hold each."""

    def __init__(self, spelling: Spelling | None, references: Sequence[str]) -> None:
        points, owners = _code_points(references if spelling is None else spelling.spelled(references))
        three_grams, starts = _three_grams(points, owners)
        self._keys, numbers = np.unique(three_grams, return_inverse=True)
        self.size = len(references)
        # Sorting and comparing neighbours is much faster than `np.unique`.
        held = np.sort(numbers * self.size + owners[starts])
        once_per_answer = held[np.flatnonzero(np.diff(held, prepend=-1))]
        self._counts = np.bincount(once_per_answer // self.size, minlength=len(self._keys))

    def look_up(self, keys: _Keys) -> _Ints:
        """The number of answers that hold each 3-gram."""
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.int64)
        rows = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[rows] == keys, self._counts[rows], 0)

    def cover_of(self, keys: _Keys, starts: _Ints, n_points: int) -> NDArray[np.float64]:
        """For each code point, the largest share of reference answers that hold one of the 3-grams over it."""
        shares, cover = self.look_up(keys) / self.size, np.zeros(n_points)
        for offset in range(3):
            cover[starts + offset] = np.maximum(cover[starts + offset], shares)
        return cover

    def cover(self, text: str) -> NDArray[np.float64]:
        """The same, of a text with one code point for each unit."""
        return self.cover_of(*_three_grams(*_code_points([text])), len(text))


_frequencies = lru_cache(maxsize=64)(Frequencies)


def _tints(question: Question, sets: Sequence[Frequencies], answers: Sequence[str]) -> list[str]:
    spelling = question.spelling
    units = answers if spelling is None else spelling.spelled(answers)
    points, owners = _code_points(units)
    keys, starts = _three_grams(points, owners)
    frequency = np.zeros(len(points))
    for counts in sets:
        frequency += counts.cover_of(keys, starts, len(points))
    frequency /= len(sets)
    levels = np.searchsorted(BOUNDS[:3], frequency, side="right")
    levels += np.searchsorted(BOUNDS[3:], frequency, side="left")
    digits = (levels + ord("0")).astype(np.uint8).tobytes().decode("ascii")
    ends = accumulate(map(len, units))
    unit_digits = [digits[end - len(unit) : end] for unit, end in zip(units, ends, strict=True)]
    if spelling is None:
        return unit_digits
    read = zip(map(spelling.read, answers), unit_digits, strict=True)
    return ["".join(answer.by_character(answer_digits, "0")) for answer, answer_digits in read]


def _code_points(texts: Sequence[str]) -> tuple[NDArray[np.uint32], _Ints]:
    """The concatenated code points of all texts, and the index of each code point's text."""
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return np.frombuffer(encoded, dtype="<u4").astype(np.uint32), owners


def _three_grams(points: NDArray[np.uint32], owners: _Ints) -> tuple[_Keys, _Ints]:
    """A key for each 3-gram within one text, and the place where it starts."""
    starts = np.flatnonzero(owners[:-2] == owners[2:])
    wide = points.astype(np.uint64)
    # A code point has 21 bits, so three fit into one key.
    keys = (wide[starts] << np.uint64(42)) | (wide[starts + 1] << np.uint64(21)) | wide[starts + 2]
    return keys, starts

"""The rules of damage (docs/discernment_rules.md) in plain, slow Python; the core must agree with each code point.

It shares the names of the kinds and the tables with the core, and no code that computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..kinds import ALIASES, Impossible
from . import character_kinds, sentence_kinds, word_kinds
from .damage import Case, Damage, Degree
from .sentence_kinds import negate
from .terms import term_swap
from .texts import Analysis, TextReading, is_blank

__all__ = ["RULES", "perturbed"]

RULES: Mapping[str, Callable[[Case], Damage]] = {
    "char_delete": character_kinds.char_delete,
    "char_typo": character_kinds.char_typo,
    "char_swap": character_kinds.char_swap,
    "char_repeat": character_kinds.char_repeat,
    "word_delete": word_kinds.word_delete,
    "word_drop": word_kinds.word_drop,
    "word_swap": word_kinds.word_swap,
    "word_repeat": word_kinds.word_repeat,
    "number_change": word_kinds.number_change,
    "term_swap": term_swap,
    "function_word": word_kinds.function_word,
    "negate": negate,
    "sentence_reorder": sentence_kinds.sentence_reorder,
    "sentence_delete": sentence_kinds.sentence_delete,
    "sentence_repeat": sentence_kinds.sentence_repeat,
    "sentence_insert": sentence_kinds.sentence_insert,
    "answer_swap": sentence_kinds.answer_swap,
    "wrong_ending": sentence_kinds.wrong_ending,
    "truncate": character_kinds.truncate,
    "loop": character_kinds.loop,
    "identity": character_kinds.identity,
    "newline": character_kinds.newline,
    "punctuation": character_kinds.punctuation,
    "width": character_kinds.width,
}
"""The function that applies each kind to a text."""


def perturbed(
    text: str,
    kind: str,
    degrees: Sequence[Degree],
    *,
    seed: int = 0,
    language: str,
    donors: Iterable[str] = (),
    alternative: str | None = None,
    analyse: Callable[[str], Analysis] | None = None,
) -> list[str | Impossible]:
    """Damages a text by each degree."""
    name = ALIASES.get(kind, kind)
    if language != "ja":
        analyse = None
    reading = TextReading(text, language, analyse(text) if analyse else None)
    case = Case(name, reading, seed, tuple(sorted(set(donors))), alternative, analyse)
    damage = RULES[name](case)
    return [_checked(case, damage(degree)) for degree in degrees]


def _checked(case: Case, found: str | Impossible) -> str | Impossible:
    if isinstance(found, Impossible):
        return found
    if found == case.reading.text and case.kind != "identity":
        return Impossible.UNCHANGED
    return Impossible.NOTHING_LEFT if is_blank(found) else found

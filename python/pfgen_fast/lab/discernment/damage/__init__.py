"""Damages texts by rule (docs/discernment_rules.md), one module for each group of kinds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from ..kinds import ALIASES, Impossible, Perturbation
from . import character_kinds, sentence_kinds, word_kinds
from .sites import Case, Damaging, Donors
from .text_reading import is_blank, read

__all__ = ["RULES", "damaged_texts"]

RULES: Mapping[str, Callable[[Case], Damaging]] = {
    "char_delete": character_kinds.char_delete,
    "char_typo": character_kinds.char_typo,
    "char_swap": character_kinds.char_swap,
    "char_repeat": character_kinds.char_repeat,
    "word_delete": word_kinds.word_delete,
    "word_drop": word_kinds.word_drop,
    "word_swap": word_kinds.word_swap,
    "word_repeat": word_kinds.word_repeat,
    "number_change": word_kinds.number_change,
    "term_swap": word_kinds.term_swap,
    "function_word": word_kinds.function_word,
    "negate": sentence_kinds.negate,
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


_NO_DONORS = Donors(())


def damaged_texts(
    text: str,
    kind: str,
    degrees: Sequence[Perturbation],
    *,
    seed: int = 0,
    language: str,
    donors: Donors = _NO_DONORS,
    group: Hashable = None,
    alternative: str | None = None,
) -> list[str | Impossible]:
    """Damages a text by each degree."""
    name = ALIASES.get(kind, kind)
    damage = RULES[name](Case(name, read(text, language), seed, donors, group, alternative))
    return [_checked(damage(degree), text, name) for degree in degrees]


def _checked(outcome: str | Impossible, text: str, kind: str) -> str | Impossible:
    if isinstance(outcome, Impossible):
        return outcome
    if outcome == text and kind != "identity":
        return Impossible.UNCHANGED
    return Impossible.NOTHING_LEFT if is_blank(outcome) else outcome

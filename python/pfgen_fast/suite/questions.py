"""Questions, and their sample answers, which only prompts use. All are frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..native.threads import cached_property
from .keywords import Rule
from .units import Spelling, Tokenizer


@dataclass(frozen=True)
class Question:
    """One question with its reference answers and keyword rules.

    Attributes:
        question_id: Short name, such as `"Q01"`; unique in the suite.
        question: The prompt text; unique in the suite.
        answers: Reference sets, from name to reference answers, in the order of the file.
        keywords: Top-level keyword rules, in the order of the file.
        category: Free text.
        note: Free text.
        tokenizer: Splits texts into the units of n-grams; None where the units are characters.
    """

    question_id: str
    question: str
    answers: Mapping[str, tuple[str, ...]] = field(repr=False)
    keywords: tuple[Rule, ...] = field(default=(), repr=False)
    category: str = field(default="", repr=False)
    note: str = field(default="", repr=False)
    tokenizer: Tokenizer | None = field(default=None, repr=False)

    @cached_property
    def spelling(self) -> Spelling | None:
        """Spells texts with one code point for each token; None where the units are characters."""
        if self.tokenizer is None:
            return None
        return Spelling.learned(self.tokenizer, [answer for answers in self.answers.values() for answer in answers])

    def __reduce__(self) -> tuple[Any, ...]:
        # MappingProxyType cannot be pickled.
        rest = (self.keywords, self.category, self.note, self.tokenizer)
        return _question, (self.question_id, self.question, dict(self.answers), *rest)


def _question(question_id: str, question: str, answers: dict[str, tuple[str, ...]], *rest: Any) -> Question:
    return Question(question_id, question, MappingProxyType(answers), *rest)


@dataclass(frozen=True)
class Sample:
    """A question and its human-written sample answer, used as an example in prompts."""

    question: str
    answer: str

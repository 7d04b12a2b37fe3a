"""Questions, and the sample answers and texts of prompts. All these classes are frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from ..base.native import _core, cached_property
from ..base.untrusted_text import counted
from .keywords import Rule, depth_first
from .rules import Lengths
from .units import Spelling, Tokenizer

_EXCESS = r"([0-9]{1,9})字超過"


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
        lengths: The target length of answers, and the limit past which they score 0, in these units.
    """

    question_id: str
    question: str
    answers: Mapping[str, tuple[str, ...]] = field(repr=False)
    keywords: tuple[Rule, ...] = field(default=(), repr=False)
    category: str = field(default="", repr=False)
    note: str = field(default="", repr=False)
    tokenizer: Tokenizer | None = field(default=None, repr=False)
    lengths: Lengths = field(default=Lengths(), repr=False)

    @cached_property
    def spelling(self) -> Spelling | None:
        """Spells texts with one code point for each token; None where the units are characters."""
        if self.tokenizer is None:
            return None
        texts = [answer for answers in self.answers.values() for answer in answers]
        normalised = [_core.NormalisedText(text, has_spaces=True).units for text in texts]
        return Spelling.learned(self.tokenizer, texts + normalised)

    @cached_property
    def rule_names(self) -> list[str | None]:
        """The names of all rules and their parts, in the order of the core."""
        return [rule.own_name for rule in depth_first(self.keywords)]

    @property
    def unit(self) -> str:
        """The noun for what lengths are counted in."""
        return "character" if self.tokenizer is None else self.tokenizer.noun

    @property
    def target_shown(self) -> str:
        """The target length, such as `100 characters`."""
        return counted(self.lengths.target, self.unit)

    def excess_shown(self, detail: str) -> str:
        """The excess length in the details of docs/scoring.md, section 4, in words; "" if `detail` names a rule.

        Example:
            >>> Question("Q1", "Why?", {}).excess_shown("14字超過")
            '14 characters over 100'
        """
        match = re.fullmatch(_EXCESS, detail)
        return f"{counted(int(match[1]), self.unit)} over {self.lengths.target}" if match else ""

    def n_units(self, answer: str) -> int:
        """The length of an answer in the units of this question, characters or tokens."""
        return len(answer) if self.spelling is None else len(self.spelling.read(answer).symbols)

    def __reduce__(self) -> tuple[Any, ...]:
        # MappingProxyType cannot be pickled.
        rest = (self.keywords, self.category, self.note, self.tokenizer, self.lengths)
        return _question, (self.question_id, self.question, dict(self.answers), *rest)


def _question(question_id: str, question: str, answers: dict[str, tuple[str, ...]], *rest: Any) -> Question:
    return Question(question_id, question, MappingProxyType(answers), *rest)


@dataclass(frozen=True)
class Sample:
    """A question and its human-written sample answer, used as an example in prompts."""

    question: str
    answer: str


Language = Literal["ja", "en"]

_SOME = 20
# Hiragana, katakana and kanji: the classes H, T and K of the rules of discernment.
_JAPANESE = (
    "[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0003ffff\u3005\u3006\u3007]"
)


@dataclass(frozen=True)
class Instructions:
    """The fixed texts of a prompt."""

    examples_heading: str  # line above the examples
    question_heading: str  # line above the question in mode `qa`
    qa: str  # first text of a prompt in mode `qa`
    chat: str  # first text of a prompt in mode `chat`
    context_heading: str  # line above the sentences of a context


def some_references(question: Question) -> list[str]:
    """About 20 reference answers of each set of a question, evenly spaced, for their mean score."""
    return [text for texts in question.answers.values() for text in texts[:: -(-len(texts) // _SOME)]]


INSTRUCTIONS: Mapping[Language, Instructions] = {
    "ja": Instructions(
        examples_heading="## 回答例",
        question_heading="## 質問",
        qa="例と同様の文体及び文字数で、質問に1行で答えてください。",
        chat="例と同様の文体及び文字数で、ユーザの質問に1行で答えてください。",
        context_heading="## 参考情報",
    ),
    "en": Instructions(
        examples_heading="## Examples",
        question_heading="## Question",
        qa="Answer the question in one line, in the style and length of the examples.",
        chat="Answer the user's question in one line, in the style and length of the examples.",
        context_heading="## Context",
    ),
}
"""The published Japanese texts, English translations, and headings of contexts, which published runs lack."""


def language_of(text: str) -> Language:
    """A guess of a text's language: `ja` if it has a hiragana, katakana or kanji, otherwise `en`."""
    return "ja" if re.search(_JAPANESE, text) else "en"

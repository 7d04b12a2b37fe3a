"""The fixed texts of prompts: a suite's own, or ours in the language of the question. Rules: docs/generation.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Language = Literal["ja", "en"]

_JAPANESE = re.compile(
    "[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""A kana or a Chinese character."""


@dataclass(frozen=True)
class Instructions:
    """The fixed texts of a prompt."""

    examples_heading: str  # line above the examples
    question_heading: str  # line above the question in mode `qa`
    qa: str  # first text of a prompt in mode `qa`
    chat: str  # first text of a prompt in mode `chat`

    @classmethod
    def for_question(cls, question: str, own: Mapping[str, str]) -> Instructions:
        """The texts for a question: a suite's own, by name, and for the rest ours in the language of the question."""
        return replace(INSTRUCTIONS[language_of(question)], **own)


INSTRUCTIONS: Mapping[Language, Instructions] = {
    "ja": Instructions(
        examples_heading="## 回答例",
        question_heading="## 質問",
        qa="例と同様の文体及び文字数で、質問に1行で答えてください。",
        chat="例と同様の文体及び文字数で、ユーザの質問に1行で答えてください。",
    ),
    "en": Instructions(
        examples_heading="## Examples",
        question_heading="## Question",
        qa="Answer the question in one line, in the style and length of the examples.",
        chat="Answer the user's question in one line, in the style and length of the examples.",
    ),
}
"""The published texts, and the same in English."""


def language_of(question: str) -> Language:
    """The language of our texts that goes with a question: Japanese with kana or Chinese characters, else English."""
    return "ja" if _JAPANESE.search(question) else "en"

"""Sentences that a prompt shows above its question: some of many, drawn by question, trial and seed.

Rules: docs/generation.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Any

from ..base.errors import EngineError
from ..base.file_reading import read_text
from ..base.untrusted_text import is_encodable, json_text, shown_value
from ..suite.questions import Question
from ..suite.suite import Suite
from ..tables.formats import is_table, table_rows

N_SENTENCES = 5
_QUESTION_COLUMNS = ("question", "question_id")


@dataclass(frozen=True)
class Context:
    """Sentences for prompts, of which each prompt shows a few.

    Attributes:
        sentences: The sentences by ID or exact text of their question; those of `""` belong to all questions.
        n_drawn: The maximum number of sentences in a prompt.

    Example:
        >>> from pfgen_fast import Suite
        >>> pool = Context({"": ("Ice is lighter than water.", "Ice melts at 0 °C.", "Ice is a solid.")}, n_drawn=2)
        >>> pool.drawn(Suite.load("mini")["Q01"], trial=1)
        ('Ice melts at 0 °C.', 'Ice is a solid.')
    """

    sentences: Mapping[str, tuple[str, ...]]
    n_drawn: int = N_SENTENCES

    def __post_init__(self) -> None:
        if self.n_drawn < 1:
            raise EngineError(f"sentences: expected at least 1, not {self.n_drawn}")
        for text in (text for key, texts in self.sentences.items() for text in (key, *texts)):
            if not is_encodable(text):
                raise EngineError(f"context: expected texts that UTF-8 can encode, not {shown_value(text)}")

    @classmethod
    def read(cls, path: str | Path, *, n_drawn: int = N_SENTENCES) -> Context:
        """Reads a table with the column `sentence` and optionally `question`, or a text with one sentence per line.

        Raises:
            EngineError: A row has no sentence, the file has no sentences, or it cannot be read.
            TrialsError: The table is invalid.
        """
        sentences: dict[str, list[str]] = {}
        for key, sentence in _rows(Path(path)):
            sentences.setdefault(key, []).append(sentence)
        if not sentences:
            raise EngineError(f"{path}: expected at least one sentence")
        return cls({key: tuple(dict.fromkeys(texts)) for key, texts in sentences.items()}, n_drawn)

    def config(self) -> dict[str, Any]:
        """The entry in config.json: the number of sentences, and a hash that does not depend on their order."""
        content = {key: sorted(set(texts)) for key, texts in sorted(self.sentences.items())}
        return {"sentences": self.n_drawn, "sha256": hashlib.sha256(json_text(content).encode()).hexdigest()}

    def check(self, suite: Suite) -> None:
        """Raises EngineError if sentences belong to a question that the suite lacks."""
        whole = suite.whole or suite
        for key in self.sentences:
            if key and key not in whole:
                raise EngineError(f"context: {whole.unknown_question(key)}")

    def drawn(self, question: Question, trial: int, seed: str = "") -> tuple[str, ...]:
        """The sentences in the prompt of a question, in their order; empty if the question has no sentences."""
        keys = (question.question_id, question.question, "")
        texts = dict.fromkeys(text for key in keys for text in self.sentences.get(key, ()))

        def digest(text: str) -> str:
            return sha1(f"{seed}::{trial}::{question.question}::{text}".encode()).hexdigest()

        return tuple(sorted(texts, key=digest)[: self.n_drawn])


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    """The question, or an empty text for all questions, and the sentence of each row."""
    if not is_table(path):
        for line in read_text(path, error=EngineError).split("\n"):
            if line.strip():
                yield "", " ".join(line.split())
        return
    for location, row in table_rows(path):
        key = next((row[column] for column in _QUESTION_COLUMNS if row.get(column) is not None), "")
        if not isinstance(key, str) or not is_encodable(key):
            raise EngineError(f"{location}: expected the ID or text of a question as a string, not {shown_value(key)}")
        text = row.get("sentence")
        if not isinstance(text, str) or not text.strip() or not is_encodable(text):
            raise EngineError(f"{location}: expected a text in the column 'sentence', not {shown_value(text)}")
        yield key, " ".join(text.split())

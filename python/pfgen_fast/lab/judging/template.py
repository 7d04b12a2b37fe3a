"""Prompt templates: texts with placeholders such as `{question}`, filled in a single pass."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import JudgingError
from ...base.file_reading import read_text
from ...base.untrusted_text import utf8

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Template:
    """A prompt with placeholders."""

    text: str  # prompt; braces that enclose no placeholder stay as they are
    placeholders: tuple[str, ...]  # names of all known placeholders

    @classmethod
    def read(cls, path: Path, *, placeholders: Sequence[str], needed: Sequence[str] = ()) -> Template:
        """Reads a template from a UTF-8 file. The template must contain the placeholders in `needed`."""
        text = read_text(path, error=JudgingError, limit=_MAX_BYTES)
        try:
            return cls.checked(text, placeholders=placeholders, needed=needed)
        except JudgingError as error:
            raise JudgingError(f"{path}: {error}") from None

    @classmethod
    def checked(cls, text: str, *, placeholders: Sequence[str], needed: Sequence[str] = ()) -> Template:
        """Makes a template of a text; raises JudgingError if placeholders are unknown or missing."""
        for name in needed:
            if f"{{{name}}}" not in text:
                raise JudgingError(f"expected the placeholder {{{name}}} in the template")
        for name in re.findall(r"{(\w+)}", text):
            if name not in placeholders:
                known = ", ".join(f"{{{placeholder}}}" for placeholder in placeholders)
                raise JudgingError(f"unknown placeholder {{{name}}}; there are {known}")
        return cls(text, tuple(placeholders))

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(utf8(self.text)).hexdigest()

    def uses(self, placeholder: str) -> bool:
        """Whether the text contains a placeholder."""
        return f"{{{placeholder}}}" in self.text

    def fill(self, **values: str) -> str:
        """Replaces the placeholders by values; braces in the values stay as they are.

        Example:
            >>> Template("Q: {question} A: {answer}", ("question", "answer")).fill(question="{answer}?", answer="B")
            'Q: {answer}? A: B'
        """
        return re.sub(f"{{({'|'.join(self.placeholders)})}}", lambda match: values[match[1]], self.text)

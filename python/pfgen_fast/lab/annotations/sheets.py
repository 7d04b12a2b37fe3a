"""Sheets: the items for each annotator, in the order of the page, as data. Models and judges are not named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from ...base.errors import AnnotationError
from ...base.file_reading import read_text
from .annotation_rows import Header


@dataclass(frozen=True)
class Sheet:
    """What one annotator sees.

    An item is a JSON object with a `kind` and the keys of its row in the export (`annotation_rows`), and in addition:

        mark       instruction, reference (or null), response, questions (texts)
        pair       instruction, reference (or null), first, second (texts of the answers)
        judgement  instruction, reference (or null), response, verdicts: [{"question": 1, "text", "verdict", "reason"}]
        vote       description, before, after (an example, or null), metrics: [{"name", "text"}]
    """

    annotator: str
    language: str  # language of the page: `en` or `ja`
    suite: str
    questions_sha256: str  # hash of what is asked (see `Header`)
    guideline: str  # plain text: paragraphs are separated by empty lines, lines with `# ` are headings, with `- ` items
    levels: Sequence[Mapping[str, Any]]  # {"value": 0.25, "text": "..."}, ascending
    items: Sequence[Mapping[str, Any]]
    content_language: str = ""  # language of the instructions and answers, such as `ja`; empty if unknown

    @cached_property
    def sha256(self) -> str:
        """The hash of everything that the annotator sees; the browser's storage belongs to this sheet."""
        return hashlib.sha256(json.dumps(self._content, ensure_ascii=True, sort_keys=True).encode()).hexdigest()

    @property
    def _content(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def header(self) -> Header:
        """The first line of the export."""
        return Header(self.annotator, self.suite, self.questions_sha256, self.sha256)

    def to_dict(self) -> dict[str, Any]:
        """The sheet as data for the page."""
        return {**self._content, "sheet": self.sha256}


SHOWN = {
    *("instruction", "reference", "response", "questions", "first", "second", "verdicts"),
    *("description", "before", "after", "metrics"),
}
"""The keys of items that the page only shows."""


def row_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an item that rows about it repeat."""
    return {name: value for name, value in item.items() if name not in SHOWN}


_MAX_GUIDELINE_BYTES = 1 << 20
_PACKAGED = Path(__file__).parents[2] / "data" / "annotation"


def packaged_guideline(language: str) -> str:
    """Our guideline for annotators."""
    return (_PACKAGED / f"guideline-{language}.md").read_text(encoding="utf-8")


def read_guideline(path: Path) -> str:
    """The guideline in a file of UTF-8."""
    return read_text(path, error=AnnotationError, limit=_MAX_GUIDELINE_BYTES)

"""Compiled suites: everything that scoring needs, in one file. Format: docs/index_format.md.

The file is memory-mapped, so processes share it and opening it is cheap. It holds the native index of each question
and the questions without their reference answers, which the index replaces.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import IndexFormatError
from ..base.file_reading import open_regular
from ..base.native import _core
from ..base.ownership import open_own
from .keywords import freeze_rule, rule_source
from .questions import Question
from .rules import PROFILES, Profile
from .units import Spelling, freeze_tokenizer, source_of

SuiteIndex = Sequence[_core.QuestionIndex]  # the native index of each question, in the order of the suite

ReferencesOf = Callable[[int, Sequence[str]], Mapping[str, tuple[str, ...]]]
"""Returns the reference answers of a question, given its index and the names of its reference sets."""


@dataclass(frozen=True, eq=False)
class CompiledSuite:
    """An open compiled suite."""

    name: str  # its name in error messages, usually its path
    profile: Profile  # profile it was compiled for
    metadata_hash: str  # hash of the suite it was compiled from
    index: SuiteIndex  # native index of each question; each one is checked when it is first used
    details: bytes  # questions as `describe_questions` writes them
    content: Any  # bytes of the file

    @classmethod
    def open(cls, path: Path, *, own: bool = False) -> CompiledSuite:
        """Maps a file and checks its header."""
        with open_own(path) if own else open_regular(path) as file:
            try:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:  # an empty file cannot be mapped
                raise IndexFormatError(f"{path}: {error}") from None
        return cls.of(mapped, str(path))

    @classmethod
    def of(cls, content: Any, name: str) -> CompiledSuite:
        """Opens a compiled suite from its bytes: `bytes` and read-only mapped files are borrowed, others copied."""
        view = memoryview(content)
        # A view that is read-only itself may be one of memory that others change.
        is_fixed = view.c_contiguous and view.readonly and isinstance(view.obj, (bytes, mmap.mmap))
        try:
            file = _core.IndexFile(content if is_fixed else bytes(view))
        except (_core.IndexFormatError, ValueError) as error:
            raise IndexFormatError(f"{name}: {error}") from None
        profile = next(name for name in PROFILES if getattr(_core.Profile, name) == file.profile)
        return cls(name, profile, file.metadata_hash.decode("ascii", "replace"), file.questions, file.details, content)

    def check(self, metadata_hash: str, profile: Profile) -> None:
        """Raises IndexFormatError unless it was compiled from the suite with this hash and for this profile."""
        if self.metadata_hash != metadata_hash:
            raise IndexFormatError(f"{self.name}: compiled from another suite, not from {metadata_hash}")
        if self.profile != profile:
            raise IndexFormatError(f"{self.name}: compiled for another profile, not for {profile}")

    def questions(self, references_of: ReferencesOf, folder: Path) -> tuple[Question, ...]:
        """The questions of the suite; `folder` holds their tokenizers."""
        try:
            described = json.loads(self.details)
            return tuple(
                _described_question(source, references_of(number, source["sets"]), folder)
                for number, (source, _) in enumerate(zip(described, self.index, strict=True))
            )
        except (LookupError, TypeError, ValueError, RecursionError, AttributeError):
            raise IndexFormatError(f"{self.name}: its questions cannot be read") from None


def describe_questions(questions: Sequence[Question]) -> bytes:
    """The questions without their reference answers, in the format that `CompiledSuite.questions` reads."""
    described = [describe_question(question) for question in questions]
    for source, question in zip(described, questions, strict=True):
        if question.spelling is not None:
            source["vocabulary"] = question.spelling.vocabulary
    return json.dumps(described, separators=(",", ":")).encode()  # orjson refuses lone surrogates


def describe_question(question: Question) -> dict[str, Any]:
    """A question in the form of its file, with the names of its reference sets instead of their answers."""
    return {
        **{key: getattr(question, key) for key in ("question_id", "question", "category", "note")},
        "keywords": [rule_source(rule) for rule in question.keywords],
        "sets": list(question.answers),
        **source_of(question.tokenizer),
    }


def _described_question(source: Mapping[str, Any], answers: Mapping[str, tuple[str, ...]], folder: Path) -> Question:
    question = Question(
        question_id=source["question_id"],
        question=source["question"],
        answers=answers,
        keywords=tuple(map(freeze_rule, source["keywords"])),
        category=source["category"],
        note=source["note"],
        tokenizer=freeze_tokenizer(source, folder),
    )
    if question.tokenizer is not None:  # otherwise it would be learned from the reference answers
        question.__dict__["spelling"] = Spelling(question.tokenizer, source["vocabulary"])
    return question

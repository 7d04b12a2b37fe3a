"""Compiled suites: everything that scoring needs, in one file (docs/index_format.md), and their cache.

The file is memory-mapped, so processes share it and opening it is cheap. It holds the native index of each question
and the questions without their reference answers, which the index replaces.

Everything in the cache can be rebuilt: a missing or damaged entry costs time but never changes a score. Entries are
trusted, so only this user and root may be able to write them (see `open_own`).
"""

from __future__ import annotations

import contextlib
import functools
import json
import mmap
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import IndexFormatError, PfgenError
from ..base.file_reading import OWN_FOLDER, ForeignFileError, check_own_file, check_own_folder, open_own, open_regular
from ..base.file_writing import held
from ..base.native import _core
from .keywords import freeze_rule, rule_source
from .questions import Question
from .rules import PROFILES, Lengths, Profile
from .units import Spelling, freeze_tokenizer, source_of

SuiteIndex = Sequence[_core.QuestionIndex]  # the native index of each question, in the order of the suite

ReferencesOf = Callable[[int, Sequence[str]], Mapping[str, tuple[str, ...]]]
"""Returns the reference answers of a question, given its index and the names of its reference sets."""

_PATIENCE_SECONDS = 60  # longer than a suite takes to compile; a stopped process keeps its locks
_LOCK_MODE = 0o600  # any process that can open the lock file can hold the lock


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
        return cls.of(mapped, str(path), own=own)

    @classmethod
    def of(cls, content: Any, name: str, *, own: bool = False) -> CompiledSuite:
        """Opens a compiled suite from its bytes: `bytes` and read-only mapped files are borrowed, others copied."""
        view = memoryview(content)
        # A view that is read-only itself may be one of memory that others change.
        is_fixed = view.c_contiguous and view.readonly and isinstance(view.obj, (bytes, mmap.mmap))
        try:
            file = _core.IndexFile(content if is_fixed else bytes(view), own)
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
    return json.dumps(described, separators=(",", ":")).encode()


def describe_question(question: Question) -> dict[str, Any]:
    """A question in the form of its file, with the names of its reference sets instead of their answers."""
    return {
        **{key: getattr(question, key) for key in ("question_id", "question", "category", "note")},
        "keywords": [rule_source(rule) for rule in question.keywords],
        "sets": list(question.answers),
        **source_of(question.tokenizer),
        **question.lengths.source,
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
        lengths=Lengths.frozen(source),
    )
    if question.tokenizer is not None:  # otherwise it would be learned from the reference answers
        question.__dict__["spelling"] = Spelling(question.tokenizer, source["vocabulary"])
    return question


def cache_folder() -> Path | None:
    """`$PFGEN_FAST_CACHE`, or `pfgen-fast` in the user's cache folder; None (no cache) if the variable is empty."""
    chosen = os.environ.get("PFGEN_FAST_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg and os.path.isabs(xdg):  # the XDG specification ignores relative paths
        return Path(xdg, "pfgen-fast")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local, "pfgen-fast", "cache") if local else None
    home = os.path.expanduser("~")
    return Path(home, ".cache", "pfgen-fast") if os.path.isabs(home) else None


def own_cache_folder() -> Path | None:
    """The cache folder; None if the cache is disabled. If others may write in the folder, warns and returns None."""
    folder = cache_folder()
    try:
        if folder is not None:
            check_own_folder(folder)
    except ForeignFileError as error:
        warn_once(
            f"{error}, so it is not used as the cache, and suites are compiled in memory; set PFGEN_FAST_CACHE to a "
            "directory that no other user can write to (chmod go-w)"
        )
        return None
    return folder


@functools.cache
def warn_once(message: str) -> None:
    """Warns, but with the same message only once in a process."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def cached_path(metadata_hash: str, profile: Profile) -> Path | None:
    """The path of a suite's file in the cache, whether or not it exists; None if there is no cache to use."""
    folder = own_cache_folder()
    return folder and folder / f"{metadata_hash}-{profile}-{_core.__index_version__}.pfgen"


def make_cache_folder(folder: Path) -> None:
    """Makes the cache folder, so that only this user may write in it."""
    try:
        folder.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise PfgenError(f"{folder}: cannot be written: {error.strerror or error}") from None
    check_own_folder(folder)


@contextlib.contextmanager
def building(path: Path) -> Iterator[bool]:
    """Lets one process at a time build the file `path`; yields False, after a warning, if it must not be written."""
    make_cache_folder(path.parent)
    lock = path.with_suffix(".lock")
    try:
        check_own_file(lock)
    except ForeignFileError as error:
        warn_once(f"{error}, so the compiled suite is kept in memory only; remove this lock")
        yield False
        return
    with held(lock, patience=_PATIENCE_SECONDS, mode=_LOCK_MODE) as is_held:
        if not is_held:
            warn_once(
                f"{lock}: another process has held this lock for {_PATIENCE_SECONDS} seconds, so the compiled suite is "
                "kept in memory only; end that process if it hangs"
            )
        yield is_held

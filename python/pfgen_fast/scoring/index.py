"""The native index of a suite: opened, found in the cache or built, once for each suite and profile."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import IndexFormatError, PfgenError, SuiteError
from ..base.file_reading import OWN_FILE, ForeignFileError
from ..base.file_writing import writing_whole
from ..base.native import ForkSafeLock, _core
from ..suite.compiled import CompiledSuite, SuiteIndex, building, cached_path, describe_questions, warn_once
from ..suite.questions import Question
from ..suite.rules import Profile
from ..suite.suite import Suite
from ..suite.suite_reading import check_suite

_making = ForkSafeLock()


def index_of(suite: Suite, profile: Profile, threads: int, *, damage: str = "") -> SuiteIndex:
    """The native index of each question, from the cache if possible; `damage` describes why it must be rebuilt."""
    if suite.whole is not None:
        index = index_of(suite.whole, profile, threads, damage=damage)
        return [section for question, section in zip(suite.whole, index, strict=True) if question.question_id in suite]
    with _making:
        if damage:
            suite.compiled.pop(profile, None)
        elif profile in suite.indexes:
            return suite.indexes[profile]
        # Suites built in memory would fill the cache.
        path = None if suite.folder is None else cached_path(suite.metadata_hash, profile)
        if damage:
            warnings.warn(f"{path}: {damage}; the compiled suite is rebuilt", RuntimeWarning, stacklevel=2)
        if profile in suite.compiled:
            index = suite.compiled[profile].index
        elif path is not None:
            index = _cached(suite, profile, threads, path, renews=bool(damage))
        else:
            index = built_index(suite, profile, threads)
        suite.indexes[profile] = index
        return index


def open_index(suite: Suite, profile: Profile, path: Path, *, own: bool = False) -> SuiteIndex:
    """Opens the index in a file that was compiled from this suite for this profile."""
    compiled = CompiledSuite.open(path, own=own)
    compiled.check(suite.metadata_hash, profile)
    if compiled.details != describe_questions(suite.questions):
        raise IndexFormatError(f"{path}: its questions differ from those of suite {suite.name}")
    return compiled.index


def save_index(suite: Suite, profile: Profile, threads: int, path: Path) -> SuiteIndex:
    """Builds the index of a suite and writes it to a file, for `Scorer(suite, index=path)`."""
    built = built_index(suite, profile, threads)
    write_compiled(path, suite, profile, built)
    return built


def compiled_pieces(suite: Suite, profile: Profile, index: SuiteIndex) -> list[Any]:
    """The bytes of a compiled suite's file, in consecutive pieces."""
    details = describe_questions(suite.questions)
    return [_core.index_file_head(getattr(_core.Profile, profile), suite.metadata_hash, details, index), *index]


def write_compiled(path: Path, suite: Suite, profile: Profile, index: SuiteIndex) -> None:
    """Writes a compiled suite; at any moment the path holds either the old file or the complete new one."""
    with writing_whole(path, sync=False, mode=OWN_FILE) as file:  # checksums detect damage from a power failure
        for piece in compiled_pieces(suite, profile, index):
            file.write(piece)


def _cached(suite: Suite, profile: Profile, threads: int, path: Path, *, renews: bool) -> SuiteIndex:
    """The index in a cache file, which is written first if it is missing or unusable."""
    cached = None if renews else _find(suite, profile, path, warns=True)
    if cached is not None:
        return cached
    built: SuiteIndex | None = None
    try:
        with building(path) as is_alone:
            if not is_alone:
                return built_index(suite, profile, threads)
            # Another process may have built it while this one waited; after damage, every section is checked.
            cached = _find(suite, profile, path, opens_all=renews)
            if cached is not None:
                return cached
            built = built_index(suite, profile, threads)
            with contextlib.suppress(OSError):
                if path.exists() and not path.is_file():
                    path.unlink()  # a FIFO or device, which writing would refuse to replace
            write_compiled(path, suite, profile, built)
        return open_index(suite, profile, path, own=True)
    except (IndexFormatError, OSError):  # another process may have changed the cache meanwhile
        assert built is not None
        return built
    except SuiteError:
        raise
    except PfgenError as error:  # a cache that cannot be written only costs time
        warn_once(
            f"{error}, so the compiled suite is kept in memory only; set PFGEN_FAST_CACHE to your own directory, or "
            "to an empty string to disable the cache"
        )
        return built_index(suite, profile, threads) if built is None else built


def _find(
    suite: Suite, profile: Profile, path: Path, *, warns: bool = False, opens_all: bool = False
) -> SuiteIndex | None:
    """The index in a cache file; None if it is missing or unusable, with an optional warning that says why."""
    try:
        index = open_index(suite, profile, path, own=True)
        if opens_all and [len(section.baselines) for section in index] != [len(question.answers) for question in suite]:
            return None
    except OSError:
        return None
    except (IndexFormatError, ForeignFileError, _core.IndexFormatError) as error:
        if warns:
            warnings.warn(f"{error}; the compiled suite is rebuilt", RuntimeWarning, stacklevel=2)
        return None
    return index


def built_index(suite: Suite, profile: Profile, threads: int) -> SuiteIndex:
    """The native index of each question, built from the reference answers."""
    if not suite.is_checked:
        check_suite(suite.name, suite.questions)
    sets = []
    for question in suite:
        sets_of_question = spelled_sets(suite, question, profile)
        _check_baselines(suite, question, sets_of_question, profile)
        sets.append(list(sets_of_question.values()))
    lengths = [question.lengths.native for question in suite]
    return _core.compile(sets, getattr(_core.Profile, profile), threads, lengths)


def spelled_sets(suite: Suite, question: Question, profile: Profile = "leaderboard") -> Mapping[str, Sequence[str]]:
    """The reference sets of a question as the profile reads them, spelled with one code point for each unit."""
    sets: Mapping[str, Sequence[str]] = question.answers
    spelling = question.spelling
    if profile == "normalised":
        sets = {
            name: [_core.NormalisedText(answer, has_spaces=spelling is not None).units for answer in answers]
            for name, answers in sets.items()
        }
    if spelling is None:
        return sets
    spelled = {name: spelling.spelled(answers) for name, answers in sets.items()}
    for name, answers in spelled.items():
        if not any(answers):
            raise SuiteError(
                f"suite {suite.name}, question {question.question_id}: no answer of the set {name!r} holds a token, so "
                "its baseline would be 0"
            )
    return spelled


def _check_baselines(suite: Suite, question: Question, sets: Mapping[str, Sequence[str]], profile: Profile) -> None:
    """Raises SuiteError for a set that scores in profile leaderboard, but has baseline 0 in this one."""
    unit = "code points" if question.tokenizer is None else "tokens"
    limit = question.lengths.limit
    for name, answers in sets.items():
        if profile == "paper" and all(not answer or len(answer) >= limit for answer in answers):
            why = f"are empty or have at least {limit} {unit}"
        elif profile == "normalised" and not any(answers):
            why = "are empty when normalised"
        else:
            continue
        raise SuiteError(
            f"suite {suite.name}, question {question.question_id}: in profile {profile} the set {name!r} has baseline "
            f"0, because all its answers {why}"
        )

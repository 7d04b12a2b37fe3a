"""Suites: a folder of question files, read, checked and frozen. Rules: docs/scoring.md, section 1.

A `Suite` is valid and immutable; its `metadata_hash` covers everything that scores depend on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..base.errors import IndexFormatError, SuiteError, TrialsError
from ..base.file_reading import ForeignFileError
from ..base.native import cached_property
from ..base.untrusted_json import parse_json
from ..base.untrusted_text import nearest_names
from .compiled import CompiledSuite, ReferencesOf, SuiteIndex, cached_path, describe_question
from .keywords import freeze_rule
from .published import NAMES_BY_HASH
from .questions import INSTRUCTIONS, Instructions, Question, Sample, language_of
from .rules import PROFILES, Lengths, Profile
from .suite_reading import (
    PACKAGED,
    SAMPLES_FILE,
    SETTINGS_FILE,
    file_hashes,
    json_lines,
    key_faults,
    question_faults,
    question_files,
    read_bytes,
    read_suite_json,
    samples_faults,
    settings_faults,
)
from .suite_reading import suite_folder as folder_of
from .units import freeze_tokenizer


@dataclass(frozen=True, eq=False)
class Suite:
    """The questions of one suite, in file order.

    Use `Suite.load` to read a suite. A suite supports iteration, `len`, and look-up of questions by id or text. Two
    suites are equal if they have the same `metadata_hash`.

    Attributes:
        name: The name in error messages and tables.
        questions: The questions.
        derived_from: A text that the hash of a suite built in memory depends on, in addition to its questions; for
            example the hash of the suite from which the questions were taken.

    Example:
        >>> suite = Suite.load("mini")
        >>> suite["Q01"].question_id, len(suite)
        ('Q01', 8)
    """

    name: str
    questions: tuple[Question, ...]
    derived_from: str = ""
    whole: Suite | None = field(default=None, init=False, repr=False)
    """The suite from which `only` took the questions; it has the sample answers and instructions of prompts."""
    folder: Path | None = field(default=None, init=False, repr=False)
    """The folder that `load` read, from which sample answers and instructions are read on demand."""
    is_checked: bool = field(default=False, init=False, repr=False)
    """Whether its rules were checked; a suite built in memory is checked when it is first used for scoring."""
    compiled: dict[Profile, CompiledSuite] = field(default_factory=dict, init=False, repr=False)
    """Its open compiled forms, by profile."""
    indexes: dict[Profile, SuiteIndex] = field(default_factory=dict, init=False, repr=False)
    """Its native indexes by profile, which scorers share; see `scoring.index`."""

    @cached_property
    def metadata_hash(self) -> str:
        """A hash of everything that scores depend on: the files, or the questions of a suite built in memory."""
        content = [
            [describe_question(question), {name: list(texts) for name, texts in question.answers.items()}]
            for question in self.questions
        ]
        return hashlib.sha1(json.dumps([self.derived_from, content]).encode()).hexdigest()

    @cached_property
    def _by_key(self) -> Mapping[str, Question]:
        return {key: question for question in self.questions for key in (question.question_id, question.question)}

    @classmethod
    def load(cls, source: str | Path, *, cached: bool = True) -> Suite:
        """Reads the suite in a folder or file, or a packaged or fetched suite by its name (`"mini"`, `"pfgen-bench"`).

        Args:
            source: A directory with `Q*.json` files, a file `*.jsonl` with a question in each line, or the name of a
                packaged suite, or of one that `get_suite` has fetched. To load a directory of the same name, write it
                with a separator: `./mini`.
            cached: Whether to use the cache; otherwise all files are read and hashed.
        """
        if Path(source).suffix == ".jsonl":
            lines = {Path(where): json.dumps(line).encode() for where, line in json_lines(Path(source))}
            if not lines:
                raise SuiteError(f"{source}: expected a question in each line, and at least one line")
            digests = [hashlib.sha1(content).hexdigest() for content in lines.values()]
            read = _checked(str(source), _parsed(list(lines), list(lines.values())), hash_of_files(digests))
            read.__dict__["folder"] = Path(source).absolute()
            return read
        folder = folder_of(source)
        paths = question_files(folder)
        name = folder.name if folder.parent == PACKAGED else str(source)
        suite = _from_cache(name, paths) if cached else None
        if suite is None:
            contents = list(map(read_bytes, paths))
            digests = [hashlib.sha1(content).hexdigest() for content in contents]
            suite = _checked(name, _parsed(paths, contents), hash_of_files(digests))
        suite.__dict__["folder"] = folder.absolute()
        return suite

    @classmethod
    def from_compiled(cls, compiled: CompiledSuite) -> Suite:
        """Makes a suite from its compiled form; it can be used for scoring, but has no reference answers."""
        suite = _compiled(compiled.name, compiled, lambda _, names: _LazyAnswers(names), Path())
        for question in suite:
            if "tokenizer_sha1" in describe_question(question):
                raise SuiteError(
                    f"{compiled.name}, question {question.question_id}: it uses a tokenizer file, which is in the "
                    "suite's folder; load the suite from there"
                )
        return suite

    def only(self, names: Iterable[str] = (), *, limit: int | None = None) -> Suite:
        """Returns a suite with some of the questions, in the same order; returns this suite if all are chosen.

        A cut suite has a different hash, so a score on some questions is never mistaken for a score on all questions.
        Its prompts are those of the whole suite.

        Args:
            names: IDs, exact texts, or patterns of IDs such as `"Q0*"`; by default all questions.
            limit: The maximum number of these questions, from the first on; by default there is no limit.

        Example:
            >>> [question.question_id for question in Suite.load("mini").only(["Q07", "Q0[12]"])]
            ['Q01', 'Q02', 'Q07']
        """
        if limit is not None and limit < 1:
            raise SuiteError(f"limit: expected at least 1 question, not {limit}")
        chosen = {question_id for name in names for question_id in self._ids(name)} or set(self._ids("*"))
        questions = tuple(question for question in self.questions if question.question_id in chosen)[:limit]
        if len(questions) == len(self):
            return self
        whole = self.whole or self
        cut = Suite(f"{whole.name} ({len(questions)} of {len(whole)} questions)", questions)
        ids = [question.question_id for question in questions]
        metadata_hash = hash_of_cut(whole.metadata_hash, ids)
        cut.__dict__.update(metadata_hash=metadata_hash, whole=whole, is_checked=whole.is_checked)
        return cut

    def _ids(self, name: str) -> list[str]:
        """The IDs of the questions that an ID, a text, or a pattern of IDs stands for."""
        if name in self:
            return [self[name].question_id]
        ids = [question.question_id for question in self.questions if fnmatchcase(question.question_id, name)]
        if not ids:
            raise TrialsError(self.unknown_question(name))
        return ids

    def __reduce__(self) -> tuple[Any, ...]:
        if self.whole is not None:
            return Suite.only, (self.whole, [question.question_id for question in self.questions])
        # The receiver maps the index, so millions of reference answers need not be sent.
        if self.folder is not None:
            source = self.folder.name if self.folder.parent == PACKAGED else str(self.folder)
            return _sent, (source, self.name, self.metadata_hash)
        if self.is_checked:
            return _unpacked, tuple((bytes(section.content), section.name) for section in self.compiled.values())
        return Suite, (self.name, self.questions, self.derived_from)

    def __eq__(self, other: object) -> bool:
        return self.metadata_hash == other.metadata_hash if isinstance(other, Suite) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.metadata_hash)

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __getitem__(self, key: str) -> Question:
        """The question with this id or exact text; an unknown key raises TrialsError that names the nearest ones."""
        try:
            return self._by_key[key]
        except (KeyError, TypeError):
            raise TrialsError(self.unknown_question(key)) from None

    def __repr__(self) -> str:
        known = f", metadata_hash={self.metadata_hash[:7]}" if self.is_checked else ""
        return f"Suite({self.name!r}, {len(self)} questions{known})"

    @property
    def title(self) -> str:
        """The name for readers: of a published suite, wherever it is, or else the last part of the path."""
        return NAMES_BY_HASH.get(self.metadata_hash, Path(self.name).name)

    @cached_property
    def set_names(self) -> tuple[str, ...]:
        """The names of all reference sets, in order of first appearance."""
        return tuple(dict.fromkeys(name for question in self.questions for name in question.answers))

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """The sample answers of `questions.jsonl`, used in prompts; they have no effect on scores."""
        if self.whole is not None:
            return self.whole.samples
        if self.folder is None or not (self.folder / SAMPLES_FILE).exists():
            raise SuiteError(
                f"suite {self.name}: {SAMPLES_FILE} with sample answers is missing; prompts with examples and the "
                "engine ground-truth need it"
            )
        path = self.folder / SAMPLES_FILE
        for fault in samples_faults(path):
            raise SuiteError(fault)
        return tuple(Sample(line["question"], line["answer"]) for _, line in json_lines(path))

    @cached_property
    def instructions(self) -> Mapping[str, str]:
        """The suite's own texts for prompts, by name, from `suite.json`; they have no effect on scores."""
        if self.whole is not None:
            return self.whole.instructions
        path = None if self.folder is None else self.folder / SETTINGS_FILE
        if path is None or not path.exists():
            return {}
        for fault in settings_faults(path):
            raise SuiteError(fault)
        own: dict[str, str] = read_suite_json(path).get("instructions", {})
        return MappingProxyType(own)

    def instructions_for(self, question: Question) -> Instructions:
        """The texts of the prompts for a question: the suite's own, or the default texts in the question's language."""
        return replace(INSTRUCTIONS[language_of(question.question)], **self.instructions)

    def unknown_question(self, key: object) -> str:
        """The error message for a `key` that is not a question of this suite; it names the nearest questions."""
        if not isinstance(key, str):
            return f"expected the id or the exact text of a question, not {type(key).__name__}"
        nearest = nearest_names(key, self._by_key, n=3, cutoff=0.5)
        ids = [question.question_id for question in self.questions]
        span = ids if len(ids) <= 3 else [*ids[:2], "...", ids[-1]]
        hint = f"nearest: {', '.join(map(repr, nearest))}" if nearest else f"it has {', '.join(span)}"
        shown = key if len(key) <= 80 else key[:77] + "..."
        return f"unknown question {shown!r} in suite {self.name}; {hint}"


def parse_question(content: bytes, path: Path) -> Question:
    """Decodes and checks the bytes of one question file; errors name `path`."""
    source = parse_json(content, str(path), error=SuiteError)  # refuses a set that would hide another of its name
    for fault in question_faults(source, path.parent):
        raise SuiteError(f"{path}: {fault}")
    return Question(
        question_id=source["question_id"],
        question=source["question"],
        answers=MappingProxyType({name: tuple(answers) for name, answers in source["answers"].items()}),
        keywords=tuple(map(freeze_rule, source.get("keywords", []))),
        category=source.get("category", ""),
        note=source.get("note", ""),
        tokenizer=freeze_tokenizer(source, path.parent),
        lengths=Lengths.frozen(source),
    )


def _parsed(paths: Sequence[Path], contents: Sequence[bytes]) -> tuple[Question, ...]:
    questions = []
    taken: dict[str, str] = {}
    for path, content in zip(paths, contents, strict=True):
        question = parse_question(content, path)
        for fault in key_faults(taken, question.question_id, question.question, path):
            raise SuiteError(fault)
        questions.append(question)
    return tuple(questions)


def _checked(name: str, questions: tuple[Question, ...], metadata_hash: str) -> Suite:
    suite = Suite(name, questions)
    suite.__dict__.update(metadata_hash=metadata_hash, is_checked=True)
    return suite


def hash_of_files(digests: Sequence[str]) -> str:
    """The hash of a suite whose files have these SHA-1s, in order."""
    return hashlib.sha1("".join(digests).encode()).hexdigest()


def hash_of_cut(metadata_hash: str, ids: Sequence[str]) -> str:
    """The hash of a suite that was cut to the questions with these IDs."""
    return hashlib.sha1(json.dumps([metadata_hash, ids]).encode()).hexdigest()


def _from_cache(name: str, paths: Sequence[Path]) -> Suite | None:
    """The suite from its compiled form in the cache, if there is one, without parsing the question files."""
    digests = file_hashes(paths)
    metadata_hash = hash_of_files(digests)
    for profile in PROFILES:
        path = cached_path(metadata_hash, profile)
        if path is None:
            continue
        with contextlib.suppress(OSError, IndexFormatError, ForeignFileError):  # reported when the index is needed
            compiled = CompiledSuite.open(path, own=True)
            compiled.check(metadata_hash, profile)
            return _compiled(
                name, compiled, lambda i, names: _LazyAnswers(names, paths[i], digests[i]), paths[0].parent
            )
    return None


def _compiled(name: str, compiled: CompiledSuite, references_of: ReferencesOf, folder: Path) -> Suite:
    suite = _checked(name, compiled.questions(references_of, folder), compiled.metadata_hash)
    suite.compiled[compiled.profile] = compiled
    return suite


def _sent(source: str, name: str, metadata_hash: str) -> Suite:
    """The suite that another process sent by its path."""
    try:
        suite = Suite.load(source)
    except SuiteError as error:
        raise SuiteError(
            f"suite {name} was sent by its path, which cannot be read here: {error}; share the folder, or send "
            "`Scorer.to_bytes()` once"
        ) from None
    if suite.metadata_hash != metadata_hash:
        raise SuiteError(
            f"{source}: holds a different suite from the one that was sent: its files have changed, or differ between "
            f"the machines (hash {suite.metadata_hash}, not {metadata_hash})"
        )
    suite.__dict__["name"] = name
    return suite


def _unpacked(*compiled: tuple[bytes, str]) -> Suite:
    """The suite that another process sent as the bytes of its compiled forms."""
    first, *others = (CompiledSuite.of(content, name) for content, name in compiled)
    suite = Suite.from_compiled(first)
    suite.compiled.update((other.profile, other) for other in others)
    return suite


class _LazyAnswers(Mapping[str, tuple[str, ...]]):
    """The reference sets of a question, read from its file on first access; an error without a file."""

    def __init__(self, names: Sequence[str], path: Path | None = None, digest: str = "") -> None:
        self._names, self._path, self._digest = names, path and path.absolute(), digest

    @cached_property
    def _sets(self) -> Mapping[str, tuple[str, ...]]:
        if self._path is None:
            raise SuiteError("the suite was made from its compiled form, which has no reference answers")
        content = read_bytes(self._path)
        if hashlib.sha1(content).hexdigest() != self._digest:
            raise SuiteError(f"{self._path}: the file has changed since the suite was loaded; load it again")
        return parse_question(content, self._path).answers

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._sets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

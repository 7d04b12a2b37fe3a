"""Finds the files of a suite, decodes them and checks them; each fault is one sentence that names the file.

A suite is checked once: when it is loaded, or when it is first used for scoring. Later code relies on this check.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from ..base.errors import PatternTimeout, PfgenError, SuiteError
from ..base.file_reading import OWN_FILE, ForeignFileError, file_sha1, open_own, opened, read_stored
from ..base.file_writing import write_whole
from ..base.untrusted_json import parse_json, read_json
from ..base.untrusted_text import did_you_mean, shown_value
from .compiled import describe_question, make_cache_folder, own_cache_folder
from .keywords import WHY, can_be_limited, freeze_rule, pattern_time_limit, rule_faults, searched
from .published import fetched_folder, published_names
from .questions import Instructions, Question
from .rules import Lengths
from .units import FileTokenizer, freeze_tokenizer, tokenizer_faults

PACKAGED = Path(__file__).parents[1] / "data"
SAMPLES_FILE = "questions.jsonl"
SETTINGS_FILE = "suite.json"
CARD_FILES = ("README.md", "LICENSE")
"""Files for people, on which nothing depends."""

MAX_BYTES = 1 << 27  # maximum size of a file of a suite; files of the published suite are smaller than a megabyte
_WORTH_BYTES = 1 << 20  # below this size, hashing is faster than a look-up in the cache
_SETTLED_NS = 2_000_000_000
"""Minimum age of a change: if the last change is newer, a second change within the same clock tick is not detected."""

_REQUIRED = ("question_id", "question", "answers")
OPTIONAL_KEYS = ("category", "note", "keywords", "unit", "tokenizer", "tokenizer_sha1", "target", "limit")


def question_files(folder: Path) -> list[Path]:
    """The question files of a suite, sorted by name; raises SuiteError if there are none."""
    files = sorted(folder.glob("Q*.json"), key=lambda path: path.name)
    if not files:
        raise SuiteError(f"{folder}: no question files; expected at least one Q*.json")
    return files


def packaged_names() -> list[str]:
    """The names of the packaged suites."""
    return sorted({path.parent.name for path in PACKAGED.glob("*/Q*.json")})


def suite_folder(source: str | Path) -> Path:
    """The folder of a suite, given by its path or by the name of a packaged or fetched suite."""
    packaged = packaged_names()
    if str(source) in packaged:
        return PACKAGED / source
    if (fetched := fetched_folder(str(source))) is not None:
        return fetched
    folder = Path(source)
    if str(source) in published_names() and not any(folder.glob("Q*.json")):
        raise SuiteError(f"{source}: not on this machine; run: pfgen-fast suite add {source}")
    if not os.path.isdir(folder):
        names = [*packaged, *published_names()]
        hint = did_you_mean(str(source), names)
        raise SuiteError(f"{folder}: no such folder, and no suite of that name ({', '.join(names)}){hint}")
    return folder


def read_bytes(path: Path) -> bytes:
    """The content of a file; raises SuiteError if it cannot be read."""
    return read_stored(path, limit=MAX_BYTES, error=SuiteError)


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """The decoded non-blank lines of a file, each with its location."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, parse_json(line, where, error=SuiteError)


def read_suite_json(path: Path) -> Any:
    """The value in a JSON file; raises SuiteError if the file cannot be read or decoded."""
    return read_json(path, error=SuiteError, limit=MAX_BYTES)


_State = list[list[Any]]


def file_hashes(paths: Sequence[Path]) -> list[str]:
    """The SHA-1 of each file of one folder."""
    now = time.time_ns()
    before = _state(paths)
    memory = _memory(paths[0].parent) if sum(size for _, size, *_ in before) >= _WORTH_BYTES else None
    known = None if memory is None else _remembered(memory, before)
    if known is not None:
        return known
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:  # hashing releases the GIL
        hashes = list(pool.map(partial(file_sha1, error=SuiteError), paths))
    is_settled = all(now - changed > _SETTLED_NS for *_, changed in before)
    if memory is not None and is_settled and before == _state(paths):
        content = json.dumps({"state": before, "hashes": hashes}).encode()
        with contextlib.suppress(PfgenError):  # a cache that cannot be written only costs time
            make_cache_folder(memory.parent)
            write_whole(memory, hashlib.sha1(content).hexdigest().encode() + b"\n" + content, mode=OWN_FILE)
    return hashes


def _memory(folder: Path) -> Path | None:
    """The cache file for the hashes of a folder; None if there is no cache to use."""
    if os.name != "posix":  # elsewhere ctime is the creation time
        return None
    cache = own_cache_folder()
    return cache and cache / f"{hashlib.sha1(os.fsencode(folder.resolve())).hexdigest()}.hashes"


def _state(paths: Sequence[Path]) -> _State:
    """Name, size, device, inode and timestamps of each file, which change whenever a file changes."""
    state: _State = []
    for path in paths:
        with opened(path, error=SuiteError) as file:  # network file systems report the latest status of an open file
            status = os.fstat(file.fileno())
        times = (status.st_mtime_ns, status.st_ctime_ns)
        state.append([path.name, status.st_size, status.st_dev, status.st_ino, *times])
    return state


def _remembered(memory: Path, state: _State) -> list[str] | None:
    """The cached hashes, if the files were in exactly this state."""
    try:
        with open_own(memory) as file:
            checksum, _, content = file.read().partition(b"\n")
        if hashlib.sha1(content).hexdigest().encode() != checksum:
            return None
        known: dict[str, Any] = json.loads(content)
        hashes: list[str] = known["hashes"]
        return hashes if known["state"] == state else None
    except (OSError, ValueError, ForeignFileError):
        return None


def question_faults(source: object, folder: Path | None = None) -> Iterator[str]:
    """Yields one sentence for each fault of a decoded question file."""
    if not isinstance(source, dict):
        yield f"expected a JSON object, not {type(source).__name__}"
        return
    for key in _REQUIRED:
        if key not in source:
            yield f"the key {key!r} is missing"
    for key in source:
        if key not in _REQUIRED + OPTIONAL_KEYS:
            yield f"unknown key {shown_value(key)}; expected one of {', '.join(_REQUIRED + OPTIONAL_KEYS)}"
    for key in ("question_id", "question"):
        if key in source and (not isinstance(source[key], str) or not source[key]):
            yield f"{key!r}: expected a non-empty string, not {shown_value(source[key])}"
    yield from _name_faults("'question_id'", source.get("question_id"))
    for key in ("category", "note"):
        if not isinstance(source.get(key, ""), str):
            yield f"{key!r}: expected a string, not {type(source[key]).__name__}"
    keywords = source.get("keywords", [])
    if not isinstance(keywords, list):
        yield f"'keywords': expected a list of rules, not {type(keywords).__name__}"
        keywords = []
    of_rules = [fault for i, rule in enumerate(keywords) for fault in rule_faults(rule, f"keywords[{i}]")]
    of_tokenizer = tokenizer_faults(source, folder)
    yield from (*of_rules, *of_tokenizer)
    try:
        if (lengths := Lengths.frozen(source)) != Lengths() and not of_rules and not of_tokenizer:
            yield from _long_keywords(source, keywords, lengths.target)
    except ValueError as error:
        yield f"'target' and 'limit': {error}"
    if "answers" in source:
        yield from _answers_faults(source["answers"])


def _long_keywords(source: dict[str, Any], keywords: list[Any], target: int) -> Iterator[str]:
    """Yields a sentence for each keyword that is longer than the target."""
    tokenizer = freeze_tokenizer(source, Path())
    if isinstance(tokenizer, FileTokenizer):  # which only scoring loads
        return
    for i, rule in enumerate(keywords):
        for pattern in (leaf.pattern for leaf in freeze_rule(rule).leaves() if leaf.is_plain_text):
            n_units = len(pattern) if tokenizer is None else len(tokenizer.tokens([pattern])[0])
            if n_units > target:
                yield (
                    f"keywords[{i}]: {shown_value(pattern)} has a length of {n_units}, above the target of {target}, "
                    "so an answer with it loses score; raise the target or shorten the keyword"
                )


def _answers_faults(source: object) -> Iterator[str]:
    if not isinstance(source, dict) or not source:
        yield "'answers': expected an object with at least one set name and its list of reference answers"
        return
    for name, answers in source.items():
        yield from _name_faults("the set name", name)
        if not isinstance(answers, list) or not answers:
            yield f"answers[{shown_value(name)}]: expected a list of at least one reference answer"
            continue
        for i, answer in enumerate(answers):
            if not isinstance(answer, str):
                yield f"answers[{shown_value(name)}][{i}]: expected a string, not {type(answer).__name__}"
        if not any(answers):
            yield f"answers[{shown_value(name)}]: all answers are empty, so the baseline would be 0"


def _name_faults(what: str, name: object) -> Iterator[str]:
    """Names become column names and values of tables, which cannot hold control characters or lone surrogates."""
    if isinstance(name, str) and _has_any(name, "Cc", "Cs"):
        yield f"{what} {shown_value(name)} contains a control character or a lone surrogate"


def _has_any(text: str, *categories: str) -> bool:
    return any(unicodedata.category(character) in categories for character in text)


def check_suite(name: str, questions: Iterable[Question]) -> None:
    """Checks a suite that was built in memory, as `Suite.load` checks its files."""
    taken: dict[str, str] = {}
    for number, question in enumerate(questions, start=1):
        where = f"suite {name}, question {number}"
        source = describe_question(question)
        del source["sets"]
        source["answers"] = {
            name: list(answers) if isinstance(answers, tuple) else answers for name, answers in question.answers.items()
        }
        folder = question.tokenizer.path.parent if isinstance(question.tokenizer, FileTokenizer) else None
        for fault in question_faults(source, folder):
            raise SuiteError(f"{where}: {fault}")
        for fault in key_faults(taken, question.question_id, question.question, where):
            raise SuiteError(fault)
    if not taken:
        raise SuiteError(f"suite {name}: expected at least one question")


def find_faults(source: str | Path) -> list[str]:
    """Returns one sentence for each fault of the suite in a directory; the list is empty if `Suite.load` accepts it.

    Each sentence names the file. Raises SuiteError if the directory does not exist or contains no question file.
    """
    folder = suite_folder(source)
    taken: dict[str, str] = {}

    def question_file_faults(path: Path) -> Iterator[str]:
        decoded: Any = read_suite_json(path)
        file_faults = [f"{path}: {fault}" for fault in question_faults(decoded, path.parent)]
        yield from file_faults or key_faults(taken, decoded["question_id"], decoded["question"], path)

    optional = ((folder / SAMPLES_FILE, samples_faults), (folder / SETTINGS_FILE, settings_faults))
    checks = [(path, question_file_faults) for path in question_files(folder)]
    faults: list[str] = []
    for path, faults_of in (*checks, *(check for check in optional if check[0].exists())):
        try:
            faults += faults_of(path)
        except SuiteError as error:
            faults.append(str(error))
    return faults


def samples_faults(path: Path) -> Iterator[str]:
    """Yields one sentence for each fault of a file of sample answers."""
    taken: set[str] = set()
    for where, line in json_lines(path):
        if not isinstance(line, dict):
            yield f"{where}: expected an object with 'question' and 'answer', not {type(line).__name__}"
            continue
        for key in ("question", "answer"):
            if not isinstance(line.get(key), str) or not line[key]:
                yield f"{where}: {key!r}: expected a non-empty string, not {shown_value(line.get(key))}"
            elif _has_any(line[key], "Cs"):
                yield f"{where}: {key!r} contains a lone surrogate, which a prompt cannot contain"
        question = line.get("question")
        if isinstance(question, str):
            if question in taken:
                yield f"{where}: the question {shown_value(question)} already has a sample answer"
            taken.add(question)


def settings_faults(path: Path) -> Iterator[str]:
    """Yields one sentence for each fault of a `suite.json`."""
    settings = read_suite_json(path)
    if not isinstance(settings, dict):
        yield f"{path}: expected a JSON object, not {type(settings).__name__}"
        return
    for key in settings:
        if key != "instructions":
            yield f"{path}: unknown key {shown_value(key)}; expected 'instructions'"
    instructions = settings.get("instructions", {})
    if not isinstance(instructions, dict):
        yield f"{path}: 'instructions': expected an object with texts, not {type(instructions).__name__}"
        return
    names = [text.name for text in fields(Instructions)]
    for key, text in instructions.items():
        if key not in names:
            yield f"{path}: unknown instruction {shown_value(key)}; expected {', '.join(names)}"
        elif not isinstance(text, str) or _has_any(text, "Cs"):
            yield f"{path}: instructions[{key!r}]: expected a text without lone surrogates, not {shown_value(text)}"


def key_faults(taken: dict[str, str], question_id: str, question: str, path: Path | str) -> Iterator[str]:
    """Records a question's id and text in `taken`, and yields a fault if another question uses one of them."""
    for key in dict.fromkeys((question_id, question)):
        if key in taken:
            yield f"{path}: the id or text {shown_value(key)} is already used by question {shown_value(taken[key])}"
        taken[key] = question_id


def slow_patterns(questions: Iterable[Question], seconds: float = 0.5) -> Iterator[str]:
    """Yields one sentence for each pattern that takes too long on a test text, if `can_be_limited`."""
    for question in questions if can_be_limited() else ():
        for leaf in (leaf for rule in question.keywords for leaf in rule.leaves() if not leaf.is_plain_text):
            where = f"question {question.question_id}: the pattern {shown_value(leaf.pattern)}"
            n_read = question.lengths.look_ahead
            begin = time.monotonic()
            try:
                with pattern_time_limit(seconds):
                    for text in _texts_to_try(leaf.pattern, n_read):
                        searched(re.compile(leaf.pattern).search, text, where)
                        if time.monotonic() - begin > 3 * seconds:
                            break
            except PatternTimeout:
                yield f"{where} takes longer than {seconds:g} s on a test text of {n_read} characters: {WHY}"


def _texts_to_try(pattern: str, n_read: int) -> Iterator[str]:
    """Texts that repeat a part of the pattern or a usual character, as long as the longest text that a rule reads."""
    letters = "".join(dict.fromkeys(character for character in pattern if character.isalnum()))
    single = (*letters, *"aZ_5 .あ亜\n", *(f" {letter}" for letter in letters))
    for unit in dict.fromkeys((*single, letters, letters[:-1], *re.findall(r"\w+", pattern))):
        if unit:
            yield (unit * n_read)[: n_read - 1] + "\x01"

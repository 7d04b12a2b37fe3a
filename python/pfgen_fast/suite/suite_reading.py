"""Finds the files of a suite and decodes their JSON; errors name the file and the location in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError, SuiteError, TrialsError
from ..base.file_reading import file_sha1, opened, read_stored
from ..base.file_writing import write_whole
from ..base.ownership import OWN_FILE, ForeignFileError, open_own
from ..base.untrusted_json import parse_json
from ..base.untrusted_text import did_you_mean
from .cache import make_cache_folder, own_cache_folder
from .published.manifests import fetched_folder, published_names

PACKAGED = Path(__file__).parents[1] / "data"
SAMPLES_FILE = "questions.jsonl"
SETTINGS_FILE = "suite.json"


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
        raise SuiteError(f"{source}: not on this machine; run: pfgen-fast suite get {source}")
    if not os.path.isdir(folder):
        names = [*packaged, *published_names()]
        hint = did_you_mean(str(source), names)
        raise SuiteError(f"{folder}: no such folder, and no suite of that name ({', '.join(names)}){hint}")
    return folder


MAX_BYTES = 1 << 27  # maximum size of a file of a suite; files of the published suite are smaller than a megabyte


def read_bytes(path: Path) -> bytes:
    """The content of a file; raises SuiteError if it cannot be read."""
    try:
        return read_stored(path, limit=MAX_BYTES)
    except TrialsError as error:
        raise SuiteError(str(error)) from None


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """The decoded non-blank lines of a file, each with its location."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, parse_suite_json(line, where)


def parse_suite_json(content: bytes, where: str) -> Any:
    """Decodes JSON or raises SuiteError; a duplicate key is an error, as it would silently drop a reference set."""
    return parse_json(content, where, error=SuiteError)


_WORTH_BYTES = 1 << 20  # below this size, hashing is faster than a look-up in the cache
_SETTLED_NS = 2_000_000_000
"""Minimum age of a change: if the last change is newer, a second change within the same clock tick is not detected."""

_State = list[list[Any]]


def file_hashes(paths: Sequence[Path]) -> list[str]:
    """The SHA-1 of each file of one folder."""
    now = time.time_ns()
    before = _state(paths)
    memory = _memory(paths[0].parent) if sum(size for _, size, *_ in before) >= _WORTH_BYTES else None
    if memory is None:
        return _hashes(paths)
    known = _remembered(memory, before)
    if known is not None:
        return known
    hashes = _hashes(paths)
    if before == _state(paths) and all(now - changed > _SETTLED_NS for *_, changed in before):
        with contextlib.suppress(PfgenError):  # a cache that cannot be written only costs time
            _remember(memory, before, hashes)
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
        with opened(path) as file:  # network file systems report the latest status of an open file
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


def _remember(memory: Path, state: _State, hashes: list[str]) -> None:
    content = json.dumps({"state": state, "hashes": hashes}).encode()
    make_cache_folder(memory.parent)
    write_whole(memory, hashlib.sha1(content).hexdigest().encode() + b"\n" + content, mode=OWN_FILE)


def _hashes(paths: Sequence[Path]) -> list[str]:
    with ThreadPoolExecutor(4) as pool:  # hashing releases the GIL
        return list(pool.map(file_sha1, paths))

"""SHA-1 hashes of large files that seldom change, cached until one of the files changes.

As in git, a change is detected by size, timestamps and inode number. No program can set ctime back, so even a file
whose modification time is restored counts as changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.ownership import OWN_FILE, ForeignFileError, open_own
from ..files.reading import file_sha1, opened
from ..files.writing import write_whole
from .cache import make_cache_folder, own_cache_folder

_WORTH_BYTES = 1 << 20
"""Below this size, hashing is faster than a look-up in the cache."""
_SETTLED_NS = 2_000_000_000
"""A file changed more recently could change again within one tick of its file system's clock, undetected."""

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

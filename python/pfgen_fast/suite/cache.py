"""The user's cache of compiled suites, and the lock that lets one process at a time build an entry.

Everything in the cache can be rebuilt: a missing or damaged entry costs time but never changes a score. Entries are
trusted, so only this user and root may be able to write them (`base.ownership`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from ..base.errors import PfgenError
from ..base.lock import held
from ..base.native import _core
from ..base.ownership import OWN_FOLDER, ForeignFileError, check_own_file, check_own_folder
from .rules import Profile

_PATIENCE_SECONDS = 60  # longer than a suite takes to compile; a stopped process keeps its locks
_LOCK_MODE = 0o600  # any process that can open the lock file can hold the lock


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


def clear_place(path: Path) -> None:
    """Removes a FIFO or device from the place of a file in the cache, which writing would refuse to replace."""
    with contextlib.suppress(OSError):
        if path.exists() and not path.is_file():
            path.unlink()


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

"""The only kind of lock in this package: a lock file, which the system releases when its process ends."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import PfgenError

if TYPE_CHECKING:
    from filelock import FileLock

_BY_UMASK = -1  # the default of filelock
_ATTEMPTS, _MOST_ATTEMPTS = 3, 1000


@contextlib.contextmanager
def held(path: Path, *, patience: float = 0.0, mode: int = _BY_UMASK) -> Iterator[bool]:
    """Tries to acquire the lock file `path` for `patience` seconds, and yields whether this process holds the lock."""
    from filelock import FileLock, Timeout  # slow to import, and most commands need no lock

    lock = FileLock(path, mode=mode)
    try:
        _acquire(lock, path, patience)
    except Timeout:
        yield False
        return
    except OSError as error:
        raise PfgenError(f"{path}: cannot be locked: {error.strerror or error}") from None
    try:
        yield True
    finally:
        # A process that waits for the lock notices that the file is gone and creates a new one.
        with contextlib.suppress(OSError):  # some systems cannot remove an open file, which does no harm
            path.unlink()
        lock.release()


def _acquire(lock: FileLock, path: Path, patience: float) -> None:
    """Raises `filelock.Timeout` if another process holds the lock, and OSError if the file cannot be locked."""
    from filelock import Timeout

    for attempt in count():
        try:
            lock.acquire(timeout=0.0)
        except Timeout:
            if not os.path.lexists(path):  # its holder just removed it, or the directory cannot have files (/proc)
                may_write = os.access(path.parent, os.W_OK | os.X_OK)
                if attempt < (_MOST_ATTEMPTS if may_write else _ATTEMPTS):
                    continue
                raise FileNotFoundError(errno.ENOENT, "the directory cannot have files") from None
            lock.acquire(timeout=patience)
        return

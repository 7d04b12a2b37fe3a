"""Atomic writing, and lock files: if the process is killed, the path has the old file or the complete new file."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .errors import EngineError, PfgenError

if TYPE_CHECKING:
    from filelock import FileLock

_BY_UMASK = -1  # the default of filelock
_FILES = (".csv", ".htm", ".html", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".png", ".svg", ".txt", ".xml", ".zip")


def check_folder(folder: Path, expected: str = "a directory") -> None:
    """Raises PfgenError if a directory, which may be missing, cannot be written; used for checks before any work."""
    if folder.suffix.lower() in _FILES and not folder.exists():
        raise PfgenError(f"{folder}: the command writes {expected}, not a file of the kind {folder.suffix.lower()}")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise PfgenError(f"{folder}: expected a directory, but {there} is a file")
    if not os.access(there, os.W_OK):
        raise PfgenError(f"{folder}: cannot be written: {there} is not writable")


def make_folder(folder: Path, kind: type[PfgenError] = PfgenError) -> None:
    """Creates a directory with its parents, or raises an error of the given kind."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise kind(f"{folder}: cannot be created: {error.strerror or error}") from None


def write_whole(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Writes a file atomically; see `writing_whole`."""
    with writing_whole(path, mode=mode) as file:
        file.write(content)


@contextlib.contextmanager
def writing_whole(path: Path, *, sync: bool = True, mode: int | None = None) -> Iterator[IO[bytes]]:
    """Opens a new file that replaces `path` when the block ends without an error.

    The mode of the file is `mode`, limited by the umask, or by default the mode of the old file. With `sync`, the
    content is on disk before the replacement; without it, a power failure may damage the file.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise PfgenError(f"{path}: cannot be written: expected a regular file, not a device, FIFO or socket")
        path.parent.mkdir(parents=True, exist_ok=True)
        with _unnamed_or_hidden(path, 0o666 if mode is None else mode) as (file, publish):
            if mode is None and os.name == "posix" and path.is_file():  # Windows has no such modes
                os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
            publish()
    except OSError as error:
        raise PfgenError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextlib.contextmanager
def writing_stdout() -> Iterator[IO[bytes]]:
    """Yields the binary stdout; raises PfgenError if stdout is closed or cannot be written."""
    try:
        if sys.__stdout__ is None:  # sys.stdout may have been replaced by the null device
            raise OSError(errno.EBADF, "it is closed")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise PfgenError(f"stdout: cannot be written: {error.strerror or error}") from None


@contextlib.contextmanager
def _unnamed_or_hidden(path: Path, mode: int) -> Iterator[tuple[IO[bytes], Callable[[], None]]]:
    """A new file next to `path`: an unnamed file if the system supports it (a kill leaves nothing), else hidden."""
    # Random, because a process in another container may have the same id; cut, because the length of names is limited.
    hidden = path.with_name(f".{path.name[:40]}.{os.urandom(8).hex()}.part")
    file = _open_unnamed(path.parent, mode)
    if file is None:
        with open(hidden, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:

            def publish() -> None:
                file.close()  # Windows renames no open file
                os.replace(hidden, path)

            try:
                yield file, publish
            except BaseException:
                file.close()
                hidden.unlink(missing_ok=True)
                raise
        return
    with file:

        def name(path: Path) -> None:
            # os.link follows the symbolic link only if src_dir_fd is given, which has no effect on an absolute path.
            os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=file.fileno(), follow_symlinks=True)

        def name_and_publish() -> None:
            try:
                name(path)
            except FileExistsError:  # only a rename can replace a file; a kill before it leaves `hidden`
                name(hidden)
                try:
                    os.replace(hidden, path)
                except OSError:  # such as a folder of that name
                    hidden.unlink()
                    raise

        yield file, name_and_publish


def _open_unnamed(folder: Path, mode: int) -> IO[bytes] | None:
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY, mode), "wb")
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return None  # not supported by this file system
        raise


def timestamp() -> str:
    """The current time in ISO 8601, or SOURCE_DATE_EPOCH if it is set, so that runs can be reproduced exactly."""
    import datetime

    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc) if epoch else None
    except (ValueError, OverflowError, OSError):
        raise EngineError(f"SOURCE_DATE_EPOCH: expected seconds since 1970, not {epoch!r}") from None
    return (moment or datetime.datetime.now(datetime.timezone.utc)).isoformat()


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

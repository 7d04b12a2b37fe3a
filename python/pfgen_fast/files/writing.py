"""Atomic writing: whenever the process is killed, the path holds either the old file or the complete new one."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ..errors import PfgenError


def check_folder(folder: Path) -> None:
    """Raises PfgenError if files cannot be written to the folder, which need not exist; for checks before any work."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise PfgenError(f"{folder}: expected a folder, but {there} is a file")
    if not os.access(there, os.W_OK):
        raise PfgenError(f"{folder}: cannot be written: {there} does not allow it")


def write_whole(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Writes a file atomically and leaves no temporary file behind; see `writing_whole`.

    Raises:
        PfgenError: The file cannot be written; an old file is unchanged.
    """
    with writing_whole(path, mode=mode) as file:
        file.write(content)


@contextlib.contextmanager
def writing_whole(
    path: Path, *, sync: bool = True, mode: int | None = None, on_whole: Callable[[int], None] | None = None
) -> Iterator[IO[bytes]]:
    """Opens a new file that replaces `path` when the block ends without an error.

    Its mode is `mode`, from which the umask takes; by default that of the file it replaces, or as usual for new files.
    With `sync`, the content is on disk before the replacement; without it, a power failure may damage the file.
    `on_whole` is called with the number of bytes when all of them are written, just before the file takes its place;
    where it raises an error, the file does not.
    """
    try:
        _refuse_unless_regular(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _unnamed_or_hidden(path, 0o666 if mode is None else mode) as (file, publish):
            if mode is None and os.name == "posix" and path.is_file():  # Windows has no such modes
                os.chmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
            if on_whole is not None:
                on_whole(os.fstat(file.fileno()).st_size)
            publish()
    except OSError as error:
        raise PfgenError(f"{path}: cannot be written: {error.strerror or error}") from None


def _refuse_unless_regular(path: Path) -> None:
    """Raises PfgenError if something that is no file, such as a device, is where a file would replace it."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise PfgenError(f"{path}: cannot be written: expected a regular file, not a device, FIFO or socket")


@contextlib.contextmanager
def _unnamed_or_hidden(path: Path, mode: int) -> Iterator[tuple[IO[bytes], Callable[[], None]]]:
    """A new file beside `path`: unnamed where the system supports it (a kill leaves nothing behind), else hidden."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}.part")
    file = _open_unnamed(path.parent, mode)
    if file is None:
        hidden.unlink(missing_ok=True)  # what a killed process of this number left, or a link that leads elsewhere
        with open(hidden, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:

            def publish() -> None:
                file.close()  # Windows renames no open file
                os.replace(hidden, path)

            try:
                yield file, publish
            except BaseException:
                hidden.unlink(missing_ok=True)
                raise
        return
    with file:

        def name(path: Path) -> None:
            # Python's os.link follows the symbolic link only if it is given src_dir_fd, which an absolute path ignores.
            os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=file.fileno(), follow_symlinks=True)

        def name_and_publish() -> None:
            try:
                name(path)
            except FileExistsError:  # only a rename can replace a file, and only a kill just before it leaves `hidden`
                hidden.unlink(missing_ok=True)
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

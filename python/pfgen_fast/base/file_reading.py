"""Bounded reading of untrusted files, and of files that only this user can write; each error names the file.

Only regular files are opened, because reading a FIFO or a device might never end. Content beyond a limit is refused
before more than `AT_ONCE_BYTES` of it are in memory, also if it is compressed. Large files are read in pieces, so that
Ctrl-C works between pieces.

A checksum detects damage, but it does not detect a forged file. So a cached file must be ours: owned by this user or
root, and not writable by others. Windows has no such owners and modes, so there every file counts as ours.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from .compression import DAMAGE, PIECE_BYTES, Pieces, compression, contents
from .errors import PfgenError, TrialsError

MAX_BYTES = 1 << 30
"""Maximum size of a file that is read completely, after decompression."""

MAX_LINE_BYTES = 1 << 24
"""Maximum length of a line."""

AT_ONCE_BYTES = 1 << 23
"""Maximum number of bytes read or decompressed in one call; larger content is scanned in pieces before it is read."""

OWN_FILE = 0o644
OWN_FOLDER = 0o755
"""The modes of our files and directories, for any umask."""


class Content(NamedTuple):
    """The decompressed content of a file, and the SHA-1 of the stored file."""

    content: bytes
    sha1: str


def read_text(path: Path, *, error: type[PfgenError], limit: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file without its byte order mark; raises `error` if it cannot be read."""
    try:
        return read_stored(path, limit=limit, error=error).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not UTF-8 (byte {problem.start})") from None


@contextlib.contextmanager
def opened(path: Path, *, error: type[PfgenError] = TrialsError) -> Iterator[IO[bytes]]:
    """Opens a regular file for reading; never waits for a FIFO. Raises `error` if the file cannot be read."""
    try:
        with open_regular(path) as file:
            yield file
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror or problem}") from None


def open_regular(path: Path, flags: int = 0) -> IO[bytes]:
    """Opens a regular file for reading, with additional flags of `os.open`."""
    return open(path, "rb", opener=lambda name, usual: _descriptor(name, usual | flags))


def _descriptor(path: str, flags: int) -> int:
    """The descriptor of a regular file, or of a pipe that a shell opened for this process (`<(...)`)."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode) and path.startswith("/dev/fd/"):
        os.set_blocking(descriptor, True)
    elif not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, f"expected a regular file, not a {'FIFO' if stat.S_ISFIFO(mode) else 'device'}")
    return descriptor


def stdin() -> IO[bytes]:
    """The binary stdin; raises TrialsError if stdin is closed."""
    if sys.__stdin__ is None:  # sys.stdin may have been replaced by the null device
        raise TrialsError("stdin: cannot be read: it is closed")
    return sys.stdin.buffer


def read_stored(path: Path, *, limit: int = MAX_BYTES, error: type[PfgenError] = TrialsError) -> bytes:
    """The stored bytes of a file; raises `error` if it cannot be read."""
    with opened(path, error=error) as file:
        return _joined(_bounded(_blocks(file), file, path, limit, error))


def read_content(
    path: Path, *, check: Callable[[Iterator[bytes]], object], on_piece: Callable[[], object] = lambda: None
) -> Content:
    """The decompressed content of a file of lines. Large content is first scanned by `check`, which may refuse it."""
    with opened(path) as file:
        stored = file.read(AT_ONCE_BYTES)
        # In one piece if possible, because this thread waits for the GIL after each piece.
        content = None if file.read(1) else _decompressed_at_once(stored, path)
        if content is not None:
            return Content(content, hashlib.sha1(stored).hexdigest())
        del stored

        def pieces(digest: Any) -> Iterator[bytes]:
            file.seek(0)
            for piece in _bounded(_unpacked(_hashed(_blocks(file), digest), path), file, path, MAX_BYTES):
                on_piece()
                yield piece

        check(_whole_lines(pieces(hashlib.sha1()), path))
        digest = hashlib.sha1()
        return Content(_joined(pieces(digest)), digest.hexdigest())


@contextlib.contextmanager
def reading(path: Path, name: str | None = None) -> Iterator[IO[bytes]]:
    """Opens a file of any size for reading, and decompresses it on the fly in the format of its extension.

    `name` is the name of the file in errors about its content, by default its path.
    """
    with opened(path) as file:
        if not compression(path):
            yield file
        else:
            content = _unpacked(_blocks(file, PIECE_BYTES), path, name=name)
            yield io.BufferedReader(Pieces(content), PIECE_BYTES)


def numbered_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers and line ends, split at LF only, without the byte-order mark."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise _too_long(where, number)
        yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def file_sha1(path: Path, *, error: type[PfgenError] = TrialsError) -> str:
    """The SHA-1 of a stored file of any size; raises `error` if it cannot be read."""
    digest = hashlib.sha1()
    with opened(path, error=error) as file:
        for _ in _hashed(_blocks(file), digest):
            pass
    return digest.hexdigest()


def _decompressed_at_once(stored: bytes, path: Path) -> bytes | None:
    """The content of a small file; None if it is large."""
    parts: list[bytes] = []
    n_bytes = 0
    for part in _unpacked((stored,), path, AT_ONCE_BYTES + 1):
        parts.append(part)
        n_bytes += len(part)
        if n_bytes > AT_ONCE_BYTES:
            return None
    return b"".join(parts)


def _blocks(file: IO[bytes], n_bytes: int = 4 * PIECE_BYTES) -> Iterator[bytes]:
    """The bytes of an open file in blocks."""
    while block := file.read(n_bytes):
        yield block


def _hashed(blocks: Iterable[bytes], digest: Any) -> Iterator[bytes]:
    """The unchanged blocks; each block is also added to a digest."""
    for block in blocks:
        digest.update(block)
        yield block


def _unpacked(
    blocks: Iterable[bytes], path: Path, piece: int = PIECE_BYTES, *, name: str | None = None
) -> Iterator[bytes]:
    """The content of a file from its stored bytes."""
    kind = compression(path)
    try:
        yield from contents(blocks, kind, piece) if kind else blocks
    except DAMAGE as error:
        raise TrialsError(f"{name or path}: damaged or cut off ({error})") from None


def _bounded(
    pieces: Iterable[bytes], file: IO[bytes], path: Path, limit: int, error: type[PfgenError] = TrialsError
) -> Iterator[bytes]:
    """The pieces of the content of a file, up to a limit; a file that is stored with more bytes is not read."""
    if os.fstat(file.fileno()).st_size > limit:
        raise too_large(path, limit, error)
    n_bytes = 0
    for piece in pieces:
        n_bytes += len(piece)
        if n_bytes > limit:
            raise too_large(path, limit, error)
        yield piece


def _joined(pieces: Iterable[bytes]) -> bytes:
    """Joins pieces; unlike `bytes.join`, it does not keep them twice in memory."""
    whole = io.BytesIO()
    for piece in pieces:
        whole.write(piece)
    return whole.getvalue()


def _whole_lines(pieces: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Splits the pieces again, so that each piece ends with a complete line."""
    number = 1  # number of the line in `rest`
    rest = b""
    for piece in pieces:
        lines, end, begun = piece.rpartition(b"\n")
        if end:
            block = rest + lines + end
            yield block
            number += block.count(b"\n")
            rest = begun
        else:
            rest += begun
        if len(rest) > MAX_LINE_BYTES:
            raise _too_long(str(path), number)
    if rest:
        yield rest


def too_large(path: Path, limit: int, error: type[PfgenError] = TrialsError) -> PfgenError:
    """The error for a file of more than `limit` bytes."""
    when = " when decompressed" if compression(path) else ""
    return error(f"{path}: holds more than {limit >> 20} MiB{when}, which is the limit")


def _too_long(where: str, number: int) -> TrialsError:
    return TrialsError(f"{where}, line {number}: longer than {MAX_LINE_BYTES >> 20} MiB, which is the limit")


class ForeignFileError(PfgenError):
    """A file or directory is not ours. The message begins with its path."""


def open_own(path: Path) -> IO[bytes]:
    """Opens a file of ours for reading, without following a symbolic link."""
    check_own_file(path)
    file = open_regular(path, getattr(os, "O_NOFOLLOW", 0))
    try:
        _check_owner_and_mode(path, os.fstat(file.fileno()))  # it may have been replaced in the meantime
    except ForeignFileError:
        file.close()
        raise
    return file


def check_own_file(path: Path) -> None:
    """Raises ForeignFileError if a file exists, but is not a regular file of ours."""
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO"}
            kind = kinds.get(stat.S_IFMT(status.st_mode), "a device or socket")
            raise ForeignFileError(f"{path}: expected a regular file, not {kind}")
        _check_owner_and_mode(path, status)


def check_own_folder(path: Path) -> None:
    """Raises ForeignFileError if a directory exists, but it or a link to it is not ours."""
    # Parents are not checked: if another user replaces the directory, it belongs to that user and is refused.
    with contextlib.suppress(OSError):
        _check_owner(path, os.lstat(path))
        _check_owner_and_mode(path, os.stat(path))


def _check_owner_and_mode(path: Path, status: os.stat_result) -> None:
    _check_owner(path, status)
    if os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ForeignFileError(f"{path}: other users can write to it (mode {stat.S_IMODE(status.st_mode):o})")


def _check_owner(path: Path, status: os.stat_result) -> None:
    if os.name == "posix" and status.st_uid not in (os.geteuid(), 0):
        import pwd  # not on Windows

        name = f"user {status.st_uid}"
        with contextlib.suppress(KeyError):
            name = pwd.getpwuid(status.st_uid).pw_name
        raise ForeignFileError(f"{path}: belongs to {name}")

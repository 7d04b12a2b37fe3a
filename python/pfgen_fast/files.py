"""Files from outside, read within bounds, and files of ours, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from .errors import PfgenError, TrialsError

MAX_BYTES = 1 << 30
"""What a file may hold once decompressed; more is taken for a compression bomb."""

_CHUNK = 1 << 20
_COMPRESSIONS = (".xz", ".gz", ".zst")


def compression(path: Path) -> str:
    """The ending that says how a file is compressed, "" if it is not."""
    return path.suffix if path.suffix in _COMPRESSIONS else ""


def read_stored(path: Path) -> bytes:
    """The bytes of a file as they are stored."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise TrialsError(f"{path}: cannot be read: {error.strerror}") from None


def decompress(stored: bytes, path: Path, limit: int = MAX_BYTES) -> bytes:
    """The content of a file whose stored bytes are given; `path` says how it is compressed.

    Raises:
        TrialsError: The data is damaged, cut off, or larger than `limit`.
    """
    kind = compression(path)
    if not kind:
        return stored
    parts: list[bytes] = []
    size = 0
    try:
        for part in _DECOMPRESSORS[kind](stored):
            parts.append(part)
            size += len(part)
            if size > limit:
                raise TrialsError(f"{path}: holds more than {limit >> 20} MiB when decompressed, which is the limit")
    except (lzma.LZMAError, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise TrialsError(f"{path}: damaged or cut off ({error})") from None
    return b"".join(parts)


def _unxz(stored: bytes) -> Iterator[bytes]:
    """All streams of an .xz file; padding between and after them is allowed."""
    while stored:
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        yield decompressor.decompress(stored, _CHUNK)
        while not decompressor.eof:
            if decompressor.needs_input:
                raise EOFError("the end of the stream is missing")
            yield decompressor.decompress(b"", _CHUNK)
        stored = decompressor.unused_data.lstrip(b"\0")


def _gunzip(stored: bytes) -> Iterator[bytes]:
    while stored:
        decompressor = zlib.decompressobj(wbits=31)
        yield decompressor.decompress(stored, _CHUNK)
        while not decompressor.eof:
            if not decompressor.unconsumed_tail:
                raise EOFError("the end of the stream is missing")
            yield decompressor.decompress(decompressor.unconsumed_tail, _CHUNK)
        stored = decompressor.unused_data.lstrip(b"\0")


def _unzstd(stored: bytes) -> Iterator[bytes]:
    import zstandard

    step = 1 << 12  # a small step of input bounds what one call can give
    try:
        while stored:
            decompressor = zstandard.ZstdDecompressor().decompressobj()
            for begin in range(0, len(stored), step):
                yield decompressor.decompress(stored[begin : begin + step])
                if decompressor.eof:
                    stored = decompressor.unused_data + stored[begin + step :]
                    break
            else:
                raise EOFError("the end of the frame is missing")
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from None


_DECOMPRESSORS: dict[str, Callable[[bytes], Iterator[bytes]]] = {".xz": _unxz, ".gz": _gunzip, ".zst": _unzstd}


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that at any moment it is the old one or the whole new one; nothing else is left behind.

    Raises:
        PfgenError: The folder or the disk does not take it; the old file is as it was.
    """
    with writing_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def writing_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when the block ends without an error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _unnamed_or_hidden(path) as (file, publish):
            yield file
            file.flush()
            os.fsync(file.fileno())
            publish()
    except OSError as error:
        raise PfgenError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextlib.contextmanager
def _unnamed_or_hidden(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], None]]]:
    """A new file beside `path`: without a name where the system can (then a kill leaves nothing), else a hidden one."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}.part")

    def publish() -> None:
        os.replace(hidden, path)

    file = _open_unnamed(path.parent)
    if file is None:
        with open(hidden, "wb") as file:
            try:
                yield file, publish
            except BaseException:
                hidden.unlink(missing_ok=True)
                raise
        return
    with file:

        def name_and_publish() -> None:
            hidden.unlink(missing_ok=True)
            # Given a folder's descriptor (which an absolute path makes no use of), link follows the symbolic link.
            os.link(f"/proc/self/fd/{file.fileno()}", hidden, src_dir_fd=file.fileno(), follow_symlinks=True)
            publish()

        yield file, name_and_publish


def _open_unnamed(folder: Path) -> IO[bytes] | None:
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return None  # this file system cannot
        raise


def input_hash(path: Path) -> str:
    """SHA-1 of a file as it is stored."""
    return hashlib.sha1(read_stored(path)).hexdigest()

"""Streaming compression and decompression; the file extension selects the format.

The caller limits the size of decompressed pieces, so a small file cannot exhaust the memory. Files that need too much
memory for decompression are refused.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any

PIECE_BYTES = 1 << 20

_MAX_XZ_MEMORY = (1 << 26) + (1 << 20)
"""Maximum memory for decompression; the strongest preset of xz needs 65 MiB."""

_MAX_ZST_WINDOW_LOG = 26
"""Maximum window of zst, as a power of two; levels up to 21 do not exceed it."""

_SLICE_BYTES = 1 << 15
"""Size of the parts in which the rest of a block after its first stream is processed."""

_COMPRESSIONS = (".xz", ".gz", ".zst")


def compression(path: Path) -> str:
    """The file extension that selects the compression format; "" if the file is not compressed."""
    return path.suffix if path.suffix in _COMPRESSIONS else ""


class Pieces(io.RawIOBase):
    """A raw file that reads from pieces of bytes, for a BufferedReader."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Copies bytes of the next piece into the buffer and returns their number; 0 at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes] = self._rest[:n_bytes]
        self._rest = self._rest[n_bytes:]
        return n_bytes


def contents(blocks: Iterable[bytes], kind: str, piece: int = PIECE_BYTES) -> Iterator[bytes]:
    """Decompresses consecutive streams, which zero bytes may separate, into pieces of at most `piece` bytes."""
    start, feed = _DECOMPRESSORS[kind]
    stream = None
    padding = b""
    for block in blocks:
        rest = block
        n_bytes = len(block)
        while rest:
            part, rest = rest[:n_bytes], rest[n_bytes:]
            while part:
                if stream is None:
                    part = part.lstrip(padding)
                    if not part:
                        break
                    stream = start()
                after = yield from feed(stream, part, piece)
                if after is None:
                    break
                stream = None
                padding = b"\0" if kind != ".zst" else b""
                part = after
                if len(after) > _SLICE_BYTES:  # each end of a stream copies the rest
                    part, rest, n_bytes = b"", after, _SLICE_BYTES
    if stream is not None:
        raise EOFError("the end of the stream is missing")


# Passes a block to the decompressor of a stream, and yields pieces of the content with a maximum size. Returns the
# bytes after the end of the stream, or None if the stream has not ended.
_Feeding = Generator[bytes, None, bytes | None]


def _feed_xz(stream: Any, block: bytes, piece: int) -> _Feeding:
    yield stream.decompress(block, piece)
    while not (stream.eof or stream.needs_input):
        yield stream.decompress(b"", piece)
    return stream.unused_data if stream.eof else None


def _feed_gz(stream: Any, block: bytes, piece: int) -> _Feeding:
    yield stream.decompress(block, piece)
    while stream.unconsumed_tail and not stream.eof:
        yield stream.decompress(stream.unconsumed_tail, piece)
    return stream.unused_data if stream.eof else None


def _zstd() -> Any:
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def _start_zst() -> Any:
    zstd = _zstd()
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _MAX_ZST_WINDOW_LOG})


def _feed_zst(stream: Any, block: bytes, piece: int) -> _Feeding:
    try:
        return (yield from _feed_xz(stream, block, piece))
    except _zstd().ZstdError as error:
        raise EOFError(str(error)) from None


DAMAGE = (lzma.LZMAError, zlib.error, gzip.BadGzipFile, EOFError)
_DECOMPRESSORS: dict[str, tuple[Callable[[], Any], Callable[[Any, bytes, int], _Feeding]]] = {
    ".xz": (lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_XZ_MEMORY), _feed_xz),
    ".gz": (lambda: zlib.decompressobj(wbits=31), _feed_gz),
    ".zst": (_start_zst, _feed_zst),
}


@contextlib.contextmanager
def compressing(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """A writer that compresses into `file`, in the format of the extension of `path`. It stores no name and no time."""
    start = _COMPRESSORS.get(compression(path))
    if start is None:
        yield file
    else:
        with start(file) as writer:
            yield writer


_COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 - closed by the caller
    ".gz": lambda file: gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0),
    ".zst": lambda file: _zstd().ZstdFile(file, "w"),
}

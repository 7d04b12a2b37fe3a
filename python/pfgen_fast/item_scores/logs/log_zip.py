"""Reads JSON members of an untrusted zip within limits; nothing is extracted, and names of members are never paths.

Python before 3.14 cannot read members that are compressed with Zstandard, so these are decompressed here.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ...errors import TrialsError
from ...files.compression import DAMAGE, contents
from ...files.reading import MAX_BYTES, MAX_LINE_BYTES, opened
from ...files.untrusted_json import parse_json
from ...files.untrusted_text import in_one_line

_ZSTANDARD = 93
_PIECE_BYTES = 1 << 20
_END, _END_BYTES = b"PK\5\6", 22
_MAX_COMMENT_BYTES = 1 << 16
_MAX_DIRECTORY_BYTES = 1 << 26
_LOCAL_BYTES = 30
_ZIP_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, *DAMAGE)


class LogZip:
    """An open zip; errors are `TrialsError` with the name of the file."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        _check_directory(file, path)
        with self._naming_damage():
            self._zip = zipfile.ZipFile(file)
        self.names = tuple(dict.fromkeys(self._zip.namelist()))

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[LogZip]:
        """Opens a file."""
        with opened(path) as file:
            yield cls(path, file)

    def json(self, name: str) -> Any:
        """The value in a small member."""
        if name not in self.names:
            raise TrialsError(f"{self._path}: expected a log of Inspect with {name}")
        text, n_characters = [], 0
        for piece in self.text(name):
            text.append(piece)
            n_characters += len(piece)
            if n_characters > MAX_LINE_BYTES:
                raise TrialsError(f"{self._path}, {name}: larger than {MAX_LINE_BYTES >> 20} MiB, which is the limit")
        return parse_json("".join(text), f"{self._path}, {name}")

    def text(self, name: str) -> Iterator[str]:
        """The text of a member, in pieces."""
        try:
            yield from codecs.iterdecode(self._pieces(name), "utf-8")
        except UnicodeDecodeError:
            raise TrialsError(f"{self._path}, {in_one_line(name)}: not UTF-8") from None

    def _pieces(self, name: str) -> Iterator[bytes]:
        n_bytes = 0
        with self._naming_damage():
            info = self._zip.getinfo(name)
            is_own = info.compress_type == _ZSTANDARD
            for piece in self._zstandard(info) if is_own else self._usual(info):
                n_bytes += len(piece)
                if n_bytes > MAX_BYTES:
                    shown = in_one_line(name)
                    raise TrialsError(
                        f"{self._path}, {shown}: holds more than {MAX_BYTES >> 20} MiB, which is the limit"
                    )
                yield piece

    def _usual(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        with self._zip.open(info) as member:
            while piece := member.read(_PIECE_BYTES):
                yield piece

    def _zstandard(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_BYTES)
        n_name, n_extra = struct.unpack("<HH", header[26:])
        self._file.seek(info.header_offset + _LOCAL_BYTES + n_name + n_extra)
        checksum = 0
        for piece in contents(self._stored(info.compress_size), ".zst"):
            checksum = zlib.crc32(piece, checksum)
            yield piece
        if checksum != info.CRC:
            raise zipfile.BadZipFile("wrong checksum")

    def _stored(self, n_bytes: int) -> Iterator[bytes]:
        while n_bytes:
            block = self._file.read(min(n_bytes, _PIECE_BYTES))
            if not block:
                raise EOFError("the end is missing")
            n_bytes -= len(block)
            yield block

    @contextlib.contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except _ZIP_DAMAGE as error:
            raise TrialsError(f"{self._path}: damaged or cut off zip: {in_one_line(error)}") from None


def _check_directory(file: IO[bytes], path: Path) -> None:
    """Refuses a directory of members that would need much memory."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - _MAX_COMMENT_BYTES))
    end = file.read()
    place = len(end) - _END_BYTES if end[-_END_BYTES:].startswith(_END) else end.rfind(_END)
    if place >= 0 and len(end) >= place + _END_BYTES:
        (n_bytes,) = struct.unpack("<I", end[place + 12 : place + 16])
        if n_bytes == 0xFFFFFFFF:  # the size is in the record of large files before it
            (n_bytes,) = struct.unpack("<Q", end[place - 36 : place - 28]) if place >= 76 else (0,)
        if n_bytes > _MAX_DIRECTORY_BYTES:
            raise TrialsError(f"{path}: the zip has too many members; expected a log of Inspect")

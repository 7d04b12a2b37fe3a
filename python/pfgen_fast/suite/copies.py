"""Copies of a published suite on this machine: a directory, a tar or a zip archive.

Nothing of an archive is extracted to a path. Only regular members with the names of wanted files are read, and each
within the limit of the file that it stands for.
"""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

from ..errors import PfgenError, SuiteError
from ..files.reading import opened, reading
from .published import PublishedFile

Take = Callable[[PublishedFile, Iterator[bytes], str], None]
"""Receives the content of a file, with its location for messages."""


class CutOff(SuiteError):
    """The content of a file ends too early; over a network, another try may have the rest."""


_BLOCK_BYTES = 1 << 16
_MAX_TAR_BYTES = 1 << 32
_MAX_HEADER_BYTES = 1 << 20
_MAX_MEMBERS = 200_000
_TARS = (".tar", ".tar.gz", ".tar.xz", ".tar.zst")


def read_copy(source: Path, wanted: Sequence[PublishedFile], take: Take) -> None:
    """Passes the wanted files of a copy to `take`; files that the copy lacks are left out."""
    if source.is_dir():
        _read_folder(source, wanted, take)
    elif not source.exists():
        raise SuiteError(f"{source}: no such directory or archive, and not an address (https://...)")
    elif source.name.endswith(_TARS):
        _read_tar(source, wanted, take)
    elif source.name.endswith(".zip"):
        _read_zip(source, wanted, take)
    else:
        raise SuiteError(f"{source}: expected a directory or an archive ({', '.join(_TARS)}, .zip)")


def _read_folder(folder: Path, wanted: Sequence[PublishedFile], take: Take) -> None:
    """Reads a checkout, or the directory of a fetched suite."""
    is_checkout = any((folder / file.path).is_file() for file in wanted)
    for file in wanted:
        path = folder / (file.path if is_checkout else file.name)
        if path.is_file():
            with opened(path) as stream:
                take(file, _blocks(stream), str(path))


def _read_tar(archive: Path, wanted: Sequence[PublishedFile], take: Take) -> None:
    left = {file.path: file for file in wanted}
    try:
        with reading(archive) as stream, tarfile.open(fileobj=cast(Any, _Forward(stream)), mode="r:") as tar:
            for number, member in enumerate(tar):
                if number == _MAX_MEMBERS:
                    raise tarfile.ReadError(f"more than {_MAX_MEMBERS:,} members, which is the limit")
                name = _name_in(left, member.name)
                if name and member.isreg() and (content := tar.extractfile(member)):
                    take(left.pop(name), _blocks(content), f"{archive}, {name}")
                if not left:
                    return
    except PfgenError:
        raise
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise SuiteError(f"{archive}: not a tar archive, or damaged or cut off ({error})") from None


def _read_zip(archive: Path, wanted: Sequence[PublishedFile], take: Take) -> None:
    left = {file.path: file for file in wanted}
    try:
        with opened(archive) as stream, zipfile.ZipFile(stream) as members:
            for member in members.infolist():
                name = _name_in(left, member.filename)
                is_regular = member.external_attr >> 28 in (0, 8)  # the file type of Unix, where there is one
                # Other methods may take memory as the archive says.
                if name and is_regular and member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    with members.open(member) as content:
                        take(left.pop(name), _blocks(content), f"{archive}, {name}")
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, zlib.error) as error:
        raise SuiteError(f"{archive}: not a zip archive, or damaged or encrypted ({error})") from None


def _name_in(wanted: dict[str, PublishedFile], name: str) -> str | None:
    """The path of the wanted file that a member is, below the top of the archive or below its one directory."""
    parts = name.removeprefix("./").split("/")
    inside = parts[1:] if parts[0] not in ("", "..") else parts
    return next((path for path in ("/".join(parts), "/".join(inside)) if path in wanted), None)


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(_BLOCK_BYTES):
        yield block


class _Forward:
    """A stream for `tarfile` that only moves forward, and refuses headers and contents beyond the limits."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._at = 0

    def tell(self) -> int:
        return self._at

    def seek(self, at: int) -> None:
        while self._at < at and self.read(min(at - self._at, _BLOCK_BYTES)):
            pass

    def read(self, n_bytes: int) -> bytes:
        if n_bytes > _MAX_HEADER_BYTES or self._at > _MAX_TAR_BYTES:
            raise tarfile.ReadError("larger than the limit")
        block = self._stream.read(n_bytes)
        self._at += len(block)
        return block

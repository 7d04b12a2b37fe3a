"""Remote storage through fsspec. Any exception of a protocol package becomes one sentence.

Cached listings are not used. A chain of protocols (`::`) is not a place, and untrusted names never choose a protocol.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import PfgenError, TrialsError
from ...files.optional import optional
from .place_names import FileInfo, is_hidden, is_web, scheme_of, shown_place, without_passwords

_CHECKSUMS = ("ETag", "etag", "md5Hash", "content_hash", "oid", "blob_id", "sha")
_TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")
"""The keys that protocols use for a checksum, or a time, that changes with the file."""
_WITH_FOLDERS = ("ftp", "ftps", "sftp", "ssh", "smb", "hdfs", "webhdfs", "arrow_hdfs", "webdav", "dbfs")
"""The schemes of storage systems whose directories must be created."""


class Stopped(Exception):
    """Raised if a file is no longer needed."""


class RemoteStorage:
    """The files and directories of one remote storage system; the methods are those of `LocalStorage`."""

    def __init__(self, url: str) -> None:
        fsspec = optional("fsspec", extra="remote", needed_for=f"{scheme_of(url)}://")
        scheme = scheme_of(url)
        try:
            self._kind = fsspec.get_filesystem_class(scheme)
        except ImportError as error:  # its message says how to install the package
            raise PfgenError(f"{shown_place(url)}: {scheme}:// needs another package: {error}") from None
        except ValueError:
            raise PfgenError(f"{shown_place(url)}: fsspec knows no scheme {scheme}://") from None
        with _telling(url, "cannot be opened"):
            self._files = self._kind(**self._kind._get_kwargs_from_urls(url))

    def key(self, place: str) -> tuple[str, ...]:
        """The identity of this storage system, and the parts of the path."""
        storage = self._kind.__name__, repr(sorted(self._files.storage_options.items()))
        return *storage, *self._path(place).strip("/").split("/")

    def info(self, place: str) -> FileInfo | None:
        """Size and etag, or time of modification."""
        about = self._about(place)
        return None if about is None or about["type"] == "directory" else _info(about)

    def is_folder(self, place: str) -> bool:
        """Whether a directory exists; for storage that has only key prefixes, whether a key begins with the path."""
        about = None if is_web(place) else self._about(place)
        return about is not None and about["type"] == "directory"

    def below(self, folder: str) -> list[tuple[str, FileInfo]]:
        """The files at any depth."""
        self._files.invalidate_cache()
        path = self._path(folder).rstrip("/")
        with _telling(folder, "cannot be listed"):
            try:
                found: Mapping[str, Any] = self._files.find(path, detail=True)
            except FileNotFoundError:
                return []
        names = ((one.removeprefix(path).removeprefix("/"), about) for one, about in found.items() if one != path)
        return sorted(
            ((name, _info(about)) for name, about in names if about["type"] == "file" and not is_hidden(name)),
            key=lambda one: one[0],
        )

    def matches(self, pattern: str) -> list[str]:
        """The matches of a glob, with the scheme and the host of the pattern."""
        self._files.invalidate_cache()
        path = self._path(pattern)
        before = pattern[: pattern.rindex(path)] if path in pattern else f"{scheme_of(pattern)}://"
        with _telling(pattern, "cannot be listed"):
            return [before + one for one in sorted(self._files.glob(path))]

    def read_all(self, places: list[str], limit: int) -> list[bytes]:
        """The contents of files, read concurrently if the protocol supports it."""
        if not places:
            return []
        paths = [self._path(place) for place in places]
        with _telling(places[0], "cannot be read"):
            contents = self._files.cat(paths)
            for place, path in zip(places, paths, strict=True):
                if len(contents[path]) > limit:
                    raise TrialsError(f"{shown_place(place)}: holds more than {limit:,} bytes, which is the limit")
            return [contents[path] for path in paths]

    def write(self, place: str, content: bytes) -> None:
        """Writes a file."""
        with _telling(place, "cannot be written", PfgenError):
            self._make_folder(place)
            self._files.pipe_file(self._path(place), content)

    def remove(self, place: str) -> None:
        """Removes a file."""
        with _telling(place, "cannot be written", PfgenError), contextlib.suppress(FileNotFoundError):
            self._files.rm_file(self._path(place))

    def fetch(self, place: str, target: Path, is_stopped: Callable[[], bool]) -> None:
        """Copies a file to a local file; raises `Stopped` as soon as `is_stopped` returns true."""
        callbacks = optional("fsspec.callbacks", extra="remote", needed_for=f"{scheme_of(place)}://")

        class Stopping(callbacks.Callback):  # type: ignore[misc,name-defined]  # fsspec is untyped
            def relative_update(self, inc: int = 1) -> None:
                if is_stopped():
                    raise Stopped

        with _telling(place, "cannot be read"):
            self._files.get_file(self._path(place), str(target), callback=Stopping())

    def put(self, source: Path, place: str) -> None:
        """Uploads a local file."""
        with _telling(place, "cannot be written", PfgenError):
            self._make_folder(place)
            self._files.put_file(str(source), self._path(place))

    def _about(self, place: str) -> Mapping[str, Any] | None:
        self._files.invalidate_cache()
        with _telling(place, "cannot be read"), contextlib.suppress(FileNotFoundError):
            about: Mapping[str, Any] = self._files.info(self._path(place))
            return about
        return None

    def _path(self, place: str) -> str:
        return str(self._kind._strip_protocol(place))

    def _make_folder(self, place: str) -> None:
        if scheme_of(place) in _WITH_FOLDERS:  # for other schemes, a misspelt bucket would be created
            self._files.makedirs(self._files._parent(self._path(place)), exist_ok=True)


def _info(about: Mapping[str, Any]) -> FileInfo:
    name, value = next(((name, about[name]) for name in (*_CHECKSUMS, *_TIMES) if about.get(name)), ("", ""))
    version = f"{name} {value.timestamp() if isinstance(value, datetime.datetime) else value}".strip()
    size = about.get("size")
    return FileInfo(None if size is None else int(size), version)


@contextlib.contextmanager
def _telling(place: str, problem: str, kind: type[PfgenError] = TrialsError) -> Iterator[None]:
    """Converts any exception of a protocol package to one sentence."""
    try:
        yield
    except (PfgenError, Stopped):
        raise
    except Exception as error:
        raise kind(f"{shown_place(place)}: {problem}: {_reason(error, place)}") from None


def _reason(error: Exception, place: str) -> str:
    told = without_passwords(error, place) or type(error).__name__
    if isinstance(error, FileNotFoundError):
        return "there is no such file, folder or bucket" + (f" ({told})" if " " in told else "")
    if isinstance(error, PermissionError):
        return f"permission denied ({told})"
    return told

"""Local storage, and the choice between `LocalStorage` and `RemoteStorage`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from ...errors import PfgenError, TrialsError
from ...files.reading import read_stored
from ...files.writing import write_whole
from .place_names import FileInfo, has_magic, is_remote
from .remote import RemoteStorage


class LocalStorage:
    """The files and directories of this machine; each error is a `PfgenError` that names the path."""

    def key(self, place: str) -> tuple[str, ...]:
        """The parts of the path with all links resolved; different spellings of a path have equal keys."""
        return Path(os.path.realpath(place)).parts

    def info(self, place: str) -> FileInfo | None:
        """The size and time of modification of a file; None if it does not exist."""
        try:
            return _info(os.stat(place))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TrialsError(f"{place}: cannot be read: {error.strerror or error}") from None

    def is_folder(self, place: str) -> bool:
        """Whether the directory exists."""
        return os.path.isdir(place)

    def below(self, folder: str) -> list[tuple[str, FileInfo]]:
        """The files at any depth, sorted by relative name. Hidden files and linked directories are skipped."""
        found = []
        for at, folders, files in os.walk(folder, onerror=_refused):
            folders[:] = [name for name in folders if name[0] not in "_."]
            for name in files:
                if name[0] not in "_.":
                    path = os.path.join(at, name)
                    info = FileInfo(None, "")  # such as for a broken link, which raises an error when it is read
                    with contextlib.suppress(OSError):
                        info = _info(os.stat(path))
                    found.append((Path(path).relative_to(folder).as_posix(), info))
        return sorted(found, key=lambda one: one[0])

    def matches(self, pattern: str) -> list[str]:
        """The matches of a glob, sorted; `**` does not follow links, because links can form a cycle."""
        path = Path(pattern)
        parts = path.parts
        n_fixed = next((number for number, part in enumerate(parts) if has_magic(part)), len(parts))
        root = str(Path(*parts[:n_fixed])) if n_fixed else "."
        found = sorted(set(_matches(root, parts[n_fixed:])))
        return found if n_fixed else [os.path.relpath(one) for one in found]

    def read_all(self, places: list[str], limit: int) -> list[bytes]:
        """The contents of small files."""
        return [read_stored(Path(place), limit=limit) for place in places]

    def write(self, place: str, content: bytes) -> None:
        """Writes a file atomically."""
        write_whole(Path(place), content)

    def remove(self, place: str) -> None:
        """Removes a file if it exists."""
        try:
            Path(place).unlink(missing_ok=True)
        except OSError as error:
            raise PfgenError(f"{place}: cannot be replaced: {error.strerror or error}") from None


def storage_of(place: str) -> LocalStorage | RemoteStorage:
    """The storage of a path or URL."""
    return RemoteStorage(place) if is_remote(place) else LocalStorage()


def _info(status: os.stat_result) -> FileInfo:
    return FileInfo(status.st_size, f"modified {status.st_mtime_ns}")


def _refused(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise TrialsError(f"{error.filename}: cannot be read: {error.strerror or error}")


def _matches(folder: str, parts: tuple[str, ...]) -> Iterator[str]:
    """The paths below a folder that match the parts of a glob."""
    if not parts:
        yield folder
        return
    part, *rest = parts
    if part == "**":
        yield from _matches(folder, tuple(rest) or ("*",))
    if not has_magic(part):
        path = os.path.join(folder, part)
        if os.path.lexists(path):
            yield from _matches(path, tuple(rest))
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # the folder is missing or unreadable: nothing matches
    for entry in entries:
        if part == "**":
            if entry.name[0] != "." and entry.is_dir(follow_symlinks=False):
                yield from _matches(entry.path, parts)
        elif fnmatchcase(entry.name, part) and (entry.name[0] != "." or part[0] == "."):
            yield from _matches(entry.path, tuple(rest))

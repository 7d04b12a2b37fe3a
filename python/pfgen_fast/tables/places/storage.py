"""Files and folders, here or elsewhere: a place is a path, or a URL such as `s3://bucket/in/`.

What is elsewhere is fetched whole before it is read, and put whole when it is finished, so that formats, wholeness and
damage are matters of local files alone. Names from outside never lead out of a folder, and URLs are shown without
passwords.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from ...errors import PfgenError
from ...files.untrusted_text import in_one_line

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)  # one letter is a drive
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_WEB = ("http", "https")
_WITH_USERS = (*_WEB, "ftp", "ftps", "sftp", "ssh", "smb", "webdav", "github")
_MAX_SHOWN = 300


@dataclass(frozen=True)
class FileInfo:
    """What is known of a file without reading it.

    Attributes:
        n_bytes: Its size; None if the place does not say.
        version: A text that changes when the file changes: its time of modification, or its etag.
    """

    n_bytes: int | None
    version: str


class Storage(Protocol):
    """What can be asked about places of one kind; all errors are `PfgenError` and name the place."""

    def key(self, place: str) -> tuple[str, ...]:
        """The place by its parts, equal for different spellings of one place."""

    def info(self, place: str) -> FileInfo | None:
        """What is known of a file; None if there is none."""

    def is_folder(self, place: str) -> bool:
        """Whether there is such a folder."""

    def below(self, folder: str) -> list[tuple[str, FileInfo]]:
        """The files at any depth below a folder by their names relative to it, sorted; none if it does not exist.

        Names that begin with `_` or `.`, of files or of folders, are left out; links to folders are not followed.
        """

    def matches(self, pattern: str) -> list[str]:
        """The files and folders that a glob matches, sorted."""

    def read_all(self, places: list[str], limit: int) -> list[bytes]:
        """The contents of small files."""

    def write(self, place: str, content: bytes) -> None:
        """Writes a small file whole."""

    def remove(self, place: str) -> None:
        """Removes a file, which need not exist."""

    def make_folder(self, place: str) -> None:
        """Makes the folder of a file that will be written here."""

    def fetch(self, place: str, target: Path, is_stopped: Callable[[], bool]) -> Path:
        """The local file with a file's content: `target`, or the file itself if it is here."""

    def put(self, source: Path, place: str) -> None:
        """Puts a whole local file to a place."""


def is_remote(place: str) -> bool:
    """Whether a place is a URL."""
    return _SCHEME.match(place) is not None


def scheme_of(url: str) -> str:
    """The scheme of a URL, in small letters."""
    return url.partition("://")[0].lower()


def is_web(place: str) -> bool:
    """Whether a place is a page of the web, which has no folders and is only read."""
    return is_remote(place) and scheme_of(place) in _WEB


def place_of(given: str | os.PathLike[str]) -> str:
    """The place that a user named: a path, also if given as `file://`, or a URL with its scheme in small letters."""
    text = os.fspath(given)
    if not is_remote(text):
        return text
    path = text.partition("://")[2]
    return path if scheme_of(text) in ("file", "local") else f"{scheme_of(text)}://{path}"


def shown_place(place: str) -> str:
    """A place for messages and records: a URL without user, password and signed query."""
    if not is_remote(place):
        return place
    user = _USER.search(place)
    if user and (":" in user[0] or scheme_of(place) in _WITH_USERS):  # abfs://container@account has no user
        place = place[: user.start()] + place[user.end() :]
    return re.split("[?#]", place, maxsplit=1)[0] if is_web(place) else place


def without_passwords(text: object, *places: str) -> str:
    """A foreign text for a message, in one line, in which no URL has a user and password."""
    told = str(text)
    for place in places:
        told = told.replace(place, shown_place(place))
    return in_one_line(re.sub(r"(?<=://)[^/@\s]*:[^/@\s]*@", "", told), _MAX_SHOWN)


def storage_of(place: str) -> Storage:
    """Where a place is."""
    if is_remote(place):
        from .remote import RemoteStorage

        return RemoteStorage(place)
    from .local import LocalStorage

    return LocalStorage()


def has_magic(place: str) -> bool:
    """Whether a place is a glob."""
    return not is_web(place) and re.search("[*?[]", place) is not None


def is_hidden(name: str) -> bool:
    """Whether a part of a relative name begins with `_` or `.`: readers of folders pass over these."""
    return any(part[:1] in ("_", ".") for part in name.split("/") if part not in (".", ".."))


def base_name(place: str) -> str:
    """The last part of a place."""
    path = urlsplit(place).path if is_web(place) else place
    return re.split("[/\\\\]" if os.name == "nt" else "/", path)[-1]


def joined(folder: str, name: str) -> str:
    """The place of a file by its name relative to a folder; an empty one is the working folder."""
    if not folder:
        return name
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else f"/{name}"


def check_target(place: str) -> None:
    """Raises PfgenError if nothing can be written where a place is, for checks before any work."""
    if is_web(place):
        raise PfgenError(f"{shown_place(place)}: cannot be written: {scheme_of(place)}:// is only read")


def check_name(name: str, place: str) -> None:
    """Raises PfgenError if a relative name, joined to a folder, could lead out of it or stand for another name."""
    parts = name.split("/")
    is_strange = os.name == "nt" and re.search('[\\\\:*?"<>|]', name) is not None
    if is_strange or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise PfgenError(f"{shown_place(place)}: no output can have its name, {in_one_line(repr(name))}")

"""Names of places: a place is a local path, or a URL such as `s3://bucket/in/`.

A remote file is fetched completely before it is read, and uploaded completely when it is finished. So all readers and
writers use local files. Untrusted names never lead out of a directory, and URLs are shown without passwords.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
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
    """The size and version of a file."""

    n_bytes: int | None  # None if the size is unknown
    version: str  # etag or time of modification; it changes when the file changes


def is_remote(place: str) -> bool:
    """Whether a place is a URL."""
    return _SCHEME.match(place) is not None


def scheme_of(url: str) -> str:
    """The scheme of a URL, in lower case."""
    return url.partition("://")[0].lower()


def is_web(place: str) -> bool:
    """Whether a place is an HTTP address, which has no directories and is read-only."""
    return is_remote(place) and scheme_of(place) in _WEB


def place_of(given: str | os.PathLike[str]) -> str:
    """The place that a user gave: a path, for `file://` too, or a URL with its scheme in lower case."""
    text = os.fspath(given)
    if not is_remote(text):
        return text
    path = text.partition("://")[2]
    return path if scheme_of(text) in ("file", "local") else f"{scheme_of(text)}://{path}"


def shown_place(place: str) -> str:
    """A place for messages and records; a URL is shown without user, password and signed query."""
    if not is_remote(place):
        return place
    user = _USER.search(place)
    if user and (":" in user[0] or scheme_of(place) in _WITH_USERS):  # abfs://container@account has no user
        place = place[: user.start()] + place[user.end() :]
    return re.split("[?#]", place, maxsplit=1)[0] if is_web(place) else place


def without_passwords(text: object, *places: str) -> str:
    """Converts an untrusted text to one line in which no URL has a user and password."""
    told = str(text)
    for place in places:
        told = told.replace(place, shown_place(place))
    return in_one_line(re.sub(r"(?<=://)[^/@\s]*:[^/@\s]*@", "", told), _MAX_SHOWN)


def has_magic(place: str) -> bool:
    """Whether a place is a glob."""
    return not is_web(place) and re.search("[*?[]", place) is not None


def is_hidden(name: str) -> bool:
    """Whether a part of a relative name begins with `_` or `.`; readers of directories skip such files."""
    return any(part[:1] in ("_", ".") for part in name.split("/") if part not in (".", ".."))


def base_name(place: str) -> str:
    """The last part of a place."""
    path = urlsplit(place).path if is_web(place) else place
    return re.split("[/\\\\]" if os.name == "nt" else "/", path)[-1]


def joined(folder: str, name: str) -> str:
    """The place of a file from its name relative to a directory; an empty directory is the working directory."""
    if not folder:
        return name
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else f"/{name}"


def check_target(place: str) -> None:
    """Raises PfgenError if a place is read-only; used for checks before any work."""
    if is_web(place):
        raise PfgenError(f"{shown_place(place)}: cannot be written: {scheme_of(place)}:// is read-only")


def check_name(name: str, place: str) -> None:
    """Raises PfgenError if a relative name could lead out of a directory, or if two names could be one file."""
    parts = name.split("/")
    is_strange = os.name == "nt" and re.search('[\\\\:*?"<>|]', name) is not None
    if is_strange or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise PfgenError(f"{shown_place(place)}: {in_one_line(repr(name))} cannot be the name of an output")

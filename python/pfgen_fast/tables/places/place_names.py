"""Files and folders, here or elsewhere: a place is a path, or a URL such as `s3://bucket/in/`.

What is elsewhere is fetched whole before it is read, and put whole when it is finished, so that formats, wholeness and
damage are matters of local files alone. Names from outside never lead out of a folder, and URLs are shown without
passwords.
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
    """What is known of a file without reading it."""

    n_bytes: int | None  # None if the place does not say
    version: str  # changes when the file changes: its time of modification, or its etag


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
    """An untrusted text for a message, in one line, in which no URL has a user and password."""
    told = str(text)
    for place in places:
        told = told.replace(place, shown_place(place))
    return in_one_line(re.sub(r"(?<=://)[^/@\s]*:[^/@\s]*@", "", told), _MAX_SHOWN)


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

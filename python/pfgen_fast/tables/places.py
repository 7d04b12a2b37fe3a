"""Places of tables: a local path, or a URL such as `s3://bucket/in/`, which fsspec opens.

A remote file is fetched completely before it is read, and uploaded completely when it is finished. So all readers and
writers use local files. Untrusted names never lead out of a directory or choose a protocol, and URLs are shown without
passwords. Any exception of a protocol package becomes one sentence.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from ..base.errors import PfgenError, TrialsError, optional
from ..base.file_writing import write_whole
from ..base.untrusted_text import in_one_line

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)  # one letter is a drive
_URL = re.compile(r"""[a-z][a-z0-9+.-]+://[^\s'"<>]+""", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^/\s]*@")  # a password may contain @
_WEB = ("http", "https")
_WITH_USERS = (*_WEB, "ftp", "ftps", "sftp", "ssh", "smb", "webdav", "github")
_WITH_FOLDERS = ("ftp", "ftps", "sftp", "ssh", "smb", "hdfs", "webhdfs", "arrow_hdfs", "webdav", "dbfs")
"""The schemes of storage systems whose directories must be created."""
_TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")
"""The keys that protocols use for the time of the last change."""


@dataclass(frozen=True)
class FileInfo:
    """The size of a file and the times of its last change and last replacement in seconds; None if unknown."""

    n_bytes: int | None
    modified: float | None
    placed: float | None  # at least `modified`; `cp -p` and `rsync -t` keep that


# Names


def is_remote(place: str) -> bool:
    """Whether a place is a URL."""
    return _SCHEME.match(place) is not None


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _is_web(place: str) -> bool:
    """Whether a place is an HTTP address, which has no directories and is read-only."""
    return is_remote(place) and _scheme(place) in _WEB


def place_of(named: str | os.PathLike[str]) -> str:
    """The place that a user gave: a path, for `file://` too, or a URL with its scheme in lower case."""
    text = os.fspath(named)
    if not is_remote(text):
        return text
    path = text.partition("://")[2]
    return path if _scheme(text) in ("file", "local") else f"{_scheme(text)}://{path}"


def shown_place(place: str) -> str:
    """A place for messages and records; a URL is shown without user, password and signed query."""
    if not is_remote(place):
        return place
    user = _USER.search(place)
    if user and (":" in user[0] or _scheme(place) in _WITH_USERS):  # abfs://container@account has no user
        place = place[: user.start()] + place[user.end() :]
    return re.split("[?#]", place, maxsplit=1)[0] if _is_web(place) else place


def has_magic(place: str) -> bool:
    """Whether a place is a glob."""
    return not _is_web(place) and re.search("[*?[]", place) is not None


def is_hidden(name: str) -> bool:
    """Whether a part of a relative name begins with `_` or `.`; readers of directories skip such files."""
    return any(part[:1] in ("_", ".") for part in name.split("/") if part not in (".", ".."))


def base_name(place: str) -> str:
    """The last part of a place."""
    path = urlsplit(place).path if _is_web(place) else place
    return re.split("[/\\\\]" if os.name == "nt" else "/", path)[-1]


def joined(folder: str, name: str) -> str:
    """The place of a file from its name relative to a directory; an empty directory is the working directory."""
    if not folder:
        return name
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else f"/{name}"


def check_writable(place: str) -> None:
    """Raises PfgenError if a place is read-only; used for checks before any work."""
    if _is_web(place):
        raise PfgenError(f"{shown_place(place)}: cannot be written: {_scheme(place)}:// is read-only")


def check_name(name: str, place: str) -> None:
    """Raises PfgenError if a relative name could lead out of a directory, or if two names could be one file."""
    is_strange = os.name == "nt" and re.search('[\\\\:*?"<>|]', name) is not None
    if is_strange or "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise PfgenError(f"{shown_place(place)}: {in_one_line(repr(name))} cannot be the name of an output")


# Files and directories


def place_key(place: str) -> tuple[str, ...]:
    """The identity of the storage system and the parts of the path; different spellings of a place have equal keys."""
    if not is_remote(place):
        return Path(os.path.realpath(place)).parts
    files, path = _remote(place)
    return type(files).__name__, repr(sorted(files.storage_options.items())), *path.strip("/").split("/")


def file_info(place: str) -> FileInfo | None:
    """The size and age of a file; None if it does not exist."""
    if is_remote(place):
        about = _about(place)
        return None if about is None or about["type"] == "directory" else _info(about)
    with _telling(place, "cannot be read"), contextlib.suppress(FileNotFoundError):
        return _local_info(place)
    return None


def is_folder(place: str) -> bool:
    """Whether a directory exists; for storage that has only key prefixes, whether a key begins with the path."""
    if not is_remote(place):
        return os.path.isdir(place)
    about = None if _is_web(place) else _about(place)
    return about is not None and about["type"] == "directory"


def files_below(folder: str) -> list[tuple[str, FileInfo]]:
    """The files at any depth, sorted by relative name; hidden files and linked local directories are skipped."""
    if is_remote(folder):
        files, path = _remote(folder)
        path = path.rstrip("/")
        with _telling(folder, "cannot be listed"):
            try:
                listed: Mapping[str, Any] = files.find(path, detail=True)
            except FileNotFoundError:
                return []
        infos = {
            name.removeprefix(path).removeprefix("/"): _info(about)
            for name, about in listed.items()
            if name != path and about["type"] == "file"
        }
    else:
        infos = {}
        for at, folders, names in os.walk(folder, onerror=_refuse):
            folders[:] = [name for name in folders if not is_hidden(name)]
            for path in (os.path.join(at, name) for name in names):
                info = FileInfo(None, None, None)  # such as for a broken link, which raises an error when it is read
                with contextlib.suppress(OSError):
                    info = _local_info(path)
                infos[Path(path).relative_to(folder).as_posix()] = info
    return sorted((item for item in infos.items() if not is_hidden(item[0])), key=lambda item: item[0])


def glob_matches(pattern: str) -> list[str]:
    """The matches of a glob, sorted; `**` does not follow local links, because links can form a cycle."""
    if is_remote(pattern):
        files, path = _remote(pattern)
        before = pattern[: pattern.rindex(path)] if path in pattern else f"{_scheme(pattern)}://"
        with _telling(pattern, "cannot be listed"):
            return [before + name for name in sorted(files.glob(path))]
    parts = Path(pattern).parts
    n_fixed = next(number for number, part in enumerate(parts) if has_magic(part))
    parts = tuple(part if part == "**" else re.sub(r"\*+", "*", part) for part in parts)  # pathlib refuses `a**`
    root, rest = Path(*parts[:n_fixed]), os.path.join(*parts[n_fixed:])
    rest += "/*" if parts[-1] == "**" else ""
    names = {match.relative_to(root) for match in root.glob(rest)}
    is_any = any(part[0] == "." for part in parts[n_fixed:])  # such as `.cache*/*.csv`
    return sorted(str(root / name) for name in names if is_any or not any(part[0] == "." for part in name.parts))


def write_file(place: str, content: bytes | Path) -> None:
    """Writes a file with this content, or with that of a local file; a local file is written atomically."""
    if not is_remote(place):
        write_whole(Path(place), content.read_bytes() if isinstance(content, Path) else content)
        return
    files, path = _remote(place)
    with _telling(place, "cannot be written", PfgenError):
        if _scheme(place) in _WITH_FOLDERS:  # for other schemes, a misspelt bucket would be created
            files.makedirs(files._parent(path), exist_ok=True)
        if isinstance(content, Path):
            files.put_file(str(content), path)
        else:
            files.pipe_file(path, content)


def remove_file(place: str) -> None:
    """Removes a file if it exists."""
    files, path = _remote(place) if is_remote(place) else (None, place)
    with _telling(place, "cannot be replaced", PfgenError), contextlib.suppress(FileNotFoundError):
        if files is None:
            os.unlink(path)
        else:
            files.rm_file(path)


@contextlib.contextmanager
def fetched(place: str) -> Iterator[tuple[Path, FileInfo]]:
    """A local file with the content of a place, and the information about the file from before it was read."""
    info = file_info(place)
    if info is None:
        server = ", or no such server" if _is_web(place) else ""
        raise TrialsError(f"{shown_place(place)}: no such file{server}")
    if not is_remote(place):
        yield Path(place), info
        return
    with temporary_folder() as folder:
        path = Path(folder, f"input{endings(place)}")
        files, remote_path = _remote(place)
        with _telling(place, "cannot be read"):
            files.get_file(remote_path, str(path))
        if info.n_bytes not in (None, n_bytes := path.stat().st_size):
            counts = f"received {n_bytes:,} bytes, expected {info.n_bytes:,}"
            raise TrialsError(f"{shown_place(place)}: {counts}; the file was changed or cut off")
        yield path, info


def endings(place: str) -> str:
    """The extensions that select a format, such as `.csv.gz`."""
    return "".join(Path(base_name(place)).suffixes[-2:])


def is_same(source: str, output: str) -> bool:
    """Whether two places are the same file, for example by a hard link."""
    if is_remote(source) or is_remote(output):
        return place_key(source) == place_key(output)
    return os.path.exists(source) and os.path.exists(output) and os.path.samefile(source, output)


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A directory for files that are fetched or written."""
    try:
        return tempfile.TemporaryDirectory(prefix="pfgen-fast-")
    except OSError as error:
        where = os.environ.get("TMPDIR", "the system's temporary folder")
        raise PfgenError(f"{where}: cannot be written: {error.strerror or error}") from None


def _remote(url: str) -> tuple[Any, str]:
    """The file system of a URL, without cached listings, and the path in it. `::` is a part of a name, not a chain."""
    scheme = _scheme(url)
    fsspec = optional("fsspec", extra="remote", needed_for=f"{scheme}://")
    try:
        kind = fsspec.get_filesystem_class(scheme)
    except ImportError as error:  # its message says how to install the package
        raise PfgenError(f"{shown_place(url)}: {scheme}:// needs another package: {error}") from None
    except ValueError:
        raise PfgenError(f"{shown_place(url)}: fsspec knows no scheme {scheme}://") from None
    with _telling(url, "cannot be opened"):
        files = kind(**kind._get_kwargs_from_urls(url))
        files.invalidate_cache()
        return files, str(kind._strip_protocol(url))


def _about(url: str) -> Mapping[str, Any] | None:
    files, path = _remote(url)
    with _telling(url, "cannot be read"), contextlib.suppress(FileNotFoundError):
        about: Mapping[str, Any] = files.info(path)
        return about
    return None


def _info(about: Mapping[str, Any]) -> FileInfo:
    size, time = about.get("size"), next((about[name] for name in _TIMES if about.get(name)), None)
    time = time.timestamp() if isinstance(time, datetime.datetime) else time
    seconds = time if isinstance(time, int | float) else None
    return FileInfo(None if size is None else int(size), seconds, seconds)


def _local_info(path: str) -> FileInfo:
    status = os.stat(path)
    return FileInfo(status.st_size, status.st_mtime, max(status.st_mtime, status.st_ctime))


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise TrialsError(f"{error.filename}: cannot be read: {error.strerror or error}")


@contextlib.contextmanager
def _telling(place: str, problem: str, kind: type[PfgenError] = TrialsError) -> Iterator[None]:
    """Converts any exception of the system or of a protocol package to one sentence."""
    try:
        yield
    except PfgenError:
        raise
    except Exception as error:
        raise kind(f"{shown_place(place)}: {problem}: {_reason(error, place)}") from None


def _without_secrets(text: str, url: str) -> str:
    """A message without the user, the password and the signed query of a URL, in whatever encoding they occur."""
    text = _URL.sub(lambda match: shown_place(match[0]), text.replace(url, shown_place(url)))
    text = re.sub(r"(?<=://)[^/\s]*:[^/\s]*@", "", text)
    hidden = _USER.findall(url) + (re.split("[?#]", url)[1:] if _is_web(url) else [])
    values = [re.split("[=:]", part, maxsplit=1)[-1].rstrip("@") for query in hidden for part in query.split("&")]
    plain = {form for value in values for form in (value, unquote(value), unquote_plus(value))}
    forms = plain | {quote(value, safe=safe) for value in plain for safe in ("/", "")} | set(map(quote_plus, plain))
    for secret in sorted((form for form in forms if len(form) > 3), key=len, reverse=True):
        text = re.sub(re.escape(secret), "…", text, flags=re.IGNORECASE)
    return text


def _reason(error: Exception, place: str) -> str:
    if not is_remote(place) and isinstance(error, OSError):
        return error.strerror or str(error)
    text = _without_secrets(str(error), place)
    told = in_one_line(text, 300) or type(error).__name__
    if isinstance(error, FileNotFoundError):
        return "there is no such file, folder or bucket" + (f" ({told})" if " " in told else "")
    if isinstance(error, PermissionError):
        return f"permission denied ({told})"
    return told

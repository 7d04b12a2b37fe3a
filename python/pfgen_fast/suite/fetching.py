"""Installs suites: every file is checked, and the directory appears when all of them are there.

Files gather in a hidden directory next to it, so that a later call goes on after a kill, and no command finds a part.
Proxies are those of the environment. A mirror of a published suite may not redirect to another host.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .. import __version__
from ..base.errors import PfgenError, SuiteError, TrialsError
from ..base.file_reading import check_own_folder, opened, read_stored
from ..base.file_writing import held, make_folder, write_whole
from ..base.untrusted_text import in_one_line
from .published import ORIGIN_FILE, PublishedFile, PublishedSuite, published_suite, suites_folder

_THREADS = 6
_TRIES = 4
_PAUSE_SECONDS = 1.0  # before the second try; each further pause is twice as long
_TIMEOUT_SECONDS = 20.0  # without a byte
_BLOCK_BYTES = 1 << 16
_LEAST_BYTES_PER_SECOND = 1000
_MOST_SECONDS = 3600.0  # of a file
_ADDRESS = re.compile(r"https?://[0-9A-Za-z.:\[\]-]+(/[^\s?#]*)?")


Take = Callable[[PublishedFile, Iterator[bytes], str], None]
"""Receives the content of a file, with its location for messages."""


class CutOff(SuiteError):
    """The content of a file ends too early; another try may have the rest."""


class _Stopped(Exception):
    """Another file cannot be had, so this one is no longer wanted."""


class Download:
    """Downloads files below a base address; other hosts are asked only if redirects to them may be followed."""

    def __init__(self, base_url: str, redirects: HTTPRedirectHandler | None = None) -> None:
        if not _ADDRESS.fullmatch(base_url):
            raise SuiteError(
                "the address of the source: expected one such as https://example.org/mirror, without a user, a "
                "password and a query"
            )
        self._base_url = base_url.rstrip("/")
        self._stop = threading.Event()
        self._opener = build_opener(redirects or Redirects(lambda old, new: urlsplit(old)[:2] == urlsplit(new)[:2]))

    def read(self, wanted: Sequence[PublishedFile], take: Take) -> None:
        """Passes the wanted files to `take`, in several threads; files that are not found (404) are left out."""
        left, ended = list(reversed(wanted)), Queue[BaseException | None]()

        def work() -> None:
            with contextlib.suppress(IndexError):
                while not self._stop.is_set():
                    file = left.pop()
                    try:
                        self._fetch(file, take)
                        ended.put(None)
                    except BaseException as error:
                        ended.put(error)

        # Unlike those of a pool, daemon threads do not hold up Ctrl-C while a server says nothing.
        threads = [threading.Thread(target=work, daemon=True) for _ in range(_THREADS)]
        try:
            for thread in threads:
                thread.start()
            for _ in wanted:
                if error := ended.get():
                    raise error
        except KeyboardInterrupt:
            threads.clear()
            raise
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _fetch(self, file: PublishedFile, take: Take) -> None:
        url = f"{self._base_url}/{file.path}"
        request = Request(url, headers={"User-Agent": f"pfgen-fast/{__version__}"})
        url = url.partition("?")[0]  # which may have a secret after it
        problem = ""
        for number in range(_TRIES):
            if number and self._stop.wait(_PAUSE_SECONDS * 2 ** (number - 1)):
                return
            try:
                with self._opener.open(request, timeout=_TIMEOUT_SECONDS) as response:
                    take(file, self._blocks(response, url), url)
                return
            except HTTPError as error:
                error.close()
                if error.code == 404:
                    return
                problem = f"{url}: the server replies {error.code} {in_one_line(error.reason)}"
                if error.code < 500 and error.code not in (408, 429):
                    raise SuiteError(f"{problem}; check the address") from None
            except CutOff as error:
                problem = str(error)
            except _Stopped:
                return
            except (OSError, HTTPException) as error:
                reason = getattr(error, "reason", error)
                shown = in_one_line(str(getattr(reason, "strerror", None) or reason).strip())
                problem = f"{url}: cannot be reached: {shown or type(error).__name__}"
        raise SuiteError(
            f"{problem} ({_TRIES} tries); check the network and the proxy (HTTPS_PROXY), or name a copy on this machine"
        )

    def _blocks(self, response: Any, url: str) -> Iterator[bytes]:
        begin, n_bytes = time.monotonic(), 0
        while block := response.read1(_BLOCK_BYTES):
            n_bytes += len(block)
            yield block
            if self._stop.is_set():
                raise _Stopped
            seconds = _TIMEOUT_SECONDS + n_bytes / _LEAST_BYTES_PER_SECOND
            if time.monotonic() - begin > min(seconds, _MOST_SECONDS):
                raise CutOff(f"{url}: slower than {_LEAST_BYTES_PER_SECOND:,} bytes a second")
        promised = response.headers.get("Content-Length", "")
        if promised.isdecimal() and n_bytes < int(promised):
            raise CutOff(f"{url}: cut off after {n_bytes:,} of {int(promised):,} bytes")


class Redirects(HTTPRedirectHandler):
    """Follows redirects if a function of the two addresses allows it."""

    def __init__(self, may_follow: Callable[[str, str], bool]) -> None:
        self._may_follow = may_follow

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        """The request for the new address."""
        if not self._may_follow(req.full_url, newurl):
            fp.close()
            raise SuiteError(
                f"{req.full_url}: redirects to another address ({in_one_line(newurl)}), which is not followed; "
                "name the right address"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@dataclass(frozen=True)
class FetchedSuite:
    """An installed suite in a directory; `n_fetched` counts the files that were written now.

    `missing` has the paths that the source lacks, on which no score depends.
    """

    suite: PublishedSuite
    folder: Path
    n_fetched: int
    missing: tuple[str, ...] = ()


def get_suite(
    name: str,
    *,
    source: str | Path | None = None,
    on_file: Callable[[int, int], None] = lambda done, total: None,
) -> FetchedSuite:
    """Fetches a published suite, so that `Suite.load(name)` finds it; does nothing if it is there.

    Args:
        name: The name of the suite, `"pfgen-bench"`.
        source: A checkout, a fetched suite, or the base address of a mirror; by default the published address.
        on_file: Is called with the number of complete files and of all files.

    Raises:
        SuiteError: A file cannot be had, or is not the published one. Complete files are kept for the next call.
    """
    suite = published_suite(name)
    folder = suites_folder() / suite.name
    if not _lacking(suite, _complete(suite, folder)):
        return FetchedSuite(suite, folder, 0)
    shown = str(source or suite.base_url)
    return install(suite, folder, partial(_read, suite, source), source=shown, on_file=on_file)


def install(
    suite: PublishedSuite,
    folder: Path,
    read: Callable[[Sequence[PublishedFile], Take], None],
    *,
    source: str,
    on_file: Callable[[int, int], None] = lambda done, total: None,
    check: Callable[[Path], None] | None = None,
) -> FetchedSuite:
    """Writes the files that `read` passes to its second argument, and replaces the directory when all are there.

    With a `check` of the complete directory, which may raise SuiteError, no files are kept for the next call.
    """
    make_folder(folder.parent, SuiteError)
    with held(_beside(folder, "lock")) as is_held:
        if not is_held:
            raise SuiteError(f"{folder}: another process is fetching this suite; wait until it ends")
        part = _beside(folder, "part")
        check_own_folder(part)
        make_folder(part, SuiteError)
        done = _complete(suite, part)
        for path in part.iterdir():
            if path.name not in done:
                _discard(path)
        wanted = [file for file in suite.files if file.name not in done]
        lock = threading.Lock()

        def take(file: PublishedFile, blocks: Iterator[bytes], where: str) -> None:
            write_whole(part / file.name, _checked(file, blocks, where))
            with lock:
                done.add(file.name)
                on_file(len(done), len(suite.files))

        try:
            _check_space(suite, wanted, part)
            read(wanted, take)
            if lacking := _lacking(suite, done):
                more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
                expected = f"expected the files of {suite.repository} at {suite.commit}"
                raise SuiteError(f"{source}: {lacking[0]}{more} not found; {expected}")
            write_whole(part / ORIGIN_FILE, json.dumps(suite.origin, indent=1).encode())
            if check is not None:
                check(part)
        except PfgenError as error:
            if check is not None:
                _discard(part)
                raise
            with contextlib.suppress(OSError):
                part.rmdir()
            kept = f"; {len(done)} of {len(suite.files)} files are kept for the next call" if done else ""
            raise SuiteError(f"{error}{kept}") from None
        _move(folder, part)
        missing = tuple(file.path for file in suite.files if file.name not in done)
        return FetchedSuite(suite, folder, len(wanted) - len(missing), missing)


def _read(suite: PublishedSuite, source: str | Path | None, wanted: Sequence[PublishedFile], take: Take) -> None:
    if source is None or "://" in str(source):
        Download(suite.base_url if source is None else str(source)).read(wanted, take)
        return
    folder = Path(source)
    if not folder.is_dir():
        raise SuiteError(f"{source}: expected a directory, or an address (https://...)")
    is_checkout = any((folder / file.path).is_file() for file in wanted)
    for file in wanted:
        path = folder / (file.path if is_checkout else file.name)
        if path.is_file():
            with opened(path) as stream:
                take(file, iter(partial(stream.read, _BLOCK_BYTES), b""), str(path))


def _checked(file: PublishedFile, blocks: Iterator[bytes], where: str) -> bytes:
    """The content of a file, of which no more than the recorded size is kept."""
    content = bytearray()
    for block in blocks:
        content += block
        if len(content) > file.n_bytes:
            raise SuiteError(f"{where}: larger than the manifest says ({file.n_bytes:,} bytes); use another copy")
    if len(content) < file.n_bytes:
        raise CutOff(f"{where}: cut off after {len(content):,} of {file.n_bytes:,} bytes")
    if file.sha256 != hashlib.sha256(content).hexdigest():
        raise SuiteError(f"{where}: its SHA-256 is not the one in the manifest; use another copy")
    return bytes(content)


def _complete(suite: PublishedSuite, folder: Path) -> set[str]:
    """The names of the files in a directory that are the published ones, by their checksums."""
    names = set()
    for file in suite.files:
        path = folder / file.name
        with contextlib.suppress(TrialsError):
            if path.is_file() and hashlib.sha256(read_stored(path, limit=file.n_bytes)).hexdigest() == file.sha256:
                names.add(file.name)
    return names


def _lacking(suite: PublishedSuite, done: set[str]) -> list[str]:
    """The paths of files that scores or prompts depend on, and that are not among the complete ones."""
    return [file.path for file in suite.files if file.is_needed and file.name not in done]


def _check_space(suite: PublishedSuite, wanted: Sequence[PublishedFile], folder: Path) -> None:
    n_bytes, free = sum(file.n_bytes for file in wanted), shutil.disk_usage(folder).free
    if free < n_bytes:
        raise SuiteError(
            f"{folder.parent}: the disk has {free / 1e6:,.1f} MB free, and the suite takes {n_bytes / 1e6:,.1f} MB; "
            "free some space, or name another directory (PFGEN_FAST_HOME)"
        )


def _beside(folder: Path, kind: str) -> Path:
    return folder.with_name(f".{folder.name}.get-{kind}")


def _move(folder: Path, new: Path) -> None:
    """Puts the directory `new` in the place of `folder`, which is never there in part."""
    old = _beside(folder, "old")
    try:
        _discard(old)
        if os.path.lexists(folder):
            folder.rename(old)
        new.rename(folder)
        _discard(old)
    except OSError as error:
        raise SuiteError(f"{folder}: cannot be replaced: {error.strerror or error}") from None


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

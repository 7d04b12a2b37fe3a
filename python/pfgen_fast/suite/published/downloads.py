"""Downloads files below one address, several at once, with retries.

Proxies are those of the environment. Redirects to another host are refused, because a mirror has to be named by the
user.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from queue import Queue
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ... import __version__
from ...base.errors import SuiteError
from ...base.untrusted_text import in_one_line
from .manifests import PublishedFile

_THREADS = 6
_TRIES = 4
_PAUSE_SECONDS = 1.0  # before the second try; each further pause is twice as long
_TIMEOUT_SECONDS = 20.0  # without a byte
_BLOCK_BYTES = 1 << 16
_LEAST_BYTES_PER_SECOND = 1000
_ADDRESS = re.compile(r"https?://[0-9A-Za-z.:\[\]-]+(/[^\s?#]*)?")


Take = Callable[[PublishedFile, Iterator[bytes], str], None]
"""Receives the content of a file, with its location for messages."""


class CutOff(SuiteError):
    """The content of a file ends too early; another try may have the rest."""


class _Stopped(Exception):
    """Another file cannot be had, so this one is no longer wanted."""


class Download:
    """Downloads the files of a suite below a base address."""

    def __init__(self, base_url: str) -> None:
        if not _ADDRESS.fullmatch(base_url):
            raise SuiteError(
                "source (--from): expected an address such as https://example.org/mirror, without a user, a password "
                "and a query"
            )
        self._base_url = base_url.rstrip("/")
        self._stop = threading.Event()
        self._opener = build_opener(_SameHost)

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
        problem = ""
        for number in range(_TRIES):
            if number and self._stop.wait(_PAUSE_SECONDS * 2 ** (number - 1)):
                return
            try:
                with self._opener.open(_request(url), timeout=_TIMEOUT_SECONDS) as response:
                    take(file, self._blocks(response, url), url)
                return
            except HTTPError as error:
                error.close()
                if error.code == 404:
                    return
                problem = f"{url}: the server replies {error.code} {in_one_line(error.reason)}"
                if error.code < 500 and error.code not in (408, 429):
                    raise SuiteError(f"{problem}; check the address (--from)") from None
            except CutOff as error:
                problem = str(error)
            except _Stopped:
                return
            except (OSError, HTTPException) as error:
                reason = getattr(error, "reason", error)
                shown = in_one_line(str(getattr(reason, "strerror", None) or reason).strip())
                problem = f"{url}: cannot be reached: {shown or type(error).__name__}"
        raise SuiteError(
            f"{problem} ({_TRIES} tries); check the network and the proxy (HTTPS_PROXY), or name a copy (--from)"
        )

    def _blocks(self, response: Any, url: str) -> Iterator[bytes]:
        begin, n_bytes = time.monotonic(), 0
        while block := response.read1(_BLOCK_BYTES):
            n_bytes += len(block)
            yield block
            if self._stop.is_set():
                raise _Stopped
            if time.monotonic() - begin > _TIMEOUT_SECONDS + n_bytes / _LEAST_BYTES_PER_SECOND:
                raise CutOff(f"{url}: slower than {_LEAST_BYTES_PER_SECOND:,} bytes a second")
        promised = response.headers.get("Content-Length", "")
        if promised.isdecimal() and n_bytes < int(promised):
            raise CutOff(f"{url}: cut off after {n_bytes:,} of {int(promised):,} bytes")


def _request(url: str) -> Request:
    return Request(url, headers={"User-Agent": f"pfgen-fast/{__version__}"})


class _SameHost(HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            fp.close()
            raise SuiteError(
                f"{req.full_url}: redirects to another address ({in_one_line(newurl)}), which is not followed; "
                "name the address of a mirror (--from)"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)

"""A report of results that may change: written into a folder again after each change, and served on the loopback."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError, TrialsError
from ..runs.leaderboard import find_results
from ..suite.suite import Suite
from .pages import PAGE, page_text, write_page
from .run_page import GENERATOR, Track, untracked, with_intervals, write_report_folder
from .safe_runs import ReportRun, read_run

_DATA_FILE = re.compile(r"/(data/(?:answers|trials)-[0-9a-f]{16}\.js)")

_PROTECTION = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_Stamp = tuple[int, int, int]
"""The inode, size and time of a file, which differ if the file has changed."""


@dataclass
class LiveReport:
    """The report of the results below some paths."""

    paths: Sequence[str]  # files or folders with results
    suite: Suite  # suite of all results
    folder: Path  # folder for the report
    # called with each error of a result, once for each version of its file, and with each error of the report
    on_problem: Callable[[PfgenError], None]
    _read: dict[Path, tuple[_Stamp, ReportRun | None]] = field(default_factory=dict, init=False)
    _seen: dict[Path, _Stamp] = field(default_factory=dict, init=False)

    def write_waiting(self) -> None:
        """Writes a page that loads itself again until the report replaces it."""
        text = page_text(
            "waiting.html.jinja", generator=GENERATOR, headline="Reading results …", scripts=("waiting.js",)
        )
        write_page(self.folder / PAGE, text)

    def write(self, track: Track[Any] = untracked) -> None:
        """Writes the report; reads only the results that have changed."""
        self._seen = self._stamps()
        self._read = {
            path: self._read_again(path, stamp) for path, stamp in track(self._seen.items(), len(self._seen), "results")
        }
        runs = [(path, run) for path, (_, run) in self._read.items() if run is not None]
        write_report_folder(with_intervals(runs, self.suite), self.suite, self.folder, track=track, is_live=True)

    def write_if_changed(self) -> None:
        """Writes the report if results have changed since it was written, but not since the last call."""
        before, self._seen = self._seen, self._stamps()
        written = {path: stamp for path, (stamp, _) in self._read.items()}
        if self._seen and self._seen == before != written:
            try:
                self.write()
            except PfgenError as problem:
                self.on_problem(problem)

    def _stamps(self) -> dict[Path, _Stamp]:
        stamps = {}
        with contextlib.suppress(TrialsError):  # no results were found
            for path in find_results(self.paths):
                with contextlib.suppress(OSError):
                    status = os.stat(path)
                    stamps[path] = status.st_ino, status.st_size, status.st_mtime_ns
        return stamps

    def _read_again(self, path: Path, stamp: _Stamp) -> tuple[_Stamp, ReportRun | None]:
        known = self._read.get(path)
        if known and known[0] == stamp:
            return known
        try:
            return stamp, read_run(path, self.suite)
        except TrialsError as problem:
            self.on_problem(problem)
            return stamp, None


class ReportServer(ThreadingHTTPServer):
    """Serves the folder of a report on the loopback, and only the files of the report; a context manager.

    It answers only requests that name it as their host. A page of another site whose name resolves to the loopback
    address (DNS rebinding) therefore gets no data.
    """

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise PfgenError(f"port {port} of 127.0.0.1 cannot be used: {reason}") from None
        self.folder = folder
        self.asked = threading.Event()
        names = ("127.0.0.1", "localhost")
        self.hosts = {f"{name}:{self.server_port}" for name in names} | {*(names if self.server_port == 80 else ())}
        self.address = f"http://127.0.0.1:{self.server_port}/"

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Serves in another thread."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores errors, because browsers may close connections at any time."""


class _Handler(BaseHTTPRequestHandler):
    server: ReportServer
    timeout = 30  # seconds for a request

    def do_GET(self) -> None:
        self.wfile.write(self._answer())

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> bytes:
        """Sends the head of a reply and returns its content. Pages of other sites can neither load nor frame it."""
        status, content, fields = HTTPStatus.NOT_FOUND, b"", dict(_PROTECTION)
        if self.headers.get_all("Host") not in [[host] for host in self.server.hosts]:
            status = HTTPStatus.MISDIRECTED_REQUEST
        elif path := self._file():
            with contextlib.suppress(OSError):  # the file does not exist, or a new report has just replaced it
                content, changed = path.read_bytes(), path.stat().st_mtime
                kind = "text/html" if path.suffix == ".html" else "text/javascript"
                fields |= {"Content-Type": f"{kind}; charset=utf-8", "Last-Modified": formatdate(changed, usegmt=True)}
                status = HTTPStatus.OK
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        return content

    def _file(self) -> Path | None:
        if self.path in ("/", f"/{PAGE}"):
            self.server.asked.set()
            return self.server.folder / PAGE
        data = _DATA_FILE.fullmatch(self.path)
        return self.server.folder / data[1] if data else None

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""

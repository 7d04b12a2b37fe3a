"""A report of results that may change: written into a folder anew when they did, and served on the loopback.

The server answers requests that name it as its host, and no others: a page of somebody else that has its own name lead
to the loopback (DNS rebinding) learns nothing. It serves the files of the report and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ..errors import PfgenError, TrialsError
from ..runs.checkout import run_name
from ..runs.leaderboard import find_results
from ..runs.result import read_result
from ..suite.rules import FloatSum
from ..suite.suite import Suite
from .html import write_report_folder
from .page_files import PAGE
from .safe_runs import ReportRun, check_run
from .sweeps import with_intervals

_DATA_FILE = re.compile(r"/(data/answers-[0-9a-f]{16}\.js)")
_SECONDS_FOR_A_REQUEST = 30

# What tells whether a file has changed: its inode, size and time.
_Stamp = tuple[int, int, int]


@dataclass
class LiveReport:
    """The report of the results below some paths."""

    paths: Sequence[str]  # files or folders with results
    suite: Suite  # suite of all of them
    folder: Path  # folder for the report
    # called with the error of each result that cannot be reported, once for each version of its file, and with that of
    # a report that cannot be written
    on_problem: Callable[[PfgenError], None]
    float_sum: FloatSum = "compensated"  # how the shares of the sets in a metric are added up
    n_runs: int = field(default=0, init=False)
    _read: dict[Path, tuple[_Stamp, ReportRun | None]] = field(default_factory=dict, init=False)
    _seen: dict[Path, _Stamp] = field(default_factory=dict, init=False)
    _written: dict[Path, _Stamp] = field(default_factory=dict, init=False)

    def write(self) -> None:
        """Writes the report; reads only the results that have changed."""
        self._seen = self._written = stamps = self._stamps()
        self._read = {path: self._read_again(path, stamp) for path, stamp in stamps.items()}
        runs = [(path, run) for path, (_, run) in self._read.items() if run is not None]
        write_report_folder(with_intervals(runs, self.suite), self.suite, self.folder, is_live=True)
        self.n_runs = len(runs)

    def write_if_changed(self) -> None:
        """Writes the report if results have changed since, and no more since this was called last.

        Where no result is left, the report stays as it is.
        """
        before, self._seen = self._seen, self._stamps()
        if self._seen and self._seen == before and self._seen != self._written:
            try:
                self.write()
            except PfgenError as problem:
                self.on_problem(problem)

    def _stamps(self) -> dict[Path, _Stamp]:
        """The stamps of all results there are."""
        stamps = {}
        with contextlib.suppress(TrialsError):  # there is none
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
            run = ReportRun(run_name(path.parent), None, read_result(path), float_sum=self.float_sum)
            check_run(run, self.suite)
        except TrialsError as problem:
            self.on_problem(problem)
            return stamp, None
        return stamp, run


class ReportServer(ThreadingHTTPServer):
    """Serves the folder of a report on the loopback; a context manager that closes its port."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise PfgenError(f"port {port} of 127.0.0.1 cannot be used: {reason}") from None
        self.folder = folder
        self.asked = threading.Event()
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}
        if self.server_port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_port}/"

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
        """Says nothing: browsers close connections as they like."""


class _Handler(BaseHTTPRequestHandler):
    server: ReportServer
    timeout = _SECONDS_FOR_A_REQUEST

    def do_GET(self) -> None:
        content = self._begin()
        if content is not None:
            self.wfile.write(content)

    def do_HEAD(self) -> None:
        self._begin()

    def _begin(self) -> bytes | None:
        """Sends the head of the reply, and returns the content; None if there is none."""
        found = self._found()
        if isinstance(found, HTTPStatus):
            self._send_head(found, {"Content-Length": "0"})
            return None
        path, content, changed = found
        kind = "text/html" if path.suffix == ".html" else "text/javascript"
        self._send_head(
            HTTPStatus.OK,
            {
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Length": str(len(content)),
                "Last-Modified": formatdate(changed, usegmt=True),
            },
        )
        return content

    def _found(self) -> tuple[Path, bytes, float] | HTTPStatus:
        """The file that is asked for, with its content and time, or why there is none."""
        if self.headers.get_all("Host") not in [[host] for host in self.server.hosts]:
            return HTTPStatus.MISDIRECTED_REQUEST
        path = self._file()
        if path is None:
            return HTTPStatus.NOT_FOUND
        try:
            return path, path.read_bytes(), path.stat().st_mtime
        except OSError:
            return HTTPStatus.NOT_FOUND

    def _file(self) -> Path | None:
        """The file that is asked for."""
        if self.path in ("/", f"/{PAGE}"):
            self.server.asked.set()
            return self.server.folder / PAGE
        data = _DATA_FILE.fullmatch(self.path)
        return self.server.folder / data[1] if data else None

    def _send_head(self, status: HTTPStatus, fields: Mapping[str, str]) -> None:
        """The head of a reply. No page of somebody else may load or frame anything from here, and nothing is kept."""
        self.send_response(status)
        protection = {
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }
        for name, value in {**fields, **protection}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

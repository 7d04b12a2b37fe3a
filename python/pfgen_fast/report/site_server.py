"""Serves the files of a site on this machine, and nothing else."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError

_FILE = re.compile(r"/(?:[a-z]+/)?(?:[\w-]+\.html|data/[a-z]+-[0-9a-f]{16}\.js)", re.ASCII)

_PROTECTION = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class SiteServer(ThreadingHTTPServer):
    """Serves the directory of a site on the loopback, and only the files of the site; a context manager.

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


class _Handler(SimpleHTTPRequestHandler):
    """Answers with the files of a site only, which other sites can neither load nor frame."""

    server: SiteServer
    timeout = 30  # seconds for a request

    def guess_type(self, path: Any) -> str:
        return f"text/{'html' if path.endswith('.html') else 'javascript'}; charset=utf-8"

    def send_head(self) -> Any:
        if self.headers.get_all("Host") not in [[host] for host in self.server.hosts]:
            return self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        if not (self.path == "/" or _FILE.fullmatch(self.path)):
            return self.send_error(HTTPStatus.NOT_FOUND)
        if not self.path.endswith(".js"):
            self.server.asked.set()
        self.directory = str(self.server.folder)
        return super().send_head()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers without content."""
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def end_headers(self) -> None:
        for name, value in _PROTECTION.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""

"""A server on the loopback for pages that change or that send something back.

It answers only requests that name it as their host. A page of another site whose name resolves to the loopback address
(DNS rebinding) therefore gets no data.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..errors import PfgenError

_SECONDS_FOR_A_REQUEST = 30
_PROTECTION = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True)
class Reply:
    """A reply to a request."""

    status: HTTPStatus
    content: bytes = b""
    kind: str = "text/plain"
    fields: Mapping[str, str] = field(default_factory=dict)


class LoopbackServer(ThreadingHTTPServer):
    """Serves on the loopback; a context manager that closes its port."""

    daemon_threads = True

    def __init__(self, handler: type[LoopbackHandler], port: int = 0) -> None:
        try:
            super().__init__(("127.0.0.1", port), handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise PfgenError(f"port {port} of 127.0.0.1 cannot be used: {reason}") from None
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
        """Ignores errors, because browsers may close connections at any time."""


class LoopbackHandler(ABC, BaseHTTPRequestHandler):
    """Answers one request; subclasses have `reply`."""

    server: LoopbackServer
    timeout = _SECONDS_FOR_A_REQUEST

    @abstractmethod
    def reply(self) -> Reply:
        """The reply to GET and HEAD."""

    def do_GET(self) -> None:
        """Replies to GET."""
        self.wfile.write(self.answer(self.reply))

    def do_HEAD(self) -> None:
        """Replies to HEAD."""
        self.answer(self.reply)

    def answer(self, make: Callable[[], Reply]) -> bytes:
        """Sends the head of a reply and returns its content. Pages of other sites can neither load nor frame it."""
        is_ours = self.headers.get_all("Host") in [[host] for host in self.server.hosts]
        reply = make() if is_ours else Reply(HTTPStatus.MISDIRECTED_REQUEST)
        self.send_response(reply.status)
        kind = {"Content-Type": f"{reply.kind}; charset=utf-8"} if reply.content else {}
        for name, value in {**kind, **reply.fields, "Content-Length": str(len(reply.content)), **_PROTECTION}.items():
            self.send_header(name, value)
        self.end_headers()
        return reply.content

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""

"""The HTTP protocol of uvicorn with limits on time and memory for each connection.

uvicorn limits only the time of an idle connection. This protocol also limits the time for the head of a request, and
the time from the first byte of a request to the last byte of its reply; slower connections are closed. It limits the
size of the framing (heads, trailers, chunk extensions) between two parts of a body.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, NoReturn

from ..files.optional import optional
from .limits import HALF_CLOSED_SECONDS, MAX_HEAD_BYTES, MAX_HEADERS, MAX_PIPELINED, Limits


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The class for connections: the class for httptools with these limits."""
    optional("httptools", extra="serve", needed_for="the server")
    module: Any = optional("uvicorn.protocols.http.httptools_impl", extra="serve", needed_for="the server")

    class BoundedProtocol(module.HttpToolsProtocol):  # type: ignore[misc]
        _timer: asyncio.TimerHandle | None = None
        _in_head = _takes_headers = _is_half_closed = False
        _n_framing_bytes = 0
        _n_unanswered = 0
        """The number of complete requests minus the number of replies; -1 if a reply was sent early."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            if len(self.connections) > limits.n_connections:
                self._refuse(429, f"{limits.n_connections:,} connections are open, which is the limit")
            else:
                self._begin_head()

        def data_received(self, data: bytes) -> None:
            while data and not self.transport.is_closing():
                if not self._has_request() and not self._in_head:
                    self._begin_head()
                room = MAX_HEAD_BYTES + 1 - self._n_framing_bytes  # also limits a head that arrives in one piece
                self._n_framing_bytes += len(data[:room])
                super().data_received(data[:room])
                data = data[room:]
                if self._n_framing_bytes > MAX_HEAD_BYTES:
                    self._refuse(431, f"the head of the request is larger than {MAX_HEAD_BYTES:,} bytes")

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._takes_headers = True

        def on_header(self, name: bytes, value: bytes) -> None:
            if self._takes_headers:  # trailers are dropped, because they would change the checked headers
                super().on_header(name, value)
            if len(self.headers) > MAX_HEADERS:
                self._stop(431, f"the request has more than {MAX_HEADERS} headers")

        def on_headers_complete(self) -> None:
            self._takes_headers, self._n_framing_bytes = False, 0
            if len(self.pipeline) >= MAX_PIPELINED:
                self._stop(429, f"{MAX_PIPELINED} requests wait on the connection, which is the limit")
            if self.parser.should_upgrade():  # the parser would skip the body
                self._stop(400, "the server supports only HTTP/1.1, without Upgrade and CONNECT")
            super().on_headers_complete()
            if self._in_head:
                self._in_head = False
                self._allow(limits.seconds)

        def on_body(self, body: bytes) -> None:
            super().on_body(body)
            self._n_framing_bytes = 0

        def on_message_complete(self) -> None:
            super().on_message_complete()
            self._n_framing_bytes = 0
            self._n_unanswered += 1

        def send_400_response(self, msg: str) -> None:
            self._refuse(400, "the request is not valid HTTP")

        def eof_received(self) -> bool:
            """Keeps the connection briefly if the client closes its sending side, because it may wait for a reply."""
            self._is_half_closed = True
            if self._n_unanswered > 0:
                self.loop.call_later(HALF_CLOSED_SECONDS, self.transport.abort)
            return self._n_unanswered > 0

        def on_response_complete(self) -> None:
            self._n_unanswered -= 1
            super().on_response_complete()
            if self._is_half_closed and self._n_unanswered <= 0:
                self.transport.close()
            self._allow(limits.seconds)  # for the rest of the reply, and for a pipelined request

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        def _has_request(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _begin_head(self) -> None:
            self._in_head = True
            self._allow(limits.head_seconds)

        def _allow(self, seconds: float) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self.loop.call_later(seconds, self._cut_off)

        def _cut_off(self) -> None:
            is_idle = not (self._in_head or self._has_request() or self.transport.get_write_buffer_size())
            if not is_idle or self.transport.is_closing():
                self.transport.abort()

        def _refuse(self, status: int, sentence: str) -> None:
            if self.transport.is_closing():
                return
            body = b'{"error":"%s"}' % sentence.encode()
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            self.transport.close()

        def _stop(self, status: int, sentence: str) -> NoReturn:
            self._refuse(status, sentence)
            raise ValueError(sentence)  # stops the parser

    return BoundedProtocol

"""Connections that cannot be held by being slow: uvicorn's protocol, with time limits and a limit for heads.

uvicorn limits only how long an idle connection stays. Here the head of a request, and a request from its first byte to
the last of its reply, have a time each; what takes longer is cut off.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from ..files.optional import optional
from .limits import MAX_HEAD_BYTES, Limits


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The class of connections: that of httptools where it is installed, or else of h11, within these limits."""
    usual: Any = optional("uvicorn.protocols.http.auto", extra="serve", needed_for="the server").AutoHTTPProtocol

    class BoundedProtocol(usual):  # type: ignore[misc]
        _timer: asyncio.TimerHandle | None = None
        _in_head = False
        _n_head_bytes = 0

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            if len(self.connections) > limits.n_connections:
                self._refuse(429, f"{limits.n_connections:,} connections are open, which is the limit")
            else:
                self._begin_head()

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            if not self._has_request() and not self._in_head:
                self._begin_head()
            super().data_received(data)
            if self._has_request():
                if self._in_head:
                    self._in_head = False
                    self._allow(limits.seconds)
                return
            self._n_head_bytes += len(data)
            if self._n_head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self._refuse(431, f"the head of the request is larger than {MAX_HEAD_BYTES:,} bytes")

        def send_400_response(self, msg: str) -> None:
            self._refuse(400, "the request is not valid HTTP")

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._allow(limits.seconds)  # for what is not sent yet, and for the next request if it waits already

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        def _has_request(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _begin_head(self) -> None:
            self._in_head, self._n_head_bytes = True, 0
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
            body = b'{"error":"%s"}' % sentence.encode()
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            self.transport.close()

    return BoundedProtocol

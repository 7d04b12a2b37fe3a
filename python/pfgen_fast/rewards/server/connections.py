"""The HTTP protocol of uvicorn, with limits of the framing and of the time of a request.

uvicorn limits neither the size of a head, the trailers and the extensions of chunks, nor the time of a request; and it
adds trailers to the headers that were checked.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from ...base.optional import optional
from .limits import MAX_HEAD_BYTES, MAX_HEADERS, Limits


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The class for connections: uvicorn's class for httptools with these limits."""
    optional("httptools", extra="serve", needed_for="the server")
    module: Any = optional("uvicorn.protocols.http.httptools_impl", extra="serve", needed_for="the server")

    class BoundedProtocol(module.HttpToolsProtocol):  # type: ignore[misc]
        _timer: asyncio.TimerHandle
        _is_in_head = False
        _n_framing_bytes = 0  # since the last part of a body, or since the last request

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(limits.seconds, self._cut_off)

        def connection_lost(self, exc: Exception | None) -> None:
            self._timer.cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            while data and not self.transport.is_closing():
                room = MAX_HEAD_BYTES + 1 - self._n_framing_bytes  # also limits a head that arrives in one piece
                self._n_framing_bytes += len(data[:room])
                super().data_received(data[:room])
                data = data[room:]
                if self._n_framing_bytes > MAX_HEAD_BYTES:
                    self._refuse(f"the head of the request is larger than {MAX_HEAD_BYTES:,} bytes")

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._is_in_head = True
            self._timer.cancel()
            self._timer = self.loop.call_later(limits.seconds, self._cut_off)

        def on_header(self, name: bytes, value: bytes) -> None:
            if self._is_in_head:
                super().on_header(name, value)
            if len(self.headers) > MAX_HEADERS:
                sentence = f"the request has more than {MAX_HEADERS} headers"
                self._refuse(sentence)
                raise ValueError(sentence)  # stops the parser

        def on_headers_complete(self) -> None:
            self._is_in_head, self._n_framing_bytes = False, 0
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            super().on_body(body)
            self._n_framing_bytes = 0

        def on_message_complete(self) -> None:
            super().on_message_complete()
            self._n_framing_bytes = 0

        def send_400_response(self, msg: str) -> None:
            if not self.transport.is_closing():  # after a refusal, the parser stops with an error
                super().send_400_response(msg)

        def _cut_off(self) -> None:
            is_idle = self.cycle is not None and self.cycle.response_complete and not self._is_in_head
            if not is_idle or self.transport.get_write_buffer_size():
                self.transport.abort()

        def _refuse(self, sentence: str) -> None:
            if self.transport.is_closing():
                return
            body = b'{"error":"%s"}' % sentence.encode()
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            head = (
                f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            self.transport.close()

    return BoundedProtocol

"""Runs the reward server as a process: its address, its connections, its signals and its shutdown.

After the first SIGTERM or Ctrl-C, the server finishes the requests in progress. The second signal stops it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

from ...base.errors import ServingError, optional
from ...scoring.reply_text import Mode, check_mode
from ...scoring.scorer import Scorer
from ..reward import Reward
from .admission import MAX_HEAD_BYTES, MAX_HEADERS, TOKEN_VARIABLE, Guard, Limits
from .application import Application


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


def serve(
    scorer: Scorer | Reward,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    limits: Limits | None = None,
    mode: Mode = "completion",
    workers: int = 2,
    on_start: Callable[[str], None] = print,
) -> bool:
    """Serves rewards until a signal arrives; must be called in the main thread.

    Args:
        scorer: A scorer, or a shaped reward.
        host: The address to listen on; an address that is not the loopback needs a token.
        port: The port; 0 selects a free port.
        token: The token that every request needs; see `find_token`.
        limits: The limits of requests.
        mode: The kind of prompts for OpenRLHF, which determines where an answer begins and ends.
        workers: The number of concurrent workers; with two workers, one scores while the other decodes a body.
        on_start: Called with the address of the server when it listens.

    Returns:
        Whether all requests in progress were finished; False after a second signal or a timeout.

    Raises:
        ServingError: The address cannot be used, or it needs a token.
    """
    check_mode(mode)
    uvicorn = optional("uvicorn", extra="serve", needed_for="the server")
    limits = limits or Limits()
    listening = _listening(host, port, has_token=token is not None)
    host, port = listening.getsockname()[:2]
    application = Application(scorer, Guard(token, port, host), limits, mode=mode, workers=workers)
    config = uvicorn.Config(
        application,
        http=bounded_protocol(limits),
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.n_connections,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=limits.seconds,
    )
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    server = _server(uvicorn, config, lambda: on_start(address))
    with _signals_of_ours():
        server.run(sockets=[listening])
    application.close()
    return not (server.force_exit or application.room.n_requests)


def _server(uvicorn: Any, config: Any, on_start: Callable[[], None]) -> Any:
    """The server of uvicorn, which also calls `on_start` when it listens, and stops at a second signal of any kind."""

    class Server(uvicorn.Server):  # type: ignore[misc]
        async def startup(self, *args: Any, **named: Any) -> None:
            await super().startup(*args, **named)
            on_start()
            sys.stdout.flush()  # a program may wait for this line

        def handle_exit(self, sig: int, frame: Any) -> None:
            self.force_exit = self.should_exit
            super().handle_exit(sig, frame)

    return Server(config)


@contextlib.contextmanager
def _signals_of_ours() -> Iterator[None]:
    """Ignores the signals that uvicorn raises again after its shutdown."""
    former = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _listening(host: str, port: int, *, has_token: bool) -> socket.socket:
    """A socket bound to an address, which is checked before clients can connect."""
    try:
        addresses = socket.getaddrinfo(host, port, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        if not has_token and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
            raise ServingError(
                f"--host {host}: everyone could send requests; expected a loopback address such as 127.0.0.1, or a "
                f"token in {TOKEN_VARIABLE} or --token-file"
            )
        bound = socket.socket(family, kind, protocol)  # without a protocol, asyncio would not disable Nagle's algorithm
        try:
            if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServingError(f"port {port} of {host} cannot be used: {reason}") from None
    return bound

"""Runs the reward server as a process: its address, its signals and its shutdown.

After the first SIGTERM or Ctrl-C, the server finishes the requests in progress. The second signal stops it at once.
"""

from __future__ import annotations

import contextlib
import ipaddress
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...base.errors import ServingError
from ...base.optional import optional
from ...scoring.reply_text import Mode, check_mode
from ...scoring.scorer import Scorer
from ..reward import Reward
from .access import TOKEN_VARIABLE, Guard
from .application import Application
from .connections import bounded_protocol
from .limits import Limits


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

"""Limits the memory of all requests: counts the requests in progress, and the bytes of their bodies and replies.

A request is counted until its reply is sent and its worker has finished.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .limits import Gone, Limits, Refusal, too_busy

Receive = Callable[[], Awaitable[Any]]


class Room:
    """Counts the requests in progress and their bytes, in one event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.n_requests = self.n_bytes = 0


class Place:
    """The share of one request in a `Room`; the context manager subtracts it at the end."""

    def __init__(self, room: Room) -> None:
        self._room, self._n_bytes, self._n_requests = room, 0, 0
        self._work: asyncio.Future[Any] | None = None

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *error: object) -> None:
        if self._work is None or self._work.done():
            self._give_back()
        else:
            self._work.add_done_callback(lambda _: self._give_back())

    def _give_back(self) -> None:
        self._room.n_requests -= self._n_requests
        self._room.n_bytes -= self._n_bytes

    def hold(self, n_bytes: int) -> None:
        """Adds bytes to the count."""
        self._n_bytes += n_bytes
        self._room.n_bytes += n_bytes

    def keep_until(self, work: asyncio.Future[Any]) -> None:
        """Keeps the count until some work has finished, even if its client has disconnected."""
        self._work = work
        work.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # asyncio logs an unread error

    async def body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        """Reads the body of the request. A body beyond the limits is read and dropped; then the client gets a reply."""
        self._n_requests = 1
        self._room.n_requests += 1
        limits = self._room.limits
        _check_head(headers, limits)
        refusal = None
        if self._room.n_requests > limits.n_requests:
            refusal = too_busy(f"{limits.n_requests:,} requests are in progress, which is the limit; try again later")
        pieces: list[bytes] = []
        n_bytes = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            piece = message.get("body", b"")
            n_bytes += len(piece)
            if n_bytes > limits.n_body_bytes:
                raise _too_large(limits)
            if refusal is None and self._room.n_bytes + len(piece) > limits.n_held_bytes:
                mib = limits.n_held_bytes / 2**20
                refusal = too_busy(f"bodies and replies reach the limit of {mib:g} MiB; try again later")
                pieces.clear()
            if refusal is None:
                self.hold(len(piece))
                pieces.append(piece)
            if not message.get("more_body", False):
                break
        if refusal is not None:
            raise refusal
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _check_head(headers: Mapping[str, str], limits: Limits) -> None:
    """Refuses a request if its headers say that its body is compressed or too large."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise Refusal(415, "Content-Encoding: compressed bodies are not accepted", {"Connection": "close"})
    if int(headers.get("content-length", "0")) > limits.n_body_bytes:  # the HTTP parser accepts only digits
        raise _too_large(limits)


def _too_large(limits: Limits) -> Refusal:
    sentence = f"the body is larger than {limits.n_body_bytes:,} bytes, which is the limit; send smaller batches"
    return Refusal(413, sentence, {"Connection": "close"})

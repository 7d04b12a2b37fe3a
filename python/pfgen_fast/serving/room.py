"""The memory that requests may take together: how many are in progress, and how many bytes of their bodies are held."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any

from .limits import Gone, Limits, Refusal, too_busy

Receive = Callable[[], Awaitable[Any]]


class Room:
    """Room for requests; used by one event loop.

    Attributes:
        n_requests: How many requests are in progress.
        n_bytes: How many bytes of their bodies are held.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.n_requests = self.n_bytes = 0


class Place:
    """The place of one request in a room: a context manager that gives back what the request took."""

    def __init__(self, room: Room) -> None:
        self._room, self._n_bytes = room, 0

    def __enter__(self) -> Place:
        self._room.n_requests += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._room.n_requests -= 1
        self._room.n_bytes -= self._n_bytes

    async def body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        """Reads the body of the request, and counts while it arrives.

        Where there is no room, the body is read and dropped, so that the client is ready for the reply.

        Raises:
            Refusal: The body is too large or compressed, or there is no room.
            Gone: The client left.
        """
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
                refusal = too_busy(
                    f"bodies of {limits.n_held_bytes / 2**20:g} MiB are held, which is the limit; try again later"
                )
                pieces.clear()
            if refusal is None:
                self._n_bytes += len(piece)
                self._room.n_bytes += len(piece)
                pieces.append(piece)
            if not message.get("more_body", False):
                break
        if refusal is not None:
            raise refusal
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _check_head(headers: Mapping[str, str], limits: Limits) -> None:
    """Refuses what the head of a request tells already."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise Refusal(415, "Content-Encoding: compressed bodies are not accepted", {"Connection": "close"})
    if int(headers.get("content-length", "0")) > limits.n_body_bytes:  # the HTTP parser lets only digits pass
        raise _too_large(limits)


def _too_large(limits: Limits) -> Refusal:
    sentence = f"the body is larger than {limits.n_body_bytes:,} bytes, which is the limit; send smaller batches"
    return Refusal(413, sentence, {"Connection": "close"})

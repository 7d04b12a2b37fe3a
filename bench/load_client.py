"""The client of the reward server's load test: a process with many connections, each of which asks again at once.

`python -m bench.load_client PORT CALLS CONNECTIONS N_CALLS` prints what it has found as JSON. CALLS holds requests and
the replies that they must get, bit by bit. It parses nothing but lengths, to leave the processors to the server.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path

Call = tuple[bytes, bytes]
"""A request with its head, and the body of the reply."""


def request(path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class _Client(asyncio.Protocol):
    """A connection that sends the next call after the reply to the previous call."""

    def __init__(self, calls: Iterator[Call], seconds: list[float], ended: asyncio.Future[None]) -> None:
        self._calls, self._seconds, self._ended = calls, seconds, ended
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._ask()

    def _ask(self) -> None:
        call = next(self._calls, None)
        if call is None:
            self._ended.set_result(None)
            return
        sent, self._expected = call
        self._begin = time.perf_counter()
        self._transport.write(sent)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head_end = self._received.find(b"\r\n\r\n") + 4
        if head_end < 4 or len(self._received) < head_end + len(self._expected):
            if head_end >= 4 and not self._received.startswith(b"HTTP/1.1 200"):
                self._ended.set_exception(AssertionError(f"not answered: {bytes(self._received[:500])!r}"))
            return
        self._seconds.append(time.perf_counter() - self._begin)
        if self._received[head_end:] != self._expected:
            self._ended.set_exception(AssertionError("a reply differs from the scorer's"))
            return
        self._received.clear()
        self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_exception(error or ConnectionError("the server closed a connection"))


async def ask(port: int, calls: list[Call], n_connections: int, n_calls: int) -> dict[str, float]:
    """Makes calls over connections; returns the total time, and percentiles of the time of a call."""
    loop = asyncio.get_running_loop()
    turns = (calls[number % len(calls)] for number in range(n_calls))
    seconds: list[float] = []
    begin = time.perf_counter()
    ends = [loop.create_future() for _ in range(n_connections)]
    for end in ends:
        await loop.create_connection(lambda end=end: _Client(turns, seconds, end), "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.gather(*ends)
    taken = time.perf_counter() - begin
    if len(seconds) != n_calls:
        raise AssertionError(f"{len(seconds)} replies to {n_calls} calls")
    seconds.sort()
    return {"seconds": taken, "p50": seconds[n_calls // 2], "p99": seconds[min(n_calls - 1, n_calls * 99 // 100)]}


def main(port: str, calls: str, n_connections: str, n_calls: str) -> None:
    stored: list[Call] = pickle.loads(Path(calls).read_bytes())
    ready = [(sent.replace(b"PORT", port.encode(), 1), expected) for sent, expected in stored]
    print(json.dumps(asyncio.run(ask(int(port), ready, int(n_connections), int(n_calls)))))


if __name__ == "__main__":
    main(*sys.argv[1:])

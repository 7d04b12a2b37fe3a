"""Admission of requests: limits, access control, and the memory of all requests in progress.

Local programs may send requests, remote programs need the token, and other origins are refused. The token is compared
in constant time, and no message contains it. A request is counted until its reply is sent and its worker has finished.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import math
import os
import stat
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...base.errors import ServingError
from ...base.file_reading import open_regular
from ..answer_rows import OnError

MAX_HEAD_BYTES = 1 << 15
"""Maximum size of the head of a request, of its trailers, and of the extensions of a chunk, in bytes."""

MAX_HEADERS = 100
"""Maximum number of headers of a request; a header needs many times the memory of its text."""


@dataclass(frozen=True)
class Limits:
    """The limits of a server; requests beyond them are refused."""

    n_body_bytes: int = 32 << 20  # maximum size of a body
    n_answers: int = 16_384  # maximum number of answers in a request
    n_code_points: int = 100_000  # maximum length of an answer
    n_requests: int = 256  # maximum number of requests in progress
    n_held_bytes: int = 256 << 20  # maximum total size of bodies and replies
    n_connections: int = 1024
    n_pairs: int = 1 << 38  # maximum number of pairs of characters of answers and references, for ROUGE-L
    seconds: float = 60.0  # from the first byte of a request to the last byte of its reply
    idle_seconds: float = 75.0  # maximum time between two requests of a connection

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise ServingError(f"--seconds: expected a number of seconds, not {self.seconds}")

    def __str__(self) -> str:
        return (
            f"{self.n_answers:,} answers of {self.n_code_points:,} characters and {self.n_body_bytes / 2**20:g} MiB "
            f"per request, {self.n_requests:,} requests at a time, {self.seconds:g} s per request"
        )


@dataclass
class Refusal(Exception):
    """The reason for refusing a request, with the status, message and additional headers of the reply."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence


def too_busy(sentence: str, status: int = 429) -> Refusal:
    """The refusal of a request that may be retried after a second."""
    return Refusal(status, sentence, {"Retry-After": "1"})


class Gone(Exception):
    """The client has disconnected, so no reply is needed."""


def checked_answers(answers: list[Any], limits: Limits, *, on_error: OnError = "raise") -> list[Any]:
    """Returns the answers, without those that are too long if `on_error` has a reward for them; else raises Refusal."""
    if len(answers) > limits.n_answers:
        raise Refusal(413, f"{len(answers):,} answers; the limit for a request is {limits.n_answers:,}")
    long = [place for place, text in enumerate(answers) if isinstance(text, str) and len(text) > limits.n_code_points]
    if long and on_error == "raise":
        sentence = f"answers[{long[0]}]: {len(answers[long[0]]):,} characters; the limit is {limits.n_code_points:,}"
        raise Refusal(413, sentence)
    return [None if place in long else text for place, text in enumerate(answers)] if long else answers


TOKEN_VARIABLE = "PFGEN_FAST_TOKEN"
MIN_TOKEN_LENGTH = 16
_MAX_TOKEN_LENGTH = 4096


def find_token(file: Path | None) -> str | None:
    """The token in a file; without a file, in the environment (`PFGEN_FAST_TOKEN`). None if no token is set."""
    if file is None:
        token = os.environ.get(TOKEN_VARIABLE)
        return None if token is None else _checked(token, TOKEN_VARIABLE)
    try:
        with open_regular(file) as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise ServingError(f"{file}: others may read the token; expected mode 600 (chmod 600)")
            content = opened.read(_MAX_TOKEN_LENGTH + 2)
    except OSError as error:
        raise ServingError(f"{file}: cannot be read: {error.strerror or error}") from None
    return _checked(content.decode("latin-1").strip(), str(file))


def _checked(token: str, where: str) -> str:
    if not MIN_TOKEN_LENGTH <= len(token) <= _MAX_TOKEN_LENGTH or not all("!" <= letter <= "~" for letter in token):
        raise ServingError(f"{where}: expected a token of at least {MIN_TOKEN_LENGTH} ASCII characters without spaces")
    return token


class Guard:
    """Refuses requests without permission.

    Without a token, the host of a request must be the loopback. This protects against websites whose name resolves to
    the loopback (DNS rebinding). Requests of pages of other origins are always refused.
    """

    def __init__(self, token: str | None, port: int, host: str = "127.0.0.1") -> None:
        self._token = None if token is None else token.encode()
        bound = f"[{host}]" if ":" in host else host
        names = {"127.0.0.1", "localhost", "[::1]", bound}
        self._hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        self._expected = f"{bound}:{port} or localhost:{port}"

    def check(self, headers: Mapping[str, str], *, is_open: bool = False) -> None:
        """Raises Refusal if a request with these headers may not be answered; with `is_open`, no token is needed."""
        host = headers.get("host", "").lower()
        if self._token is None and host not in self._hosts:
            raise Refusal(421, f"Host: expected {self._expected}")
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") or (
            origin is not None and origin not in (f"http://{host}", f"https://{host}")
        ):
            raise Refusal(403, "requests of pages of other origins are refused")
        if self._token is not None and not is_open and not hmac.compare_digest(_shown_token(headers), self._token):
            challenge = {"WWW-Authenticate": 'Bearer realm="pfgen-fast", Basic realm="pfgen-fast"'}
            raise Refusal(401, "Authorization: expected 'Bearer TOKEN' with the token of this server", challenge)


def _shown_token(headers: Mapping[str, str]) -> bytes:
    """The token of a request: a bearer token, or the password of basic authentication, which a URL can contain."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1", "replace")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return b""


Receive = Callable[[], Awaitable[Any]]


@dataclass
class Room:
    """Counts the requests in progress and their bytes, in one event loop."""

    limits: Limits
    n_requests: int = 0
    n_bytes: int = 0


class RoomShare:
    """The share of one request in a `Room`; the context manager subtracts it at the end."""

    def __init__(self, room: Room) -> None:
        self._room, self._n_bytes, self._n_requests = room, 0, 0
        self._work: asyncio.Future[Any] | None = None

    def __enter__(self) -> RoomShare:
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
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise Refusal(415, "Content-Encoding: compressed bodies are not accepted", {"Connection": "close"})
        if int(headers.get("content-length", "0")) > limits.n_body_bytes:  # the HTTP parser accepts only digits
            raise _too_large(limits)
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


def _too_large(limits: Limits) -> Refusal:
    sentence = f"the body is larger than {limits.n_body_bytes:,} bytes, which is the limit; send smaller batches"
    return Refusal(413, sentence, {"Connection": "close"})

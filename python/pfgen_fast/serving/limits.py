"""Limits of requests, and refusals: the status and one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import ServingError

MAX_VALUES = 1_000_000
"""The maximum number of values in a body of JSON; each takes many times the memory of its text."""

MAX_HEAD_BYTES = 1 << 15
"""The maximum number of bytes of the head of a request, of its trailers, and of the extensions of a chunk."""

HALF_CLOSED_SECONDS = 2.0
"""Seconds for replies to a client that has closed its sending side, because a client that has left looks equal."""

MAX_HEADERS = 100
"""The maximum number of headers of a request; each takes many times the memory of its text."""

MAX_PIPELINED = 64
"""The maximum number of requests of a connection that wait for the reply to an earlier one."""


@dataclass(frozen=True)
class Limits:
    """The limits of a server; requests beyond them are refused."""

    n_body_bytes: int = 32 << 20  # largest body of a request
    n_answers: int = 16_384  # most answers in a request
    n_code_points: int = 100_000  # longest answer
    n_requests: int = 256  # most requests that are read, wait or are scored at a time
    n_held_bytes: int = 256 << 20  # most bytes of their bodies at a time
    n_connections: int = 1024
    seconds: float = 60.0  # from the first byte of a request to the last of its reply
    head_seconds: float = 10.0  # from the first byte of a request to the first of its body
    idle_seconds: float = 75.0  # maximum time between two requests of a connection

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise ServingError(f"--seconds: expected a number of seconds, not {self.seconds}")

    def __str__(self) -> str:
        return (
            f"{self.n_answers:,} answers of {self.n_code_points:,} characters and {self.n_body_bytes / 2**20:g} MiB a "
            f"request, {self.n_requests:,} requests at a time, {self.seconds:g} s each"
        )


@dataclass
class Refusal(Exception):
    """The reason why a request is not answered."""

    status: int  # status of the reply
    sentence: str  # message of the reply
    headers: Mapping[str, str] = field(default_factory=dict)  # more headers of the reply

    def __str__(self) -> str:
        return self.sentence


def too_busy(sentence: str, status: int = 429) -> Refusal:
    """The refusal of a request that may be repeated in a second."""
    return Refusal(status, sentence, {"Retry-After": "1"})


class Gone(Exception):
    """The client has left, so no reply is needed."""


def checked_answers(answers: list[str], limits: Limits) -> list[str]:
    """The answers, if they are few and short enough."""
    check_number(len(answers), limits)
    if max(map(len, answers), default=0) > limits.n_code_points:
        place = next(place for place, answer in enumerate(answers) if len(answer) > limits.n_code_points)
        raise too_long(place, len(answers[place]), limits)
    return answers


def check_number(n_answers: int, limits: Limits) -> None:
    """Raises Refusal if there are too many answers."""
    if n_answers > limits.n_answers:
        raise Refusal(413, f"{n_answers:,} answers; the limit is {limits.n_answers:,} a request")


def too_long(place: int, n_code_points: int, limits: Limits) -> Refusal:
    """The refusal of an answer."""
    return Refusal(413, f"answers[{place}]: {n_code_points:,} characters; the limit is {limits.n_code_points:,}")

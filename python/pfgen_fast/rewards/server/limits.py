"""Limits of requests, and refusals with a status and a message."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...base.errors import ServingError

MAX_VALUES = 1_000_000
"""Maximum number of values in a JSON body; a value needs many times the memory of its text."""

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
    n_pairs: int = (
        1 << 38
    )  # maximum number of pairs of characters of answers and references, for ROUGE-L; see `check_pairs`
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


def checked_answers(answers: list[str], limits: Limits) -> list[str]:
    """Returns the answers, or raises Refusal if there are too many or one is too long."""
    if len(answers) > limits.n_answers:
        raise Refusal(413, f"{len(answers):,} answers; the limit for a request is {limits.n_answers:,}")
    if max(map(len, answers), default=0) > limits.n_code_points:
        place = next(place for place, answer in enumerate(answers) if len(answer) > limits.n_code_points)
        sentence = f"answers[{place}]: {len(answers[place]):,} characters; the limit is {limits.n_code_points:,}"
        raise Refusal(413, sentence)
    return answers


def check_pairs(answers: list[str], references: list[list[str]], limits: Limits) -> None:
    """Raises Refusal if ROUGE-L or ROUGE-Lsum of these texts would take long; a line counts as 45 more characters."""
    sizes = (sum(map(_size, texts)) for texts in references)
    n_pairs = sum(_size(answer) * size for answer, size in zip(answers, sizes, strict=False))
    if n_pairs > limits.n_pairs:
        sentence = f"answers and references have {n_pairs:,} pairs of characters (a line counts as 45 more)"
        raise Refusal(413, f"{sentence}; the limit is {limits.n_pairs:,}; send smaller batches")


def _size(text: str) -> int:
    return len(text) + 45 * text.count("\n")

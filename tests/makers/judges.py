"""A judge without a server: its replies depend only on the request, and it records all requests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from makers import asked_engines
from pfgen_fast.generation.prompts import Request


def moody(request: Request) -> str:
    """A rating from 0 to 11, where 0 and 11 are invalid."""
    return moody_text((request.prompt.messages or ())[-1]["content"], request.seed)


def moody_text(content: str, seed: int) -> str:
    digest = hashlib.sha1(f"{content}\0{seed}".encode()).digest()
    return f"For some reason. [[{digest[0] % 12}]]"


class FakeEngine(asked_engines.FakeEngine):
    """Gives predefined replies, in no order that callers may rely on."""

    trouble = ""

    def __init__(self, reply: Callable[[Request], str] = moody) -> None:
        super().__init__(reply, reversed)

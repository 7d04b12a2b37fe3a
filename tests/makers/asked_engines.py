"""An engine without a server, replies that depend only on the request, and the answers of an opened engine."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

from makers.fault_server import Server
from pfgen_fast import Suite
from pfgen_fast.generation.engines.engine import Engine
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.generating import Generated, generate
from pfgen_fast.generation.prompts import Request
from pfgen_fast.generation.protocol import RawReply
from pfgen_fast.generation.setting import Setting
from pfgen_fast.scoring.reply_text import Mode


def moody(request: Request) -> str:
    """A rating from 0 to 11, where 0 and 11 are invalid."""
    return moody_text((request.prompt.messages or ())[-1]["content"], request.seed)


def moody_text(content: str, seed: int) -> str:
    digest = hashlib.sha1(f"{content}\0{seed}".encode()).digest()
    return f"For some reason. [[{digest[0] % 12}]]"


class FakeEngine(Engine):
    """Gives the answers of a function of the task, the last first; None yields no answer at all. Can be used again."""

    name = "fake"

    def __init__(self, answer: Callable[[Any], str | None] = moody, parameters: dict[str, Any] | None = None) -> None:
        self.answer = answer
        self.parameters = parameters or {}
        self.batches: list[list[Any]] = []
        self.asked: list[Any] = []
        self.n_closed = 0

    async def answers(self, tasks: Any) -> AsyncGenerator[tuple[int, RawReply | None], None]:
        self.batches.append(list(tasks))
        for index in reversed(range(len(tasks))):
            self.asked.append(tasks[index])
            answer = self.answer(tasks[index])
            if answer is not None:
                yield index, RawReply(answer) if answer else None

    async def close(self) -> None:
        self.n_closed += 1


def answers_to(engine: Any, requests: Sequence[Request]) -> dict[int, str]:
    """The answers of an engine by the index of their request; the engine is closed."""
    return {index: reply.text if reply else "" for index, reply in replies_to(engine, requests).items()}


def replies_to(engine: Any, requests: Sequence[Request]) -> dict[int, RawReply | None]:
    async def collect() -> dict[int, RawReply | None]:
        try:
            return {index: reply async for index, reply in engine.answers(requests)}
        finally:
            await engine.close()

    return asyncio.run(collect())


def open_served(server: Server, mode: Mode = "completion", **options: Any) -> Engine:
    """Opens the engine `openai` for a server of tests, which it asks again almost at once."""
    return open_engine("openai", model="org/m", mode=mode, **{"base_url": server.base_url, "backoff": 0.001, **options})


def ask_server(
    suite: Suite, server: Server, output: Path, mode: Mode = "completion", *, trials: int = 1, **options: Any
) -> Generated:
    """A run of the engine `openai` from a server of tests."""
    events = options.pop("events", None)
    engine = open_served(server, mode, **options)
    return generate(suite, engine, Setting("org/m", mode), trials=trials, output=output, events=events)

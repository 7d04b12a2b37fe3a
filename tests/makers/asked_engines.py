"""An engine of tests, and the answers of an opened engine without a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

from makers.fault_server import Server
from pfgen_fast import Suite
from pfgen_fast.generation.engines import Engine, open_engine
from pfgen_fast.generation.generating import Generated, generate
from pfgen_fast.generation.prompts import Mode, Request
from pfgen_fast.generation.setting import Setting


class FakeEngine:
    """Answers computed by a function of the task, in any order; None yields no answer at all. Can be used again."""

    name = "fake"

    def __init__(
        self,
        answer: Callable[[Any], str | None],
        order: Callable[[Any], Any] = list,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.answer, self.order = answer, order
        self.parameters = parameters or {}
        self.batches: list[list[Any]] = []
        self.asked: list[Any] = []
        self.n_closed = 0

    async def answers(self, tasks: Any) -> AsyncGenerator[tuple[int, str], None]:
        self.batches.append(list(tasks))
        for index in self.order(range(len(tasks))):
            self.asked.append(tasks[index])
            answer = self.answer(tasks[index])
            if answer is not None:
                yield index, answer

    async def close(self) -> None:
        self.n_closed += 1


def answers_to(engine: Any, requests: Sequence[Request]) -> dict[int, str]:
    """The answers of an engine by the index of their request; the engine is closed."""

    async def collect() -> dict[int, str]:
        try:
            return {index: answer async for index, answer in engine.answers(requests)}
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

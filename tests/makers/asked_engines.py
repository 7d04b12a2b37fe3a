"""Asks an opened engine, without a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pfgen_fast.generation.prompts import Request


def answers_to(engine: Any, requests: Sequence[Request]) -> dict[int, str]:
    """The answers of an engine by the index of their request; the engine is closed."""

    async def collect() -> dict[int, str]:
        try:
            return {index: answer async for index, answer in engine.answers(requests)}
        finally:
            await engine.close()

    return asyncio.run(collect())

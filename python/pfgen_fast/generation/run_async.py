"""Runs coroutines to their end, in notebooks too, where an event loop is running already."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end: in this thread, or in another thread if this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def kept() -> T:
        task = asyncio.current_task()
        assert task is not None
        started.set_result((asyncio.get_running_loop(), task))
        return await coroutine

    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: context.run(asyncio.run, kept()))
        try:
            return running.result()
        except KeyboardInterrupt:
            loop, task = started.result()
            with contextlib.suppress(RuntimeError):  # the loop has just ended
                loop.call_soon_threadsafe(task.cancel)
            raise

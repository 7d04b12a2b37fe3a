"""What an engine is: a source of answers to a batch of tasks, which yields replies when they arrive."""

from __future__ import annotations

import contextlib
import contextvars
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    import asyncio

    from ..events import Events
    from ..protocol import RawReply

T = TypeVar("T")


class Engine(ABC):
    """Answers tasks, or requests that are no tasks if it is an engine for models."""

    name: ClassVar[str]  # in config.json
    # entries for config.json, which add to or replace those of the run; never secrets; None removes an entry
    parameters: Mapping[str, Any]
    trouble = ""  # reason for the last missing answer, as a part of a sentence
    events: Events | None = None  # to which an engine reports all trouble, including empty answers; None if it does not
    n_trials: int | None = None  # number of trials with stored answers

    @abstractmethod
    def answers(self, requests: Sequence[Any], /) -> AsyncGenerator[tuple[int, RawReply | None], None]:
        """Yields the replies when they arrive, each with the index of its request; None for a request without a reply.

        It may also yield nothing for a request; the caller then asks again.

        Raises:
            EngineError: An error concerns all requests.
        """

    def load(self) -> None:  # noqa: B027 - only some engines have a model
        """Loads the model, unless it is loaded."""

    async def close(self) -> None:  # noqa: B027 - only some engines have resources
        """Releases the engine's resources. The engine must not be used afterwards."""


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end: in this thread, or in another thread if this one has a running event loop."""
    import asyncio
    from concurrent.futures import Future, ThreadPoolExecutor

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

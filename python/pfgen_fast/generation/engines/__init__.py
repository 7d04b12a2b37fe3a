"""Engines: the sources of answers. Their modules are imported on demand.

An engine takes a batch of tasks and yields replies when they arrive. Engines for models need only requests, so they
can also ask a judge.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ...base.errors import EngineError
from ...base.untrusted_text import is_encodable, unknown_name
from ...scoring.reply_text import STOP, Mode, check_mode

if TYPE_CHECKING:
    import asyncio

    from ...suite.suite import Suite
    from ..events import Events
    from ..protocol import RawReply

T = TypeVar("T")

ENGINES: Mapping[str, tuple[str, str]] = {
    "anthropic": (".hosted", "AnthropicEngine"),
    "ground-truth": (".without_model", "GroundTruthEngine"),
    "hf": (".transformers", "HfEngine"),
    "manual": (".without_model", "ManualEngine"),
    "ngram": ("..ngram_sampler", "NgramEngine"),
    "openai": (".hosted", "OpenaiEngine"),
    "openai-api": (".hosted", "OpenaiApiEngine"),
    "reference": (".without_model", "ReferenceEngine"),
    "replay": (".without_model", "ReplayEngine"),
    "transformers": (".transformers", "TransformersEngine"),
    "vllm": (".vllm", "VllmEngine"),
}
"""The module and the class of each engine."""

HOSTED = frozenset({"anthropic", "openai", "openai-api"})
"""The engines that send requests to a server."""

INTERACTIVE = frozenset({"manual"})
"""The engines that read answers from the terminal, so that no progress bar may be shown."""

_OF_THE_SUITE = {"ground-truth": "system/ground-truth", "reference": "system/criteria"}
"""The default names of models, as in the published leaderboard."""

_OF_EVERY_ENGINE = ("suite", "model", "mode", "sampling")


@dataclass(frozen=True)
class Sampling:
    """How answers are sampled; every engine gets these parameters."""

    max_tokens: int = 300  # maximum number of tokens in an answer
    temperature: float = 1.0  # 0 takes the most likely token
    # answers are sampled from the most likely tokens with this total probability; None for all tokens
    top_p: float | None = 0.98
    top_k: int | None = None  # answers are sampled from this number of most likely tokens; None for all tokens
    stop: tuple[str, ...] = STOP["completion"]  # an answer ends at the first of these strings

    def __post_init__(self) -> None:
        # The name of the run's folder is a hash of config.json, where 1 and 1.0 differ.
        object.__setattr__(self, "temperature", float(self.temperature))
        object.__setattr__(self, "top_p", None if self.top_p is None else float(self.top_p))
        if self.max_tokens < 1:
            raise EngineError(f"max_tokens: expected at least 1, not {self.max_tokens}")
        if not 0 <= self.temperature < math.inf:
            raise EngineError(f"temperature: expected a number from 0, not {self.temperature}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise EngineError(f"top_p: expected a number above 0 and up to 1, not {self.top_p}")
        if "" in self.stop or not all(map(is_encodable, self.stop)):
            raise EngineError("stop: expected texts that are not empty and that UTF-8 can encode")
        if self.top_k is not None and self.top_k < 1:
            raise EngineError(f"top_k: expected at least 1, not {self.top_k}")

    def config(self) -> dict[str, Any]:
        """The entries in config.json."""
        return {**vars(self), "stop": list(self.stop)}


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


def open_engine(
    name: str,
    *,
    suite: Suite | None = None,
    model: str,
    mode: Mode,
    sampling: Sampling | None = None,
    loads: bool = True,
    **options: Any,
) -> Engine:
    """Opens an engine by its name in `ENGINES`.

    Engines for models need no suite. The meaning of `model` depends on the engine, and the default of `sampling` on the
    mode. `options` are the options of the engine. With `loads=False`, an engine has its parameters but no model.

    Raises:
        EngineError: The engine or an option is unknown, a package is missing, or the engine cannot be opened.
    """
    check_mode(mode)
    refuse_unknown_options(name, options)
    sampling = sampling or Sampling(stop=STOP[mode])
    engine: Engine = _engine_class(name)(suite=suite, model=model, mode=mode, sampling=sampling, **options)
    if loads:
        engine.load()
    return engine


def default_model(engine: str, options: Mapping[str, Any]) -> str:
    """The default name of the model, for engines without a model.

    Raises:
        EngineError: The engine is unknown, or it needs a model.
    """
    _check_engine(engine)
    if engine in _OF_THE_SUITE:
        return _OF_THE_SUITE[engine]
    if engine != "ngram":
        raise EngineError("--model is needed: the name of the model, which also names the run's folder")
    from ..ngram_sampler import ORDER

    order = options.get("order")
    return f"ngram/order-{ORDER if order is None else order}"


def engine_options(name: str) -> dict[str, str]:
    """The options of an engine, with their types."""
    engine = _engine_class(name)
    if name in HOSTED:
        options: dict[str, str] = engine.options()
        return options
    parameters = inspect.signature(engine).parameters
    return {key: parameter.annotation for key, parameter in parameters.items() if key not in _OF_EVERY_ENGINE}


def refuse_unknown_options(engine: str, options: Iterable[str]) -> None:
    """Raises EngineError if the engine lacks an option; the message names the engines with this option."""
    known = engine_options(engine)
    for option in options:
        if option not in known:
            owners = [other for other in ENGINES if option in engine_options(other)]
            flag = f"--{option.replace('_', '-')}"
            raise EngineError(f"{flag} is an option of {', '.join(owners) or 'no engine'}, not of {engine}")


def _check_engine(name: str) -> None:
    if name not in ENGINES:
        raise EngineError(unknown_name("engine", name, ENGINES))


def _engine_class(name: str) -> Any:
    _check_engine(name)
    module, kind = ENGINES[name]
    return getattr(import_module(module, __name__), kind)


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

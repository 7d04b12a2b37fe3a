"""Engines: the sources of answers, each in a module that is imported on demand.

An engine takes a batch of tasks and yields raw answers as they arrive. Engines that ask a model need only requests, so
they can also ask a judge.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import EngineError
from ...files.untrusted_text import in_one_line
from ..prompts import STOP, Mode, Request, Task, check_mode, is_encodable

if TYPE_CHECKING:
    from ...suite.suite import Suite

ENGINES: Mapping[str, tuple[str, str]] = {
    "anthropic": (".hosted", "AnthropicEngine"),
    "gemini": (".hosted", "GeminiEngine"),
    "gemini-native": (".hosted", "GeminiNativeEngine"),
    "ground-truth": (".suite_answers", "GroundTruthEngine"),
    "hf": (".transformers", "HfEngine"),
    "manual": (".manual", "ManualEngine"),
    "ngram": (".ngram", "NgramEngine"),
    "openai": (".hosted", "OpenaiEngine"),
    "openai-api": (".hosted", "OpenaiApiEngine"),
    "reference": (".suite_answers", "ReferenceEngine"),
    "replay": (".replay", "ReplayEngine"),
    "transformers": (".transformers", "TransformersEngine"),
    "vllm": (".vllm", "VllmEngine"),
}
"""The engines by name: module and class. `open_engine` calls the class."""

HOSTED = frozenset({"anthropic", "gemini", "gemini-native", "openai", "openai-api"})
"""The engines that ask a server."""

INTERACTIVE = frozenset({"manual"})
"""The engines that read answers from the terminal, which must show no progress bar."""

_OF_THE_SUITE = {"ground-truth": "system/ground-truth", "reference": "system/criteria"}
"""The default names of models, which are those of the published leaderboard."""

_OF_EVERY_ENGINE = ("suite", "model", "mode", "sampling")


@dataclass(frozen=True)
class Sampling:
    """How answers are sampled; every engine gets these parameters."""

    max_tokens: int = 300  # maximum number of tokens in an answer
    temperature: float = 1.0  # 0 takes the most likely token
    # sample from the most likely tokens that together reach this probability; None for all, or the server's default
    top_p: float | None = 0.98
    top_k: int | None = None  # sample from this many most likely tokens; None for all
    stop: tuple[str, ...] = STOP["completion"]  # strings at which an answer ends

    def __post_init__(self) -> None:
        # config.json, and thus the name of the run's folder, distinguishes 1 from 1.0.
        object.__setattr__(self, "temperature", float(self.temperature))
        object.__setattr__(self, "top_p", None if self.top_p is None else float(self.top_p))
        if self.max_tokens < 1:
            raise EngineError(f"max_tokens: expected at least 1, not {self.max_tokens}")
        if not 0 <= self.temperature < math.inf:
            raise EngineError(f"temperature: expected a number from 0, not {self.temperature}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise EngineError(f"top_p: expected a number above 0 and up to 1, not {self.top_p}")
        if "" in self.stop or not all(map(is_encodable, self.stop)):
            raise EngineError("stop: expected texts that are not empty and that UTF-8 can hold")
        if self.top_k is not None and self.top_k < 1:
            raise EngineError(f"top_k: expected at least 1, not {self.top_k}")

    def config(self) -> dict[str, Any]:
        """The parameters as config.json records them, which leaves out None."""
        return {**vars(self), "stop": list(self.stop)}


class Engine(Protocol):
    """Answers tasks. An engine may have further attributes:

    * `trouble`: the reason for the last missing answer, as part of a sentence;
    * `events`: an `Events` to which it reports, including empty answers;
    * `on_reply`: called with a request and its `RawReply` before the answer is yielded;
    * `n_trials`: the number of trials for which it has stored answers.
    """

    @property
    def name(self) -> str:
        """The name in config.json."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that config.json records in addition to those of the run, or instead; never secrets.

        None leaves out a parameter of the run.
        """

    def answers(self, tasks: Sequence[Task], /) -> AsyncGenerator[tuple[int, str], None]:
        """Yields the raw answers as they arrive, each with the index of its task.

        A task without a usable answer yields `""` or nothing; the caller asks again.

        Raises:
            EngineError: An error concerns all tasks.
        """

    async def close(self) -> None:
        """Releases the engine's resources, if any; it must not be used afterwards."""


class ModelEngine(Engine, Protocol):
    """An engine that needs only requests, that is, prompts with seeds."""

    def answers(self, requests: Sequence[Request], /) -> AsyncGenerator[tuple[int, str], None]:
        """Yields the raw answers as they arrive, each with the index of its request."""


def open_engine(
    name: str, *, suite: Suite | None = None, model: str, mode: Mode, sampling: Sampling | None = None, **options: Any
) -> Engine:
    """Opens an engine, named by a key of `ENGINES`.

    Engines that ask a model need no suite. What `model` refers to depends on the engine; the default of `sampling`
    depends on the mode; `options` are those of the engine.

    Raises:
        EngineError: The engine or an option is unknown, or the engine cannot be opened; the message names a missing
            package.
    """
    check_mode(mode)
    refuse_unknown_options(name, options)
    sampling = sampling or Sampling(stop=STOP[mode])
    engine: Engine = _engine_class(name)(suite=suite, model=model, mode=mode, sampling=sampling, **options)
    return engine


def default_model(engine: str, options: Mapping[str, Any]) -> str:
    """The default name of the model; only engines without a model have one.

    Raises:
        EngineError: The engine is unknown, or asks a model, which must be named.
    """
    _check_engine(engine)
    if engine in _OF_THE_SUITE:
        return _OF_THE_SUITE[engine]
    if engine != "ngram":
        raise EngineError("--model is needed: the name of the model, which is also that of the run's folder")
    from ..ngram_sampler import ORDER

    order = options.get("order")
    return f"ngram/order-{ORDER if order is None else order}"


def engine_options(name: str) -> dict[str, str]:
    """The options of an engine, with the types that its class annotates.

    Example:
        >>> engine_options("ngram")
        {'order': 'int', 'sets': 'Sequence[str] | None'}
    """
    engine = _engine_class(name)
    if name in HOSTED:
        options: dict[str, str] = engine.options()
        return options
    parameters = inspect.signature(engine).parameters
    return {key: parameter.annotation for key, parameter in parameters.items() if key not in _OF_EVERY_ENGINE}


def refuse_unknown_options(engine: str, options: Iterable[str]) -> None:
    """Raises EngineError for an option that the engine does not have, and names the engines that have it."""
    known = engine_options(engine)
    for option in options:
        if option not in known:
            owners = [other for other in ENGINES if option in engine_options(other)]
            flag = f"--{option.replace('_', '-')}"
            raise EngineError(f"{flag} is an option of {', '.join(owners) or 'no engine'}, not of {engine}")


def _check_engine(name: str) -> None:
    if name not in ENGINES:
        raise EngineError(f"unknown engine '{in_one_line(name)}'; expected one of {', '.join(ENGINES)}")


def _engine_class(name: str) -> Any:
    _check_engine(name)
    module, kind = ENGINES[name]
    return getattr(import_module(module, __name__), kind)

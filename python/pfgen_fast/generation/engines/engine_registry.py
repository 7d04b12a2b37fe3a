"""The engines by name. Their modules are imported on demand.

Engines for models need only requests, so they can also ask a judge.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...base.errors import EngineError
from ...base.untrusted_text import unknown_name
from ...scoring.reply_text import STOP, Mode, check_mode
from ..prompts import Sampling
from .engine import Engine

if TYPE_CHECKING:
    from ...suite.suite import Suite

ENGINES: Mapping[str, tuple[str, str]] = {
    "anthropic": (".hosted", "AnthropicEngine"),
    "ground-truth": (".without_model", "GroundTruthEngine"),
    "hf": (".transformers", "HfEngine"),
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

_OF_THE_SUITE = {"ground-truth": "system/ground-truth", "reference": "system/criteria"}
"""The default names of models, as in the published leaderboard."""

_OF_EVERY_ENGINE = ("suite", "model", "mode", "sampling")


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
    return getattr(import_module(module, __package__), kind)

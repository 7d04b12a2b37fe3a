"""The options of models behind a server, for `with_options`: where the model is, what it costs, how it is asked."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from ..errors import SchemaRefused
from ..files.untrusted_text import few_names
from .app import note
from .engine_options import engine_options, parameters_of
from .options import number_or_none

if TYPE_CHECKING:
    from ..judging.budget import Spending
    from ..judging.requests import RequestOptions, Server

EngineChoice = Literal["openai", "anthropic", "gemini", "gemini-native"]
_SHAPING = (
    "served_model",
    "max_tokens_name",
    "omit",
    "extra_body",
    "chat_template_kwargs",
    "reasoning_effort",
    "enable_thinking",
    "thinking_budget",
    "safety",
)
_RATES = ("requests_per_minute", "tokens_per_minute")

Structured = Annotated[
    bool,
    typer.Option(
        "--structured",
        help="checklists: send a JSON schema of the verdicts; without it if the server refuses that.",
    ),
]


def _temperature(text: str) -> float | Literal["none"]:
    number = number_or_none(text)
    return "none" if number is None else number


JudgeTemperature = Annotated[
    Any,
    typer.Option(
        "--temperature",
        help="Set the temperature of the judge; none sends no temperature. Default: 0 for one rating, 1 for several.",
        parser=_temperature,
        metavar="NUMBER|none",
    ),
]


@dataclass(frozen=True)
class ServerOptions:
    """The options of commands that ask a model, other than those of `asking_options`."""

    engine: Annotated[EngineChoice, typer.Option("--engine", help="Choose the protocol of the server.")] = "openai"
    base_url: Annotated[str | None, typer.Option(help="Set the address of the server, including /v1.")] = None
    key_env: Annotated[
        str | None,
        typer.Option(
            help="Name the environment variable that holds the key. Default: by engine, such as OPENAI_API_KEY.",
            metavar="NAME",
        ),
    ] = None
    concurrency: Annotated[int, typer.Option(min=1, help="Limit the number of concurrent requests.")] = 16
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Set the timeout in seconds of a request, or of a program without output.")
    ] = 120.0
    retries: Annotated[int, typer.Option(min=0, help="Set how often a failed request is retried.")] = 5
    prompt_price: Annotated[float, typer.Option(help="Set the price per million prompt tokens.")] = 0.0
    reply_price: Annotated[float, typer.Option(help="Set the price per million reply tokens.")] = 0.0
    budget: Annotated[
        float | None, typer.Option(min=0, help="Stop before the estimated cost of this call could exceed this.")
    ] = None
    offline: Annotated[bool, typer.Option("--offline", help="Send no requests; use the stored replies.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the number of requests and the cost.")] = False
    of_engine: dict[str, Any] = field(default_factory=dict, kw_only=True)  # further options of the engine

    @cached_property
    def server(self) -> Server | None:
        """The server; None if nothing may be sent."""
        from ..judging.requests import Server

        if self.offline:
            return None
        rates = {name: self.of_engine[name] for name in _RATES if name in self.of_engine}
        return Server(self.base_url, self.key_env, self.concurrency, self.timeout, self.retries, **rates)

    def request_options(self, temperature: float | Literal["none"] | None = None) -> RequestOptions:
        """How requests are written; with the temperature none they lack a temperature."""
        from ..judging.requests import RequestOptions

        shaping = {name: value for name, value in self.of_engine.items() if name not in _RATES}
        if temperature == "none":
            shaping["omit"] = [*shaping.get("omit", ()), "temperature"]
        return RequestOptions(self.engine, shaping)

    @cached_property
    def spending(self) -> Spending:
        """Prices and budget, shared by all models of a call."""
        from ..judging.budget import Prices, Spending

        return Spending(Prices(self.prompt_price, self.reply_price), self.budget)


_Kind = TypeVar("_Kind", bound=ServerOptions)


def asking_options(kind: type[_Kind]) -> Callable[..., _Kind]:
    """Creates options of a kind from its own options and those of engines, for `with_options`."""
    of_engine = engine_options(*_SHAPING, *_RATES)
    own = {name: one for name, one in parameters_of(kind).items() if name != "of_engine"}

    def made(**values: Any) -> _Kind:
        others = {name: value for name, value in values.items() if name not in own}
        return kind(**{name: values[name] for name in own}, of_engine=of_engine(**others))

    parameters = [*own.values(), *parameters_of(of_engine).values()]
    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return made


def number_of(temperature: float | Literal["none"] | None) -> float | None:
    """The temperature as a number; None if it is not given, or is none."""
    return None if temperature == "none" else temperature


def warn_of_family(judge: str, models: Iterable[str]) -> None:
    """Warns if a judge and judged models are of one family, which judges are known to prefer."""
    from ..judging.families import of_family

    if found := of_family(judge, models):
        note(f"{judge} judges models of its own family, which judges tend to prefer: {few_names(found)}")


def retried_without_schema(group: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Calls a command again without --structured, an option of this group, if the server refuses the JSON schema."""

    def retried(call: Callable[[Any], None]) -> Callable[[Any], None]:
        @functools.wraps(call)
        def run(given: Any) -> None:
            try:
                call(given)
            except SchemaRefused as refused:
                note(f"{refused}; asking without --structured")
                options = copy.copy(getattr(given, group))  # with what was spent so far
                object.__setattr__(options, "structured", False)
                call(replace(given, **{group: options}))

        return run

    return retried

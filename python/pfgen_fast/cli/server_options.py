"""The options of models behind a server: address, prices and form of the requests."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ..base.errors import SchemaRefused
from ..base.untrusted_text import few_names
from .app import note
from .command_class import option_group
from .engine_options import engine_options
from .options import number_or_none

if TYPE_CHECKING:
    from ..lab.judging.judge_asking import Spending
    from ..lab.judging.judge_requests import RequestOptions, Server

EngineChoice = Literal["openai", "anthropic"]
_SHAPING = (
    "served_model",
    "max_tokens_name",
    "omit",
    "extra_body",
    "chat_template_kwargs",
    "reasoning_effort",
    "enable_thinking",
    "thinking_budget",
)
_RATES = ("requests_per_minute", "tokens_per_minute")

Structured = Annotated[
    bool,
    Option(
        "--structured",
        help="checklists: send a JSON schema of the verdicts. If the server refuses it, requests are sent without it.",
    ),
]


def _temperature(text: str) -> float | Literal["none"]:
    number = number_or_none(text)
    return "none" if number is None else number


JudgeTemperature = Annotated[
    Any,
    Option(
        "--temperature",
        help="Set the temperature of the judge. With none, requests have no temperature. Default: 0 for one "
        "rating, 1 for several.",
        parser=_temperature,
        metavar="NUMBER|none",
    ),
]


@option_group
class ServerOptions:
    """The options of commands that ask a model."""

    engine: EngineChoice = Option("openai", help="Choose the protocol of the server.")
    base_url: str | None = Option(None, help="Set the address of the server, including /v1.")
    key_env: str | None = Option(
        None,
        help="Name the environment variable that holds the key. Default: by engine, such as OPENAI_API_KEY.",
        metavar="NAME",
    )
    concurrency: int = Option(16, min=1, help="Limit the number of concurrent requests.")
    timeout: float = Option(
        120.0, min=0.001, help="Set the timeout in seconds of a request, or of a program that prints nothing."
    )
    retries: int = Option(5, min=0, help="Set how often a failed request is retried.")
    prompt_price: float = Option(0.0, help="Set the price per million prompt tokens.")
    reply_price: float = Option(0.0, help="Set the price per million reply tokens.")
    budget: float | None = Option(None, min=0, help="Stop before the estimated cost of this call exceeds this amount.")
    offline: bool = Option(False, help="Send no requests; use the stored replies.")
    dry_run: bool = Option(False, help="Only show the number of requests and the cost.")
    engine_settings: Annotated[dict[str, Any], engine_options(*_SHAPING, *_RATES)]

    @cached_property
    def server(self) -> Server | None:
        """The server; None with --offline."""
        from ..lab.judging.judge_requests import Server

        if self.offline:
            return None
        rates = {name: self.engine_settings[name] for name in _RATES if name in self.engine_settings}
        return Server(self.base_url, self.key_env, self.concurrency, self.timeout, self.retries, **rates)

    def request_options(self, temperature: float | Literal["none"] | None = None) -> RequestOptions:
        """The options of requests; with the temperature `none`, requests have no temperature."""
        from ..lab.judging.judge_requests import RequestOptions

        shaping = {name: value for name, value in self.engine_settings.items() if name not in _RATES}
        if temperature == "none":
            shaping["omit"] = [*shaping.get("omit", ()), "temperature"]
        return RequestOptions(self.engine, shaping)

    @cached_property
    def spending(self) -> Spending:
        """Prices and budget, shared by all models of a call."""
        from ..lab.judging.judge_asking import Prices, Spending

        return Spending(Prices(self.prompt_price, self.reply_price), self.budget)


def number_of(temperature: float | Literal["none"] | None) -> float | None:
    """The temperature as a number; None without the option, or if its value is `none`."""
    return None if temperature == "none" else temperature


def warn_of_family(judge: str, models: Iterable[str]) -> None:
    """Warns if a judge rates models of its own family, because judges are known to prefer such models."""
    from ..lab.judging.judge_requests import of_family

    if relatives := of_family(judge, models):
        note(f"{judge} tends to prefer models of its own family, which are among these runs: {few_names(relatives)}")


def retried_without_schema(group: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Calls a command again without --structured, an option of this group, if the server refuses the JSON schema."""

    def retried(call: Callable[[Any], None]) -> Callable[[Any], None]:
        @functools.wraps(call)
        def run(command: Any) -> None:
            try:
                call(command)
            except SchemaRefused as refused:
                note(f"{refused}; asking without --structured")
                options = copy.copy(getattr(command, group))  # keeps the amount that was spent so far
                object.__setattr__(options, "structured", False)
                call(replace(command, **{group: options}))

        return run

    return retried

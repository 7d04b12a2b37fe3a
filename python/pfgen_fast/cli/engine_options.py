"""The options of engines and of models behind servers; each command has some of them.

An option of an engine is None if it is not given; `chosen` collects the others for the library.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..scoring.reply_text import ReasoningChoice
from . import options
from .parser import Option, option_group

if TYPE_CHECKING:
    from ..generation.setting import Reasoning
    from ..lab.judging.judge_asking import Spending
    from ..lab.judging.judge_requests import RequestOptions, Server

_OBJECT: Any = {"parser": options.json_object, "metavar": "JSON|@FILE"}


@option_group
class Connection:
    """How a server is reached."""

    help_group = "Server"
    base_url: str | None = Option(
        None, "Set the server's address. Default: $OPENAI_BASE_URL, or the engine's own.", metavar="URL", group=""
    )
    key_env: str | None = Option(None, "Name the variable with the key. Default: OPENAI_API_KEY or ANTHROPIC_API_KEY.")
    concurrency: int | None = Option(None, "Limit the number of concurrent requests. Default: 16.")
    retries: int | None = Option(None, "Set how often a request is retried. Default: 5.")
    timeout: float | None = Option(None, "Set the timeout of a whole reply, in seconds. Default: 120.")


@option_group
class RequestShape:
    """What a request contains."""

    help_group = "Requests"
    served_model: str | None = Option(None, "Request this model; --model still names the run. Default: --model.")
    max_tokens_name: str | None = Option(None, "openai: rename --max-tokens, for example to max_completion_tokens.")
    omit: list[str] | None = Option(
        None,
        "Do not send these parameters, such as temperature,top_p,stop,seed.",
        parser=options.names,
        metavar="NAME,...",
    )
    extra_body: dict[str, Any] | None = Option(None, "Merge a JSON object into each request, and record it.", **_OBJECT)
    chat_template_kwargs: dict[str, Any] | None = Option(
        None, "Set and record variables of the chat template.", **_OBJECT
    )
    reasoning_effort: str | None = Option(
        None, "openai: set how much the model reasons: low, high, ...", metavar="EFFORT"
    )
    enable_thinking: bool | None = Option(
        None, "Turn reasoning on or off (Qwen3, Claude).", "--enable-thinking/--disable-thinking"
    )


@option_group
class ThinkingBudget:
    """The limit of reasoning."""

    help_group = "Requests"
    thinking_budget: int | None = Option(None, "anthropic: limit the tokens of reasoning.")


@option_group
class LocalModel:
    """How local weights are loaded."""

    help_group = "Local weights"
    path: str | None = Option(None, "Load the model from this directory.", metavar="FOLDER")
    trust_remote_code: bool | None = Option(None, "Run program code that comes with a model.")
    chat_template: str | None = Option(None, "Use the chat template in this file, and record it.", metavar="FILE")
    device: str | None = Option(None, "transformers: choose cpu, cuda:0, ... Default: a GPU, if available.")
    dtype: str | None = Option(None, "Choose a type such as bfloat16. Default: the stored type.")
    batch_size: int | None = Option(None, "transformers: set the batch size. Default: 16.")
    tensor_parallel: int | None = Option(None, "vllm: set the number of GPUs per model. Default: 1.")
    engine_args: dict[str, Any] | None = Option(None, "vllm: pass these to vllm.LLM, such as quantization.", **_OBJECT)


@option_group
class ReferenceSets:
    """The reference sets of answers that need no model."""

    help_group = "Answers without a model"
    sets: list[str] | None = Option(None, "ngram, reference: use this set. May be repeated. Default: all.")


@option_group
class EngineOptions(ReferenceSets, LocalModel, ThinkingBudget, RequestShape, Connection):
    """The options of all engines."""

    help_group = "Answers without a model"
    order: int | None = Option(None, "ngram: set the number of code points per n-gram. Default: 5.")
    input: Path | None = Option(None, "replay: read a table, a run, or samples_*.jsonl.", metavar="PATH")
    question_column: str | None = Option(None, "replay: name the question column. Default: question.")
    answer_column: str | None = Option(None, "replay: name the answer column. Default: answer.")


def chosen(group: Any, *classes: Any) -> dict[str, Any]:
    """The options that are given, as the library takes them: those of some classes, or all of a group."""
    names = [field.name for cls in classes or [type(group)] for field in fields(cls)]
    return {name: getattr(group, name) for name in names if getattr(group, name) is not None}


Tags = Annotated[
    list[str] | None,
    Option(
        ...,
        "Also treat text between these tags as reasoning, such as '<think> </think>'. May be repeated.",
        "--reasoning-tags",
        parser=str.split,
        metavar="'OPEN CLOSE'",
        group="Reasoning",
    ),
]


@option_group
class ReasoningOptions:
    """How a run treats reasoning."""

    help_group = "Reasoning"
    reasoning: ReasoningChoice = Option(
        "strip", "Remove reasoning from answers, or keep it there, as in the published runs."
    )
    reasoning_tags: Tags = None
    reasoning_tokens: int = Option(0, "Allow this many tokens for reasoning, in addition to --max-tokens.", min=0)

    @property
    def chosen(self) -> Reasoning:
        """The options as the library takes them."""
        from ..generation.setting import Reasoning

        return Reasoning.of(vars(self))


JudgeTemperature = Annotated[
    Any,
    Option(
        ...,
        "Set the temperature of the judge, or none to send none. Default: 0 for one rating, 1 for several.",
        "--temperature",
        parser=options.number_or_word,
        metavar="NUMBER|none",
    ),
]


@option_group
class ServerOptions(ThinkingBudget, RequestShape, Connection):
    """The options of commands that ask a model."""

    engine: Literal["openai", "anthropic"] = Option("openai", "Choose the protocol of the server.", group="Server")
    offline: bool = Option(False, "Send no requests; use the stored replies.", group="Server")
    prompt_price: float = Option(0.0, "Set the price per million prompt tokens, in any currency.", group="Costs")
    reply_price: float = Option(0.0, "Set the price per million reply tokens.", group="Costs")
    budget: float | None = Option(None, "Stop before the estimated cost exceeds this amount.", min=0, group="Costs")
    dry_run: bool = Option(False, "Only show the number of requests and the cost.", group="")

    @cached_property
    def server(self) -> Server | None:
        """The server; None with --offline."""
        from ..lab.judging.judge_requests import Server

        return None if self.offline else Server(**chosen(self, Connection))

    def request_options(self, temperature: float | Literal["none"] | None = None) -> RequestOptions:
        """The options of requests; with the temperature `none`, requests have no temperature."""
        from ..lab.judging.judge_requests import RequestOptions

        shaping = chosen(self, RequestShape, ThinkingBudget)
        if temperature == "none":
            shaping["omit"] = [*shaping.get("omit", ()), "temperature"]
        return RequestOptions(self.engine, shaping)

    @cached_property
    def spending(self) -> Spending:
        """Prices and budget, shared by all models of a call."""
        from ..lab.judging.judge_asking import JudgePrices, Spending

        return Spending(JudgePrices(self.prompt_price, self.reply_price), self.budget)


def number_of(temperature: float | Literal["none"] | None) -> float | None:
    """The temperature as a number; None without the option, or if its value is `none`."""
    return None if temperature == "none" else temperature

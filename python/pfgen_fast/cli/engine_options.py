"""The options of engines; each command has some of them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from typer import Option

from ..scoring.reply_text import ReasoningChoice
from . import options
from .app import caution, print_line
from .command_class import option_group

if TYPE_CHECKING:
    from ..generation.raw_replies import ReplySummary
    from ..generation.setting import Reasoning


@option_group
class _Options:
    """The options of all engines; each is None if it is not given."""

    order: int | None = Option(None, help="ngram: set the number of code points per n-gram. Default: 5.", metavar="N")
    sets: list[str] | None = Option(
        None, help="ngram, reference: use this reference set. May be repeated. Default: all.", metavar="NAME"
    )
    base_url: str | None = Option(
        None,
        help="Hosted models: set the address of the server, including /v1. Default: the engine's own; for openai "
        "$OPENAI_BASE_URL, or OpenAI.",
    )
    key_env: str | None = Option(
        None,
        help="Hosted models: name the variable with the key. Default: OPENAI_API_KEY, ANTHROPIC_API_KEY.",
        metavar="NAME",
    )
    concurrency: int | None = Option(None, help="Hosted models: limit the number of concurrent requests. Default: 16.")
    retries: int | None = Option(None, help="Hosted models: set how often a request is retried. Default: 5.")
    timeout: float | None = Option(
        None, help="Hosted models: set the timeout of a whole reply, in seconds. Default: 120."
    )
    max_tokens_name: str | None = Option(
        None, help="openai: send --max-tokens under this name, such as max_completion_tokens.", metavar="NAME"
    )
    served_model: str | None = Option(
        None, help="Hosted models: request this model; --model still names the run. Default: --model.", metavar="NAME"
    )
    omit: list[str] | None = Option(
        None,
        help="Hosted models: do not send these parameters, such as temperature,top_p,stop,seed.",
        parser=options.name_list,
        metavar="NAME,...",
    )
    extra_body: dict[str, Any] | None = Option(
        None,
        help="Hosted models: merge a JSON object into each request, and record it.",
        parser=options.json_object,
        metavar="JSON|@FILE",
    )
    chat_template_kwargs: dict[str, Any] | None = Option(
        None,
        help="openai, transformers, vllm: set variables of the chat template, as a JSON object; recorded.",
        parser=options.json_object,
        metavar="JSON|@FILE",
    )
    reasoning_effort: str | None = Option(
        None, help="openai: set how much the model reasons, such as low or high.", metavar="EFFORT"
    )
    requests_per_minute: float | None = Option(
        None, help="Hosted models: limit the requests per minute. Default: no limit."
    )
    tokens_per_minute: float | None = Option(
        None, help="Hosted models: limit the tokens per minute. Default: no limit."
    )
    enable_thinking: bool | None = Option(
        None,
        "--enable-thinking/--disable-thinking",
        help="Turn reasoning on or off (Qwen3, Claude). Default: the model or server decides.",
    )
    thinking_budget: int | None = Option(
        None,
        help="anthropic: limit the tokens of reasoning, in addition to --max-tokens. Default: by the model.",
        metavar="N",
    )
    input: Path | None = Option(
        None, help="replay: read a table (.jsonl, .csv, .parquet), a run, or samples_*.jsonl.", metavar="PATH"
    )
    question_column: str | None = Option(None, help="replay: name the question column. Default: question.")
    answer_column: str | None = Option(None, help="replay: name the answer column. Default: answer.")
    path: str | None = Option(None, help="transformers, vllm: load the model from this directory.", metavar="FOLDER")
    trust_remote_code: bool | None = Option(None, help="transformers, vllm: run program code that comes with a model.")
    chat_template: str | None = Option(
        None, help="transformers, vllm: use the chat template in this file, and record it.", metavar="FILE"
    )
    device: str | None = Option(None, help="transformers: choose cpu, cuda:0, ... Default: a GPU, if available.")
    dtype: str | None = Option(
        None, help="transformers, vllm: choose a type such as bfloat16. Default: the stored type."
    )
    batch_size: int | None = Option(None, help="transformers: set the batch size. Default: 16.")
    tensor_parallel: int | None = Option(None, help="vllm: set the number of GPUs per model. Default: 1.")
    max_model_len: int | None = Option(None, help="vllm: limit the tokens of prompt and answer.")
    engine_args: dict[str, Any] | None = Option(
        None,
        help="vllm: pass further arguments to vllm.LLM, as a JSON object; those that affect answers are recorded.",
        parser=options.json_object,
        metavar="JSON|@FILE",
    )
    quantization: str | None = Option(
        None, help="vllm: choose a method such as fp8. Default: as in the model's files.", metavar="METHOD"
    )


def engine_options(*names: str, without: Collection[str] = ()) -> Callable[..., dict[str, Any]]:
    """Creates a function that collects the given options of engines, for a field of a command; default: all options."""

    def collect(**values: Any) -> dict[str, Any]:
        chosen_options = {
            name: value for name, value in values.items() if value not in (None, [])
        }  # Typer passes [] for a list
        if "omit" in chosen_options:
            chosen_options["omit"] = list(options.names_of(chosen_options["omit"]))
        return chosen_options

    hints = get_type_hints(_Options, include_extras=True)
    fields = [parameter for name, parameter in signature(_Options).parameters.items() if name not in without]
    chosen = [
        parameter.replace(annotation=hints[parameter.name])
        for parameter in fields
        if not names or parameter.name in names
    ]
    collect.__signature__ = Signature(chosen)  # type: ignore[attr-defined]
    return collect


Tags = Annotated[
    list[str] | None,
    Option(
        "--reasoning-tags",
        help="Also treat text between these tags as reasoning, such as <think> </think>. May be repeated.",
        metavar="OPEN CLOSE",
        click_type=(str, str),  # makes click read pairs
    ),
]


@option_group
class ReasoningOptions:
    """How a run treats reasoning."""

    reasoning: ReasoningChoice = Option(
        "strip", help="Remove reasoning from answers, or keep it there, as in the published runs."
    )
    reasoning_tags: Tags = None
    reasoning_tokens: int = Option(
        0, min=0, help="Allow this many tokens for reasoning, in addition to --max-tokens.", metavar="N"
    )
    retry_unfinished: int = Option(
        0,
        min=0,
        help="Ask again up to N times if the reasoning did not end. This favours short reasoning. An answer whose "
        "reasoning never ends is empty.",
        metavar="N",
    )

    @property
    def chosen(self) -> Reasoning:
        """The options as the library takes them."""
        from ..generation.setting import Reasoning

        pairs: Any = tuple(self.reasoning_tags or ())
        return Reasoning(self.reasoning == "keep", pairs, self.reasoning_tokens, self.retry_unfinished)


def print_replies(replies: ReplySummary | None, *, quiet: bool) -> None:
    """Prints how many replies have reasoning or reached the token limit, and warns if these are many."""
    if replies is None:
        return
    if not quiet and (replies.n_reasoning or replies.n_cut):
        print_line(replies.sentence)
    caution(*replies.problems)

"""Options that several commands share as a group: one parameter of a command stands for all options of the group."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from ..files.untrusted_text import in_one_line
from .options import json_object

Command = Callable[..., None]


def names(text: str) -> str:
    """A list of names in one value, checked; see `names_of`."""
    if not all(name.strip() for name in text.split(",")):
        raise typer.BadParameter(f"expected names separated by commas, got {in_one_line(text)!r}")
    return text


def with_options(**makers: Callable[..., Any]) -> Callable[[Command], Command]:
    """Replaces parameters of a command by the parameters of functions; the command gets what each function returns."""

    def extended(command: Command) -> Command:
        groups = {name: _parameters(maker) for name, maker in makers.items()}

        @functools.wraps(command)
        def run(**values: Any) -> None:
            made = {name: maker(**{key: values.pop(key) for key in groups[name]}) for name, maker in makers.items()}
            command(**values, **made)

        own = _parameters(command)
        parameters = [one for name in own for one in groups.get(name, {name: own[name]}).values()]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return extended


class _Options:
    """The options of all engines; each is None if it is not given."""

    order: Annotated[int | None, typer.Option(help="ngram: code points per n-gram. Default: 5.", metavar="N")]
    sets: Annotated[
        list[str] | None,
        typer.Option(help="ngram, reference: a reference set to use; may be repeated. Default: all.", metavar="NAME"),
    ]
    base_url: Annotated[
        str | None,
        typer.Option(
            help="Hosted models: address of the server, including /v1. Default: that of the engine; for openai "
            "$OPENAI_BASE_URL, or OpenAI."
        ),
    ]
    key_env: Annotated[
        str | None,
        typer.Option(
            help="Hosted models: environment variable with the key. Default: OPENAI_API_KEY, ANTHROPIC_API_KEY, "
            "GEMINI_API_KEY.",
            metavar="NAME",
        ),
    ]
    concurrency: Annotated[int | None, typer.Option(help="Hosted models: concurrent requests. Default: 16.")]
    retries: Annotated[int | None, typer.Option(help="Hosted models: how often a request is retried. Default: 5.")]
    timeout: Annotated[
        float | None, typer.Option(help="Hosted models: seconds until the whole reply must be there. Default: 120.")
    ]
    max_tokens_name: Annotated[
        str | None,
        typer.Option(help="openai: max_completion_tokens for models without max_tokens.", metavar="NAME"),
    ]
    served_model: Annotated[
        str | None,
        typer.Option(help="Hosted models: name of the model on the server. Default: that of --model.", metavar="NAME"),
    ]
    omit: Annotated[
        list[str] | None,
        typer.Option(
            help="Hosted models: parameters that are not sent, such as temperature,top_p,stop,seed.",
            parser=names,
            metavar="NAME,...",
        ),
    ]
    extra_body: Annotated[
        dict[str, Any] | None,
        typer.Option(
            help="Hosted models: a JSON object that is merged into each request; recorded.",
            parser=json_object,
            metavar="JSON|@FILE",
        ),
    ]
    chat_template_kwargs: Annotated[
        dict[str, Any] | None,
        typer.Option(
            help="openai, transformers, vllm: variables of the chat template, as a JSON object; recorded.",
            parser=json_object,
            metavar="JSON|@FILE",
        ),
    ]
    reasoning_effort: Annotated[
        str | None, typer.Option(help="openai: how much the model reasons, such as low or high.", metavar="EFFORT")
    ]
    requests_per_minute: Annotated[
        float | None, typer.Option(help="Hosted models: send no more requests than this. Default: no limit.")
    ]
    tokens_per_minute: Annotated[
        float | None, typer.Option(help="Hosted models: use no more tokens than this. Default: no limit.")
    ]
    enable_thinking: Annotated[
        bool | None,
        typer.Option(
            "--enable-thinking/--disable-thinking",
            help="Whether the model reasons first (Qwen3, Gemini, Claude). Default: as the model or server likes.",
        ),
    ]
    multi_choice: Annotated[
        bool | None,
        typer.Option(
            "--multi-choice/--no-multi-choice",
            help="gemini: whether a reply may have several choices; the last counts.",
        ),
    ]
    thinking_budget: Annotated[
        int | None,
        typer.Option(
            help="anthropic, gemini-native: tokens to reason with, besides --max-tokens. Default: as the model likes.",
            metavar="N",
        ),
    ]
    safety: Annotated[
        str | None,
        typer.Option(help="gemini-native: from when on answers are blocked, such as BLOCK_NONE.", metavar="THRESHOLD"),
    ]
    input: Annotated[
        Path | None,
        typer.Option(help="replay: table (.jsonl, .csv, .parquet), run folder, or samples_*.jsonl.", metavar="PATH"),
    ]
    question_column: Annotated[str | None, typer.Option(help="replay: question column. Default: question.")]
    answer_column: Annotated[str | None, typer.Option(help="replay: answer column. Default: answer.")]
    path: Annotated[
        str | None,
        typer.Option(help="transformers, vllm: folder of the model, if --model is only a name.", metavar="FOLDER"),
    ]
    trust_remote_code: Annotated[
        bool | None,
        typer.Option("--trust-remote-code", help="transformers, vllm: run the program code that comes with a model."),
    ]
    chat_template: Annotated[
        str | None,
        typer.Option(
            help="transformers, vllm: file with a chat template, instead of the model's own; recorded.", metavar="FILE"
        ),
    ]
    device: Annotated[
        str | None, typer.Option(help="transformers: such as cpu or cuda:0. Default: a GPU, if available.")
    ]
    dtype: Annotated[
        str | None, typer.Option(help="transformers, vllm: such as bfloat16. Default: as the weights are stored.")
    ]
    batch_size: Annotated[int | None, typer.Option(help="transformers: answers sampled at once. Default: 16.")]
    tensor_parallel: Annotated[int | None, typer.Option(help="vllm: GPUs that share the model. Default: 1.")]
    max_model_len: Annotated[int | None, typer.Option(help="vllm: maximum tokens of prompt and answer.")]
    engine_args: Annotated[
        dict[str, Any] | None,
        typer.Option(
            help="vllm: further arguments of vllm.LLM, as a JSON object; recorded if they shape answers.",
            parser=json_object,
            metavar="JSON|@FILE",
        ),
    ]
    quantization: Annotated[
        str | None,
        typer.Option(help="vllm: such as fp8 or bitsandbytes. Default: as the model's files say.", metavar="METHOD"),
    ]


def engine_options(*names: str, without: Collection[str] = ()) -> Callable[..., dict[str, Any]]:
    """Creates the function that collects the given options of engines, for `with_options`; default: all options."""

    def given(**values: Any) -> dict[str, Any]:
        found = {name: value for name, value in values.items() if value not in (None, [])}  # Typer passes [] for a list
        if "omit" in found:
            found["omit"] = [name.strip() for text in found["omit"] for name in text.split(",")]
        return found

    hints = get_type_hints(_Options, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, default=None, annotation=hints[name])
        for name in names or hints
        if name not in without
    ]
    given.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return given


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(function, eval_str=True).parameters
    return {name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, one in found.items()}

"""Options that several commands share as a group: one parameter of a command stands for all options of the group."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Command = Callable[..., None]


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
    quantization: Annotated[
        str | None,
        typer.Option(help="vllm: such as fp8 or bitsandbytes. Default: as the model's files say.", metavar="METHOD"),
    ]


def engine_options(*names: str, without: Collection[str] = ()) -> Callable[..., dict[str, Any]]:
    """Creates the function that collects the given options of engines, for `with_options`; default: all options."""

    def given(**values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value not in (None, [])}  # Typer passes [] for a list

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
    found = inspect.signature(function, eval_str=not is_dataclass(function)).parameters
    # The fields of a dataclass may be inherited from another module, whose names they use.
    hints = get_type_hints(function, include_extras=True) if is_dataclass(function) else {}
    return {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(name, one.annotation))
        for name, one in found.items()
    }

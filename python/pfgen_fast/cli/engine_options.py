"""Options that several commands share as a group: one parameter of a command stands for all options of the group."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import is_dataclass
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
        groups = {name: parameters_of(maker) for name, maker in makers.items()}

        @functools.wraps(command)
        def run(**values: Any) -> None:
            made = {name: maker(**{key: values.pop(key) for key in groups[name]}) for name, maker in makers.items()}
            command(**values, **made)

        own = parameters_of(command)
        parameters = [one for name in own for one in groups.get(name, {name: own[name]}).values()]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return extended


class _Options:
    """The options of all engines; each is None if it is not given."""

    order: Annotated[int | None, typer.Option(help="ngram: set the code points per n-gram. Default: 5.", metavar="N")]
    sets: Annotated[
        list[str] | None,
        typer.Option(help="ngram, reference: use this reference set. May be repeated. Default: all.", metavar="NAME"),
    ]
    base_url: Annotated[
        str | None,
        typer.Option(
            help="Hosted models: set the address of the server, including /v1. Default: the engine's own; for openai "
            "$OPENAI_BASE_URL, or OpenAI."
        ),
    ]
    key_env: Annotated[
        str | None,
        typer.Option(
            help="Hosted models: name the variable with the key. Default: OPENAI_API_KEY, ANTHROPIC_API_KEY, "
            "GEMINI_API_KEY.",
            metavar="NAME",
        ),
    ]
    concurrency: Annotated[int | None, typer.Option(help="Hosted models: limit the concurrent requests. Default: 16.")]
    retries: Annotated[int | None, typer.Option(help="Hosted models: set how often a request is retried. Default: 5.")]
    timeout: Annotated[
        float | None, typer.Option(help="Hosted models: set the timeout of a whole reply, in seconds. Default: 120.")
    ]
    max_tokens_name: Annotated[
        str | None,
        typer.Option(help="openai: send --max-tokens by this name, such as max_completion_tokens.", metavar="NAME"),
    ]
    served_model: Annotated[
        str | None,
        typer.Option(
            help="Hosted models: ask for this model, while --model names the run. Default: --model.", metavar="NAME"
        ),
    ]
    omit: Annotated[
        list[str] | None,
        typer.Option(
            help="Hosted models: do not send these parameters, such as temperature,top_p,stop,seed.",
            parser=names,
            metavar="NAME,...",
        ),
    ]
    extra_body: Annotated[
        dict[str, Any] | None,
        typer.Option(
            help="Hosted models: merge a JSON object into each request, and record it.",
            parser=json_object,
            metavar="JSON|@FILE",
        ),
    ]
    chat_template_kwargs: Annotated[
        dict[str, Any] | None,
        typer.Option(
            help="openai, transformers, vllm: set variables of the chat template, as a JSON object; recorded.",
            parser=json_object,
            metavar="JSON|@FILE",
        ),
    ]
    reasoning_effort: Annotated[
        str | None,
        typer.Option(help="openai, gemini: set how much the model reasons, such as low or high.", metavar="EFFORT"),
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
            help="Let the model reason first, or not (Qwen3, Gemini, Claude). Default: up to the model or server.",
        ),
    ]
    multi_choice: Annotated[
        bool | None,
        typer.Option(
            "--multi-choice/--no-multi-choice",
            help="gemini: accept or refuse replies with several choices; the last counts.",
        ),
    ]
    thinking_budget: Annotated[
        int | None,
        typer.Option(
            help="anthropic, gemini-native: set the tokens of reasoning, beside --max-tokens. Default: by the model.",
            metavar="N",
        ),
    ]
    safety: Annotated[
        str | None,
        typer.Option(
            help="gemini-native: block answers from this threshold on, such as BLOCK_NONE.", metavar="THRESHOLD"
        ),
    ]
    input: Annotated[
        Path | None,
        typer.Option(help="replay: read a table (.jsonl, .csv, .parquet), a run, or samples_*.jsonl.", metavar="PATH"),
    ]
    question_column: Annotated[str | None, typer.Option(help="replay: name the question column. Default: question.")]
    answer_column: Annotated[str | None, typer.Option(help="replay: name the answer column. Default: answer.")]
    path: Annotated[
        str | None, typer.Option(help="transformers, vllm: load the model from this directory.", metavar="FOLDER")
    ]
    trust_remote_code: Annotated[
        bool | None,
        typer.Option("--trust-remote-code", help="transformers, vllm: run program code that comes with a model."),
    ]
    chat_template: Annotated[
        str | None,
        typer.Option(help="transformers, vllm: use the chat template in this file, and record it.", metavar="FILE"),
    ]
    device: Annotated[
        str | None, typer.Option(help="transformers: choose cpu, cuda:0, ... Default: a GPU, if available.")
    ]
    dtype: Annotated[
        str | None, typer.Option(help="transformers, vllm: choose a type such as bfloat16. Default: as stored.")
    ]
    batch_size: Annotated[int | None, typer.Option(help="transformers: set the batch size. Default: 16.")]
    tensor_parallel: Annotated[int | None, typer.Option(help="vllm: set the GPUs per model. Default: 1.")]
    max_model_len: Annotated[int | None, typer.Option(help="vllm: limit the tokens of prompt and answer.")]
    engine_args: Annotated[
        dict[str, Any] | None,
        typer.Option(
            help="vllm: pass further arguments to vllm.LLM, as a JSON object; recorded if they shape answers.",
            parser=json_object,
            metavar="JSON|@FILE",
        ),
    ]
    quantization: Annotated[
        str | None,
        typer.Option(help="vllm: choose a method such as fp8. Default: as the model's files say.", metavar="METHOD"),
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


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a function or dataclass by name, as keyword arguments with their annotations."""
    found = inspect.signature(function, eval_str=not is_dataclass(function)).parameters
    # The fields of a dataclass may be inherited from another module, whose names they use.
    hints = get_type_hints(function, include_extras=True) if is_dataclass(function) else {}
    return {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(name, one.annotation))
        for name, one in found.items()
    }

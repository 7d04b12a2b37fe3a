"""`pfgen-fast prompts`: the prompts for a model, as JSON lines or as a batch file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..files.untrusted_text import json_text
from . import options
from .app import Quiet, counted, fail, note, shown, stdout
from .engine_options import engine_options, with_options
from .layout import rest, shortened
from .reasoning_options import reasoning_options
from .suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ..generation.setting import Setting
    from ..suite.suite import Suite


FormatChoice = Literal["jsonl", "openai-batch", "anthropic-batch", "gemini-batch"]
_USUAL_ENGINES = {"openai-batch": "openai", "anthropic-batch": "anthropic", "gemini-batch": "gemini-native"}
"""The engines for which the batch files are."""


_OPTIONS = (
    *("served_model", "omit", "extra_body", "chat_template_kwargs", "reasoning_effort"),
    *("max_tokens_name", "enable_thinking", "multi_choice", "thinking_budget", "safety"),
)


@with_options(of_engine=engine_options(*_OPTIONS), reasoning=reasoning_options)
def prompts(
    suite: options.SuiteToAsk = None,
    questions: options.Questions = None,
    limit: options.Limit = None,
    mode: options.ModeOption = "completion",
    trials: options.Trials = 1,
    examples: options.Examples = 20,
    seed: options.Seed = "",
    prefix: options.Prefix = "",
    format: Annotated[
        FormatChoice, typer.Option(help="Write our own lines, or the input file of a batch API.")
    ] = "jsonl",
    model: Annotated[str | None, typer.Option("--model", "-m", help="Batch: name the model.")] = None,
    temperature: options.Temperature = 1.0,
    top_p: options.TopP = 0.98,
    top_k: options.TopK = None,
    max_tokens: options.MaxTokens = 300,
    stop: options.Stop = None,
    system: options.System = "",
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            "-e",
            help="Choose openai, openai-api or gemini for openai-batch. Default: openai; other formats have one "
            "engine each.",
        ),
    ] = None,
    *,
    reasoning: Any,
    of_engine: dict[str, Any],
    output: options.OutputFile = None,
    quiet: Quiet = False,
) -> None:
    """Prints the prompts of trials, one per line.

    --format openai-batch writes an input file for OpenAI's Batch API (or Gemini's by the same protocol: --engine
    gemini), anthropic-batch for Anthropic's Message Batches, gemini-batch for Gemini's own batches; and, beside it, the
    parameters of the run (NAME.config.json), which import-batch needs. Only batches use the model and the sampling
    options.

    Examples

      pfgen-fast prompts --suite mini --mode chat --trials 2

      pfgen-fast prompts --suite mini --questions Q07

      pfgen-fast prompts --suite mini --mode chat --trials 10 --format openai-batch --model gpt-4o -o batch.jsonl

      pfgen-fast prompts --suite mini --mode chat --trials 10 --format anthropic-batch --top-p none
      --model anthropic/claude-haiku-4-5 -o batch.json
    """
    from ..generation.engines import Sampling
    from ..generation.prompts import STOP
    from ..generation.setting import Setting

    is_batch = format != "jsonl"
    if is_batch and not (model and output):
        fail(f"--format {format} needs --model and --output: the run's parameters are written beside it")
    sampling = Sampling(
        max_tokens=max_tokens,
        temperature=options.temperature_of(temperature, of_engine),
        top_p=top_p,
        top_k=top_k,
        stop=(*STOP[mode], *(stop or ())),
    )
    setting = Setting(
        model or "", mode, sampling, num_examples=examples, seed=seed, prefix=prefix, reasoning=reasoning, system=system
    )
    loaded = suite_or_here(suite).only(options.names_of(questions), limit=limit)
    if is_batch and output:
        _write_batch(loaded, setting, trials, _engine_of(format, engine), of_engine, output)
    else:
        with _opened(output) as file:
            _write_lines(file, (_line(task) for trial in range(1, trials + 1) for task in setting.tasks(loaded, trial)))
    if output and not quiet:
        written = f"{counted(trials * len(loaded), 'prompt')} written: "
        stdout().print(f"{written}{shortened(shown(str(output)), rest(len(written)))}")
        print_origin(loaded)
    elif suite is None and not quiet:
        note(f"suite: {loaded.name}")


def _engine_of(format: FormatChoice, engine: str | None) -> str:
    """The engine whose requests a batch file of this format has."""
    from ..generation.batch_api import REQUEST_FORMS

    usual = _USUAL_ENGINES[format]
    of_engine = REQUEST_FORMS.get(engine or usual)
    if of_engine is not None and of_engine.batch_format != format:
        fail(f"the engine {engine} has batches of --format {of_engine.batch_format}, not {format}")
    return engine or usual


def _write_batch(
    suite: Suite, setting: Setting, trials: int, engine: str, of_engine: Mapping[str, Any], output: Path
) -> None:
    from ..files.writing import write_whole, writing_whole
    from ..generation.batch_api import batch_config, batch_file, batch_lines
    from ..generation.run_writer import config_line

    config = batch_config(suite, setting, engine=engine, **of_engine)
    with writing_whole(output) as file:
        lines = batch_lines(suite, setting, trials=trials, engine=engine, **of_engine)
        file.writelines(piece.encode() for piece in batch_file(lines, engine=engine))
    write_whole(output.with_suffix(".config.json"), f"{config_line(config)}\n".encode())


def _line(task: Any) -> dict[str, Any]:
    prompt = {"prompt": task.prompt.text} if task.prompt.messages is None else {"messages": task.prompt.messages}
    return {
        "question_id": task.question_id,
        "question": task.question,
        "trial": task.trial,
        "seed": task.seed,
        **prompt,
    }


def _write_lines(file: IO[bytes], lines: Iterator[dict[str, Any]]) -> None:
    for line in lines:
        file.write(f"{json_text(line)}\n".encode())


def _opened(output: Path | None) -> contextlib.AbstractContextManager[IO[bytes]]:
    from ..files.writing import writing_stdout, writing_whole

    return writing_stdout() if output is None else writing_whole(output)

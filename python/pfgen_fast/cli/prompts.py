"""`pfgen-fast prompts`: the prompts for a model, as JSON lines or as a batch file."""

from __future__ import annotations

import contextlib
import enum
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from ..files.foreign_text import json_text
from . import options
from .app import Quiet, counted, fail, note, shown, stdout
from .layout import rest, shortened
from .origin import print_origin, suite_or_here

if TYPE_CHECKING:
    from ..generation.generating import Setting
    from ..suite.suite import Suite


class FormatChoice(str, enum.Enum):
    """Our own lines, or those of OpenAI's Batch API."""

    jsonl = "jsonl"
    openai_batch = "openai-batch"


def prompts(
    suite: options.SuiteToAsk = None,
    questions: options.Questions = None,
    limit: options.Limit = None,
    mode: options.ModeOption = options.ModeChoice.completion,
    trials: options.Trials = 1,
    examples: options.Examples = 20,
    seed: options.Seed = "",
    prefix: options.Prefix = "",
    format: Annotated[FormatChoice, typer.Option(help="Our own lines, or those of OpenAI's Batch API.")] = (
        FormatChoice.jsonl
    ),
    model: Annotated[str | None, typer.Option("--model", "-m", help="Batch: name of the model.")] = None,
    temperature: options.Temperature = 1.0,
    top_p: options.TopP = 0.98,
    top_k: options.TopK = None,
    max_tokens: options.MaxTokens = 300,
    stop: options.Stop = None,
    engine: Annotated[
        str, typer.Option("--engine", "-e", help="Batch: openai, openai-api or gemini; see generate.")
    ] = "openai",
    max_tokens_name: options.MaxTokensName = None,
    enable_thinking: options.EnableThinking = None,
    multi_choice: options.MultiChoice = None,
    output: options.OutputFile = None,
    quiet: Quiet = False,
) -> None:
    """Prints the prompts of trials, one per line.

    --format openai-batch writes an input file for OpenAI's Batch API (or Gemini's: --engine gemini) and, beside it,
    the parameters of the run (NAME.config.json), which import-batch needs. Only this format uses the model and the
    sampling options.

    Examples

      pfgen-fast prompts --suite mini --mode chat --trials 2

      pfgen-fast prompts --suite mini --questions Q07

      pfgen-fast prompts --suite mini --mode chat --trials 10 --format openai-batch --model gpt-4o -o batch.jsonl
    """
    from ..generation.engines import Sampling
    from ..generation.generating import Setting
    from ..generation.prompts import STOP

    is_batch = format is FormatChoice.openai_batch
    if is_batch and not (model and output):
        fail("--format openai-batch needs --model and --output: the run's parameters are written beside the batch file")
    sampling = Sampling(
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        stop=(*STOP[mode.value], *(stop or ())),
    )
    setting = Setting(model or "", mode.value, sampling, num_examples=examples, seed=seed, prefix=prefix)
    loaded = suite_or_here(suite).only(options.names_of(questions), limit=limit)
    if is_batch and output:
        of_engine = {
            "max_tokens_name": max_tokens_name,
            "enable_thinking": enable_thinking,
            "multi_choice": multi_choice,
        }
        _write_batch(loaded, setting, trials, engine, of_engine, output)
    else:
        with _opened(output) as file:
            _write_lines(file, (_line(task) for trial in range(1, trials + 1) for task in setting.tasks(loaded, trial)))
    if output and not quiet:
        written = f"{counted(trials * len(loaded), 'prompt')} written: "
        stdout().print(f"{written}{shortened(shown(str(output)), rest(len(written)))}")
        print_origin(loaded)
    elif suite is None and not quiet:
        note(f"suite: {loaded.name}")


def _write_batch(
    suite: Suite, setting: Setting, trials: int, engine: str, of_engine: Mapping[str, Any], output: Path
) -> None:
    from ..files.writing import write_whole, writing_whole
    from ..generation.batch_api import batch_config, batch_lines
    from ..generation.run_writer import config_line

    config = batch_config(suite, setting, engine=engine, **of_engine)
    with writing_whole(output) as file:
        _write_lines(file, batch_lines(suite, setting, trials=trials, engine=engine, **of_engine))
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


@contextlib.contextmanager
def _opened(output: Path | None) -> Iterator[IO[bytes]]:
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from ..files.writing import writing_whole

    with writing_whole(output) as file:
        yield file

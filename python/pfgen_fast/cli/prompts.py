"""`pfgen-fast prompts`: the prompts for a model, as JSON lines or as a batch file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ..files.untrusted_text import json_text
from . import options
from .app import Quiet, counted, fail, note, shown, stdout
from .engine_options import engine_options
from .generation_options import GenerationOptions
from .layout import rest, shortened
from .reasoning_options import ReasoningOptions
from .suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ..generation.generating import Generation
    from ..suite.suite import Suite


_USUAL_ENGINES = {"openai-batch": "openai", "anthropic-batch": "anthropic", "gemini-batch": "gemini-native"}
"""The default engine of each batch format."""

_OPTIONS = (
    *("served_model", "omit", "extra_body", "chat_template_kwargs", "reasoning_effort"),
    *("max_tokens_name", "enable_thinking", "multi_choice", "thinking_budget", "safety"),
)


class _Prompts:
    """Prints the prompts of trials, one per line.

    A batch format writes an input file for a batch API: openai-batch for OpenAI's Batch API (with --engine gemini, for
    Gemini's OpenAI-compatible API), anthropic-batch for Anthropic's Message Batches, gemini-batch for Gemini's batches.
    The parameters of the run are written next to the file (NAME.config.json); import-batch needs them. The model and
    the sampling options affect batches only.

    Examples

      pfgen-fast prompts --suite mini --mode chat --trials 2

      pfgen-fast prompts --suite mini --questions Q07

      pfgen-fast prompts --suite mini --mode chat --trials 10 --format openai-batch --model gpt-4o -o batch.jsonl

      pfgen-fast prompts --suite mini --mode chat --trials 10 --format anthropic-batch --top-p none
      --model anthropic/claude-haiku-4-5 -o batch.json
    """

    suite: options.SuiteToAsk = None
    questions: options.Questions = None
    limit: options.Limit = None
    mode: options.ModeChoice = Option(
        "completion", help="Use a text to continue (base models), one user message, or system and user messages."
    )
    trials: int = Option(1, "-n", min=1, help="Ask each question this often.")
    format: Literal["jsonl", "openai-batch", "anthropic-batch", "gemini-batch"] = Option(
        "jsonl", help="Write our own lines, or the input file of a batch API."
    )
    model: str | None = Option(None, "-m", help="Batch: name the model.")
    how: GenerationOptions
    engine: str | None = Option(
        None,
        "-e",
        help="Choose openai, openai-api or gemini for openai-batch. Default: openai; each other format has one engine.",
    )
    reasoning: ReasoningOptions
    of_engine: Annotated[dict[str, Any], engine_options(*_OPTIONS)]
    output: options.OutputFile = None
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..files.writing import writing_stdout, writing_whole
        from ..generation.generating import Generation

        is_batch = self.format != "jsonl"
        if is_batch and not (self.model and self.output):
            fail(f"--format {self.format} needs --model and --output: the run's parameters are written next to it")
        generation = Generation.of(
            "openai",
            model=self.model or "",
            mode=self.mode,
            reasoning=self.reasoning.chosen,
            options=self.of_engine,
            **self.how.arguments,
        )
        suite = suite_or_here(self.suite).only(options.names_of(self.questions), limit=self.limit)
        if is_batch and self.output:
            self.write_batch(suite, generation, self.output)
        else:
            with writing_stdout() if self.output is None else writing_whole(self.output) as file:
                for trial in range(1, self.trials + 1):
                    for task in generation.setting.tasks(suite, trial):
                        file.write(f"{json_text(_line(task))}\n".encode())
        if self.output and not self.quiet:
            written = f"{counted(self.trials * len(suite), 'prompt')} written: "
            stdout().print(f"{written}{shortened(shown(self.output), rest(len(written)))}")
            print_origin(suite)
        elif self.suite is None and not self.quiet:
            note(f"suite: {suite.name}")

    def write_batch(self, suite: Suite, generation: Generation, output: Path) -> None:
        """Writes the batch file, and next to it the parameters of the run."""
        from ..files.writing import write_whole, writing_whole
        from ..generation.batch_api import batch_config, batch_file, batch_lines
        from ..generation.run_writer import config_line

        engine = self.engine_of_format()
        setting, of_engine = generation.setting, generation.options
        config = batch_config(suite, setting, engine=engine, **of_engine)
        with writing_whole(output) as file:
            lines = batch_lines(suite, setting, trials=self.trials, engine=engine, **of_engine)
            file.writelines(piece.encode() for piece in batch_file(lines, engine=engine))
        write_whole(output.with_suffix(".config.json"), f"{config_line(config)}\n".encode())

    def engine_of_format(self) -> str:
        """The engine of the batch file."""
        from ..generation.batch_api import REQUEST_FORMS

        engine = self.engine or _USUAL_ENGINES[self.format]
        of_engine = REQUEST_FORMS.get(engine)
        if of_engine is not None and of_engine.batch_format != self.format:
            fail(f"--format {self.format}: the engine {engine} has batches of the format {of_engine.batch_format}")
        return engine


def _line(task: Any) -> dict[str, Any]:
    prompt = {"prompt": task.prompt.text} if task.prompt.messages is None else {"messages": task.prompt.messages}
    about = {"question_id": task.question_id, "question": task.question, "trial": task.trial, "seed": task.seed}
    context = {"context": task.context} if task.context else {}
    return {**about, **context, **prompt}

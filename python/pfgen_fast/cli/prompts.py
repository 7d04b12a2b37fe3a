"""`pfgen-fast prompts`: the prompts for a model as JSON lines."""

from __future__ import annotations

from typing import Any

from typer import Option

from ..files.untrusted_text import json_text
from . import options
from .app import Quiet, counted, note, shown, stdout
from .generation_options import PromptOptions
from .layout import rest, shortened
from .suite_line import print_origin, suite_or_here


class _Prompts:
    """Prints the prompts of trials, one per line.

    'generate --write-batch' writes them for OpenAI's Batch API.

    Examples

      pfgen-fast prompts --suite mini --mode chat --trials 2

      pfgen-fast prompts --suite mini --questions Q07
    """

    suite: options.SuiteToAsk = None
    questions: options.Questions = None
    limit: options.Limit = None
    mode: options.ModeChoice = Option(
        "completion", help="Use a text to continue (base models), one user message, or system and user messages."
    )
    trials: int = Option(1, "-n", min=1, help="Ask each question this often.")
    how: PromptOptions
    output: options.OutputFile = None
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..files.writing import writing_stdout, writing_whole
        from ..generation.generating import Generation

        setting = Generation.of("openai", model="", mode=self.mode, **self.how.arguments).setting
        suite = suite_or_here(self.suite).only(options.names_of(self.questions), limit=self.limit)
        with writing_stdout() if self.output is None else writing_whole(self.output) as file:
            for trial in range(1, self.trials + 1):
                for task in setting.tasks(suite, trial):
                    file.write(f"{json_text(_line(task))}\n".encode())
        if self.output and not self.quiet:
            written = f"{counted(self.trials * len(suite), 'prompt')} written: "
            stdout().print(f"{written}{shortened(shown(self.output), rest(len(written)))}")
            print_origin(suite)
        elif self.suite is None and not self.quiet:
            note(f"suite: {suite.name}")


def _line(task: Any) -> dict[str, Any]:
    prompt = {"prompt": task.prompt.text} if task.prompt.messages is None else {"messages": task.prompt.messages}
    about = {"question_id": task.question_id, "question": task.question, "trial": task.trial, "seed": task.seed}
    context = {"context": task.context} if task.context else {}
    return {**about, **context, **prompt}

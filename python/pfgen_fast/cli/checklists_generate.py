"""`pfgen-fast checklists generate`: a model answers the tasks of a checklist suite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from . import options
from .app import Json, Quiet, counted, exit_if_partial, note, print_json, print_line, shown, warn
from .asking import note_existing, watch_over
from .checklists_options import SuiteOption
from .engine_options import engine_options
from .reasoning_options import ReasoningOptions

if TYPE_CHECKING:
    from ..checklists.generating import Generated
    from ..checklists.tasks import Task


_OTHERS = (
    *("order", "sets", "timeout", "thinking_budget"),
    *("input", "question_column", "answer_column"),
)


class _Generate:
    """Lets a model answer the tasks of a suite; the answers become a run that a judge can rate.

    Existing answers are not requested again, so the same command continues after an interruption. The defaults are the
    settings of the published answers: temperature 0.8, at most 16,384 tokens.

    Examples

      pfgen-fast checklists generate --suite essays-en --model org/model --base-url http://localhost:8000/v1 -o runs

      pfgen-fast checklists generate --suite hello --model gpt-4o-2024-08-06 --length 2k --length 4k -o runs

      pfgen-fast checklists generate --suite essays-ja --engine transformers --model checkpoints/step-100 -o runs
    """

    suite: SuiteOption
    model: str = Option(..., "-m", help="Name the model, and so the run's directory.")
    output: Path = Option(..., "-o", help="Create the run's directory below this directory.", metavar="RUNS")
    engine: str = Option(
        "openai",
        "-e",
        help="Ask openai (any OpenAI-compatible server), anthropic, transformers, vllm (local weights).",
    )
    name: str | None = Option(None, help="Name the run's directory. Default: the model, with _ for /.")
    length: list[str] | None = Option(
        None, help="Take the tasks with this wanted length instead of the tasks of the table. May be repeated."
    )
    area: list[str] | None = Option(None, help="Take only this area. May be repeated.")
    limit: int | None = Option(None, min=1, help="Take only this many tasks, from all areas, for a quick test.")
    trials: int = Option(1, "-n", min=1, help="Ask for this many answers to each task.")
    mode: Literal["qa", "completion"] = Option(
        "qa", help="Choose the prompts: one user message, or a text to continue (base models)."
    )
    temperature: options.Temperature = 0.8
    top_p: options.TopP = None
    top_k: options.TopK = None
    max_tokens: options.MaxTokens = 16_384
    seed: str = Option("", help="Set the seed (any text) of sampling.")
    stop: options.Stop = None
    tries: int = Option(3, min=1, help="Ask at most this often for an answer to a task.")
    timeout: float = Option(1200.0, help="Hosted models: set the timeout of a whole reply, in seconds.")
    reasoning: ReasoningOptions
    of_engine: Annotated[dict[str, Any], engine_options(without=_OTHERS)]
    dry_run: bool = Option(False, help="Only show the number of requests.")
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ..checklists.generating import Setting, chosen_tasks, generate_answers, open_answering, run_name
        from ..checklists.suite import ChecklistSuite
        from ..generation.engines import HOSTED, Sampling

        temperature = options.temperature_of(self.temperature, self.of_engine)
        sampling = Sampling(self.max_tokens, temperature, self.top_p, self.top_k, tuple(self.stop or ()))
        setting = Setting(self.model, sampling, self.mode, self.seed, self.reasoning.chosen)
        suite = ChecklistSuite.load(self.suite)
        tasks = chosen_tasks(suite, lengths=self.length or (), areas=self.area or (), limit=self.limit)
        folder = self.output / run_name(self.model if self.name is None else self.name)
        if self.dry_run:
            self.print_cost(tasks)
            return
        if self.engine in HOSTED:
            self.of_engine["timeout"] = self.timeout
        engine = open_answering(self.engine, setting, **self.of_engine)
        with watch_over("answers", quiet=self.quiet or self.as_json) as watch:
            made = generate_answers(
                suite,
                engine,
                setting,
                folder,
                tasks=tasks,
                trials=self.trials,
                tries=self.tries,
                on_progress=watch.count,
                events=watch.events,
            )
        self.finish(made)

    def print_cost(self, tasks: Sequence[Task]) -> None:
        from ..judging.budget import estimated_tokens

        n_prompt_tokens = self.trials * sum(estimated_tokens(task.instruction or "") for task in tasks)
        n_answers = self.trials * len(tasks)
        tokens = f"prompts of about {n_prompt_tokens:,} tokens, answers of {n_answers * self.max_tokens:,} at most"
        print_line(f"{counted(n_answers, 'answer')}: {tokens}")

    def finish(self, made: Generated) -> None:
        n_existing = made.n_answers - made.n_new
        if made.problem:
            warn(f"{made.problem}; run the same command again to ask for them")
        if self.as_json:
            missing = [dict(zip(("id", "length", "trial"), key, strict=True)) for key in made.missing]
            numbers = {"n_answers": made.n_answers, "n_new": made.n_new, "n_existing": n_existing}
            ends = {"last_written": made.last_written or None, "n_cut": made.n_cut, "missing": missing}
            print_json({"run": str(made.folder), **numbers, **ends, "events": made.events.to_dict()})
        elif not self.quiet:
            print_line(f"{counted(made.n_new, 'new answer')}, {made.n_answers:,} in all: {shown(made.folder)}")
            if n_existing:
                note_existing(n_existing, made.last_written, dated="last written at")
            if made.n_cut:
                note(f"{counted(made.n_cut, 'answer')} ended at the limit of tokens (--max-tokens)")
        exit_if_partial(made.missing)

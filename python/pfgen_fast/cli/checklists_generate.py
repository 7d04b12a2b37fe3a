"""`pfgen-fast checklists generate`: a model answers the tasks of a checklist suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import options
from .app import Exit, Json, Quiet, counted, note, print_json, print_line, shown, warn
from .asking import note_existing, watch_over
from .checklists_options import SuiteOption
from .engine_options import engine_options, with_options
from .reasoning_options import reasoning_options

if TYPE_CHECKING:
    from ..checklists.generating import Generated, Setting
    from ..checklists.tasks import Task


PromptChoice = Literal["qa", "completion"]
_OTHERS = (
    "order",
    "sets",
    "timeout",
    "multi_choice",
    "thinking_budget",
    "safety",
    "input",
    "question_column",
    "answer_column",
)


@with_options(of_engine=engine_options(without=_OTHERS), reasoning=reasoning_options)
def generate(
    suite: SuiteOption,
    model: Annotated[str, typer.Option("--model", "-m", help="Name the model, and so the run's directory.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Create the run's directory below this directory.", metavar="RUNS")
    ],
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            "-e",
            help="Ask openai (any OpenAI-compatible server), anthropic, gemini, gemini-native (hosted models), "
            "transformers, vllm (local weights).",
        ),
    ] = "openai",
    name: Annotated[
        str | None, typer.Option("--name", help="Name the run's directory. Default: the model, with _ for /.")
    ] = None,
    length: Annotated[
        list[str] | None,
        typer.Option("--length", help="Take the tasks of this length, not of the table. May be repeated."),
    ] = None,
    area: Annotated[list[str] | None, typer.Option("--area", help="Take only this area. May be repeated.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Take only this many tasks, of all areas, for a quick try.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, help="Ask for this many answers to each task.")] = 1,
    mode: Annotated[
        PromptChoice, typer.Option(help="Choose the prompts: one user message, or a text to continue (base models).")
    ] = "qa",
    temperature: options.Temperature = 0.8,
    top_p: options.TopP = None,
    top_k: options.TopK = None,
    max_tokens: options.MaxTokens = 16_384,
    seed: Annotated[str, typer.Option("--seed", help="Set the seed (any text) of sampling.")] = "",
    stop: options.Stop = None,
    tries: Annotated[int, typer.Option("--tries", min=1, help="Ask at most this often for an answer to a task.")] = 3,
    timeout: Annotated[
        float, typer.Option(help="Hosted models: set the timeout of a whole reply, in seconds; long answers take long.")
    ] = 1200.0,
    *,
    reasoning: Any,
    of_engine: dict[str, Any],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the number of requests.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Lets a model answer the tasks of a suite; the answers become a run, for a judge to judge.

    Answers that are there are not asked for again: the command may be stopped at any moment, and running it again
    continues. The settings of the published answers are the defaults: temperature 0.8, at most 16,384 tokens.

    Examples

      pfgen-fast checklists generate --suite essays-en --model org/model --base-url http://localhost:8000/v1 -o runs

      pfgen-fast checklists generate --suite hello --model gpt-4o-2024-08-06 --length 2k --length 4k -o runs

      pfgen-fast checklists generate --suite essays-ja --engine transformers --model checkpoints/step-100 -o runs
    """
    from ..checklists.answer_writer import run_name
    from ..checklists.generating import Setting, chosen_tasks, generate_answers, open_answering
    from ..checklists.suite import ChecklistSuite
    from ..generation.engines import HOSTED, Sampling

    sampling = Sampling(max_tokens, options.temperature_of(temperature, of_engine), top_p, top_k, tuple(stop or ()))
    setting = Setting(model, sampling, mode, seed, reasoning)
    loaded = ChecklistSuite.load(suite)
    tasks = chosen_tasks(loaded, lengths=length or (), areas=area or (), limit=limit)
    folder = output / (run_name(model) if name is None else run_name(name))
    if dry_run:
        print_line(_cost(tasks, setting, trials))
        return
    if engine in HOSTED:
        of_engine["timeout"] = timeout
    opened = open_answering(engine, setting, **of_engine)
    with watch_over("answers", quiet=quiet or as_json) as watch:
        made = generate_answers(
            loaded,
            opened,
            setting,
            folder,
            tasks=tasks,
            trials=trials,
            tries=tries,
            on_progress=watch.count,
            events=watch.events,
        )
    _finish(made, quiet=quiet, as_json=as_json)


def _cost(tasks: list[Task], setting: Setting, trials: int) -> str:
    from ..judging.budget import estimated_tokens

    n_prompt_tokens = trials * sum(estimated_tokens(task.instruction or "") for task in tasks)
    n_answers = trials * len(tasks)
    most = n_answers * setting.sampling.max_tokens
    return f"{counted(n_answers, 'answer')}: prompts of about {n_prompt_tokens:,} tokens, answers of {most:,} at most"


def _finish(made: Generated, *, quiet: bool, as_json: bool) -> None:
    if made.problem:
        warn(f"{made.problem}; run the same command again to ask for them")
    if as_json:
        missing = [dict(zip(("id", "length", "trial"), key, strict=True)) for key in made.missing]
        print_json(
            {
                "run": str(made.folder),
                "n_answers": made.n_answers,
                "n_new": made.n_new,
                "n_existing": made.n_answers - made.n_new,
                "last_written": made.last_written or None,
                "n_cut": made.n_cut,
                "missing": missing,
                "events": made.events.to_dict(),
            }
        )
    elif not quiet:
        print_line(f"{counted(made.n_new, 'new answer')}, {made.n_answers:,} in all: {shown(str(made.folder))}")
        if made.n_answers > made.n_new:
            note_existing(made.n_answers - made.n_new, made.last_written, dated="last written at")
        if made.n_cut:
            note(f"{counted(made.n_cut, 'answer')} ended at the limit of tokens (--max-tokens), and not by themselves")
    if made.missing:
        raise SystemExit(Exit.PARTIAL)

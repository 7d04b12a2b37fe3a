"""`pfgen-fast generate`: answers from an engine become a run, which is scored at the end."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .app import Exit, Json, Quiet, counted, note, print_json, shown, stdout, warn
from .asking import note_existing, watch_over
from .engine_options import engine_options, with_options
from .layout import rest, shortened
from .reasoning_options import print_replies, reasoning_options
from .score import outcome_as_json, print_outcomes
from .suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ..generation import Generated
    from ..suite.suite import Suite


@with_options(of_engine=engine_options(), reasoning=reasoning_options)
def generate(
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            "-e",
            help="Take answers from ngram (needs no model), openai (any OpenAI-compatible server), anthropic, gemini, "
            "gemini-native (hosted models), transformers, vllm (local weights), manual (you type the "
            "answers), replay (existing answers), ground-truth and reference "
            "(answers of the suite itself); hf and openai-api: transformers and openai under the names in the "
            "published runs.",
        ),
    ],
    suite: options.SuiteToAsk = None,
    questions: options.Questions = None,
    limit: options.Limit = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Name the model, and so the run's directory. Default for ngram: ngram/order-N; for answers of the "
            "suite itself: as published.",
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", "-n", min=1, help="Ask each question this often. Default: 10, or all stored answers."),
    ] = None,
    mode: Annotated[
        options.ModeChoice | None,
        typer.Option(
            help="Use a text to continue (completion), one user message (qa), or system and user messages (chat). "
            "Default: chat for local weights with a chat template; for replay, as the config.json beside the input "
            "says; otherwise completion.",
        ),
    ] = None,
    temperature: options.Temperature = 1.0,
    top_p: options.TopP = 0.98,
    top_k: options.TopK = None,
    max_tokens: options.MaxTokens = 300,
    examples: options.Examples = 20,
    seed: options.Seed = "",
    prefix: options.Prefix = "",
    stop: options.Stop = None,
    system: options.System = "",
    *,
    reasoning: Any,
    of_engine: dict[str, Any],
    prompt_price: options.PromptPrice = 0.0,
    reply_price: options.ReplyPrice = 0.0,
    cached_price: options.CachedPrice = None,
    output: options.Root = Path("result"),
    no_score: Annotated[bool, typer.Option("--no-score", help="Do not score the run at the end.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Generates answers to every question of a suite, and scores the run.

    The run's folder is named after the model and its parameters. Existing answers are not requested again: the command
    may be stopped at any moment, and running it again continues. A run of some questions (--questions, --limit) has a
    folder of its own, and its score is printed but is no result of the suite.

    Examples

      pfgen-fast generate --engine ngram --order 5 --suite mini --trials 10

      pfgen-fast generate --engine openai --base-url http://localhost:8000/v1 --model org/model --suite mini --trials 10

      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite my-suite --temperature 0.7

      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite my-suite --limit 3 --trials 1

      pfgen-fast generate --engine transformers --model checkpoints/step-100 --mode qa --suite mini --trials 10

      pfgen-fast generate -e hf --model org/chat --path weights/chat --chat-template chat.jinja --mode qa --suite mini

      pfgen-fast generate -e openai-api --model Qwen/Qwen3-8B --mode qa --disable-thinking --top-p none --suite mini

      pfgen-fast generate --engine gemini --model google/gemini-2.5-flash --mode qa --suite mini --trials 10

      pfgen-fast generate --engine anthropic --model anthropic/claude-haiku-4-5 --mode chat --top-p none --suite mini
      --prompt-price 1 --reply-price 5

      pfgen-fast generate --engine manual --model web/some-chat --mode qa --suite mini --trials 1

      pfgen-fast generate --engine replay --input answers.jsonl --model mine/step-100 --suite mini

      pfgen-fast generate --engine ground-truth --suite mini
    """
    from ..generation import Generation
    from ..generation.batch_api import REQUEST_FORMS
    from ..generation.engines import HOSTED, INTERACTIVE
    from ..generation.prices import TokenPrices
    from ..generation.usual_mode import usual_mode

    if mode is None:
        chosen, reason = usual_mode(engine, model, of_engine)
        if reason and not (quiet or as_json):
            note(f"mode {chosen}: {reason}; --mode chooses another")
    generation = Generation.of(
        engine,
        model=model,
        mode=chosen if mode is None else mode,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        max_tokens=max_tokens,
        examples=examples,
        seed=seed,
        prefix=prefix,
        stop=stop or (),
        reasoning=reasoning,
        system=system,
        options=of_engine,
    )
    loaded = suite_or_here(suite).only(options.names_of(questions), limit=limit)
    if of_engine.get("enable_thinking") is False and engine in HOSTED and not (quiet or as_json):
        note(f"--disable-thinking sends {REQUEST_FORMS[engine].disabled_by}")
    watch = watch_over("answers", quiet=quiet or as_json or engine in INTERACTIVE)
    watch.events.prices = TokenPrices(prompt_price, reply_price, cached_price)
    with watch:
        made = generation.run(loaded, trials=trials, output=output, on_progress=watch.count, events=watch.events)
    finish(made, loaded, with_scores=not no_score, quiet=quiet, as_json=as_json)


def finish(made: Generated, suite: Suite, *, with_scores: bool, quiet: bool, as_json: bool) -> None:
    """Reports the outcome of a run, and scores it."""
    for problem in made.problems:
        warn(problem)
    if made.n_existing and not (quiet or as_json):
        note_existing(made.n_existing, made.oldest_answer)
    if not (quiet or as_json):
        new = f"{counted(made.n_new, 'new answer')}: "
        stdout().print(f"{new}{shortened(shown(str(made.folder)), rest(len(new)))}")
    print_replies(made.replies, quiet=quiet or as_json)
    outcome = made.score(suite) if with_scores else None
    if outcome is None and not (quiet or as_json):
        print_origin(suite)
    if outcome is not None:
        print_outcomes([outcome], quiet=quiet or as_json)
    if as_json:
        row = {"run": str(made.folder), "suite": suite.name} if outcome is None else outcome_as_json(outcome)
        existing = {"n_existing": made.n_existing, "oldest_answer": made.oldest_answer or None}
        replies = made.replies and {**asdict(made.replies)}
        print_json(
            {
                **row,
                **existing,
                "replies": replies,
                "n_new": made.n_new,
                "problems": made.problems,
                "events": made.events.to_dict(),
            }
        )
    if made.problems or (outcome is not None and outcome.status == "failed"):
        raise SystemExit(Exit.PARTIAL)

"""`pfgen-fast generate`: answers from an engine become a run, which is scored at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .app import Exit, Json, Quiet, counted, fail, print_json, shown, stdout, warn
from .asking import note_existing, watch_over
from .layout import rest, shortened
from .score import outcome_as_json, print_outcomes
from .suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ..generation import Generated
    from ..suite.suite import Suite


def generate(
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            "-e",
            help="ngram (needs no model), openai (any server that speaks its protocol), anthropic, gemini, "
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
            help="Name of the model, and of the run's folder. Default for ngram: ngram/order-N; for answers of the "
            "suite itself: as published.",
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials", "-n", min=1, help="How often each question is asked. Default: 10, or all stored answers."
        ),
    ] = None,
    mode: options.ModeOption = options.ModeChoice.completion,
    temperature: options.Temperature = 1.0,
    top_p: options.TopP = 0.98,
    top_k: options.TopK = None,
    max_tokens: options.MaxTokens = 300,
    examples: options.Examples = 20,
    seed: options.Seed = "",
    prefix: options.Prefix = "",
    stop: options.Stop = None,
    order: Annotated[int | None, typer.Option(help="ngram: code points per n-gram. Default: 5.", metavar="N")] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--sets", help="ngram, reference: a reference set to use; may be repeated. Default: all.", metavar="NAME"
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            help="Hosted models: address of the server, including /v1. Default: that of the engine; for openai "
            "$OPENAI_BASE_URL, or OpenAI."
        ),
    ] = None,
    key_env: Annotated[
        str | None,
        typer.Option(
            help="Hosted models: environment variable with the key. Default: OPENAI_API_KEY, ANTHROPIC_API_KEY, "
            "GEMINI_API_KEY.",
            metavar="NAME",
        ),
    ] = None,
    concurrency: Annotated[int | None, typer.Option(help="Hosted models: concurrent requests. Default: 16.")] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Hosted models: seconds until the whole reply must be there. Default: 120.")
    ] = None,
    retries: Annotated[
        int | None, typer.Option(help="Hosted models: how often a request is retried. Default: 5.")
    ] = None,
    max_tokens_name: options.MaxTokensName = None,
    multi_choice: options.MultiChoice = None,
    enable_thinking: options.EnableThinking = None,
    thinking_budget: options.ThinkingBudget = None,
    safety: options.Safety = None,
    prompt_price: options.PromptPrice = 0.0,
    reply_price: options.ReplyPrice = 0.0,
    cached_price: options.CachedPrice = None,
    input: Annotated[
        Path | None,
        typer.Option(help="replay: table (.jsonl, .csv, .parquet), run folder, or samples_*.jsonl.", metavar="PATH"),
    ] = None,
    question_column: Annotated[str | None, typer.Option(help="replay: question column. Default: question.")] = None,
    answer_column: Annotated[str | None, typer.Option(help="replay: answer column. Default: answer.")] = None,
    path: Annotated[
        str | None,
        typer.Option(help="transformers, vllm: folder of the model, if --model is only a name.", metavar="FOLDER"),
    ] = None,
    trust_remote_code: Annotated[
        bool,
        typer.Option("--trust-remote-code", help="transformers, vllm: run the program code that comes with a model."),
    ] = False,
    chat_template: Annotated[
        str | None,
        typer.Option(
            help="transformers, vllm: file with a chat template, instead of the model's own; recorded.", metavar="FILE"
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="transformers: such as cpu or cuda:0. Default: a GPU, if available.")
    ] = None,
    dtype: Annotated[
        str | None, typer.Option(help="transformers, vllm: such as bfloat16. Default: as the weights are stored.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="transformers: answers sampled at once. Default: 16.")] = None,
    tensor_parallel: Annotated[int | None, typer.Option(help="vllm: GPUs that share the model. Default: 1.")] = None,
    max_model_len: Annotated[int | None, typer.Option(help="vllm: maximum tokens of prompt and answer.")] = None,
    quantization: Annotated[
        str | None,
        typer.Option(help="vllm: such as fp8 or bitsandbytes. Default: as the model's files say.", metavar="METHOD"),
    ] = None,
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
    from ..generation.engines import INTERACTIVE
    from ..generation.prices import TokenPrices

    of_engine = {
        "order": order,
        "sets": sets or None,  # typer passes an empty list if the option is not given
        "base_url": base_url,
        "key_env": key_env,
        "concurrency": concurrency,
        "timeout": timeout,
        "retries": retries,
        "max_tokens_name": max_tokens_name,
        "multi_choice": multi_choice,
        "enable_thinking": enable_thinking,
        "thinking_budget": thinking_budget,
        "safety": safety,
        "input": input,
        "question_column": question_column,
        "answer_column": answer_column,
        "path": path,
        "trust_remote_code": trust_remote_code or None,
        "chat_template": chat_template,
        "device": device,
        "dtype": dtype,
        "batch_size": batch_size,
        "tensor_parallel": tensor_parallel,
        "max_model_len": max_model_len,
        "quantization": quantization,
    }
    generation = Generation.of(
        engine,
        model=model,
        mode=mode.value,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        max_tokens=max_tokens,
        examples=examples,
        seed=seed,
        prefix=prefix,
        stop=stop or (),
        options=of_engine,
    )
    loaded = suite_or_here(suite).only(options.names_of(questions), limit=limit)
    watch = watch_over("answers", quiet=quiet or as_json or engine in INTERACTIVE)
    watch.events.prices = TokenPrices(prompt_price, reply_price, cached_price)
    try:
        with watch:
            made = generation.run(loaded, trials=trials, output=output, on_progress=watch.count, events=watch.events)
    except KeyboardInterrupt:
        there = f"{watch.done} of {watch.planned} answers"
        fail(f"stopped with {there}, which are kept; run the same command again to continue", Exit.STOPPED)
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
    outcome = made.score(suite) if with_scores else None
    if outcome is None and not (quiet or as_json):
        print_origin(suite)
    if outcome is not None:
        print_outcomes([outcome], quiet=quiet or as_json)
    if as_json:
        row = {"run": str(made.folder), "suite": suite.name} if outcome is None else outcome_as_json(outcome)
        existing = {"n_existing": made.n_existing, "oldest_answer": made.oldest_answer or None}
        print_json({**row, **existing, "n_new": made.n_new, "problems": made.problems, "events": made.events.to_dict()})
    if made.problems or (outcome is not None and outcome.status == "failed"):
        raise SystemExit(Exit.PARTIAL)

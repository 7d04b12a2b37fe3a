"""`pfgen-fast experiment judge`: a language model rates the answers of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .app import Exit, fail, stdout
from .asking import watch_over
from .engine_options import with_options
from .experiment_call import Call
from .server_options import JudgeTemperature, ServerOptions, asking_options, number_of, warn_of_family


@with_options(asking=asking_options(ServerOptions), call=Call)
def judge(
    paths: options.Paths,
    model: Annotated[str, typer.Option("--model", "-m", help="Name the judge on the server.")],
    template: Annotated[
        str,
        typer.Option(
            help="Choose a template: default, paper, or a file with {question}, {sample}, {answer}, {language}.",
            metavar="NAME|FILE",
        ),
    ] = "default",
    language: Annotated[str, typer.Option(help="Set the expected language of the answers.")] = "Japanese",
    ratings: Annotated[int, typer.Option("--ratings", min=1, help="Rate each answer this often.")] = 1,
    trials: Annotated[
        int | None, typer.Option("--trials", "-n", min=1, help="Rate N answers per question of a run. Default: all.")
    ] = None,
    temperature: JudgeTemperature = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Limit the tokens of a reply.")] = 300,
    cache: Annotated[
        Path | None,
        typer.Option(help="Store the ratings in this file. Default: judge-ratings.jsonl in DIR.", metavar="FILE"),
    ] = None,
    seed: Annotated[str, typer.Option(help="Set the seed (any text) of the choice of answers and of replies.")] = "",
    *,
    asking: ServerOptions,
    call: Call,
) -> None:
    """Lets a language model rate the answers, from 1 to 10 or on the template's scale, for comparison with the scores.

    Asks a server with the protocol of OpenAI, Anthropic or Gemini. The cost is estimated first. Every rating is
    stored when it arrives: running the same command again continues where it was stopped, and --offline replays the
    ratings. 'pfgen-fast experiment external --scores' reads the resulting judge-models.csv.

    Examples

      pfgen-fast experiment judge result -m org/judge --base-url http://localhost:8000/v1 --trials 2 -o judge

      pfgen-fast experiment judge result -m gpt-4o --prompt-price 2.5 --reply-price 10 --budget 20 -o judge

      pfgen-fast experiment judge result -m claude-sonnet-4-5 --engine anthropic --omit top_p -o judge
    """
    from ..experiments.judge import AnswersToJudge, JudgeOptions, RatedRuns

    wanted = JudgeOptions(
        model,
        template,
        language=language,
        n_ratings=ratings,
        trials=trials,
        temperature=number_of(temperature),
        max_tokens=max_tokens,
        request_options=asking.request_options(temperature),
        seed=seed,
        server=asking.server,
        prices=asking.spending.prices,
        budget=asking.budget,
        cache=cache or call.output / "judge-ratings.jsonl",
    )
    evaluator = wanted.evaluator()
    answers = AnswersToJudge(trials, seed)
    rated = RatedRuns(call.figures(paths, answers), answers.found, evaluator)
    warn_of_family(model, rated.models)
    if asking.dry_run or not call.quiet:
        stdout().print(rated.estimate(wanted.prices).sentence("ratings"))
    if asking.dry_run:
        return
    with watch_over("ratings", quiet=call.quiet) as watch:
        problem = rated.ask(prices=wanted.prices, budget=asking.budget, on_progress=watch.count, events=watch.events)
    if problem:
        again = "run the same command again to continue, or with --offline to use the stored ratings"
        fail(f"{problem}; {again}", Exit.PARTIAL)
    call.finish(rated.finding())

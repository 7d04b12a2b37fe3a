"""`pfgen-fast experiment judge`: a language model rates the answers of runs."""

from __future__ import annotations

from pathlib import Path

from typer import Option

from . import options
from .app import Exit, fail, stdout
from .asking import watch_over
from .experiment_call import Call
from .server_options import JudgeTemperature, ServerOptions, number_of, warn_of_family


class _Judge:
    """Lets a language model rate the answers, from 1 to 10 or on the template's scale, for comparison with the scores.

    Asks a server with the protocol of OpenAI or Anthropic. The cost is estimated first. Every rating is
    stored when it arrives: running the same command again continues where it was stopped, and --offline replays the
    ratings. 'pfgen-fast experiment external --scores' reads the resulting judge-models.csv.

    Examples

      pfgen-fast experiment judge result -m org/judge --base-url http://localhost:8000/v1 --trials 2 -o judge

      pfgen-fast experiment judge result -m gpt-4o --prompt-price 2.5 --reply-price 10 --budget 20 -o judge

      pfgen-fast experiment judge result -m claude-sonnet-4-5 --engine anthropic --omit top_p -o judge
    """

    paths: options.Paths
    model: str = Option(..., "-m", help="Name the judge on the server.")
    template: str = Option(
        "default",
        help="Choose a template: default, paper, or a file with {question}, {sample}, {answer}, {language}.",
        metavar="NAME|FILE",
    )
    language: str = Option("Japanese", help="Set the expected language of the answers.")
    ratings: int = Option(1, min=1, help="Rate each answer this often.")
    trials: int | None = Option(None, "-n", min=1, help="Rate N answers per question of a run. Default: all.")
    temperature: JudgeTemperature = None
    max_tokens: int = Option(300, min=1, help="Limit the tokens of a reply.")
    cache: Path | None = Option(
        None, help="Store the ratings in this file. Default: judge-ratings.jsonl in DIR.", metavar="FILE"
    )
    items: Path | None = Option(
        None,
        help="Also write the mean rating of each run and question to this table, for 'leaderboard' and 'compare' "
        "(.csv, .tsv, .jsonl or .parquet).",
        metavar="FILE",
    )
    seed: str = Option("", help="Set the seed (any text) of the choice of answers and of replies.")
    asking: ServerOptions
    call: Call

    def __call__(self) -> None:
        from ..experiments.judge import ITEM_COLUMNS, AnswersToJudge, JudgeOptions, RatedRuns
        from ..tables.value_table import check_value_table, writing_values

        if self.items is not None:
            check_value_table(self.items)
        asking, call = self.asking, self.call
        wanted = JudgeOptions(
            self.model,
            self.template,
            language=self.language,
            n_ratings=self.ratings,
            trials=self.trials,
            temperature=number_of(self.temperature),
            max_tokens=self.max_tokens,
            request_options=asking.request_options(self.temperature),
            seed=self.seed,
            server=asking.server,
            spending=asking.spending,
            cache=self.cache or call.output / "judge-ratings.jsonl",
        )
        evaluator = wanted.evaluator()
        answers = AnswersToJudge(self.trials, self.seed)
        rated = RatedRuns(call.figures(self.paths, answers), answers.found, evaluator)
        warn_of_family(self.model, rated.models)
        if asking.dry_run or not call.quiet:
            stdout().print(rated.estimate(asking.spending.prices).sentence("ratings"))
        if asking.dry_run:
            return
        with watch_over("ratings", quiet=call.quiet) as watch:
            problem = rated.ask(spending=asking.spending, on_progress=watch.count, events=watch.events)
        if problem:
            again = "run the same command again to continue, or with --offline to use the stored ratings"
            fail(f"{problem}; {again}", Exit.PARTIAL)
        if self.items is not None:
            with writing_values(self.items, ITEM_COLUMNS) as write:
                write(rated.by_item())
        call.finish(rated.finding())

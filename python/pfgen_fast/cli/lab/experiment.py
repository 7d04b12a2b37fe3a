"""`pfgen-fast experiment`: what the scores mean, as tables, pictures and text; one subcommand per experiment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from .. import options
from ..app import Exit, Quiet, caution, counting, exit_if_partial, fail, print_line, show_finding
from ..engine_options import JudgeTemperature, ServerOptions, number_of
from ..parser import Argument, Option, option_group
from ..progress import Watch
from ..suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ...lab.experiments.aligned_verdicts import MetricValues
    from ...lab.experiments.run_means import RunMeans
    from ...lab.experiments.scored_runs import RunFigures
    from ...lab.finding import Finding


Runs = TypeVar("Runs", bound="RunFigures")


@option_group
class Call:
    """A call of an experiment: reads its runs, warns of runs that are left out, writes and prints the finding."""

    output: Path = Option(..., "Write page, tables and pictures to this directory.", "-o", **options.FOLDER)
    suite: options.SuiteOption = None
    threads: options.Threads = None
    quiet: Quiet = False

    def sources(self, paths: list[str] | None, table: str | None) -> list[str]:
        """The paths of runs; empty for the published table."""
        if bool(paths) == bool(table):
            fail("expected either runs (PATH) or --table published")
        if table and self.suite is not None:
            fail(f"--suite: expected runs, not --table {table}")
        return paths or []

    def read(self, read: Callable[..., Runs], paths: list[str], **more: object) -> Runs:
        """Reads runs with `score_runs` or `read_figures`, with a progress bar."""
        suite = given_suite(self.suite)
        with counting("runs", quiet=self.quiet) as count:
            runs = read(paths, suite=suite, threads=self.threads, on_progress=count, **more)
        caution(*runs.problems)
        return runs

    def finish(self, finding: Finding, runs: RunMeans | MetricValues) -> None:
        """Writes the files of a finding, and prints it; ends with exit code 3 if runs were left out."""
        show_finding(finding, self.output, quiet=self.quiet, is_said=runs.problems)
        if not self.quiet:
            print_origin(getattr(runs, "suite", None))
        exit_if_partial(runs.problems)


PublishedTable = Annotated[
    Literal["published"] | None,
    Option(..., "Use the 522 published runs of pfgen-bench, whose results come with the package, instead of runs."),
]


Cluster = Annotated[
    Literal["model", "organisation", "none"],
    Option(..., "Treat runs of one model, or one organisation (the part before the slash), as dependent in intervals."),
]


class ExperimentRelations:
    """How high fluency, truthfulness and helpfulness are, and how they and the length correlate.

    Computes the mean and quartiles of each part of a score, and Pearson's, Spearman's and Kendall's correlations of
    each pair, over runs and over answers, with 95 % intervals. Runs of one model are not independent, and the intervals
    account for it (--cluster). A leaderboard, as 'leaderboard --format csv' writes it, has no answers, so only runs are
    compared, as with --runs best and mean.

    Examples

      pfgen-fast experiment relations result -o relations
      pfgen-fast experiment relations leaderboard.csv -o relations
      pfgen-fast experiment relations --table published -o relations
    """

    paths: list[str] | None = Argument(
        None, "Runs, as in the other experiments; or one leaderboard: a .csv file.", metavar="[PATH...]"
    )
    table: PublishedTable = None
    runs: Literal["all", "best", "mean"] = Option("all", "Use all runs of a model, the best run, or their mean.")
    cluster: Cluster = "model"
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ...lab.experiments.relations import relations
        from ...lab.experiments.run_means import read_leaderboard
        from ...lab.experiments.scored_runs import read_figures, score_runs

        runs: RunMeans
        paths = self.call.sources(self.paths, self.table)
        if not paths or (len(paths) == 1 and paths[0].endswith(".csv")):
            runs = read_leaderboard(*map(Path, paths))
            caution(*runs.problems)
        else:
            runs = self.call.read(score_runs if self.runs == "all" else read_figures, paths)
        means = runs if self.runs == "all" else runs.one_per_model(self.runs)
        self.call.finish(relations(means, cluster=self.cluster, seed=self.seed), runs)


class ExperimentSets:
    """Does it matter which set of reference answers a run is scored with?

    Computes the score of each run with each reference set alone, and how these scores correlate.

    Examples

      pfgen-fast experiment sets result -o sets
      pfgen-fast experiment sets --table published -o sets
    """

    paths: options.PathsOrTable = None
    table: PublishedTable = None
    chosen: list[str] | None = Option(
        None, "Compare this set. May be repeated. Default: the sets that most questions share.", "--set"
    )
    cluster: Cluster = "model"
    call: Call

    def __call__(self) -> None:
        from ...lab.experiments.scored_runs import read_figures
        from ...lab.experiments.sets import published_by_set, scores_by_set, sets

        paths = self.call.sources(self.paths, self.table)
        if self.table and self.chosen:
            fail("--set: expected runs; the published table has the scores with its common sets only")
        runs = None if self.table else self.call.read(read_figures, paths)
        by_set = published_by_set() if runs is None else scores_by_set(runs, self.chosen)
        self.call.finish(sets(by_set, cluster=self.cluster), runs or by_set.runs)


class ExperimentStability:
    """Would other questions or trials rank the runs in the same way?

    Computes the ranks without any one question, and compares rankings that have no question or trial in common: how
    they agree (Kendall), how many pairs of runs and of close runs they swap, and how scores shift.

    Example

      pfgen-fast experiment stability result -o stability
    """

    paths: options.Paths
    draws: int = Option(100, "Draw questions and trials this often.", min=1, max=1_000_000)
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ...lab.experiments.scored_runs import score_runs
        from ...lab.experiments.stability import stability

        runs = self.call.read(score_runs, self.paths)
        self.call.finish(stability(runs, n_draws=self.draws, seed=self.seed), runs)


class ExperimentAgreement:
    """Which metrics agree with verdicts: of a judge model, of people, of another leaderboard?

    Inputs are runs, or tables of answers (columns prompt, model, answer, or their usual names, and category) and of
    scores (prompt, model and columns of numbers). Verdicts are pairs (prompt, model, other and preference: 1 if the
    first answer is better, 0 or 2 if the second one is), ratings (prompt, model and numbers) or figures such as win
    rates (model and numbers). Agreement is computed over models, over pairs of answers, beyond length and by category.

    Computed metrics have the answers of other models as references: bleu, chrf, rouge_l and the others of `score`, with
    :mean for the mean over references instead of the best; fluency, truthfulness and average, with a unit, a target
    and a limit, which may be multiples of the median length: fluency:words,2x,3x.

    Examples

      pfgen-fast experiment agreement result --verdicts judge.csv -o agreement
      pfgen-fast experiment agreement --table published --verdicts other-leaderboard.csv -o agreement
      pfgen-fast experiment agreement answers.jsonl --verdicts GPT-4=pairs.jsonl --family family \
        --metric chrf:mean --metric fluency:words,2x,3x -o agreement
    """

    paths: list[str] | None = Argument(
        None, "Runs, or tables of answers, of scores and of prompts.", metavar="[PATH...]"
    )
    table: PublishedTable = None
    verdicts: list[str] = Option(
        ..., "Read verdicts from this table, or from the tables of a glob. May be repeated.", metavar="[NAME=]FILE"
    )
    column: list[str] | None = Option(None, "Use only this column of verdicts. May be repeated. Default: all numbers.")
    metric: list[str] | None = Option(
        None, "Use this column of scores, or compute this metric. May be repeated. Default: all columns of numbers."
    )
    family: str = Option(
        "model",
        "Leave out the answers of a model's family as references, and treat a family as dependent in intervals: model, "
        "organisation (the part before the slash), or a column of any of the tables.",
    )
    category: str = Option("", "Name the column of the categories of prompts. Default: category or another usual name.")
    references: Path | None = Option(
        None, "Use only answers of these models as references: a text file with a name in each line, the best first."
    )
    most: int | None = Option(None, "Use at most N references for a prompt.", "--most-references", min=1, metavar="N")
    call: Call

    def __call__(self) -> None:
        from ...lab.experiments.aligned_verdicts import values_of_means, values_of_runs
        from ...lab.experiments.metric_agreement import agreement
        from ...lab.experiments.run_means import families_of, read_leaderboard
        from ...lab.experiments.scored_answers import read_metric_values
        from ...lab.experiments.scored_runs import read_figures, score_runs
        from ...lab.experiments.verdict_tables import read_verdicts
        from ...runs.items.score_tables import is_score_table

        column = "" if self.family in ("model", "organisation") else self.family
        verdicts, families = read_verdicts(self.verdicts, self.column or (), family=column)
        paths = self.call.sources(self.paths, self.table)
        if not any(map(is_score_table, paths)):
            for name, is_used in (("--metric", self.metric), ("--references", self.references), ("--family", column)):
                if is_used:
                    fail(f"{name}: expected tables of answers, not runs")
            if self.table:
                if any(v.prompts for v in verdicts):
                    fail(f"--table {self.table}: expected verdicts on models; the table has no answers")
                means = read_leaderboard().of_models()
                by_model = values_of_means(means, families_of(means.models, self.family))
                self.call.finish(agreement(by_model, verdicts), by_model)
                return
            runs = self.call.read(score_runs if any(v.prompts for v in verdicts) else read_figures, paths)
            values = values_of_runs(runs, families_of(runs.models, self.family))
            self.call.finish(agreement(values, verdicts), runs)
            return
        if self.call.suite is not None:
            fail("--suite: expected runs, not tables; 'pfgen-fast score' adds columns of scores to a table")
        with counting("families", quiet=self.call.quiet) as count:
            tables = read_metric_values(
                paths,
                self.metric or (),
                verdicts,
                family=self.family,
                families=families,
                category=self.category,
                references=self.references,
                most=self.most,
                threads=self.call.threads,
                on_progress=count,
            )
        self.call.finish(agreement(tables, verdicts), tables)


class ExperimentJudge:
    """Lets a language model rate the answers, from 1 to 10 or on the template's scale, for comparison with the scores.

    Asks a server with the protocol of OpenAI or Anthropic. The cost is estimated first. Every rating is stored in
    FOLDER when it arrives: running the same command again continues where it was stopped, and --offline replays the
    ratings. FOLDER/judge-items.csv has the mean rating of each run and question, for 'leaderboard', 'compare' and
    'agreement --verdicts'.

    Examples

      pfgen-fast experiment judge result -m org/judge --base-url http://localhost:8000/v1 --trials 2 -o judge
      pfgen-fast experiment judge result -m gpt-4o --prompt-price 2.5 --reply-price 10 --budget 20 -o judge
      pfgen-fast experiment judge result -m claude-sonnet-4-5 --engine anthropic --omit top_p -o judge
    """

    paths: options.Paths
    model: str = Option(..., "Name the judge on the server.", "-m")
    template: str = Option(
        "default",
        "Choose a template: default, paper, or a file with {question}, {sample}, {answer}, {language}.",
        metavar="NAME|FILE",
    )
    language: str = Option("Japanese", "Set the expected language of the answers.")
    ratings: int = Option(1, "Rate each answer this often.", min=1)
    trials: int | None = Option(None, "Rate N answers per question of a run. Default: all.", "-n", min=1)
    temperature: JudgeTemperature = None
    max_tokens: int = Option(1024, "Limit the tokens of a reply.", min=1)
    seed: str = Option("", "Set the seed (any text) of the choice of answers and of replies.", metavar="TEXT")
    asking: ServerOptions
    call: Call

    def __call__(self) -> None:
        from ...lab.evaluators.asking_evaluator import usual_temperature
        from ...lab.evaluators.judge_evaluator import JudgeEvaluator, read_template
        from ...lab.experiments.judge_experiment import ITEM_COLUMNS, AnswersToJudge, RatedRuns
        from ...lab.experiments.scored_runs import read_figures
        from ...lab.judging.judge_requests import Judge
        from ...lab.judging.reply_store import ReplyStore
        from ...tables.formats import writing_values

        asking, call = self.asking, self.call
        temperature, server = number_of(self.temperature), asking.server
        if temperature is None:
            temperature = usual_temperature(self.ratings)
        evaluator = JudgeEvaluator(
            Judge(self.model, temperature, self.max_tokens, asking.request_options(self.temperature)),
            ReplyStore(call.output / "judge-ratings.jsonl", must_exist=server is None),
            read_template(self.template, self.language),
            n_ratings=self.ratings,
            seed=self.seed,
            connect=None if server is None else server.engine,
        )
        answers = AnswersToJudge(self.trials, self.seed)
        runs = call.read(read_figures, self.paths, on_batch=answers)
        rated = RatedRuns(runs, answers.chosen, evaluator)
        if asking.dry_run or not call.quiet:
            print_line(rated.ratings.estimate(asking.spending.prices).sentence("ratings"))
        if asking.dry_run:
            return
        with Watch("ratings", quiet=call.quiet) as watch:
            problem = rated.ratings.ask_with(
                evaluator.connect, spending=asking.spending, on_progress=watch.count, events=watch.events
            )
        if problem:
            again = "run the same command again to continue, or with --offline to use the stored ratings"
            fail(f"{problem}; {again}", Exit.PARTIAL)
        with writing_values(call.output / "judge-items.csv", ITEM_COLUMNS, for_spreadsheets=True) as write:
            write(rated.by_item())
        call.finish(rated.finding(), runs)

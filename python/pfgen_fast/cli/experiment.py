"""`pfgen-fast experiment`: what the scores mean, as tables, pictures and text; one subcommand per experiment."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from . import options
from .app import Exit, Quiet, counting, fail, stdout, warn
from .asking import watch_over
from .commands import LINES, new_group
from .findings import show_finding
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ..experiments import Finding, RunFigures, RunMeans, ScoredRuns
    from ..experiments.leaderboard_table import LeaderboardTable
    from ..experiments.scored_runs import OnBatch
    from ..suite.suite import Suite

Read = TypeVar("Read")
Runs = TypeVar("Runs", bound="RunFigures")

experiment = new_group(LINES["experiment"])

Folder = Annotated[
    Path,
    typer.Option("--output", "-o", help="Folder for the page, tables and pictures.", metavar="DIR"),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", help="A report of the same runs (pfgen-fast report), to which the page links.", metavar="FILE.html"
    ),
]


class ClusterChoice(str, enum.Enum):
    """Which runs depend on one another."""

    model = "model"
    organisation = "organisation"
    none = "none"


class PickChoice(str, enum.Enum):
    """Which of a model's runs count."""

    best = "best"
    mean = "mean"


class RunsChoice(str, enum.Enum):
    """Which runs count, where all of them may."""

    all = "all"
    best = "best"
    mean = "mean"


ClusterOption = Annotated[
    ClusterChoice,
    typer.Option(
        "--cluster",
        help="For the intervals: runs of the same model, or organisation (what is before the slash), are not "
        "independent.",
    ),
]
RunsOption = Annotated[
    RunsChoice, typer.Option("--runs", help="If a model has several runs: use all, the best or the mean.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed; the same seed gives the same figures.")]


OptionalPaths = Annotated[
    list[str] | None,
    typer.Argument(help="Folders of runs, trials files, folders with many runs, or globs.", metavar="[PATH...]"),
]
LeaderboardFile = Annotated[
    Path | None,
    typer.Option(
        "--table",
        help="Instead of runs: a leaderboard as CSV, as 'leaderboard --format csv' writes it.",
        metavar="FILE.csv",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        "--trials",
        "-n",
        min=1,
        help="Answers per question of a run that are scored many times over, drawn at random. Default: as many as make "
        "200,000 in all (stability: 100,000).",
    ),
]
OutsideFiles = typer.Option(
    "--scores",
    help="CSV with a header: model names, then columns of scores (empty: unknown). May be repeated.",
    metavar="FILE.csv",
)


@experiment.command("all")
def everything(
    paths: options.Paths,
    output: Folder,
    scores: Annotated[list[Path] | None, OutsideFiles] = None,
    suite: options.SuiteOption = None,
    trials: Trials = None,
    seed: Seed = 0,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """All experiments but judge, from a single pass over the answers.

    Writes what relations, parts, sets, significance, stability, sensitivity and, with --scores, external write with
    their default options. An experiment that these runs do not allow is named and left out.

    Example

      pfgen-fast experiment all result -o experiments
    """
    from ..experiments.external import read_scores
    from ..experiments.together import Experiments

    call = _Call(output, report, suite, threads, quiet=quiet)
    outside = [read_scores(path) for path in scores or ()]
    experiments = call.read(Experiments, paths, outside=outside, trials=trials, seed=seed)
    call.take(experiments.scored)
    for finding in experiments.findings():
        call.show(finding)
    for problem in experiments.problems:
        warn(f"left out: {problem}")
    call.end(is_whole=not experiments.problems)


@experiment.command()
def relations(
    output: Folder,
    paths: OptionalPaths = None,
    table: LeaderboardFile = None,
    suite: options.SuiteOption = None,
    runs: RunsOption = RunsChoice.all,
    cluster: ClusterOption = ClusterChoice.model,
    seed: Seed = 0,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """How fluency, truthfulness, helpfulness and length correlate.

    Computes Pearson's, Spearman's and Kendall's correlations of each pair, over runs and over answers, with 95 %
    intervals. Runs of one model are not independent, and the intervals know it (--cluster). A leaderboard (--table)
    has no answers, so that only runs are compared, and so do --runs best and mean.

    Examples

      pfgen-fast experiment relations result -o relations

      pfgen-fast experiment relations --table leaderboard.csv -o relations
    """
    from ..experiments.relations import relations as find

    call = _Call(output, report, suite, threads, quiet=quiet)
    file = _table_instead(paths, table)
    of: RunMeans | ScoredRuns
    if file:
        of = _picked(call.table(file).runs, runs)
    elif runs is RunsChoice.all:
        of = call.scored(paths or [])
    else:
        of = _picked(call.figures(paths or []).run_means, runs)
    call.finish(find(of, cluster=cluster.value, seed=seed))


@experiment.command()
def parts(
    output: Folder,
    paths: OptionalPaths = None,
    table: LeaderboardFile = None,
    suite: options.SuiteOption = None,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """Which part of a score is hardest, and from where on are answers helpful?

    Compares fluency, truthfulness and helpfulness over runs: their order, how far the best runs and the human and
    reference answers get, and from which fluency, truthfulness and score on helpfulness rises.

    Examples

      pfgen-fast experiment parts result -o parts

      pfgen-fast experiment parts --table leaderboard.csv -o parts
    """
    from ..experiments.parts import parts as find

    call = _Call(output, report, suite, threads, quiet=quiet)
    file = _table_instead(paths, table)
    call.finish(find(call.table(file).runs if file else call.figures(paths or []).run_means))


@experiment.command()
def sets(
    output: Folder,
    paths: OptionalPaths = None,
    table: LeaderboardFile = None,
    suite: options.SuiteOption = None,
    chosen: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A set to compare; repeat for several. Default: those that most questions have together."
        ),
    ] = None,
    runs: RunsOption = RunsChoice.all,
    cluster: ClusterOption = ClusterChoice.model,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """Does it matter which set of reference answers a run is scored with?

    Computes the score of each run with each reference set alone, and how these scores correlate. A leaderboard
    (--table) tells this less exactly, because its figures for different sets are means over different questions.

    Examples

      pfgen-fast experiment sets result -o sets

      pfgen-fast experiment sets --table leaderboard.csv --suite data -o sets
    """
    from ..experiments.sets import scores_by_set, scores_in_table
    from ..experiments.sets import sets as find

    call = _Call(output, report, suite, threads, quiet=quiet)
    file = _table_instead(paths, table)
    if file:
        leaderboard = call.table(file)
        by_set = scores_in_table(leaderboard, call.suite_of(file), chosen)
    else:
        by_set = scores_by_set(call.figures(paths or []), chosen)
    if runs is not RunsChoice.all:
        by_set = by_set.one_per_model(runs.value)
    call.finish(find(by_set, cluster=cluster.value))


@experiment.command()
def stability(
    paths: options.Paths,
    output: Folder,
    suite: options.SuiteOption = None,
    references: Annotated[
        list[int] | None,
        typer.Option(
            "--references", min=1, help="Reference answers per set to try; repeat for several. Default: 500 to 5."
        ),
    ] = None,
    reference_draws: Annotated[
        int, typer.Option("--reference-draws", min=0, help="Draws of two parts of the reference answers; 0 skips them.")
    ] = 2,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Number of draws of questions and trials.")] = 100,
    trials: Trials = None,
    seed: Seed = 0,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """Would other reference answers, questions or trials rank the runs in the same way?

    Computes the ranks without any one question, and compares rankings that have no reference answer, question or trial
    in common: how they agree (Kendall), how many pairs of runs and of close runs they swap, and how scores shift.

    Examples

      pfgen-fast experiment stability result -o stability

      pfgen-fast experiment stability result --references 100 --references 30 -o stability
    """
    from ..experiments.cut_references import CutReferences
    from ..experiments.stability import stability as find

    if references and not reference_draws:
        fail("--references: nothing is drawn with --reference-draws 0; leave one of them out")
    cut = None
    if reference_draws:
        cut = CutReferences(references or None, n_draws=reference_draws, trials=trials, seed=seed, threads=threads)
    call = _Call(output, report, suite, threads, quiet=quiet)
    call.finish(find(call.scored(paths, cut), cut, n_draws=draws, seed=seed))


@experiment.command()
def external(
    paths: options.Paths,
    output: Folder,
    scores: Annotated[list[Path], OutsideFiles],
    suite: options.SuiteOption = None,
    pick: Annotated[
        PickChoice, typer.Option("--runs", help="If a model has several runs: use the best or the mean.")
    ] = PickChoice.best,
    cluster: ClusterOption = ClusterChoice.model,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """Do the scores agree with other scores: of a judge model, of humans, of another leaderboard?

    Model names are matched exactly, then without case and separators, then without the part before the last slash. A
    name that would match two partners under a rule gets none; models without a partner are listed.

    Example

      pfgen-fast experiment external result --scores judge.csv --scores other.csv -o external
    """
    from ..experiments.external import external as find
    from ..experiments.external import read_scores

    call = _Call(output, report, suite, threads, quiet=quiet)
    files = [read_scores(path) for path in scores]
    means = call.figures(paths).run_means
    call.finish(find(means, files, pick=pick.value, cluster=cluster.value))


@experiment.command()
def judge(
    paths: options.Paths,
    output: Folder,
    model: Annotated[str, typer.Option("--model", "-m", help="The judge's name on the server.")],
    suite: options.SuiteOption = None,
    base_url: Annotated[str | None, typer.Option(help="Address of the server, including /v1.")] = None,
    key_env: Annotated[
        str | None,
        typer.Option(help="Environment variable that holds the key. Default: OPENAI_API_KEY.", metavar="NAME"),
    ] = None,
    template: Annotated[
        str,
        typer.Option(
            help="Prompt template: default, paper, or a file with {question}, {sample}, {answer}, {language}.",
            metavar="NAME|FILE",
        ),
    ] = "default",
    language: Annotated[str, typer.Option(help="Expected language of the answers.")] = "Japanese",
    ratings: Annotated[int, typer.Option("--ratings", min=1, help="How often each answer is rated.")] = 1,
    trials: Annotated[
        int | None, typer.Option("--trials", "-n", min=1, help="Answers rated per question of a run. Default: all.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Temperature of the judge. Default: 0 for one rating, 1 for several.")
    ] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Maximum number of tokens in a reply.")] = 300,
    prompt_price: Annotated[float, typer.Option(help="Price per million prompt tokens, for the estimate.")] = 0.0,
    reply_price: Annotated[float, typer.Option(help="Price per million reply tokens.")] = 0.0,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Stop before the estimated cost of this call could exceed this.")
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="File that stores the ratings. Default: judge-ratings.jsonl in DIR.", metavar="FILE"),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Send no requests; use the stored ratings.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be asked, and its cost.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Maximum number of concurrent requests.")] = 16,
    timeout: Annotated[float, typer.Option(min=0.001, help="Timeout of a request in seconds.")] = 120.0,
    retries: Annotated[int, typer.Option(min=0, help="How often a failed request is retried.")] = 5,
    seed: Annotated[str, typer.Option(help="Any text; determines the choice of answers and the replies.")] = "",
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """Lets a language model rate the answers, from 1 to 10 or on the template's scale, for comparison with the scores.

    Asks a server that speaks the OpenAI protocol. The cost is estimated before the first request. Every rating is
    stored when it arrives: running the same command again continues where it was stopped, and --offline replays the
    ratings. 'pfgen-fast experiment external --scores' reads the resulting judge-models.csv.

    Examples

      pfgen-fast experiment judge result -m org/judge --base-url http://localhost:8000/v1 --trials 2 -o judge

      pfgen-fast experiment judge result -m gpt-4o --prompt-price 2.5 --reply-price 10 --budget 20 -o judge
    """
    from ..experiments.judge import AnswersToJudge, JudgeOptions, RatedRuns
    from ..judging import Prices, Server

    wanted = JudgeOptions(
        model,
        template,
        language=language,
        n_ratings=ratings,
        trials=trials,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
        server=None if offline else Server(base_url, key_env, concurrency, timeout, retries),
        prices=Prices(prompt_price, reply_price),
        budget=budget,
        cache=cache or output / "judge-ratings.jsonl",
    )
    evaluator = wanted.evaluator()
    call = _Call(output, report, suite, threads, quiet=quiet)
    answers = AnswersToJudge(trials, seed)
    rated = RatedRuns(call.figures(paths, answers), answers.found, evaluator)
    if dry_run or not quiet:
        stdout().print(rated.estimate(wanted.prices).sentence("ratings"))
    if dry_run:
        return
    watch = watch_over("ratings", quiet=quiet)
    try:
        with watch:
            problem = rated.ask(prices=wanted.prices, budget=budget, on_progress=watch.count, events=watch.events)
    except KeyboardInterrupt:
        fail("stopped; the ratings so far are kept; run the same command again to continue", Exit.STOPPED)
    if problem:
        again = "run the same command again to continue, or with --offline to use the stored ratings"
        fail(f"{problem}; {again}", Exit.PARTIAL)
    call.finish(rated.finding())


class CorrectionChoice(str, enum.Enum):
    """How p-values are corrected for many comparisons."""

    bh = "bh"
    holm = "holm"


@experiment.command()
def significance(
    paths: options.Paths,
    output: Folder,
    suite: options.SuiteOption = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Significance level.")] = 0.05,
    correction: Annotated[
        CorrectionChoice,
        typer.Option(help="For multiple comparisons: bh controls the share of false alarms, holm the chance of any."),
    ] = CorrectionChoice.bh,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """Which neighbours on the leaderboard really differ, and which runs cannot be distinguished?

    The paired t-test over questions, as in compare, for all pairs of runs, corrected for the number of all pairs. Runs
    that cannot be distinguished form groups.

    Example

      pfgen-fast experiment significance result -o significance
    """
    from ..experiments.significance import significance as find

    call = _Call(output, report, suite, threads, quiet=quiet)
    call.finish(find(call.figures(paths), alpha=alpha, correction=correction.value))


@experiment.command()
def sensitivity(
    paths: options.Paths,
    output: Folder,
    suite: options.SuiteOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            help="A constant and its values (limit=120,150,200); repeat for several. Constants: last_order, "
            "first_order, threshold, target_length, limit. Default: all of them.",
            metavar="NAME=VALUES",
        ),
    ] = None,
    trials: Trials = None,
    seed: Seed = 0,
    report: Report = None,
    threads: options.Threads = None,
    quiet: Quiet = False,
) -> None:
    """How do the scores depend on the constants: n-gram orders, the 0.5 % threshold, lengths 100 and 150, set weights?

    Each constant is varied around its default while the others keep theirs, and scores and ranking are compared with
    the default ones. A single pass over the answers computes all variations.

    Examples

      pfgen-fast experiment sensitivity result -o sensitivity

      pfgen-fast experiment sensitivity result --vary last_order=1,3,5,10 --vary limit=120,200 -o sensitivity
    """
    from ..experiments.sensitivity import VariedConstants
    from ..experiments.sensitivity import sensitivity as find

    values = dict(map(_values, vary)) if vary else None
    varied = VariedConstants(values, trials=trials, seed=seed, threads=threads)
    call = _Call(output, report, suite, threads, quiet=quiet)
    call.finish(find(call.figures(paths, varied), varied))


def _values(text: str) -> tuple[str, list[float]]:
    """The name and the values of `NAME=VALUE,VALUE`."""
    name, _, values = text.partition("=")
    try:
        return name.strip(), [float(value) for value in values.split(",")]
    except ValueError:
        fail(f"--vary {text}: expected a constant and its values, as limit=120,150,200")


def _table_instead(paths: list[str] | None, table: Path | None) -> Path | None:
    """The leaderboard that is given instead of runs; None if runs are."""
    if bool(paths) == (table is not None):
        fail(f"{'both runs and' if paths else 'neither runs nor'} a --table: expected one of them")
    return table


def _picked(runs: RunMeans, which: RunsChoice) -> RunMeans:
    return runs if which is RunsChoice.all else runs.one_per_model(which.value)


class _Call:
    """A call of an experiment: reads its runs, warns of those left out, and writes and prints what was found."""

    def __init__(
        self, output: Path, report: Path | None, suite: str | None = None, threads: int | None = None, *, quiet: bool
    ) -> None:
        from ..files.writing import check_folder

        check_folder(output)
        self._output, self._report, self._threads, self._quiet = output, report, threads, quiet
        self._given = given_suite(suite)
        self._suite: Suite | None = None
        self._problems: Sequence[str] = ()

    def scored(self, paths: list[str], on_batch: OnBatch | None = None) -> ScoredRuns:
        """The runs with the scores of every answer."""
        from ..experiments import score_runs

        return self.take(self.read(score_runs, paths, on_batch=on_batch))

    def figures(self, paths: list[str], on_batch: OnBatch | None = None) -> RunFigures:
        """The runs with the figures of their results."""
        from ..experiments import read_figures

        return self.take(self.read(read_figures, paths, on_batch=on_batch))

    def table(self, path: Path) -> LeaderboardTable:
        """The means of a leaderboard."""
        from ..experiments.leaderboard_table import read_leaderboard

        leaderboard = read_leaderboard(path)
        self._warn_of(leaderboard.runs.problems)
        return leaderboard

    def suite_of(self, path: Path) -> Suite:
        """The given suite, or that of the checkout which the file lies in."""
        from ..runs.checkout import suite_of

        self._suite = suite_of(path, self._given)
        return self._suite

    def read(self, read: Callable[..., Read], paths: list[str], **more: object) -> Read:
        """What is read of runs, with a bar."""
        with counting("runs", quiet=self._quiet) as count:
            return read(paths, suite=self._given, threads=self._threads, on_progress=count, **more)

    def take(self, runs: Runs) -> Runs:
        """Notes the suite of the runs, and warns of those that were left out."""
        self._suite = runs.suite
        self._warn_of(runs.problems)
        return runs

    def _warn_of(self, problems: Sequence[str]) -> None:
        self._problems = problems
        for problem in problems:
            warn(problem)

    def show(self, finding: Finding) -> None:
        """Writes the files of a finding, and prints what it says."""
        show_finding(finding, self._output, report=self._report, quiet=self._quiet, is_said=self._problems)

    def end(self, *, is_whole: bool = True) -> None:
        """Names the suite, and exits accordingly where something was left out."""
        if self._suite is not None and not self._quiet:
            print_origin(self._suite)
        if self._problems or not is_whole:
            raise SystemExit(Exit.PARTIAL)

    def finish(self, finding: Finding) -> None:
        """Shows the only finding."""
        self.show(finding)
        self.end()

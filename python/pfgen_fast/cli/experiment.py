"""`pfgen-fast experiment`: what the scores mean, as tables, pictures and text; one subcommand per experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from . import options
from .app import fail, warn
from .command_class import option_group
from .experiment_call import Call

if TYPE_CHECKING:
    from ..experiments import RunMeans, ScoredRuns

RunsChoice = Literal["all", "best", "mean"]
Cluster = Annotated[
    Literal["model", "organisation", "none"],
    Option(help="Treat runs of one model, or one organisation (the part before the slash), as dependent in intervals."),
]
RunsOption = Annotated[RunsChoice, Option(help="Use all runs of a model, the best run, or their mean.")]
OutsideFiles = Option(
    help="Read scores from a CSV with a header: model names, then columns of scores. May be repeated.",
    metavar="FILE.csv",
)


@option_group
class RunsOrTable:
    """Options of experiments on runs, or on a leaderboard instead."""

    paths: list[str] | None = Argument(
        None, help="Runs: directories, trials files, directories with many runs, or globs.", metavar="[PATH...]"
    )
    table: Path | None = Option(
        None,
        help="Read a leaderboard instead of runs, as 'leaderboard --format csv' writes it, or the published one "
        "('published').",
        metavar="FILE.csv",
    )

    def __post_init__(self) -> None:
        if bool(self.paths) == (self.table is not None):
            fail(f"{'both runs and' if self.paths else 'neither runs nor'} --table: expected one of them")

    def means(self, call: Call) -> RunMeans:
        """The means of the runs, or of the leaderboard."""
        return call.table(self.table).runs if self.table else call.figures(self.paths or [])


class _All:
    """All experiments but judge, from a single pass over the answers.

    Writes the files of relations, sets, stability and, with --scores, external, with their default options. An
    experiment that is impossible with these runs is named and left out.

    Example

      pfgen-fast experiment all result -o experiments
    """

    paths: options.Paths
    scores: Annotated[list[Path] | None, OutsideFiles] = None
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ..experiments.external import read_scores
        from ..experiments.together import all_findings

        outside = [read_scores(path) for path in self.scores or ()]
        scored = self.call.scored(self.paths)
        problems: list[str] = []
        for finding in all_findings(scored, outside, seed=self.seed, on_problem=problems.append):
            self.call.show(finding)
        for problem in problems:
            warn(f"left out: {problem}")
        self.call.end(is_whole=not problems)


class _Relations(RunsOrTable):
    """How high fluency, truthfulness and helpfulness are, and how they and the length correlate.

    Computes the mean and quartiles of each part of a score, and Pearson's, Spearman's and Kendall's correlations of
    each pair, over runs and over answers, with 95 % intervals. Runs of one model are not independent, and the intervals
    account for it (--cluster). A leaderboard (--table) has no answers, so only runs are compared, as with --runs best
    and mean.

    Examples

      pfgen-fast experiment relations result -o relations

      pfgen-fast experiment relations --table leaderboard.csv -o relations
    """

    runs: RunsOption = "all"
    cluster: Cluster = "model"
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ..experiments.relations import relations as find

        of: RunMeans | ScoredRuns
        if self.runs == "all":
            of = self.call.scored(self.paths) if self.paths else self.means(self.call)
        else:
            of = self.means(self.call).one_per_model(self.runs)
        self.call.finish(find(of, cluster=self.cluster, seed=self.seed))


class _Sets(RunsOrTable):
    """Does it matter which set of reference answers a run is scored with?

    Computes the score of each run with each reference set alone, and how these scores correlate. A leaderboard
    (--table) tells this less exactly, because its figures for different sets are means over different questions.

    Examples

      pfgen-fast experiment sets result -o sets

      pfgen-fast experiment sets --table leaderboard.csv --suite data -o sets
    """

    chosen: list[str] | None = Option(
        None, "--set", help="Compare this set. May be repeated. Default: the sets that most questions share."
    )
    runs: RunsOption = "all"
    cluster: Cluster = "model"
    call: Call

    def __call__(self) -> None:
        from ..experiments.sets import scores_by_set, scores_in_table
        from ..experiments.sets import sets as find

        call = self.call
        if self.table:
            by_set = scores_in_table(call.table(self.table), call.suite_of(self.table), self.chosen)
        else:
            by_set = scores_by_set(call.figures(self.paths or []), self.chosen)
        if self.runs != "all":
            by_set = by_set.one_per_model(self.runs)
        call.finish(find(by_set, cluster=self.cluster))


class _Stability:
    """Would other questions or trials rank the runs in the same way?

    Computes the ranks without any one question, and compares rankings that have no question or trial in common: how
    they agree (Kendall), how many pairs of runs and of close runs they swap, and how scores shift.

    Example

      pfgen-fast experiment stability result -o stability
    """

    paths: options.Paths
    draws: int = Option(100, min=1, help="Draw questions and trials this often.")
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ..experiments.stability import stability as find

        self.call.finish(find(self.call.scored(self.paths), n_draws=self.draws, seed=self.seed))


class _External:
    """Do the scores agree with other scores: of a judge model, of humans, of another leaderboard?

    Model names are matched exactly, then without case and separators, then without the part before the last slash. A
    name that matches two names under a rule gets no partner. Models without a partner are listed.

    Example

      pfgen-fast experiment external result --scores judge.csv --scores other.csv -o external
    """

    paths: options.Paths
    scores: Annotated[list[Path], OutsideFiles]
    pick: Literal["best", "mean"] = Option(
        "best", "--runs", help="Use the best run of a model, or the mean of its runs."
    )
    cluster: Cluster = "model"
    call: Call

    def __call__(self) -> None:
        from ..experiments.external import external as find
        from ..experiments.external import read_scores

        files = [read_scores(path) for path in self.scores]
        means = self.call.figures(self.paths)
        self.call.finish(find(means, files, pick=self.pick, cluster=self.cluster))

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
Trials = Annotated[
    int | None,
    Option(
        "--trials",
        "-n",
        min=1,
        help="Score only this many answers per question of a run, drawn at random, because each is scored many times. "
        "Default: 200,000 answers in total (stability: 100,000).",
    ),
]
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

    Writes the files of relations, sets, stability, sensitivity and, with --scores, external, with their default
    options. An experiment that is impossible with these runs is named and left out.

    Example

      pfgen-fast experiment all result -o experiments
    """

    paths: options.Paths
    scores: Annotated[list[Path] | None, OutsideFiles] = None
    trials: Trials = None
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ..experiments.external import read_scores
        from ..experiments.together import Experiments

        outside = [read_scores(path) for path in self.scores or ()]
        experiments = self.call.read(Experiments, self.paths, outside=outside, trials=self.trials, seed=self.seed)
        self.call.take(experiments.scored)
        for finding in experiments.findings():
            self.call.show(finding)
        for problem in experiments.problems:
            warn(f"left out: {problem}")
        self.call.end(is_whole=not experiments.problems)


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
    """Would other reference answers, questions or trials rank the runs in the same way?

    Computes the ranks without any one question, and compares rankings that have no reference answer, question or trial
    in common: how they agree (Kendall), how many pairs of runs and of close runs they swap, and how scores shift.

    Examples

      pfgen-fast experiment stability result -o stability

      pfgen-fast experiment stability result --references 100 --references 30 -o stability
    """

    paths: options.Paths
    references: list[int] | None = Option(
        None, min=1, help="Keep N reference answers per set. May be repeated. Default: 500 to 5."
    )
    reference_draws: int = Option(2, min=0, help="Draw two parts of the references this often; 0: never.")
    draws: int = Option(100, min=1, help="Draw questions and trials this often.")
    trials: Trials = None
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ..experiments.cut_references import CutReferences
        from ..experiments.stability import stability as find

        if self.references and not self.reference_draws:
            fail("--references: nothing is drawn with --reference-draws 0; leave one of them out")
        call, seed, n_draws = self.call, self.seed, self.reference_draws
        cut = None
        if n_draws:
            references = self.references or None
            cut = CutReferences(references, n_draws=n_draws, trials=self.trials, seed=seed, threads=call.threads)
        call.finish(find(call.scored(self.paths, cut), cut, n_draws=self.draws, seed=seed))


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


class _Sensitivity:
    """How do the scores depend on the constants: n-gram orders, the 0.5 % threshold, lengths 100 and 150, set weights?

    Each constant is varied around its default while the others keep theirs, and scores and ranking are compared with
    the default ones. A single pass over the answers computes all variations.

    Examples

      pfgen-fast experiment sensitivity result -o sensitivity

      pfgen-fast experiment sensitivity result --vary last_order=1,3,5,10 --vary limit=120,200 -o sensitivity
    """

    paths: options.Paths
    vary: list[str] | None = Option(
        None,
        help="Vary a constant over values (limit=120,150,200). May be repeated. Constants: last_order, first_order, "
        "threshold, target_length, limit. Default: all of them.",
        metavar="NAME=VALUES",
    )
    trials: Trials = None
    seed: options.RandomSeed = 0
    call: Call

    def __call__(self) -> None:
        from ..experiments.sensitivity import VariedConstants
        from ..experiments.sensitivity import sensitivity as find

        values = dict(map(_values, self.vary)) if self.vary else None
        varied = VariedConstants(values, trials=self.trials, seed=self.seed, threads=self.call.threads)
        self.call.finish(find(self.call.figures(self.paths, varied), varied))


def _values(text: str) -> tuple[str, list[float]]:
    """The name and the values of `NAME=VALUE,VALUE`."""
    name, _, values = text.partition("=")
    try:
        return name.strip(), [float(value) for value in values.split(",")]
    except ValueError:
        fail(f"--vary {text}: expected a constant and its values, such as limit=120,150,200")

"""`pfgen-fast experiment`: what the scores mean, as tables, pictures and text; one subcommand per experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from . import options
from .app import fail, warn
from .commands import LINES, new_group
from .engine_options import with_options
from .experiment_call import Call
from .experiment_judge import judge

if TYPE_CHECKING:
    from ..experiments import RunMeans, ScoredRuns

experiment = new_group(LINES["experiment"])


ClusterChoice = Literal["model", "organisation", "none"]
PickChoice = Literal["best", "mean"]
RunsChoice = Literal["all", "best", "mean"]
ClusterOption = Annotated[
    ClusterChoice,
    typer.Option(
        "--cluster",
        help="Treat runs of one model, or one organisation (the part before the slash), as dependent in intervals.",
    ),
]
RunsOption = Annotated[RunsChoice, typer.Option("--runs", help="Use all runs of a model, the best run, or their mean.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Set the random seed; the same seed gives the same figures.")]


OptionalPaths = Annotated[
    list[str] | None,
    typer.Argument(help="Runs: directories, trials files, directories with many runs, or globs.", metavar="[PATH...]"),
]
LeaderboardFile = Annotated[
    Path | None,
    typer.Option(
        "--table",
        help="Read a leaderboard instead of runs, as 'leaderboard --format csv' writes it.",
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
    help="Read scores from a CSV with a header: model names, then columns of scores. May be repeated.",
    metavar="FILE.csv",
)


@experiment.command("all")
@with_options(call=Call)
def everything(
    paths: options.Paths,
    scores: Annotated[list[Path] | None, OutsideFiles] = None,
    trials: Trials = None,
    seed: Seed = 0,
    *,
    call: Call,
) -> None:
    """All experiments but judge, from a single pass over the answers.

    Writes what relations, parts, sets, significance, stability, sensitivity and, with --scores, external write with
    their default options. An experiment that these runs do not allow is named and left out.

    Example

      pfgen-fast experiment all result -o experiments
    """
    from ..experiments.external import read_scores
    from ..experiments.together import Experiments

    outside = [read_scores(path) for path in scores or ()]
    experiments = call.read(Experiments, paths, outside=outside, trials=trials, seed=seed)
    call.take(experiments.scored)
    for finding in experiments.findings():
        call.show(finding)
    for problem in experiments.problems:
        warn(f"left out: {problem}")
    call.end(is_whole=not experiments.problems)


@experiment.command()
@with_options(call=Call)
def relations(
    paths: OptionalPaths = None,
    table: LeaderboardFile = None,
    runs: RunsOption = "all",
    cluster: ClusterOption = "model",
    seed: Seed = 0,
    *,
    call: Call,
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

    file = _table_instead(paths, table)
    of: RunMeans | ScoredRuns
    if file:
        of = _picked(call.table(file).runs, runs)
    elif runs == "all":
        of = call.scored(paths or [])
    else:
        of = _picked(call.figures(paths or []).run_means, runs)
    call.finish(find(of, cluster=cluster, seed=seed))


@experiment.command()
@with_options(call=Call)
def parts(paths: OptionalPaths = None, table: LeaderboardFile = None, *, call: Call) -> None:
    """Which part of a score is hardest, and from where on are answers helpful?

    Compares fluency, truthfulness and helpfulness over runs: their order, how far the best runs and the human and
    reference answers get, and from which fluency, truthfulness and score on helpfulness rises.

    Examples

      pfgen-fast experiment parts result -o parts

      pfgen-fast experiment parts --table leaderboard.csv -o parts
    """
    from ..experiments.parts import parts as find

    file = _table_instead(paths, table)
    call.finish(find(call.table(file).runs if file else call.figures(paths or []).run_means))


@experiment.command()
@with_options(call=Call)
def sets(
    paths: OptionalPaths = None,
    table: LeaderboardFile = None,
    chosen: Annotated[
        list[str] | None,
        typer.Option("--set", help="Compare this set. May be repeated. Default: the sets that most questions share."),
    ] = None,
    runs: RunsOption = "all",
    cluster: ClusterOption = "model",
    *,
    call: Call,
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

    file = _table_instead(paths, table)
    if file:
        leaderboard = call.table(file)
        by_set = scores_in_table(leaderboard, call.suite_of(file), chosen)
    else:
        by_set = scores_by_set(call.figures(paths or []), chosen)
    if runs != "all":
        by_set = by_set.one_per_model(runs)
    call.finish(find(by_set, cluster=cluster))


@experiment.command()
@with_options(call=Call)
def stability(
    paths: options.Paths,
    references: Annotated[
        list[int] | None,
        typer.Option(
            "--references", min=1, help="Keep N reference answers per set. May be repeated. Default: 500 to 5."
        ),
    ] = None,
    reference_draws: Annotated[
        int, typer.Option("--reference-draws", min=0, help="Draw two parts of the references this often; 0: never.")
    ] = 2,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Draw questions and trials this often.")] = 100,
    trials: Trials = None,
    seed: Seed = 0,
    *,
    call: Call,
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
        cut = CutReferences(references or None, n_draws=reference_draws, trials=trials, seed=seed, threads=call.threads)
    call.finish(find(call.scored(paths, cut), cut, n_draws=draws, seed=seed))


@experiment.command()
@with_options(call=Call)
def external(
    paths: options.Paths,
    scores: Annotated[list[Path], OutsideFiles],
    pick: Annotated[
        PickChoice, typer.Option("--runs", help="Use the best run of a model, or the mean of its runs.")
    ] = "best",
    cluster: ClusterOption = "model",
    *,
    call: Call,
) -> None:
    """Do the scores agree with other scores: of a judge model, of humans, of another leaderboard?

    Model names are matched exactly, then without case and separators, then without the part before the last slash. A
    name that would match two partners under a rule gets none; models without a partner are listed.

    Example

      pfgen-fast experiment external result --scores judge.csv --scores other.csv -o external
    """
    from ..experiments.external import external as find
    from ..experiments.external import read_scores

    files = [read_scores(path) for path in scores]
    means = call.figures(paths).run_means
    call.finish(find(means, files, pick=pick, cluster=cluster))


experiment.command()(judge)


CorrectionChoice = Literal["bh", "holm"]


@experiment.command()
@with_options(call=Call)
def significance(
    paths: options.Paths,
    alpha: Annotated[float, typer.Option("--alpha", help="Set the significance level.")] = 0.05,
    correction: Annotated[
        CorrectionChoice,
        typer.Option(help="Correct for comparisons: bh controls the share of false alarms, holm the chance of any."),
    ] = "bh",
    *,
    call: Call,
) -> None:
    """Which neighbours on the leaderboard really differ, and which runs cannot be distinguished?

    The paired t-test over questions, as in compare, for all pairs of runs, corrected for the number of all pairs. Runs
    that cannot be distinguished form groups.

    Example

      pfgen-fast experiment significance result -o significance
    """
    from ..experiments.significance import significance as find

    call.finish(find(call.figures(paths), alpha=alpha, correction=correction))


@experiment.command()
@with_options(call=Call)
def sensitivity(
    paths: options.Paths,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            help="Vary a constant over values (limit=120,150,200). May be repeated. Constants: last_order, "
            "first_order, threshold, target_length, limit. Default: all of them.",
            metavar="NAME=VALUES",
        ),
    ] = None,
    trials: Trials = None,
    seed: Seed = 0,
    *,
    call: Call,
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
    varied = VariedConstants(values, trials=trials, seed=seed, threads=call.threads)
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
    return runs if which == "all" else runs.one_per_model(which)

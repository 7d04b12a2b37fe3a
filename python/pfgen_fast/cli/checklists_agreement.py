"""`pfgen-fast checklists agree`, `drift`, `noise`: two judges, one judge at two times, and what is chance."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ChecklistError
from .app import Exit, fail
from .checklists_findings import DrawnFindingOptions, FindingOptions
from .checklists_options import JudgedRuns
from .engine_options import with_options

Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Directories of runs, directories with many runs, or files of judgements; each path is one side.",
        metavar="PATH...",
    ),
]


@with_options(given=DrawnFindingOptions)
def agree(
    paths: Paths,
    *,
    given: DrawnFindingOptions,
) -> None:
    """How far do two judges agree who judged the same answers?

    Compares the answers that both judged, with the same text and the same questions: per question and over all the
    share of equal levels, of levels next to each other, and kappa; per answer the correlation of scores; per model the
    places in the two tables. Intervals are over tasks. A path with several judges is a side for each; three sides or
    more are compared in pairs, and all together by Krippendorff's alpha.

    Examples

      pfgen-fast checklists agree runs-by-gpt runs-by-claude --suite SUITE -o agreement

      pfgen-fast checklists agree runs --suite SUITE --json
    """
    from ..checklists.reliability.agreement_finding import agree as find
    from ..checklists.reliability.judge_selection import open_sides

    sides = open_sides(paths, given.loaded, **given.of_judge)
    given.finish(find(sides, given.loaded, draws=given.draws, seed=given.seed))


@with_options(given=DrawnFindingOptions)
def drift(
    paths: Paths,
    sentinels: Annotated[
        bool,
        typer.Option("--sentinels", help="Compare the runs with the last answers that 'judge --sentinel' asked again."),
    ] = False,
    fail_on_drift: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if an area or a question moved beyond chance.")
    ] = False,
    *,
    given: DrawnFindingOptions,
) -> None:
    """Does a judge still say what it said?

    Compares what a judge said of the same answers at two times, OLD and NEW: by how many points each area moved, with
    an interval over tasks, which questions moved most, and which pairs of models change their order. A single path with
    two versions of a judge is both sides, the earlier one first.

    Examples

      pfgen-fast checklists drift runs-of-may runs-of-june --suite SUITE -o drift

      pfgen-fast checklists drift runs --sentinels --suite SUITE --check
    """
    from ..checklists.reliability.drift import drift_finding, drifted
    from ..checklists.reliability.judge_selection import check_pair, open_sides, sentinel_sides

    sides = open_sides(paths, given.loaded, **{**given.of_judge, "mixed": given.mixed or sentinels})
    if sentinels:
        sides.append(sentinel_sides(paths, given.loaded, judge=given.judge, on_fault=given.faults)[-1])
    old, new = check_pair(sides, "drift")
    found = drifted(old, new, given.loaded, draws=given.draws, seed=given.seed)
    finding = drift_finding(found, old, new)
    given.present(finding, finding.to_dict())
    if fail_on_drift and found.has_moved:
        fail("the judge has drifted", Exit.NO)
    given.faults.end()


@with_options(given=FindingOptions)
def noise(
    runs: JudgedRuns,
    wanted: Annotated[
        float,
        typer.Option("--wanted", min=0.01, help="Plan for this half width of an interval, in points.", metavar="X"),
    ] = 1.0,
    *,
    given: FindingOptions,
) -> None:
    """How much of a score is chance, and which questions are worth asking?

    Tells how sure scores are, and how many tasks or ratings would make them surer; where answers were rated several
    times ('judge --ratings K'), the noise of ratings apart from that of tasks. For each question: does it tell models
    apart, does it repeat another, does it reward length? And how well does the last one alone stand for the score?

    Example

      pfgen-fast checklists noise runs --suite SUITE -o noise
    """
    from ..checklists.reliability.judge_selection import check_single, counted_words, open_together
    from ..checklists.reliability.noise import measured
    from ..checklists.reliability.noise_finding import noise_finding

    if not math.isfinite(wanted):
        raise ChecklistError(f"--wanted: expected a number of points, not {wanted}")
    side = check_single(open_together(runs, given.loaded, **given.of_judge))
    found = measured(side, given.loaded, counted_words(runs, side, given.loaded))
    given.finish(noise_finding(found, wanted))

"""`pfgen-fast checklists agree`, `drift`, `noise`: two judges, one judge at two times, and what is chance."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ChecklistError
from . import checklists_options as options
from .app import Exit, Json, Quiet, fail
from .checklists_findings import check_page, present
from .checklists_printing import Faults

Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Folders of runs, folders that hold such folders, or files of judgements; each path is one side.",
        metavar="PATH...",
    ),
]


def agree(
    paths: Paths,
    suite: options.SuiteOption,
    judge: options.JudgeOption = None,
    mixed: options.Mixed = False,
    draws: options.Draws = 1000,
    seed: options.Seed = 0,
    output: options.Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
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
    from ..checklists.suite import ChecklistSuite

    check_page(output)
    read = ChecklistSuite.load(suite)
    faults = Faults()
    sides = open_sides(paths, read, judge=judge, mixed=mixed, on_fault=faults)
    finding = find(sides, read, draws=draws, seed=seed)
    present(finding, output, data=finding.to_dict() if as_json else None, quiet=quiet)
    faults.end()


def drift(
    paths: Paths,
    suite: options.SuiteOption,
    judge: options.JudgeOption = None,
    sentinels: Annotated[
        bool,
        typer.Option(
            "--sentinels", help="Compare the runs with the answers that 'judge --sentinel' asked anew, the last time."
        ),
    ] = False,
    mixed: options.Mixed = False,
    fail_on_drift: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if an area or a question moved beyond chance.")
    ] = False,
    draws: options.Draws = 1000,
    seed: options.Seed = 0,
    output: options.Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
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
    from ..checklists.suite import ChecklistSuite

    check_page(output)
    read = ChecklistSuite.load(suite)
    faults = Faults()
    if sentinels:
        before = open_sides(paths, read, judge=judge, mixed=True, on_fault=faults)
        sides = [*before, sentinel_sides(paths, read, judge=judge, on_fault=faults)[-1]]
    else:
        sides = open_sides(paths, read, judge=judge, mixed=mixed, on_fault=faults)
    old, new = check_pair(sides, "drift")
    found = drifted(old, new, read, draws=draws, seed=seed)
    finding = drift_finding(found, old, new)
    present(finding, output, data=finding.to_dict() if as_json else None, quiet=quiet)
    if fail_on_drift and found.has_moved:
        fail("the judge has drifted", Exit.NO)
    faults.end()


def noise(
    runs: options.JudgedRuns,
    suite: options.SuiteOption,
    judge: options.JudgeOption = None,
    mixed: options.Mixed = False,
    wanted: Annotated[
        float, typer.Option("--wanted", min=0.01, help="Half width of an interval to plan for, in points.", metavar="X")
    ] = 1.0,
    output: options.Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
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
    from ..checklists.suite import ChecklistSuite

    if not math.isfinite(wanted):
        raise ChecklistError(f"--wanted: expected a number of points, not {wanted}")
    check_page(output)
    read = ChecklistSuite.load(suite)
    faults = Faults()
    side = check_single(open_together(runs, read, judge=judge, mixed=mixed, on_fault=faults))
    found = measured(side, read, counted_words(runs, side, read))
    finding = noise_finding(found, wanted)
    present(finding, output, data=finding.to_dict() if as_json else None, quiet=quiet)
    faults.end()

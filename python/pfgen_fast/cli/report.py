"""`pfgen-fast report`: a page to explore runs, or a README.md in each run's folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import PfgenError, TrialsError
from ..files.foreign_text import link_target
from . import options
from .app import Exit, Quiet, counted, fail, shown, stdout, track, warn
from .origin import given_suite, print_origin

if TYPE_CHECKING:
    from ..report import ReportRun
    from ..suite.suite import Suite


def report(
    paths: options.Paths,
    suite: options.SuiteOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page to write, such as report.html.", metavar="FILE.html")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write a README.md beside each result instead, like the published ones.")
    ] = False,
    float_sum: options.FloatSumOption = options.FloatSumChoice.compensated,
    quiet: Quiet = False,
) -> None:
    """Creates a page of runs: leaderboard, plots, and sample answers to every question.

    The page is a single file and needs no network. Reads the result.json files that 'pfgen-fast score' wrote. Runs that
    differ in a few parameters, such as those of a sweep, are plotted over each parameter. Results that cannot be
    reported are listed and left out; the exit code is then 3.

    Examples

      pfgen-fast report result -o report.html

      pfgen-fast report result/openai --markdown
    """
    from ..files.reading import file_sha1
    from ..report import ReportRun, write_readme, write_report
    from ..report.checked import check_run
    from ..runs.checkout import run_name, suite_of_all
    from ..runs.leaderboard import find_results
    from ..runs.result import read_result

    if (output is None) != markdown:
        fail("give --output FILE.html for a page, or --markdown for a README.md beside each result")
    runs: list[tuple[Path, ReportRun]] = []
    results = find_results(paths)
    of_runs = suite_of_all([path.parent for path in results], given_suite(suite))
    for path in track(results, len(results), "results", quiet=quiet):
        try:
            run = ReportRun(
                run_name(path.parent),
                _link(path, output),
                read_result(path),
                float_sum=float_sum.value,
                result_hash=file_sha1(path),
            )
            check_run(run, of_runs)
        except TrialsError as error:
            warn(str(error))
        else:
            runs.append((path, run))
    if not runs:
        raise SystemExit(Exit.PARTIAL)
    if output is None:
        for path, run in track(runs, len(runs), "runs", quiet=quiet):
            write_readme(run, of_runs, path.with_name("README.md"))
    else:
        write_report(_with_intervals(runs, of_runs), of_runs, output)
    if not quiet:
        written = "a README.md beside each" if output is None else f"{output} ({output.stat().st_size / 1e6:.1f} MB)"
        stdout().print(f"{counted(len(runs), 'run')}: {shown(written)}")
        print_origin(of_runs)
    if len(runs) < len(results):
        raise SystemExit(Exit.PARTIAL)


def _with_intervals(runs: list[tuple[Path, ReportRun]], suite: Suite) -> list[ReportRun]:
    """The runs; runs of a sweep get intervals and curves from their trials."""
    from dataclasses import replace

    from ..report.sweeps import swept_values

    if swept_values([run.result.config for _, run in runs]) is None:
        return [run for _, run in runs]
    from ..runs.precision import TrialScores
    from ..runs.trials import RunFolder
    from ..scoring.scorer import Scorer

    scorer = Scorer(suite)
    found = []
    for path, run in runs:
        try:
            scores = TrialScores.of(RunFolder(path.parent, None), scorer)
        except PfgenError:  # a result can be reported without its trials
            scores = TrialScores(scorer)
        known = scores.n_trials > 0
        found.append(replace(run, intervals=scores.intervals() if known else {}, curve=scores.curve()))
    return found


def _link(result: Path, output: Path | None) -> str | None:
    if output is None:
        return None
    return link_target(result.parent, output.resolve().parent)

"""A call of an experiment, with the options that all experiments have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from . import options
from .app import Exit, Quiet, counting, warn
from .findings import show_finding
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ..experiments import Finding, RunFigures, ScoredRuns
    from ..experiments.leaderboard_table import LeaderboardTable
    from ..experiments.scored_runs import OnBatch
    from ..suite.suite import Suite

Read = TypeVar("Read")
Runs = TypeVar("Runs", bound="RunFigures")


class Call:
    """A call of an experiment: reads its runs, warns of those left out, and writes and prints what was found."""

    def __init__(
        self,
        output: Annotated[
            Path,
            typer.Option("--output", "-o", help="Write page, tables and pictures to this directory.", metavar="DIR"),
        ],
        suite: options.SuiteOption = None,
        report: Annotated[
            Path | None,
            typer.Option(help="Link the page to a report of the same runs (pfgen-fast report).", metavar="FILE.html"),
        ] = None,
        threads: options.Threads = None,
        quiet: Quiet = False,
    ) -> None:
        from ..files.writing import check_folder

        check_folder(output)
        self.output, self.quiet, self.threads, self._report = output, quiet, threads, report
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
        with counting("runs", quiet=self.quiet) as count:
            return read(paths, suite=self._given, threads=self.threads, on_progress=count, **more)

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
        show_finding(finding, self.output, report=self._report, quiet=self.quiet, is_said=self._problems)

    def end(self, *, is_whole: bool = True) -> None:
        """Names the suite, and exits accordingly where something was left out."""
        if self._suite is not None and not self.quiet:
            print_origin(self._suite)
        if self._problems or not is_whole:
            raise SystemExit(Exit.PARTIAL)

    def finish(self, finding: Finding) -> None:
        """Shows the only finding."""
        self.show(finding)
        self.end()

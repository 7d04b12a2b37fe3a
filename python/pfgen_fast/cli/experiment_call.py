"""A call of an experiment, with the options that all experiments have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from typer import Option

from . import options
from .app import Quiet, counting, exit_if_partial, warn
from .command_class import option_group
from .findings import show_finding
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ..experiments import Finding, RunFigures, ScoredRuns
    from ..experiments.leaderboard_table import LeaderboardTable
    from ..experiments.scored_runs import OnBatch
    from ..suite.suite import Suite

Runs = TypeVar("Runs", bound="RunFigures")


@dataclass
class _State:
    given: Suite | None = None
    used: Suite | None = None
    problems: Sequence[str] = ()


@option_group
class Call:
    """A call of an experiment: reads its runs, warns of runs that are left out, writes and prints the finding."""

    output: Path = Option(..., "-o", help="Write page, tables and pictures to this directory.", metavar="DIR")
    suite: options.SuiteOption = None
    report: Path | None = Option(
        None, help="Link the page to a report of the same runs (pfgen-fast report).", metavar="FILE.html"
    )
    threads: options.Threads = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        from ..files.writing import check_folder

        check_folder(self.output)
        self.state.given = given_suite(self.suite)

    @cached_property
    def state(self) -> _State:
        """The suites of the call, and the problems of its runs."""
        return _State()

    def scored(self, paths: list[str]) -> ScoredRuns:
        """The runs with the scores of every answer."""
        from ..experiments import score_runs

        return self._read(score_runs, paths)

    def figures(self, paths: list[str], on_batch: OnBatch | None = None) -> RunFigures:
        """The runs with the figures of their results."""
        from ..experiments import read_figures

        return self._read(read_figures, paths, on_batch=on_batch)

    def table(self, path: Path) -> LeaderboardTable:
        """The means of a leaderboard."""
        from ..experiments.leaderboard_table import read_leaderboard

        leaderboard = read_leaderboard(path)
        self._warn_of(leaderboard.runs.problems)
        return leaderboard

    def suite_of(self, path: Path) -> Suite:
        """The given suite, or that of the checkout that contains the file."""
        from ..runs.checkout import suite_of

        self.state.used = suite_of(path, self.state.given)
        return self.state.used

    def _read(self, read: Callable[..., Runs], paths: list[str], **more: object) -> Runs:
        """Reads runs, with a progress bar, records their suite, and warns of runs that are left out."""
        with counting("runs", quiet=self.quiet) as count:
            runs = read(paths, suite=self.state.given, threads=self.threads, on_progress=count, **more)
        self.state.used = runs.suite
        self._warn_of(runs.problems)
        return runs

    def _warn_of(self, problems: Sequence[str]) -> None:
        self.state.problems = problems
        warn(*problems)

    def show(self, finding: Finding) -> None:
        """Writes the files of a finding, and prints it."""
        show_finding(finding, self.output, report=self.report, quiet=self.quiet, is_said=self.state.problems)

    def end(self, *, is_whole: bool = True) -> None:
        """Prints the suite; ends with exit code 3 if something was left out."""
        if self.state.used is not None and not self.quiet:
            print_origin(self.state.used)
        exit_if_partial(self.state.problems or not is_whole)

    def finish(self, finding: Finding) -> None:
        """Shows the only finding."""
        self.show(finding)
        self.end()

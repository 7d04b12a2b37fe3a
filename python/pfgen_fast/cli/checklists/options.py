"""Options of several subcommands of `pfgen-fast checklists`, and the output of subcommands with a finding."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..app import Json, Quiet, caution, exit_if_partial, print_json, print_tables, show_finding
from ..parser import Argument, Option, option_group

if TYPE_CHECKING:
    from ...lab.checklists.checklist_runs import Run
    from ...lab.checklists.checklist_scoring import ChecklistScores
    from ...lab.checklists.checklist_suite import ChecklistSuite
    from ...lab.finding import Finding


MethodChoice = Literal["checklist", "llm-eval", "llm-eval-c"]


class Faults:
    """Lines that cannot be read; a line is reported when it is found, and only once."""

    def __init__(self) -> None:
        self._named: set[str] = set()

    def __call__(self, fault: str) -> None:
        if fault not in self._named:
            self._named.add(fault)
            caution(fault)

    def __bool__(self) -> bool:
        return bool(self._named)


@option_group
class SuiteOptions:
    """The options of commands that use a suite."""

    suite: str = Option(..., "Use this checklist suite: a directory, essays-en or essays-ja.", "-s", metavar="SUITE")
    quiet: Quiet = False

    @cached_property
    def loaded(self) -> ChecklistSuite:
        from ...lab.checklists.checklist_suite import ChecklistSuite

        return ChecklistSuite.load(self.suite)

    @cached_property
    def faults(self) -> Faults:
        return Faults()


@option_group
class RunOptions(SuiteOptions):
    """The options of commands that read runs on a suite."""

    runs: list[Path] = Argument(
        ..., "Runs: directories, directories with many runs, or files of judgements.", metavar="RUN..."
    )

    @cached_property
    def opened(self) -> list[Run]:
        from ...lab.checklists.checklist_runs import open_runs

        return open_runs(self.runs)


@option_group
class JudgedOptions(RunOptions):
    """The options of commands that read the judgements of one judge."""

    judge: str | None = Option(None, "Choose one of several judges by its name or version.")
    mixed: bool = Option(False, "Combine replies of several versions of the judge, and to several prompts.")

    @property
    def of_judge(self) -> dict[str, Any]:
        """The arguments of functions that read judgements."""
        return {"judge": self.judge, "mixed": self.mixed, "on_fault": self.faults}


@option_group
class ChecklistScoreOptions(JudgedOptions):
    """The options of commands that show scores."""

    missing: Literal["skip", "zero"] = Option("skip", "Leave out answers without a judgement, or count them as zero.")
    method: MethodChoice = Option("checklist", "Choose the method by which the judge was asked.")
    weights: Literal["suite", "equal"] = Option("suite", "Use the suite's weights, or equal weights (known as AVG-C).")

    def score(self) -> ChecklistScores:
        from ...lab.checklists.checklist_scoring import score_judged_runs

        return score_judged_runs(
            self.loaded, self.opened, missing=self.missing, method=self.method, weights=self.weights, **self.of_judge
        )


@option_group
class FindingOptions(SuiteOptions):
    """The options of commands that end with a finding."""

    as_json: Json = False

    def finish(self, finding: Finding) -> None:
        """Prints the finding as text or as JSON; exits with 3 if lines could not be read."""
        show_finding(finding, None, quiet=self.quiet or self.as_json)
        if self.as_json:
            print_json(finding.to_dict())
        elif not self.quiet:
            print_tables(finding.shown_tables)
        exit_if_partial(self.faults)


@option_group
class JudgedFindingOptions(FindingOptions, JudgedOptions):
    """The options of commands that read the judgements of one judge, and end with a finding."""

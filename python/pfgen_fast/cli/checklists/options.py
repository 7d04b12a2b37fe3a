"""Options of several subcommands of `pfgen-fast checklists`, and the output of subcommands with a finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..app import Json, Quiet, exit_if_partial, print_json, print_line, print_tables, show_finding, shown, warn
from ..options import RandomSeed
from ..parser import Argument, Option, option_group

if TYPE_CHECKING:
    from ...lab.checklists.checklist_runs import Run
    from ...lab.checklists.checklist_scoring import ChecklistScores
    from ...lab.checklists.checklist_suite import ChecklistSuite
    from ...lab.finding import Finding


_MOST_ROWS = 30

MethodChoice = Literal["checklist", "llm-eval", "llm-eval-c"]
ScaleChoice = Literal["unit", "ui"]
MarksScale = Annotated[
    ScaleChoice | None,
    Option(..., "Read verdicts of tables from 0 to 1 (unit) or from 0 to 4 (ui).", "--scale", show_default=False),
]
SuiteOption = Annotated[
    str, Option(..., "Use this checklist suite: a directory, essays-en or essays-ja.", "--suite", "-s", metavar="SUITE")
]
JudgedRuns = Annotated[
    list[Path],
    Argument(..., "Runs: directories, directories with many runs, or files of judgements.", metavar="RUN..."),
]
RunsWithAnswers = Annotated[
    list[Path], Argument(..., "Runs with answers.jsonl, or directories with many such runs.", metavar="RUN...")
]


class Faults:
    """Lines that cannot be read; a line is reported when it is found, and only once."""

    def __init__(self) -> None:
        self._named: set[str] = set()

    def __call__(self, fault: str) -> None:
        """Reports a line that was not reported before."""
        if fault not in self._named:
            self._named.add(fault)
            warn(fault)

    def __bool__(self) -> bool:
        return bool(self._named)


@option_group
class JudgedOptions:
    """The options of commands that read judgements."""

    suite: SuiteOption
    judge: str | None = Option(None, "Choose one of several judges by its name or version.")
    mixed: bool = Option(False, "Combine replies of several versions of the judge, and to several prompts.")
    quiet: Quiet = False

    @cached_property
    def loaded(self) -> ChecklistSuite:
        """The suite."""
        from ...lab.checklists.checklist_suite import ChecklistSuite

        return ChecklistSuite.load(self.suite)

    @cached_property
    def faults(self) -> Faults:
        """The lines that cannot be read."""
        return Faults()

    @property
    def of_judge(self) -> dict[str, Any]:
        """The arguments of functions that read judgements."""
        return {"judge": self.judge, "mixed": self.mixed, "on_fault": self.faults}


@option_group
class ChecklistScoreOptions(JudgedOptions):
    """The options of commands that show scores."""

    missing: Literal["skip", "zero", "bounds"] | None = Option(
        None, "Leave out answers without a judgement, count them as zero, or show bounds. Default: as the suite."
    )
    method: MethodChoice = Option("checklist", "Choose the method by which the judge was asked.")
    weights: Literal["suite", "equal"] = Option("suite", "Use the suite's weights, or equal weights (known as AVG-C).")

    def score(self, runs: Sequence[Run]) -> ChecklistScores:
        """Scores runs."""
        from ...lab.checklists.checklist_scoring import score_judged_runs

        return score_judged_runs(
            self.loaded, runs, missing=self.missing, method=self.method, weights=self.weights, **self.of_judge
        )


@option_group
class FindingOptions(JudgedOptions):
    """The options of commands that end with a finding; its output is checked before anything is computed."""

    output: Path | None = Option(
        None, "Write a page, tables and pictures to this directory. Default: print text only.", "-o", metavar="DIR"
    )
    as_json: Json = False

    def __post_init__(self) -> None:
        if self.output is not None:
            from ...base.file_writing import check_folder
            from ...report.drawing import library

            check_folder(self.output)
            library("matplotlib")  # before any work

    def present(self, finding: Finding, *, tables: Sequence[str] = ()) -> None:
        """Writes a page of the finding if a directory is given, and prints it as text, or its data as JSON."""
        show_finding(finding, self.output, quiet=self.quiet or self.as_json)
        if self.as_json:
            print_json(finding.to_dict())
        elif not self.quiet:
            _print_chosen_tables(finding, tables, has_page=self.output is not None)

    def finish(self, finding: Finding, *, tables: Sequence[str] = ()) -> None:
        """Presents the finding; exits with 3 if lines could not be read."""
        self.present(finding, tables=tables)
        exit_if_partial(self.faults)


@option_group
class DrawnFindingOptions(FindingOptions):
    """The options of commands that end with a finding that has bootstrap intervals."""

    draws: int = Option(1000, "Set the number of bootstrap draws; 0 computes no intervals.", min=0, max=1_000_000)
    seed: RandomSeed = 0


def _print_chosen_tables(finding: Finding, names: Sequence[str], *, has_page: bool) -> None:
    """Prints the named tables, or the beginning of the first one."""
    tables = finding.shown_tables
    if names:
        print_tables(table for table in tables if table.name in names)
        return
    for table in tables[:1]:
        print_tables([replace(table, rows=table.rows[:_MOST_ROWS])])
        if len(table) > _MOST_ROWS:
            print_line((f"and {len(table) - _MOST_ROWS:,} more rows", "dim"))
    if len(tables) > 1 and not has_page:
        titles = "; ".join(table.title for table in tables[1:])
        print_line((f"more with --output DIR or --json: {shown(titles)}", "dim"))

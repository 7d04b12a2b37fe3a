"""`pfgen-fast checklists import` and `info`: makes a suite and runs of HelloBench, and shows suites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...base.untrusted_text import counted, few_names
from ..app import Quiet, exit_if_partial, note, print_line, shown, warn
from ..parser import Argument, Option

if TYPE_CHECKING:
    from ...lab.checklists.checklist_suite import ChecklistSuite


class ChecklistsImport:
    """Makes a checklist suite of HelloBench, or runs of its results.

    SOURCE is a checkout of HelloBench's repository. With --suite, its answers and judgements become a run for each
    model. No code of the checkout is executed. Invalid lines are reported and left out; the exit code is then 3.

    Examples

      pfgen-fast checklists import HelloBench -o hello
      pfgen-fast checklists import HelloBench --suite hello -o runs
    """

    source: Path = Argument(..., "A checkout of HelloBench, or its results.", metavar="SOURCE")
    output: Path = Option(..., "Write the suite, or the directory of each run, here.", "-o", metavar="OUT")
    suite: str | None = Option(None, "Import the results as runs on this checklist suite.", "-s", metavar="SUITE")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...lab.checklists.checklist_suite import ChecklistSuite, write_suite
        from ...lab.checklists.hellobench import import_runs, import_suite

        if self.suite is None:
            suite = import_suite(self.source)
            write_suite(suite, self.output)
            if not self.quiet:
                _print_suite(suite, self.output)
            return
        has_problems = False
        for model in import_runs(self.source, ChecklistSuite.load(self.suite), self.output):
            has_problems |= bool(model.problems)
            warn(*model.problems)
            if model.n_answers and not self.quiet:
                numbers = f"{counted(model.n_answers, 'answer')}, {counted(model.n_judgements, 'judgement')}"
                print_line(f"{shown(model.key)}: {numbers}: {shown(self.output / model.key)}")
        exit_if_partial(has_problems)


class ChecklistsInfo:
    """Shows a checklist suite: areas, categories, numbers of tasks, questions with weights, missing instructions.

    Example

      pfgen-fast checklists info essays-en
    """

    suite: str = Argument(..., "Directory of a checklist suite, or a packaged suite.", metavar="SUITE")

    def __call__(self) -> None:
        from ...lab.checklists.checklist_suite import ChecklistSuite

        suite = ChecklistSuite.load(self.suite)
        _print_suite(suite, None)
        for (area, category), checklist in suite.checklists.items():
            lengths = [task.length for task in suite.tasks if task.place == (area, category)]
            named = ", ".join(dict.fromkeys(length for length in lengths if length is not None))
            n_tasks = f"{counted(lengths.count(None), 'task')}{f' (and {shown(named)})' if named else ''}"
            weights = "" if checklist.has_weights else ", equal weights"
            print_line((shown(f"{area}/{category}"), "bold"), f": {n_tasks}{weights}")
            for weight, question in zip(checklist.weights, checklist.questions, strict=True):
                print_line(f"  {weight:5.2f}  {shown(question)}")
        print_line((f"hash: {suite.hash}", "dim"))


def _print_suite(suite: ChecklistSuite, folder: Path | None) -> None:
    n_lengths = sum(task.length is not None for task in suite.tasks)
    lengths = f" and {n_lengths} with a wanted length ({shown(', '.join(suite.lengths))})" if n_lengths else ""
    where = "" if folder is None else f": {shown(folder)}"
    print_line(
        (shown(suite.name), "bold"),
        f" ({shown(suite.language)}): {counted(len(suite.tasks) - n_lengths, 'task')}{lengths}, "
        f"{counted(len(suite.areas), 'area')}, {counted(len(suite.checklists), 'category')}{where}",
    )
    parts = [task.id for task in suite.tasks if not task.is_whole]
    if parts:
        why = f"because the suite lacks a part of the instruction: {few_names(parts)}"
        note(f"{counted(len(parts), 'task')} cannot be shown to a judge, {why}")
    note(*suite.notes)

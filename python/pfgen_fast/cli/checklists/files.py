"""`pfgen-fast checklists import` and `info`: makes suites and runs of other data, and shows suites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import PfgenError
from ...base.untrusted_text import counted, few_names
from ..app import Json, Quiet, exit_if_partial, fail, note, print_json, print_line, shown, warn
from ..parser import Argument, Option

if TYPE_CHECKING:
    from ...lab.checklists.checklist_suite import ChecklistSuite
    from ...runs.trials import RunFolder
    from ...suite.suite import Suite


class ChecklistsImport:
    """Makes a checklist suite of HelloBench or of an n-gram suite, or runs of HelloBench's results.

    SOURCE is a checkout of HelloBench's repository, or an n-gram suite. With --suite, the answers and judgements of
    HelloBench become a run for each model. No code of the checkout is executed. Invalid and contradicting lines are
    reported and left out; the exit code is then 3. Each question of an n-gram suite becomes a task with the same ID,
    judged by a packaged checklist of five questions. With --runs, its runs become checklist runs in OUT/runs.

    Examples

      pfgen-fast checklists import HelloBench -o hello
      pfgen-fast checklists import HelloBench --suite hello -o runs
      pfgen-fast checklists import mini -o mini-checklists --runs result/openai --trials 3
    """

    source: str = Argument(..., "HelloBench, its results, a directory with Q*.json files, or 'mini'.", metavar="SOURCE")
    output: Path = Option(..., "Write the suite, or the directory of each run, here.", "-o", metavar="OUT")
    suite: str | None = Option(
        None, "Import the results of HelloBench as runs on this checklist suite.", "--suite", "-s", metavar="SUITE"
    )
    judge: str | None = Option(None, "Name the judge of the results. Default: gpt-4o.", metavar="MODEL")
    runs: list[str] | None = Option(None, "Also take the answers of runs on the n-gram suite.")
    trials: int | None = Option(None, "Take this many answers to each question. Default: all.", min=1)
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...lab.checklists.hellobench import import_suite
        from ...lab.checklists.ngram_suite import checklist_suite_of
        from ...runs.trials import find_runs
        from ...suite.suite import Suite
        from ...suite.suite_reading import packaged_names

        is_ngram_suite = self.source in packaged_names() or any(Path(self.source).glob("Q*.json"))
        if self.suite is None and self.judge is not None:
            fail("--judge: expected with --suite, for results of HelloBench")
        if (self.runs or self.trials) and not (is_ngram_suite and self.suite is None):
            fail("--runs and --trials: expected with an n-gram suite")
        if self.suite is not None:
            self.import_results(self.suite)
        elif is_ngram_suite:
            questions = Suite.load(self.source)
            runs = find_runs(self.runs) if self.runs else []
            self.write(checklist_suite_of(questions))
            are_written = [self.write_run(run, questions) for run in runs]
            exit_if_partial(not all(are_written))
        else:
            self.write(import_suite(self.source))

    def write(self, suite: ChecklistSuite) -> None:
        """Writes a suite, unless another directory is in its place."""
        from ...lab.checklists.checklist_suite import write_suite

        write_suite(suite, self.output)
        if not self.quiet:
            _print_suite(suite, self.output)

    def import_results(self, suite: str) -> None:
        """Writes a run for each model of HelloBench."""
        from ...lab.checklists.checklist_suite import ChecklistSuite
        from ...lab.checklists.hellobench import PUBLISHED_JUDGE, import_runs

        has_problems = False
        judge = self.judge or PUBLISHED_JUDGE
        for imported in import_runs(self.source, ChecklistSuite.load(suite), self.output, judge=judge):
            has_problems |= bool(imported.problems)
            warn(*imported.problems)
            if not self.quiet:
                note(*imported.notes)
                if imported.folder is not None:
                    numbers = f"{counted(imported.n_answers, 'answer')}, {counted(imported.n_judgements, 'judgement')}"
                    print_line(f"{shown(imported.key)}: {numbers}: {shown(imported.folder)}")
        exit_if_partial(has_problems)

    def write_run(self, run: RunFolder, suite: Suite) -> bool:
        """Writes a checklist run, or warns why it cannot be written; returns whether it was written."""
        from ...lab.checklists.checklist_runs import write_run
        from ...lab.checklists.ngram_suite import answers_of, key_of

        key = key_of(run)
        folder = self.output / "runs" / key
        try:
            answers = list(answers_of(run, suite, n_trials=self.trials))
            write_run(folder, answers, [], run.config() or {"model": key})
        except PfgenError as error:
            warn(str(error))
            return False
        if not self.quiet:
            print_line(f"{shown(key)}: {counted(len(answers), 'answer')}: {shown(folder)}")
        return True


class ChecklistsInfo:
    """Shows a checklist suite: areas, categories, numbers of tasks and questions, weights, and missing instructions.

    Example

      pfgen-fast checklists info essays-en --questions
    """

    suite: str = Argument(..., "Directory of a checklist suite, or a packaged suite.", metavar="SUITE")
    questions: bool = Option(False, "Print the questions of each category with their weights.")
    as_json: Json = False

    def __call__(self) -> None:
        from ...lab.checklists.checklist_suite import ChecklistSuite

        suite = ChecklistSuite.load(self.suite)
        if self.as_json:
            print_json(suite.to_dict())
            return
        _print_suite(suite, None)
        for area in suite.areas:
            print_line((shown(area), "bold"))
            for key, checklist in suite.checklists.items():
                if key[0] == area:
                    lengths = [task.length for task in suite.tasks if task.place == key]
                    named = ", ".join(dict.fromkeys(length for length in lengths if length is not None))
                    n_tasks = f"{counted(lengths.count(None), 'task')}{f' (and {shown(named)})' if named else ''}"
                    numbers = " ".join(f"{weight:.1f}" for weight in checklist.weights)
                    weights = f"weights {numbers}" if checklist.has_weights else "equal weights"
                    n_questions = counted(len(checklist.questions), "question")
                    print_line(f"  {shown(key[1])}: {n_tasks}, {n_questions}, {weights}")
                    for number, question in enumerate(checklist.questions if self.questions else (), start=1):
                        print_line(f"    {number}  {checklist.weights[number - 1]:5.2f}  {shown(question)}")
        print_line((f"hash: {suite.hash}", "dim"))


def _print_suite(suite: ChecklistSuite, folder: Path | None) -> None:
    n_lengths = sum(task.length is not None for task in suite.tasks)
    lengths = f" and {n_lengths} with a wanted length ({shown(', '.join(suite.lengths))})" if n_lengths else ""
    has_any = any(checklist.has_weights for checklist in suite.checklists.values())
    weights = "" if suite.has_weights else ", some with equal weights" if has_any else ", equal weights"
    where = "" if folder is None else f": {shown(folder)}"
    print_line(
        (shown(suite.name), "bold"),
        f" ({shown(suite.language)}): {counted(len(suite.tasks) - n_lengths, 'task')}{lengths}, "
        f"{counted(len(suite.areas), 'area')}, {counted(len(suite.checklists), 'category')}{weights}{where}",
    )
    parts = [task.id for task in suite.tasks if not task.is_whole]
    if parts:
        why = f"because the suite lacks a part of the instruction: {few_names(parts)}"
        note(f"{counted(len(parts), 'task')} cannot be shown to a judge, {why}")
    note(*suite.notes)

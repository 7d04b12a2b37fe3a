"""`pfgen-fast checklists import-suite`, `import`, `from-suite` and `show`: makes suites and runs, shows suites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from ..errors import ChecklistError, PfgenError
from ..files.untrusted_text import few_names, unknown_name
from . import checklists_options as options
from .app import Json, Quiet, counted, exit_if_partial, note, print_json, print_line, shown, warn

if TYPE_CHECKING:
    from ..checklists.importing.hellobench_results import Imported
    from ..checklists.suite import ChecklistSuite
    from ..checklists.tasks import Checklist
    from ..runs.trials import RunFolder
    from ..suite.suite import Suite


class _ImportSuite:
    """Makes a checklist suite of HelloBench: tasks, categories, checklists, weights and prompts.

    No code of the checkout is executed. If the checkout lacks a document that an instruction needs, the suite supports
    scores and reports, but no judge can be asked about this task.

    Example

      pfgen-fast checklists import-suite hellobench HelloBench -o hellobench-suite
    """

    source: str = Argument(help="Source of the suite: hellobench.", metavar="hellobench")
    folder: Path = Argument(help="Checkout of the repository, or a directory with the compact form.", metavar="DIR")
    output: options.SuiteFolder
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..checklists.importing.hellobench_suite import import_suite as imported
        from ..checklists.suite_writing import check_suite_folder, write_suite

        if self.source != "hellobench":
            raise ChecklistError(unknown_name("source of suites", self.source, ["hellobench"]))
        check_suite_folder(self.output)
        suite = imported(self.folder)
        write_suite(suite, self.output)
        if not self.quiet:
            _print_suite(suite, self.output)


class _Import:
    """Imports answers and judgements of HelloBench: a run for each model.

    Invalid lines are reported and skipped. Two different judgements of one answer, or two different texts of it, are
    reported, and both are left out. The exit code is then 3.

    Example

      pfgen-fast checklists import HelloBench --suite hellobench-suite -o runs
    """

    folder: Path = Argument(
        help="Checkout of HelloBench, its directory of results, or a directory with the compact form.",
        metavar="FOLDER",
    )
    suite: options.SuiteOption
    output: Path = Option(..., "-o", help="Write a directory for each model here.", metavar="RUNS")
    judge: str = Option("gpt-4o", help="Name the judge, which the files do not name.", metavar="MODEL")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..checklists.importing.hellobench_results import import_runs
        from ..checklists.suite import ChecklistSuite

        has_problems = False
        for one in import_runs(self.folder, ChecklistSuite.load(self.suite), self.output, judge=self.judge):
            has_problems |= bool(one.problems)
            warn(*one.problems)
            if not self.quiet:
                _print_imported(one)
        exit_if_partial(has_problems)


class _FromSuite:
    """Makes a checklist suite of the questions of an n-gram suite, and checklist runs of its runs.

    Each question becomes a task with the same ID, judged by a packaged checklist of five questions with equal weights:
    is the answer correct, complete, understandable, in the style asked for, without a flaw. With --runs, answers keep
    their numbers, so that checklist scores and n-gram scores can be compared answer by answer.

    Examples

      pfgen-fast checklists from-suite mini -o mini-checklists

      pfgen-fast checklists from-suite data -o checklists --runs result/openai --trials 3
    """

    suite: str = Argument(help="Directory with Q*.json files, or 'mini'.", metavar="PFGEN-SUITE")
    output: options.SuiteFolder
    runs: list[str] | None = Option(
        None, help="Also take the answers of a run on the suite, or of a directory of runs. May be repeated."
    )
    trials: int | None = Option(None, min=1, help="Take this many answers to each question. Default: all.")
    runs_output: Path | None = Option(
        None, help="Write the checklist runs here. Default: runs in SUITE.", metavar="RUNS"
    )
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..checklists.importing.ngram_suite import checklist_suite_of
        from ..checklists.suite_writing import check_suite_folder, write_suite
        from ..runs.trials import find_runs
        from ..suite.suite import Suite

        questions = Suite.load(self.suite)
        check_suite_folder(self.output)
        found = find_runs(self.runs) if self.runs else []
        made = checklist_suite_of(questions)
        write_suite(made, self.output)
        if not self.quiet:
            _print_suite(made, self.output)
        are_written = [self.write_run(run, questions) for run in found]
        exit_if_partial(not all(are_written))

    def write_run(self, run: RunFolder, suite: Suite) -> bool:
        """Writes a checklist run, or warns why it cannot be written; returns whether it was written."""
        from ..checklists.importing.ngram_suite import answers_of, key_of
        from ..checklists.runs import write_run

        key = key_of(run)
        folder = (self.runs_output or self.output / "runs") / key
        try:
            answers = list(answers_of(run, suite, n_trials=self.trials))
            write_run(folder, answers, [], run.config() or {"model": key})
        except PfgenError as error:
            warn(str(error))
            return False
        if not self.quiet:
            print_line(f"{shown(key)}: {counted(len(answers), 'answer')}: {shown(folder)}")
        return True


class _Show:
    """Shows a checklist suite: areas, categories, numbers of tasks and questions, weights, and missing instructions.

    Examples

      pfgen-fast checklists show essays-en --questions

      pfgen-fast checklists show hellobench-suite --json
    """

    suite: str = Argument(help="Directory of a checklist suite, or a packaged suite.", metavar="SUITE")
    questions: bool = Option(False, help="Print the questions of each category with their weights.")
    as_json: Json = False

    def __call__(self) -> None:
        from ..checklists.suite import ChecklistSuite

        loaded = ChecklistSuite.load(self.suite)
        if self.as_json:
            print_json(_described(loaded))
            return
        _print_suite(loaded, None)
        for area in loaded.areas:
            print_line((shown(area), "bold"))
            for (of_area, category), checklist in loaded.checklists.items():
                if of_area == area:
                    print_line(f"  {_category_line(loaded, area, category, checklist)}")
                    for number, question in enumerate(checklist.questions if self.questions else (), start=1):
                        print_line(f"    {number}  {checklist.weights[number - 1]:5.2f}  {shown(question)}")
        print_line((f"hash: {loaded.hash}", "dim"))


def _category_line(suite: ChecklistSuite, area: str, category: str, checklist: Checklist) -> str:
    tasks = [task for task in suite.tasks if task.place == (area, category)]
    n_main = sum(task.length is None for task in tasks)
    lengths = ", ".join(dict.fromkeys(task.length for task in tasks if task.length is not None))
    numbers = " ".join(f"{weight:.1f}" for weight in checklist.weights)
    n_tasks = f"{counted(n_main, 'task')}{f' (and {shown(lengths)})' if lengths else ''}"
    weights = f"weights {numbers}" if checklist.has_weights else "equal weights"
    return f"{shown(category)}: {n_tasks}, {counted(len(checklist.questions), 'question')}, {weights}"


def _described(suite: ChecklistSuite) -> dict[str, object]:
    return {
        "name": suite.name,
        "language": suite.language,
        "hash": suite.hash,
        "checklists_hash": suite.checklists_hash,
        "levels": list(suite.levels),
        "rescale": {"centre": suite.rescaling.centre, "factor": suite.rescaling.factor},
        "words": suite.words,
        "missing": suite.missing,
        "areas": list(suite.areas),
        "lengths": list(suite.lengths),
        "categories": [
            {
                "area": area,
                "category": category,
                "tasks": sum((*task.place, task.length) == (area, category, None) for task in suite.tasks),
                "questions": list(checklist.questions),
                "weights": list(checklist.weights),
                "has_weights": checklist.has_weights,
                "sha256": checklist.sha256,
            }
            for (area, category), checklist in suite.checklists.items()
        ],
        "tasks": len(suite.tasks),
        "not_whole": [[task.id, task.length] for task in suite.tasks if not task.is_whole],
        "notes": list(suite.notes),
    }


def _equal_weights(suite: ChecklistSuite) -> str:
    if suite.has_weights:
        return ""
    has_any = any(checklist.has_weights for checklist in suite.checklists.values())
    return ", some with equal weights" if has_any else ", equal weights"


def _print_suite(suite: ChecklistSuite, folder: Path | None) -> None:
    n_lengths = sum(task.length is not None for task in suite.tasks)
    lengths = f" and {n_lengths} with a wanted length ({shown(', '.join(suite.lengths))})" if n_lengths else ""
    where = "" if folder is None else f": {shown(folder)}"
    print_line(
        (shown(suite.name), "bold"),
        f" ({shown(suite.language)}): {counted(len(suite.tasks) - n_lengths, 'task')}{lengths}, "
        f"{counted(len(suite.areas), 'area')}, {counted(len(suite.checklists), 'category')}"
        f"{_equal_weights(suite)}{where}",
    )
    parts = [task.id for task in suite.tasks if not task.is_whole]
    if parts:
        why = f"because the suite lacks a part of the instruction: {few_names(parts)}"
        note(f"{counted(len(parts), 'task')} cannot be shown to a judge, {why}")
    note(*suite.notes)


def _print_imported(one: Imported) -> None:
    note(*one.notes)
    if one.folder is not None:
        n_answers, n_judgements = counted(one.n_answers, "answer"), counted(one.n_judgements, "judgement")
        print_line(f"{shown(one.key)}: {n_answers}, {n_judgements}: {shown(one.folder)}")

"""`pfgen-fast checklists import-suite`, `import`, `from-suite` and `show`: suites and runs, before any judge."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import checklists_options as options
from .app import Exit, Json, Quiet, counted, note, print_json, print_line, shown, warn

if TYPE_CHECKING:
    from ..checklists.importing.hellobench_results import Imported
    from ..checklists.suite import ChecklistSuite
    from ..runs.trials import RunFolder
    from ..suite.suite import Suite

_MOST_NOT_WHOLE = 3


def import_suite(
    source: Annotated[str, typer.Argument(help="Source of the suite: hellobench.", metavar="hellobench")],
    folder: Annotated[
        Path,
        typer.Argument(help="Checkout of the repository, or a directory with its data in compact form.", metavar="DIR"),
    ],
    output: options.SuiteFolder,
    quiet: Quiet = False,
) -> None:
    """Makes a checklist suite of HelloBench: tasks, categories, checklists, weights and prompts.

    Nothing of the checkout is executed. Where it lacks a document that an instruction needs, the suite can score and
    report, but a judge cannot be asked about these tasks.

    Example

      pfgen-fast checklists import-suite hellobench HelloBench -o hellobench-suite
    """
    from ..checklists.importing.hellobench_suite import import_suite as imported
    from ..checklists.suite_writing import check_suite_folder, write_suite
    from ..errors import ChecklistError
    from ..files.untrusted_text import unknown_name

    if source != "hellobench":
        raise ChecklistError(unknown_name("source of suites", source, ["hellobench"]))
    check_suite_folder(output)
    suite = imported(folder)
    write_suite(suite, output)
    if not quiet:
        _print_suite(suite, output)


def import_results(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Checkout of HelloBench, its results, a directory in them, or a directory with their compact form.",
            metavar="FOLDER",
        ),
    ],
    suite: options.SuiteOption,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write a directory for each model here.", metavar="RUNS")
    ],
    judge: Annotated[
        str, typer.Option("--judge", help="Name the judge, which the files do not name.", metavar="MODEL")
    ] = "gpt-4o",
    quiet: Quiet = False,
) -> None:
    """Imports answers and judgements of HelloBench: a run for each model.

    A line that cannot be used is named and left out; a model with two different judgements of one answer is named and
    left out as a whole. The exit code is then 3.

    Example

      pfgen-fast checklists import HelloBench --suite hellobench-suite -o runs
    """
    from ..checklists.importing.hellobench_results import import_runs
    from ..checklists.suite import ChecklistSuite

    has_problems = False
    for one in import_runs(folder, ChecklistSuite.load(suite), output, judge=judge):
        has_problems |= bool(one.problems)
        _print_imported(one, quiet=quiet)
    if has_problems:
        raise SystemExit(Exit.PARTIAL)


def from_suite(
    suite: Annotated[str, typer.Argument(help="Directory with Q*.json files, or 'mini'.", metavar="PFGEN-SUITE")],
    output: options.SuiteFolder,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--runs", help="Also take the answers of a run on the suite, or of a directory of runs. May be repeated."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", min=1, help="Take this many answers to each question. Default: all.")
    ] = None,
    runs_output: Annotated[
        Path | None,
        typer.Option("--runs-output", help="Write the checklist runs here. Default: runs in SUITE.", metavar="RUNS"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Makes a checklist suite of the questions of an n-gram suite, and checklist runs of the runs on it.

    Each question becomes a task with the same ID, judged by a packaged checklist of five questions with equal weights:
    is the answer correct, complete, understandable, in the style asked for, without a flaw. With --runs, answers keep
    their numbers, so that checklist scores and n-gram scores can be compared answer by answer.

    Examples

      pfgen-fast checklists from-suite mini -o mini-checklists

      pfgen-fast checklists from-suite data -o checklists --runs result/openai --trials 3
    """
    from ..checklists.importing.ngram_suite import checklist_suite_of
    from ..checklists.suite_writing import check_suite_folder, write_suite
    from ..runs.trials import find_runs
    from ..suite.suite import Suite

    questions = Suite.load(suite)
    check_suite_folder(output)
    found = find_runs(runs) if runs else []
    made = checklist_suite_of(questions)
    write_suite(made, output)
    if not quiet:
        _print_suite(made, output)
    if not _write_runs(questions, found, trials, runs_output or output / "runs", quiet=quiet):
        raise SystemExit(Exit.PARTIAL)


def _write_runs(suite: Suite, runs: Iterable[RunFolder], n_trials: int | None, output: Path, *, quiet: bool) -> bool:
    """Writes checklist runs; names those that cannot be, and returns whether there are none."""
    from ..checklists.importing.ngram_suite import answers_of, key_of
    from ..checklists.runs import write_run
    from ..errors import PfgenError

    is_whole = True
    for run in runs:
        key = key_of(run)
        try:
            answers = list(answers_of(run, suite, n_trials=n_trials))
            write_run(output / key, answers, [], run.config() or {"model": key})
        except PfgenError as error:
            warn(str(error))
            is_whole = False
        else:
            if not quiet:
                print_line(f"{shown(key)}: {counted(len(answers), 'answer')}: {shown(str(output / key))}")
    return is_whole


def show(
    suite: Annotated[str, typer.Argument(help="Directory of a checklist suite, or a packaged suite.", metavar="SUITE")],
    questions: Annotated[
        bool, typer.Option("--questions", help="Print the questions of each category with their weights.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Shows a checklist suite: areas, categories, numbers of tasks and questions, weights, and what is missing.

    Examples

      pfgen-fast checklists show essays-en --questions

      pfgen-fast checklists show hellobench-suite --json
    """
    from ..checklists.suite import ChecklistSuite

    loaded = ChecklistSuite.load(suite)
    if as_json:
        print_json(_described(loaded))
        return
    _print_suite(loaded, None)
    for area in loaded.areas:
        print_line((shown(area), "bold"))
        for (of_area, category), checklist in loaded.checklists.items():
            if of_area != area:
                continue
            tasks = [task for task in loaded.tasks if (task.area, task.category) == (area, category)]
            n_main = sum(task.length is None for task in tasks)
            lengths = ", ".join(dict.fromkeys(task.length for task in tasks if task.length is not None))
            weights = " ".join(f"{weight:.1f}" for weight in checklist.weights)
            print_line(
                f"  {shown(category)}: {counted(n_main, 'task')}{f' (and {shown(lengths)})' if lengths else ''}, "
                f"{counted(len(checklist.questions), 'question')}, "
                f"{f'weights {weights}' if checklist.has_weights else 'equal weights'}"
            )
            for number, question in enumerate(checklist.questions if questions else ()):
                print_line(f"    {number}  {checklist.weights[number]:5.2f}  {shown(question)}")
    print_line((f"hash: {loaded.hash}", "dim"))


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
                "tasks": sum((task.area, task.category, task.length) == (area, category, None) for task in suite.tasks),
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
    where = "" if folder is None else f": {shown(str(folder))}"
    print_line(
        (shown(suite.name), "bold"),
        f" ({shown(suite.language)}): {counted(len(suite.tasks) - n_lengths, 'task')}{lengths}, "
        f"{counted(len(suite.areas), 'area')}, {len(suite.checklists)} "
        f"{'category' if len(suite.checklists) == 1 else 'categories'}"
        f"{_equal_weights(suite)}{where}",
    )
    parts = [task.id for task in suite.tasks if not task.is_whole]
    if parts:
        note(
            f"{counted(len(parts), 'task')} cannot be shown to a judge, for the suite lacks a part of the instruction: "
            f"{', '.join(parts[:_MOST_NOT_WHOLE])}{', ...' if len(parts) > _MOST_NOT_WHOLE else ''}"
        )
    for one in suite.notes:
        note(one)


def _print_imported(one: Imported, *, quiet: bool) -> None:
    for problem in one.problems:
        warn(problem)
    if quiet:
        return
    for text in one.notes:
        note(text)
    if one.folder is not None:
        print_line(
            f"{shown(one.key)}: {counted(one.n_answers, 'answer')}, {counted(one.n_judgements, 'judgement')}: "
            f"{shown(str(one.folder))}"
        )

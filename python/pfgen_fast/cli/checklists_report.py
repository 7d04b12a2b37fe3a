"""`pfgen-fast checklists report`: a page with the scores, and with every answer beside its verdicts and reasons."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from .app import counted, counting, shown, stdout
from .checklists_options import JudgedRuns, ScoreOptions
from .checklists_table import say_and_end
from .engine_options import with_options


@with_options(given=ScoreOptions)
def report(
    runs: JudgedRuns,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write a page such as report.html, or a directory with a page and its data.",
            metavar="FILE.html|FOLDER",
        ),
    ] = Path("checklists"),
    *,
    given: ScoreOptions,
) -> None:
    """Creates a page of models: scores with intervals, categories, questions, and answers beside verdicts and reasons.

    The page needs no network and runs no code but its own, whatever answers and reasons hold. It shows what is missing,
    unjudged or stale, error modes, and the whole request behind each verdict where the run has the judge's replies.
    Runs without answers are shown with their verdicts and reasons alone. A single file is at most 30 MB: if all texts
    would exceed that, it leaves out the requests, then the ends of long answers, and says so; a folder holds
    everything, opens from disk too, and replaces nothing but an earlier report. The table is written beside the page as
    Markdown, CSV and JSON. The exit code is 3 if answers are left out because the judge gave no usable reply, or
    because their lines cannot be read.

    Examples

      pfgen-fast checklists report runs --suite hellobench -o report.html

      pfgen-fast checklists report runs --suite hellobench -o report

      pfgen-fast checklists report runs/a runs/b --suite essays-en --missing zero -o report.html
    """
    from ..checklists import open_runs
    from ..files.writing import check_folder
    from ..report.checklists import write_checklists
    from ..report.checklists.writing import is_one_file
    from ..report.templating import library

    library("jinja2")  # before any work
    check_folder(output.parent if is_one_file(output) else output)
    opened = open_runs(runs)
    scores = given.score(opened)
    with counting("models", quiet=given.quiet) as count:
        done = itertools.count()
        page, *beside = write_checklists(
            scores,
            opened,
            output,
            judge=given.judge,
            on_fault=given.faults,
            on_model=lambda key: count(next(done), len(scores.models), key),
        )
    if not given.quiet:
        names = ", ".join(shown(path.name) for path in beside)
        stdout().print(f"{counted(len(scores.models), 'model')}: {shown(str(page))}, and beside it {names}")
    say_and_end(scores, given.faults, is_quiet=True)

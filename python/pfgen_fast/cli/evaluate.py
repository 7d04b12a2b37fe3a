"""`pfgen-fast evaluate`: generate, score, place and report a run in one command."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from typer import Option

from .app import Json, Quiet, exit_if_partial, note, print_json, print_line, shown, stdout
from .generate import Generating, as_json, print_answers
from .place import print_placement
from .report import _Report, check_page
from .score import print_outcome
from .score_table_options import ScoreTableOptions
from .suite_line import about_interval, print_origin

if TYPE_CHECKING:
    from ..item_scores.placement import Placement
    from ..runs.leaderboard import Entry
    from ..suite.suite import Suite

_USUAL_TRIALS = 100  # of the published runs


class _Evaluate(Generating):
    """Generates, scores, places and reports a run in one command.

    Answers the questions of a suite, scores the run, places it among the published runs, and writes a page with its
    answers. The commands 'generate', 'score', 'place' and 'report' do the same; they are printed at the end. Running
    the command again continues where it was stopped. 'pfgen-fast suite get pfgen-bench' fetches the published suite.

    Examples

      pfgen-fast evaluate -e ngram

      pfgen-fast evaluate -e openai --base-url http://localhost:8000/v1 -m org/model --mode chat

      pfgen-fast evaluate -e transformers -m checkpoints/step-100 --trials 100
    """

    suite: str = Option(
        "pfgen-bench",
        "-s",
        help="Name the suite: pfgen-bench, mini, or a directory with Q*.json files and questions.jsonl.",
        metavar="SUITE",
    )
    page: Path | None = Option(
        None, "--report", help="Write the report to this file. Default: report.html in the run's directory."
    )
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ..runs.leaderboard import rank
        from ..runs.result import result_path
        from ..runs.trials import find_runs

        is_silent = self.quiet or self.as_json
        if self.page:
            check_page(self.page)
        made, suite = self.run(is_silent=is_silent)
        print_answers(made, quiet=is_silent)
        outcome = made.score(suite)
        if outcome is not None and (outcome.error or not is_silent):
            print_outcome(outcome)
        if not is_silent:
            if outcome is not None and outcome.interval:
                print_line((about_interval("questions"), "dim"))
            print_origin(suite)
        # Without a complete trial, and for some questions only, there is no result.json.
        if outcome is None or outcome.status == "failed" or suite.whole is not None:
            if self.as_json:
                print_json(as_json(made, suite, outcome))
            elif outcome is not None and suite.whole is not None:
                note("not placed and not reported: the run has some questions of the suite only")
            exit_if_partial(made.problems or outcome is None or outcome.status == "failed")
            return
        (run,) = find_runs([made.folder])
        (entry,) = rank([result_path(run)])
        placement = self.placed(entry, suite, is_silent=is_silent)
        page = self.page or made.folder / "report.html"
        tables = ScoreTableOptions()
        cast(Any, _Report)(paths=[str(made.folder)], suite=self.suite, output=page, tables=tables, quiet=True)()
        if self.as_json:
            placed = placement and placement.to_dict()
            print_json({**as_json(made, suite, outcome), "placement": placed, "report": str(page)})
        elif not self.quiet:
            _print_precision(entry)
            _print_steps(made.folder, page, self.suite, is_placed=placement is not None)
        exit_if_partial(made.problems)

    def placed(self, entry: Entry, suite: Suite, *, is_silent: bool) -> Placement | None:
        """The run among the published runs; None, with a note, if it cannot be placed."""
        from ..runs.placement import Field
        from ..runs.result_tables import published

        field = Field(published())
        if entry.result.metadata_hash != field.metadata_hash:
            if not is_silent:
                note(f"not placed: {suite.name} is not the suite of the published runs (--suite pfgen-bench)")
            return None
        placement = field.place(entry)
        if not is_silent:
            print_placement(placement)
        return placement


def _print_precision(entry: Entry) -> None:
    """Prints how far the draw of the trials can move the score, and how far with the usual number."""
    from ..statistics.mean_interval import quantile

    n, deviation = entry.result.num_trials, entry.result.score_std
    if not 2 <= n < _USUAL_TRIALS or not deviation > 0:
        return
    now, then = (quantile(trials - 1) * deviation / math.sqrt(trials) for trials in (n, _USUAL_TRIALS))
    stdout().print(
        f"{n} trials: other answers of the model would move the score by ±{now:.4f} (95 %, over trials); "
        f"with {_USUAL_TRIALS} trials by ±{then:.4f} (--trials {_USUAL_TRIALS})"
    )


def _print_steps(folder: Path, page: Path, suite: str, *, is_placed: bool) -> None:
    print_line(f"report: {shown(page)}")
    print_line("the same steps one by one:")
    given = _without_report(sys.argv[2:])
    named = [] if {"-s", "--suite"} & {word.partition("=")[0] for word in given} else ["--suite", suite]
    steps: list[list[Any]] = [
        ["generate", *given, *named],
        ["score", folder, "--suite", suite],
        *([["place", folder]] if is_placed else []),
        ["report", folder, "--suite", suite, "-o", page],
    ]
    for step in steps:
        print_line(("  " + shown(shlex.join(["pfgen-fast", *map(str, step)])), "dim"))


def _without_report(words: list[str]) -> list[str]:
    """The words of the command without the option that 'generate' lacks."""
    found, rest = [], iter(words)
    for word in rest:
        if word == "--report":
            next(rest, None)
        elif not word.startswith("--report="):
            found.append(word)
    return found

"""`pfgen-fast suite build` and `suite keywords`: reference sets from raw answers, and suggested keyword rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .app import Exit, Json, Quiet, counting, fail, note, print_json, shown, stdout, warn

if TYPE_CHECKING:
    from ..refset.pipeline import Branch, Built


def build(
    config: Annotated[
        Path,
        typer.Argument(
            help="TOML file with questions, raw answers and the settings of each stage.", metavar="CONFIG.toml"
        ),
    ],
    stage: Annotated[
        str | None,
        typer.Option(help="Run only this stage: raw, normalise, filter, frequency, length or select.", metavar="NAME"),
    ] = None,
    until_stable: Annotated[
        bool, typer.Option("--until-stable", help="Repeat the frequency filter until it removes nothing.")
    ] = False,
    threads: options.Threads = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Run finished stages again.")] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write the report.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Builds a suite from raw answers: normalises and filters them, and selects the reference answers.

    Every stage stores in the work folder the answers it kept, the answers it removed, and the reasons. Stages that are
    done are not repeated: the command may be stopped at any moment, and running it again continues.

    Examples

      pfgen-fast suite build my-suite.toml

      pfgen-fast suite build my-suite.toml --stage filter
    """
    from ..refset.config import read_config, repeating
    from ..refset.pipeline import build as build_suite
    from ..refset.stages import NAMES
    from ..report.building import write_building_report

    read = read_config(config)
    if until_stable:
        read = repeating(read)
    try:
        with counting("stages", quiet=quiet or as_json) as count:
            built = build_suite(read, stage=stage, threads=threads, force=force, on_step=count)
            report = None
            if built.is_written and not no_report:
                n_stages = len(built.branches) * len(NAMES)
                report = write_building_report(
                    built, threads=threads, on_branch=lambda branch: count(n_stages, n_stages, f"report: {branch.name}")
                )
    except KeyboardInterrupt:
        fail("stopped; finished stages are kept; run the same command again to continue", Exit.STOPPED)
    for sentence in built.notes:
        note(sentence)
    for problem in built.problems:
        warn(problem)
    if as_json:
        print_json(_as_json(built, report))
    elif not quiet:
        _print(built, report)
    if built.problems:
        raise SystemExit(Exit.PARTIAL)


def _as_json(built: Built, report: Path | None) -> dict[str, Any]:
    from ..refset.pipeline import records

    return {
        "suite": str(built.config.suite) if built.is_written else None,
        "report": str(report) if report else None,
        "n_stages_run": built.n_run,
        "problems": list(built.problems),
        "notes": list(built.notes),
        "sets": [
            {
                "question_id": branch.asked.question_id,
                "set": branch.set_name,
                "left": {stage: record["left"]["n"] for stage, record in records(branch)},
            }
            for branch in built.branches
        ],
    }


def _print(built: Built, report: Path | None) -> None:
    from ..refset.stages import NAMES

    out = stdout()
    width = max(len(_label(branch)) for branch in built.branches)
    out.print(f"{'answers left':{width}}  {'  '.join(f'{name:>10}' for name in NAMES)}", style="bold")
    for branch in built.branches:
        out.print(f"{shown(_label(branch)):{width}}  {'  '.join(_left(branch))}")
    if built.is_written:
        out.print(f"suite: {shown(str(built.config.suite))}")
    if report:
        out.print(f"report: {shown(str(report))}")


def _label(branch: Branch) -> str:
    return f"{branch.asked.question_id} {branch.set_name}"


def _left(branch: Branch) -> list[str]:
    from ..refset.pipeline import records
    from ..refset.stages import NAMES

    left = {stage: f"{record['left']['n']:,}" for stage, record in records(branch)}
    return [f"{left.get(name, '–'):>10}" for name in NAMES]


def keywords(
    suite: options.RequiredSuite,
    question: Annotated[str, typer.Argument(help="ID or text of a question.", metavar="QUESTION")],
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="Limit the number of suggestions.")] = 20,
    min_share: Annotated[
        float, typer.Option(help="Suggest n-grams in at least this share of the question's reference answers.")
    ] = 0.1,
    threads: options.Threads = None,
    as_json: Json = False,
) -> None:
    """Suggests keyword rules: n-grams in a question's reference answers that the answers to other questions lack.

    The suggestions are a draft; a human decides what an answer must contain. --json adds the rules for the question
    file.

    Example

      pfgen-fast suite keywords mini Q02
    """
    from ..refset.suggestions import suggest_keywords
    from ..suite.suite import Suite

    if not 0 < min_share <= 1:
        fail(f"--min-share: expected a number above 0 and up to 1, not {min_share:g}")
    found = suggest_keywords(Suite.load(suite), question, n=number, min_share=min_share, threads=threads)
    if as_json:
        print_json(
            [
                {"rule": one.rule, "share": one.share, "elsewhere": one.share_elsewhere, "log_odds": one.log_odds}
                for one in found
            ]
        )
        return
    out = stdout()
    out.print("  here  elsewhere  log-odds  n-gram", style="bold")
    for one in found:
        out.print(f"{one.share:6.1%}  {one.share_elsewhere:9.2%}  {one.log_odds:8.1f}  {shown(one.ngram)}")
    out.print("here, elsewhere: share of the reference answers that hold it", style="dim")

"""`pfgen-fast score`: scores runs into result.json, and tables into tables with scores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import TrialsError
from . import options
from .app import Exit, Json, Quiet, fail, note, print_json, print_line, shown, track, warn
from .layout import rest, shortened
from .reasoning_options import ReasoningChoice
from .suite_line import given_suite, print_origins
from .table import TableCommand, table_place

if TYPE_CHECKING:
    from ..runs.run_scorer import Outcome
    from ..suite.rules import FloatSum

_HEADER = f"{'score':>7} {'±95 %':8} {'fluency':>8} {'truthful':>8} {'helpful':>8} {'length':>7}  run"


def score(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Runs: directories, trials files, directories with many runs, globs (including '**'). Tables: files, "
            "directories, globs, URLs such as s3://bucket/in/, or '-'.",
            metavar="PATH...",
        ),
    ],
    suite: options.SuiteOption = None,
    questions: options.Questions = None,
    limit: options.Limit = None,
    unknown_questions: options.UnknownQuestions = "error",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write results below this directory instead of the runs. Tables: write to this file, or '-'; several "
            "tables: to this directory, also a remote one such as s3://bucket/folder/.",
            metavar="PATH",
        ),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Tables: replace the input once all of it is scored.")
    ] = False,
    question_column: Annotated[str | None, typer.Option(help="Tables: name the question column.")] = None,
    answer_column: Annotated[str | None, typer.Option(help="Tables: name the answer column.")] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Tables: add only these scores, such as average,helpfulness. Default: all.", metavar="NAME,..."
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--filter",
            help="Tables: write only rows that pass, as in 'average >= 0.6 and helpfulness > 0.5'.",
            metavar="CONDITION",
        ),
    ] = None,
    nulls: Annotated[bool, typer.Option("--nulls", help="Tables: give missing answers the score null.")] = False,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Tables: set the encoding of CSV and TSV, such as cp932. Default: by the byte-order mark, or UTF-8.",
            metavar="NAME",
        ),
    ] = None,
    reasoning: Annotated[
        ReasoningChoice, typer.Option(help="Score answers unchanged, or without reasoning (docs/generation.md).")
    ] = "keep",
    profile: options.ProfileOption = "leaderboard",
    float_sum: options.ResultSumOption = "auto",
    force: Annotated[
        bool,
        typer.Option(
            "--force", "-f", help="Also score runs that are up to date, and tables scored with other settings."
        ),
    ] = False,
    threads: options.Threads = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be done.")] = False,
    quiet: Quiet = False,
    format: options.FormatWithoutLetter = "text",
    as_json: Json = False,
) -> None:
    """Scores runs, or tables of answers.

    A run is a folder with trials.jsonl (or .xz, .gz, .zst) or trial_NNN.jsonl files; its result.json is written beside
    it. Runs that are up to date are skipped. A score on some questions (--questions, --limit) is no result of the
    suite: it is printed, and written only with --output.

    Examples

      pfgen-fast score result/openai/gpt-4o/5e1e9f4

      pfgen-fast score --suite my-suite 'runs/**/step-*'

      pfgen-fast score result --questions 'Q0*,Q12'

      pfgen-fast score result --float-sum naive --output /tmp/naive

      pfgen-fast score --suite mini --question-column q --answer-column a answers.parquet -o scored.parquet

      pfgen-fast score --suite mini --question-column q --answer-column a --in-place answers.csv

      pfgen-fast score --suite mini --question-column q --answer-column a in/ 'more/*.parquet' -o scored/

      pfgen-fast score --suite mini --question-column q --answer-column a --columns average --filter 'average >= 0.6'
      s3://bucket/answers/ -o s3://bucket/good/
    """
    from ..runs.run_scorer import RunScorer
    from ..runs.trials import find_runs

    as_json = as_json or format == "json"
    if force and paths[-1] == "json" and not Path("json").exists():
        fail("json: no such file or folder; -f is --force here; give --format json")
    usual_sum: FloatSum = "naive" if float_sum == "naive" else "compensated"
    tables = TableCommand(
        list(map(table_place, paths)),
        suite,
        output and table_place(output),
        in_place,
        question_column,
        answer_column,
        columns,
        where,
        nulls,
        encoding,
        force,
        dry_run,
        reasoning,
    )
    if tables.are_meant:
        if questions or limit or unknown_questions != "error":
            fail("--questions, --limit and --unknown-questions are for runs: leave them away for a table")
        tables.score(profile=profile, float_sum=usual_sum, threads=threads, quiet=quiet, as_json=as_json)
        return
    unusual = (profile, usual_sum, reasoning) != ("leaderboard", "compensated", "keep")
    if unusual and not (output or force):
        fail("results of another profile, float sum or --reasoning replace the usual ones: give --output or --force")
    try:
        runs = find_runs(paths)
    except TrialsError:
        tables.ask_if_there()
        raise
    run_scorer = RunScorer(
        suite=given_suite(suite),
        questions=options.names_of(questions),
        limit=limit,
        unknown=unknown_questions,
        profile=profile,
        float_sum=float_sum,
        force=force,
        output=None if output is None else Path(output),
        dry_run=dry_run,
        threads=threads,
        reasoning=reasoning,
    )
    scored = track(run_scorer.score(runs), len(runs), "runs", quiet=quiet or as_json)
    outcomes = print_outcomes(scored, quiet=quiet or as_json, float_sum=usual_sum)
    if as_json:
        print_json([outcome_as_json(outcome) for outcome in outcomes])
    if any(outcome.status == "failed" for outcome in outcomes):
        raise SystemExit(Exit.PARTIAL)


def print_outcomes(outcomes: Iterable[Outcome], *, quiet: bool, float_sum: FloatSum = "compensated") -> list[Outcome]:
    """Prints the scores of runs, and why others failed, as they arrive."""
    done: list[Outcome] = []
    for outcome in outcomes:
        if outcome.error:
            warn(outcome.error)
        elif not quiet:
            if not any(earlier.error is None for earlier in done):
                print_line((_HEADER, "bold"))
            replaces = outcome.replaces and f"replaces a result: {shown(outcome.replaces)}"
            remark = "up to date" if outcome.status == "current" else outcome.part or replaces
            remark = f"  ({remark})" if remark else ""
            print_line(_row(outcome, float_sum, room=len(remark)), (remark, "dim"))
            for sentence in outcome.notes:
                note(sentence)
        done.append(outcome)
    if not quiet:
        print_origins(done)
    if not quiet and any(not outcome.is_kept for outcome in done):
        note("a score on some questions is no result of the suite, so it is only printed; 'score --output' writes it")
    return done


def _row(outcome: Outcome, float_sum: FloatSum, *, room: int) -> str:
    """A line of the table, with room for a remark."""
    name = shortened(shown(str(outcome.run.folder)), rest(len(_HEADER) - len("run") + room))
    if outcome.summary is None:
        return f"{'to be scored':>50}  {name}"
    result, scores = outcome.summary, outcome.summary.scores
    parts = (scores.total(metric, float_sum) for metric in ("fluency", "truthfulness", "helpfulness"))
    of_metrics = " ".join(f"{part:8.3f}" for part in parts)
    half_width = outcome.interval and outcome.interval.half_width
    interval = "–" if half_width is None else f"±{half_width:.4f}"
    return f"{result.score:7.4f} {interval:8} {of_metrics} {result.length:7.1f}  {name}"


def outcome_as_json(outcome: Outcome) -> dict[str, object]:
    """The outcome of a run as JSON values."""
    return {
        "run": str(outcome.run.folder),
        "status": outcome.status,
        "result": str(outcome.path) if outcome.is_kept else None,
        "part": outcome.part,
        "replaces": outcome.replaces,
        "notes": list(outcome.notes),
        "error": outcome.error,
        "suite": outcome.suite and outcome.suite.name,
        "signature": outcome.signature,
        "score_low": outcome.interval and outcome.interval.low,
        "score_high": outcome.interval and outcome.interval.high,
        **(outcome.summary.to_dict() if outcome.summary else {}),
    }

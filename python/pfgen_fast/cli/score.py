"""`pfgen-fast score`: scores runs into result.json, and tables into tables with scores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .app import Exit, Json, Quiet, counted, counting, fail, print_json, print_line, shown, track, warn
from .layout import rest, shortened
from .origin import given_suite, print_origin, print_origins, suite_or_here

if TYPE_CHECKING:
    from ..runs.run_scorer import Outcome
    from ..scoring.scorer import Scorer
    from ..suite.rules import FloatSum

_HEADER = f"{'score':>7} {'':8} {'fluency':>8} {'truthful':>8} {'helpful':>8} {'length':>7}  run"


def score(
    paths: options.Paths,
    suite: options.SuiteOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the results, instead of the runs' own folders. For tables: the output file.",
        ),
    ] = None,
    question_column: Annotated[str | None, typer.Option(help="Score a table: its question column.")] = None,
    answer_column: Annotated[str | None, typer.Option(help="Score a table: its answer column.")] = None,
    nulls: Annotated[bool, typer.Option("--nulls", help="Tables: give missing answers the score null.")] = False,
    profile: options.ProfileOption = options.ProfileChoice.leaderboard,
    float_sum: options.FloatSumOption = options.FloatSumChoice.compensated,
    force: Annotated[bool, typer.Option("--force", "-f", help="Also score runs that are up to date.")] = False,
    threads: options.Threads = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be done.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Scores runs, or a table of answers.

    A run is a folder with trials.jsonl (or .xz, .gz, .zst) or trial_NNN.jsonl files; its result.json is written beside
    it. Runs that are up to date are skipped.

    Examples

      pfgen-fast score result/openai/gpt-4o/5e1e9f4

      pfgen-fast score --suite my-suite 'runs/**/step-*'

      pfgen-fast score result --float-sum naive --output /tmp/naive

      pfgen-fast score --suite mini --question-column q --answer-column a answers.parquet -o scored.parquet
    """
    from ..runs.run_scorer import RunScorer
    from ..runs.trials import find_runs

    if question_column or answer_column:
        if not (question_column and answer_column and output and len(paths) == 1):
            fail("a table needs --question-column, --answer-column, one input and --output ('-' for stdout)")
        from ..scoring.scorer import Scorer

        scorer = Scorer(suite_or_here(suite), profile=profile.value, float_sum=float_sum.value, threads=threads)
        _score_table(paths[0], output, scorer, question_column, answer_column, nulls, quiet)
        return
    unusual = profile.value != "leaderboard" or float_sum.value != "compensated"
    if unusual and not (output or force):
        fail("results of another profile or float sum would replace the usual ones: give --output or --force")
    runs = find_runs(paths)
    run_scorer = RunScorer(
        suite=given_suite(suite),
        profile=profile.value,
        float_sum=float_sum.value,
        force=force,
        output=output,
        dry_run=dry_run,
        threads=threads,
    )
    scored = track(run_scorer.score(runs), len(runs), "runs", quiet=quiet or as_json)
    outcomes = print_outcomes(scored, quiet=quiet or as_json, float_sum=float_sum.value)
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
            remark = "  (up to date)" if outcome.status == "current" else ""
            print_line(_row(outcome, float_sum, room=len(remark)), (remark, "dim"))
        done.append(outcome)
    if not quiet:
        print_origins(done)
    return done


def _row(outcome: Outcome, float_sum: FloatSum, *, room: int) -> str:
    """A line of the table, with room for a remark."""
    name = shortened(shown(str(outcome.run.folder)), rest(len(_HEADER) - len("run") + room))
    if outcome.summary is None:
        return f"{'to be scored':>50}  {name}"
    result, scores = outcome.summary, outcome.summary.scores
    parts = (scores.total(metric, float_sum) for metric in ("fluency", "truthfulness", "helpfulness"))
    of_metrics = " ".join(f"{part:8.3f}" for part in parts)
    return f"{result.score:7.4f} ±{result.score_std:.4f}  {of_metrics} {result.length:7.1f}  {name}"


def outcome_as_json(outcome: Outcome) -> dict[str, object]:
    """The outcome of a run as JSON values."""
    return {
        "run": str(outcome.run.folder),
        "status": outcome.status,
        "result": str(outcome.path),
        "error": outcome.error,
        "suite": outcome.suite and outcome.suite.name,
        "signature": outcome.signature,
        **(outcome.summary.to_dict() if outcome.summary else {}),
    }


def _score_table(
    source: str, target: Path, scorer: Scorer, question_column: str, answer_column: str, nulls: bool, quiet: bool
) -> None:
    from ..tables.streaming import score_table

    with counting("rows", quiet=quiet) as count:
        n_rows = score_table(
            source,
            target,
            scorer,
            question_column=question_column,
            answer_column=answer_column,
            nulls="null" if nulls else "error",
            on_batch=lambda done: count(done, None),
        )
    if not quiet and str(target) != "-":
        print_line(f"{counted(n_rows, 'row')} scored: {shown(str(target))}")
        print_origin(scorer.suite, scorer.signature)

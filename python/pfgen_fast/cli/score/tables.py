"""`score` for tables: finds columns and suite, and prints the numbers of rows or the means of the models."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.errors import PfgenError
from ...base.file_reading import stdin
from ...base.untrusted_text import counted, few_names
from ...runs.checkout import checkout_of
from ...runs.items.answer_means import ANSWER_NAMES, MODEL_NAMES, QUESTION_NAMES, AnswerMeans
from ...suite.published import how_to_name_a_suite
from ...tables.folders import FileOutcome, FileTask, first_table, score_files
from ...tables.formats import first_rows, is_same, is_table
from ...tables.streaming import score_table
from ...tables.table_job import TableJob
from ...tables.table_rows import usual_columns
from .. import app
from ..look.leaderboard import print_ranking
from ..parser import options_set
from ..suite_line import fitting_suites, given_suite, print_origin, suite_or_here
from .options import STDIN, ScoreOptions

if TYPE_CHECKING:
    from ...rewards.references.reference_scorer import ReferenceScorer
    from ...tables.table_rows import RowBatch, Scores

_NAMES = {
    "question": QUESTION_NAMES,
    "answer": ANSWER_NAMES,
    "reference": ("references", "reference", "refs", "ref", "targets", "target", "参照"),
}
_MAX_SHOWN_COLUMNS = 20
_MOST_COLLECTED_ROWS = 1_000_000
"""Of a longer table that is written to a file, the means are not printed: they would take much memory."""
_OF_METRICS = ("tokenize", "lowercase", "reduce", "unit", "lengths")


def hold_tables(paths: list[str]) -> bool:
    """Whether tables are found at inputs without runs."""
    with contextlib.suppress(PfgenError):
        return not first_table(paths).endswith(".json")  # a suite, or another file of runs
    return False


def score_tables(command: ScoreOptions) -> None:
    """Scores tables, and prints the numbers of rows or the means of models; ends the command if options are missing."""
    scorer = _reference_scorer(command)
    path = command.paths[0]
    is_glob = glob.has_magic(path) and not os.path.lexists(path)
    if command.tables.input_format and command.paths != [STDIN]:
        app.fail("--input-format is for a table on stdin; the extension of a file names its format")
    if len(command.paths) > 1 or is_glob or _names_folder(path) or _names_folder(command.output or ""):
        _score_many(command, scorer)
    elif command.tables.input_format:
        with tempfile.TemporaryDirectory(prefix="pfgen-fast-") as folder:
            source = Path(folder, f"stdin.{command.tables.input_format}")
            with source.open("wb") as file:
                shutil.copyfileobj(stdin(), file)
            _score_one(command, scorer, str(source))
    else:
        _score_one(command, scorer, path)


def _names_folder(path: str) -> bool:
    return path.endswith("/") or os.path.isdir(path)


def _reference_scorer(command: ScoreOptions) -> ReferenceScorer | None:
    """The scorer of the reference metrics, if there are any; ends the command if they are combined with a suite."""
    tables = command.tables
    for option in options_set(command):
        if tables.metrics and option.field in ("suite", "question_column", "profile", "float_sum"):
            app.fail(f"{option.label}: --metric compares answers with the references in the table: leave it out")
        if not tables.metrics and option.field in (*_OF_METRICS, "reference_columns"):
            app.fail(f"{option.label} needs a metric, such as --metric bleu --metric chrf")
    if not tables.metrics:
        return None
    from ...rewards.references.reference_scorer import ReferenceScorer

    settings: dict[str, Any] = {name: getattr(tables, name) for name in _OF_METRICS}
    try:
        scorer = ReferenceScorer(tables.metrics, **settings, threads=command.threads)
    except ValueError as error:  # an unknown metric or tokenizer
        app.fail(str(error))
    if tables.reference_columns and not scorer.needs_references:
        app.fail(f"--reference-column: {', '.join(scorer.metrics)} needs no references: leave it out")
    return scorer


def _job(command: ScoreOptions, path: str, scorer: ReferenceScorer | None) -> TableJob:
    """What is scored, and how; columns and a suite that are not named are found in a table, and printed."""
    from ...scoring.scorer import ScorerSpec

    tables, suite_name = command.tables, command.suite
    columns = {"answer": tables.answer_column}
    if scorer is None:
        columns["question"] = tables.question_column
    elif scorer.needs_references and not tables.reference_columns:
        columns["reference"] = None
    has_suite = scorer is not None or suite_name is not None or checkout_of(Path.cwd() / "run") is not None
    if path == STDIN and not (command.output and all(columns.values())):
        needed = "--reference-column" if scorer else "--question-column"
        app.fail(f"a table on stdin needs {needed}, --answer-column and --output ('-' for stdout), or --input-format")
    if path != STDIN and not (has_suite and all(columns.values())):
        head = first_rows(path, tables.encoding)
        names = [name for name in head.names if name]
        for kind, column in columns.items():
            columns[kind] = column or next(iter(usual_columns(names, _NAMES[kind])), None)
            if columns[kind] is None:
                there = few_names(list(map(repr, names)), _MAX_SHOWN_COLUMNS) or "no columns"
                app.fail(f"{path}: name the column of {kind}s (--{kind}-column); there are {there}")
        model = None if command.output else next(iter(usual_columns(names, MODEL_NAMES)), None)
        told = ", ".join(f"{kind}s from {column!r}" for kind, column in {**columns, "model": model}.items() if column)
        told += "" if model or command.output else "; all rows are one model, because no column is named 'model'"
        if not has_suite:
            question = str(columns["question"])
            suites = fitting_suites([str(row.get(question)) for row in head.rows()])
            if len(suites) > 1:
                app.fail(f"the questions are those of {' and '.join(suites)}: name the suite (--suite)")
            if not suites:
                where = f"{path}: no suite on this machine has the questions in column {question!r}"
                app.fail(f"{where}; {how_to_name_a_suite()}")
            (suite_name,) = suites
            told += f"; suite {suite_name}, which has these questions"
        if not command.is_silent:
            app.note(f"read {told}")
    spec: Any = scorer
    if scorer is None:
        suite = given_suite(suite_name) or suite_or_here(None)
        spec = ScorerSpec(suite, profile=command.profile, float_sum=command.usual_sum, threads=command.threads)
    return TableJob(
        spec,
        question_column=columns.get("question") or "",
        answer_column=str(columns["answer"]),
        columns=None if tables.columns is None else [name.strip() for name in tables.columns.split(",")],
        nulls="null" if tables.nulls else "error",
        where=tables.where,
        encoding=tables.encoding,
        reasoning=command.reasoning,
        reference_column=columns.get("reference") or tables.reference_columns or (),
    )


def _score_many(command: ScoreOptions, scorer: ReferenceScorer | None) -> None:
    """Scores tables into a directory and prints the outcomes; ends with exit code 3 if a table failed."""
    folder = command.output or STDIN
    if STDIN in command.paths:
        app.fail("a table on stdin has no name for a file in a directory: score it alone, with --output FILE")
    if folder == STDIN or (not _names_folder(folder) and (os.path.exists(folder) or is_table(folder))):
        app.fail(f"several tables are scored into a directory: give --output FOLDER/, not {command.output or 'none'}")
    job = _job(command, first_table(command.paths), scorer)

    def tell(outcome: FileOutcome) -> None:
        if outcome.error:
            app.warn(outcome.error)
        elif outcome.status == "scored" and not command.is_silent:
            app.print_line(f"{_rows_told(outcome.n_rows, outcome.n_written, job)}: {app.shown(outcome.task.target)}")

    with app.counting("files", quiet=command.is_silent) as count:
        outcomes = score_files(command.paths, folder, job, again=command.force, on_progress=count, on_outcome=tell)
    if command.as_json:
        app.print_json([_as_json(outcome, job) for outcome in outcomes])
    elif not command.quiet:
        numbers = Counter(outcome.status.replace("current", "up to date") for outcome in outcomes)
        states = ", ".join(f"{counted(n, 'file')} {status}" for status, n in numbers.items())
        app.print_line(f"{states}: {app.shown(folder)}")
        print_origin(job.suite, job.spec.signature if command.verbose else None)
    app.exit_if_partial(any(outcome.status == "failed" for outcome in outcomes))


def _score_one(command: ScoreOptions, scorer: ReferenceScorer | None, source: str) -> None:
    """Scores one table into another, or without a target prints the means of its models."""
    target = command.output
    if target and is_same(source, target):
        app.fail(f"{target}: is the input itself; give another output")
    if command.as_json and target == STDIN:
        app.fail("--json prints to stdout, so the table cannot go there: give --output FILE")
    job = _job(command, source, scorer)
    means = AnswerMeans.of(Path(source), job)
    has_means = job.where is None and target != STDIN and not command.is_silent

    def collect(batch: RowBatch, scores: Scores) -> None:
        if means.n_rows <= _MOST_COLLECTED_ROWS:
            means.add(batch, scores)

    with app.counting("rows", quiet=command.is_silent) as count:
        counts = score_table(
            source,
            target or means.add,
            job,
            on_batch=lambda done: count(done, None),
            on_scores=collect if target and has_means else None,
        )
    if command.as_json:
        record = _as_json(FileOutcome(FileTask(command.paths[0], "", target or ""), "scored", *counts), job)
        models = {} if target else {"output": None, "models": means.ranking().to_dicts()}
        app.print_json([record | models])
    elif not command.quiet and target != STDIN:
        if target is not None:
            app.print_line(f"{_rows_told(*counts, job)}: {app.shown(target)}")
        if target is None or (has_means and means.n_rows == counts.n_rows):
            print_ranking(means.ranking(), "question" if means.question_column else "answer")
        print_origin(job.suite, job.spec.signature if command.verbose else None)


def _rows_told(n_rows: int, n_written: int, job: TableJob) -> str:
    """The number of scored rows, and with a filter how many passed."""
    return f"{counted(n_rows, 'row')} scored" + ("" if job.where is None else f", {n_written:,} passed the filter")


def _as_json(outcome: FileOutcome, job: TableJob) -> dict[str, object]:
    """The outcome of a file as JSON values."""
    is_scored = outcome.status == "scored"
    return {
        "input": outcome.task.source,
        "output": outcome.task.target,
        "status": outcome.status,
        "rows": outcome.n_rows if is_scored else None,
        "rows_written": outcome.n_written if is_scored else None,
        "error": outcome.error,
        "suite": job.suite and job.suite.name,
        "signature": job.spec.signature,
    }

"""`pfgen-fast score` of tables: their columns and suite, scores of rows, and means of models."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.errors import PfgenError
from ...base.file_reading import stdin
from ...base.untrusted_text import counted, few_names
from ...runs.checkout import checkout_of
from ...suite.published import how_to_name_a_suite
from ...tables.folders import FileOutcome, FilesProgress, FileTask, first_table, score_files
from ...tables.formats import first_rows, is_same, is_table
from ...tables.model_means import ANSWER_NAMES, MODEL_NAMES, QUESTION_NAMES, MeansOfModels, usual_column
from ...tables.streaming import score_table
from ...tables.table_job import TableJob
from ..app import counting, exit_if_partial, fail, note, print_json, print_line, print_table, shown, warn
from ..suite_line import about_interval, fitting_suites, given_suite, print_origin, suite_or_here
from .options import STDIN, ScoreOptions, TableScoring

if TYPE_CHECKING:
    from ...rewards.references.reference_scorer import ReferenceScorer

_REFERENCE_NAMES = ("references", "reference", "refs", "ref", "targets", "target", "参照")
_MAX_SHOWN_COLUMNS = 20


def hold_tables(paths: list[str]) -> bool:
    """Whether tables are found at inputs without runs."""
    with contextlib.suppress(PfgenError):
        return not first_table(paths).endswith(".json")  # a suite, or another file of runs
    return False


def score_tables(command: ScoreOptions) -> None:
    """Scores tables, and prints the numbers of rows or the means of models; ends the command if options are missing."""
    has_many = is_many(command)
    if has_many:
        _check_many(command)
    scorer = reference_scorer(command)
    if command.tables.input_format and command.paths != [STDIN]:
        fail("--input-format is for a table on stdin; the extension of a file names its format")
    if has_many:
        _score_many(command, scorer)
        return
    with _local_table(command) as path:
        job = _job(command, path if command.paths != [STDIN] or command.tables.input_format else None, scorer)
        if command.output and is_same(command.paths[0], command.output):
            fail(f"{command.output}: is the input itself; give another output")
        _score_one(command, path, job)


def is_many(command: ScoreOptions) -> bool:
    """Whether the outputs are files in a directory, with the names of their inputs."""

    def names_folder(path: str) -> bool:
        return path.endswith("/") or os.path.isdir(path)

    if len(command.paths) > 1 or (command.output not in (None, STDIN) and names_folder(str(command.output))):
        return True
    path = command.paths[0]
    return path != STDIN and (names_folder(path) or (glob.has_magic(path) and not os.path.lexists(path)))


def reference_scorer(command: ScoreOptions) -> ReferenceScorer | None:
    """The scorer of the reference metrics, if there are any; ends the command if they are combined with a suite."""
    tables = command.tables
    usual = TableScoring()
    settings = {name: getattr(tables, name) for name in ("tokenize", "lowercase", "reduce", "unit", "lengths")}
    of_metrics = {
        "--reference-column": tables.reference_columns,
        **{f"--{name}": value != getattr(usual, name) for name, value in settings.items()},
    }
    of_suites = {
        "--suite": command.suite,
        "--question-column": tables.question_column,
        "--profile": command.profile != "leaderboard",
        "--float-sum": command.float_sum != "auto",
    }
    for name, value in (of_suites if tables.metrics else of_metrics).items():
        if value and tables.metrics:
            fail(f"{name}: --metric compares answers with the references in the table: leave out {name}")
        if value:
            fail(f"{name} needs a metric, such as --metric bleu --metric chrf")
    if not tables.metrics:
        return None
    from ...rewards.references.reference_scorer import ReferenceScorer

    try:
        scorer = ReferenceScorer(tables.metrics, **settings, threads=command.threads)
    except ValueError as error:  # an unknown metric or tokenizer
        fail(str(error))
    if tables.reference_columns and not scorer.needs_references:
        fail(f"--reference-column: {', '.join(scorer.metrics)} needs no references: leave it out")
    return scorer


def _name(command: ScoreOptions) -> str:
    return "stdin" if command.paths == [STDIN] else command.paths[0]


@contextlib.contextmanager
def _local_table(command: ScoreOptions) -> Iterator[Path]:
    """The only table as a file, which is temporary for stdin with --input-format."""
    source = command.paths[0]
    if source == STDIN and command.tables.input_format:
        with tempfile.TemporaryDirectory(prefix="pfgen-fast-") as folder:
            path = Path(folder, f"stdin.{command.tables.input_format}")
            with path.open("wb") as file:
                shutil.copyfileobj(stdin(), file)
            yield path
    else:
        if source != STDIN and not os.path.lexists(source):
            fail(f"{source}: no such file or folder")
        yield Path(source)


def _job(command: ScoreOptions, path: Path | None, scorer: ReferenceScorer | None, name: str | None = None) -> TableJob:
    """What is scored, and how; columns and a suite that are not named are found in the table, and printed.

    Without a path, the table is on stdin, which is read only once, so all columns must be named.
    """
    from ...scoring.scorer import ScorerSpec

    tables, suite = command.tables, given_suite(command.suite) if command.suite else None
    question, answer, references = tables.question_column, tables.answer_column, tables.reference_columns
    if path is not None:
        question, answer, references, suite_name = _columns(command, path, name or _name(command), scorer)
        suite = suite or (given_suite(suite_name) if suite_name else None)
    elif not (
        answer and command.output and (question if scorer is None else references or not scorer.needs_references)
    ):
        column = "--reference-column" if scorer else "--question-column"
        fail(f"a table on stdin needs {column}, --answer-column and --output ('-' for stdout), or --input-format")
    spec: Any = scorer
    if spec is None:
        suite = suite or suite_or_here(None)
        spec = ScorerSpec(suite, profile=command.profile, float_sum=command.usual_sum, threads=command.threads)
    return TableJob(
        spec,
        question or "",
        str(answer),
        None if tables.columns is None else tuple(name.strip() for name in tables.columns.split(",")),
        "null" if tables.nulls else "error",
        tables.where,
        tables.encoding,
        command.reasoning,
        references or (),
    )


def _columns(
    command: ScoreOptions, path: Path, name: str, scorer: ReferenceScorer | None
) -> tuple[str | None, str, list[str] | None, str | None]:
    """The columns of questions, answers and references, and the name of a suite if it is found by the questions."""
    tables = command.tables
    needs_references = scorer is not None and scorer.needs_references and not tables.reference_columns
    has_suite = scorer is not None or command.suite is not None or checkout_of(Path.cwd() / "run") is not None
    if tables.answer_column and not needs_references and (scorer or tables.question_column) and has_suite:
        return tables.question_column, tables.answer_column, tables.reference_columns, None
    head = first_rows(path, tables.encoding, name=name)
    names = [column for column in head.names if column]
    columns = {
        "answer": tables.answer_column or usual_column(names, ANSWER_NAMES),
        "question": None if scorer else tables.question_column or usual_column(names, QUESTION_NAMES),
        "reference": usual_column(names, _REFERENCE_NAMES) if needs_references else None,
    }
    wanted = ["answer", *([] if scorer else ["question"]), *(["reference"] if needs_references else [])]
    for kind in sorted(wanted, key=("question", "answer", "reference").index):
        if columns[kind] is None:
            there = few_names(list(map(repr, names)), _MAX_SHOWN_COLUMNS) or "no columns"
            fail(f"{name}: name the column of {kind}s (--{kind}-column); there are {there}")
    columns["model"] = None if command.output else usual_column(names, MODEL_NAMES)
    told = ", ".join(f"{kind}s from {column!r}" for kind, column in columns.items() if column)
    suite, question = None, columns["question"]
    if not has_suite:
        suites = fitting_suites([str(row.get(str(question))) for row in head.rows()])
        if len(suites) > 1:
            fail(f"the questions are those of {' and '.join(suites)}: name the suite (--suite)")
        if not suites:
            fail(f"{name}: no suite on this machine has the questions in column {question!r}; {how_to_name_a_suite()}")
        (suite,) = suites
        told += f"; suite {suite}, which has these questions"
    if not command.is_silent:
        note(f"read {told}")
    references = [columns["reference"]] if columns["reference"] else tables.reference_columns
    return question, str(columns["answer"]), references, suite


def _check_many(command: ScoreOptions) -> None:
    """Ends the command if the options are for a single table."""
    if STDIN in command.paths:
        fail("a table on stdin has no name for a file in a directory: score it alone, with --output FILE")
    if command.output is None or command.output == STDIN:
        fail("several tables are scored into a directory: give --output FOLDER")
    if not command.output.endswith("/"):
        name = command.output
        if os.path.exists(name) and not os.path.isdir(name):
            fail(f"{name}: is a file; several tables are scored into a directory")
        if is_table(name) and not os.path.isdir(name):
            fail(f"{name}: is named like a file; several tables are scored into a directory, such as {name}/")


def _score_many(command: ScoreOptions, scorer: ReferenceScorer | None) -> None:
    """Scores tables into a directory and prints the outcomes; ends with exit code 3 if a table failed."""
    first, folder = first_table(command.paths), str(command.output)
    job = _job(command, Path(first), scorer, first)

    def tell(outcome: FileOutcome) -> None:
        if outcome.error:
            warn(outcome.error)
        elif outcome.status == "scored" and not command.is_silent:
            print_line(f"{_rows_told(outcome.n_rows, outcome.n_written, job)}: {shown(outcome.task.target)}")

    state, passed_over = "", list[str]()
    with counting("files", quiet=command.is_silent, below=lambda: state) as count:

        def show(progress: FilesProgress) -> None:
            nonlocal state
            n_bytes = f"{progress.n_bytes_done / 1e6:,.1f} of {progress.n_bytes / 1e6:,.1f} MB of input"
            state = f"{counted(progress.n_rows, 'row')}; {n_bytes}"
            count(progress.n_files_done, progress.n_files)

        outcomes = score_files(
            command.paths,
            folder,
            job,
            again=command.force,
            on_progress=show,
            on_outcome=tell,
            on_passed_over=passed_over.append,
        )
    if passed_over and not command.quiet:
        n_files, example = counted(len(passed_over), "file"), passed_over[0]
        note(f"passed over {n_files} without the extension of a table, such as {example}")
    if command.as_json:
        print_json([_as_json(outcome, job) for outcome in outcomes])
    elif not command.quiet:
        n_rows, n_written = sum(outcome.n_rows for outcome in outcomes), sum(outcome.n_written for outcome in outcomes)
        words = {
            "scored": f"scored ({_rows_told(n_rows, n_written, job)})",
            "current": "up to date",
            "failed": "failed",
        }
        numbers: Counter[str] = Counter(outcome.status for outcome in outcomes)
        first_part, *others = [(numbers[status], text) for status, text in words.items() if numbers[status]]
        parts = [f"{counted(first_part[0], 'file')} {first_part[1]}", *(f"{n:,} {text}" for n, text in others)]
        print_line(f"{', '.join(parts)}: {shown(folder)}")
        print_origin(job.suite, job.spec.signature)
    exit_if_partial(any(outcome.status == "failed" for outcome in outcomes))


def _score_one(command: ScoreOptions, path: Path, job: TableJob) -> None:
    """Scores one table into another, or without a target prints the means of its models."""
    target, name = command.output, _name(command)
    if command.as_json and target == STDIN:
        fail("--json prints to stdout, so the table cannot go there: give --output FILE")
    task = FileTask(command.paths[0], os.path.dirname(target or ""), os.path.basename(target or ""))
    means = MeansOfModels.of(path, job)
    with counting("rows", quiet=command.is_silent) as count:
        sink = target or means.add
        counts = score_table(path, sink, job, name=name, on_batch=lambda done: count(done, None))
    outcome = FileOutcome(task, "scored", *counts)
    if command.as_json:
        record = _as_json(outcome, job)
        if target is None:
            record |= {"output": None, "models": [model.to_dict() for model in means.models()]}
        print_json([record])
    elif not command.quiet and target != STDIN:
        told = _rows_told(outcome.n_rows, outcome.n_written, job)
        if target is None:
            _print_means(means, told)
        else:
            print_line(f"{told}: {shown(target)}")
        print_origin(job.suite, job.spec.signature)


def _print_means(means: MeansOfModels, told: str) -> None:
    """Prints the means of the models in a table, best first."""
    print_table(means.table)
    print_line((about_interval("questions" if means.question_column else "answers"), "dim"))
    if not means.are_comparable:
        note("the models have answers to different questions, so their means are not comparable")
    print_line((f"{told}; --output FILE writes the scores of each row", "dim"))


def _rows_told(n_rows: int, n_written: int, job: TableJob) -> str:
    """The number of scored rows, and with a filter how many passed."""
    told = f"{counted(n_rows, 'row')} scored"
    return told if job.where is None else f"{told}, {n_written:,} passed the filter, {n_rows - n_written:,} did not"


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

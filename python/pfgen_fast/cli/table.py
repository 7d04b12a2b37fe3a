"""The options of `pfgen-fast score`, and scoring of tables: checks and outcomes."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..errors import PfgenError
from ..files.untrusted_text import few_names
from .app import counted, counting, exit_if_partial, fail, note, print_json, print_line, shown, warn
from .score_options import STDIN, ScoreOptions
from .suite_line import print_origin, source_or_here, suite_or_here

if TYPE_CHECKING:
    from ..references.reference_scorer import ReferenceScorer
    from ..tables.folders.scoring import FileOutcome, FilesProgress
    from ..tables.table_job import TableJob, TableScorer


def score_tables(
    paths: Sequence[str], folder: str, job: TableJob, *, again: bool, dry_run: bool, quiet: bool, as_json: bool
) -> None:
    """Scores tables into a directory and prints the outcomes; ends with exit code 3 if a table failed."""
    from ..tables.folders.scoring import Listeners, score_sources
    from ..tables.places import shown_place

    def tell(outcome: FileOutcome) -> None:
        target = shown(shown_place(outcome.task.target))
        if outcome.error:
            warn(outcome.error)
        elif quiet or as_json or outcome.status == "current":
            pass
        elif outcome.status == "pending":
            print_line(f"to be scored: {shown(shown_place(outcome.task.source))} -> {target}")
        else:
            print_line(f"{rows_told(outcome.n_rows, outcome.n_written, job)}: {target}")

    passed_over: list[str] = []
    with _progress(quiet=quiet or as_json) as on_progress:
        tell_note = (lambda text: None) if quiet else note
        listeners = Listeners(on_progress, tell, tell_note, passed_over.append)
        outcomes = score_sources(paths, folder, job, again=again, dry_run=dry_run, listeners=listeners)
    if passed_over and not quiet:
        example = shown_place(passed_over[0])
        note(f"passed over {counted(len(passed_over), 'file')} without the extension of a table, such as {example}")
    if as_json:
        print_json([outcome_as_json(outcome, job) for outcome in outcomes])
    elif not quiet:
        print_line(_summary(outcomes, job, shown(shown_place(folder))))
        print_origin(job.suite, job.spec.signature)
    exit_if_partial(any(outcome.status == "failed" for outcome in outcomes))


def rows_told(n_rows: int, n_written: int, job: TableJob) -> str:
    """The number of scored rows, and with a filter how many passed."""
    told = f"{counted(n_rows, 'row')} scored"
    return told if job.where is None else f"{told}, {n_written:,} passed the filter, {n_rows - n_written:,} did not"


def outcome_as_json(outcome: FileOutcome, job: TableJob) -> dict[str, object]:
    """The outcome of a file as JSON values."""
    from ..tables.places import shown_place

    is_counted = outcome.status in ("scored", "current")
    return {
        "input": shown_place(outcome.task.source),
        "output": shown_place(outcome.task.target),
        "status": outcome.status,
        "rows": outcome.n_rows if is_counted else None,
        "rows_written": outcome.n_written if is_counted else None,
        "error": outcome.error,
        "suite": job.suite and job.suite.name,
        "signature": job.spec.signature,
    }


def _summary(outcomes: Sequence[FileOutcome], job: TableJob, folder: str) -> str:
    def of(status: str) -> list[FileOutcome]:
        return [outcome for outcome in outcomes if outcome.status == status]

    scored = of("scored")
    n_rows, n_written = sum(one.n_rows for one in scored), sum(one.n_written for one in scored)
    words = {
        f"scored ({rows_told(n_rows, n_written, job)})": scored,
        "to be scored": of("pending"),
        "up to date": of("current"),
        "failed": of("failed"),
    }
    parts: list[str] = []
    for word, some in words.items():
        if some:
            parts.append(f"{f'{len(some):,}' if parts else counted(len(some), 'file')} {word}")
    return f"{', '.join(parts)}: {folder}"


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[FilesProgress], None]]:
    """A bar over all files, above a line with the rows and bytes."""
    state = ""

    def show(progress: FilesProgress) -> None:
        nonlocal state
        state = (
            f"{counted(progress.n_rows, 'row')}; "
            f"{progress.n_bytes_done / 1e6:,.1f} of {progress.n_bytes / 1e6:,.1f} MB of input"
        )
        count(progress.n_files_done, progress.n_files)

    with counting("files", quiet=quiet, below=lambda: state) as count:
        yield show


class TableScoring(ScoreOptions):
    """Scores tables, as the options say."""

    def ask_if_there(self) -> None:
        """Ends the command with a suggested command if the inputs are tables instead of runs."""
        from ..tables.folders.plans import first_table

        with contextlib.suppress(PfgenError):
            table = first_table(self.places)
            if not table.endswith(".json"):  # a suite, or another file of runs
                ask(self)

    def score_tables(self) -> None:
        """Scores the tables and prints the numbers of rows; ends the command if options are missing."""
        is_many = self.is_many()
        if is_many:
            self._check_many()
        if self.in_place and self.where is not None:
            fail("--in-place would lose the rows that do not pass --filter: give --output instead")
        self.check_metrics()
        scorer = self._reference_scorer
        compared_with = (self.reference_columns or not scorer.needs_references) if scorer else self.question_column
        if not (compared_with and self.answer_column and (self.target or self.in_place)):
            ask(self)
        target = str(self.target) if is_many else self._single_target()
        if is_many:
            again, quiet, as_json = self.force, self.quiet, self.is_json
            score_tables(
                self.places, target, self._job(), again=again, dry_run=self.dry_run, quiet=quiet, as_json=as_json
            )
        else:
            self._score_one(target, self._job())

    def check_metrics(self) -> None:
        """Ends the command if options for a suite and options for reference metrics are combined."""
        of_metrics = {
            "--reference-column": self.reference_columns,
            "--tokenize": self.tokenize,
            "--lowercase": self.lowercase,
        }
        of_suite = {
            "--suite": self.suite,
            "--question-column": self.question_column,
            "--profile": self.profile != "leaderboard",
            "--float-sum": self.float_sum != "auto",
        }
        for name, value in (of_suite if self.metrics else of_metrics).items():
            if value and self.metrics:
                fail(f"{name}: --metric compares answers with the references in the table: leave out {name}")
            if value:
                fail(f"{name} needs a metric, such as --metric bleu --metric chrf")

        scorer = self._reference_scorer
        if scorer and self.reference_columns and not scorer.needs_references:
            fail(f"--reference-column: {', '.join(scorer.metrics)} needs no references: leave it out")

    def _job(self) -> TableJob:
        from ..tables.table_job import TableJob

        return TableJob(
            self._scorer(),
            self.question_column or "",
            str(self.answer_column),
            None if self.columns is None else tuple(name.strip() for name in self.columns.split(",")),
            "null" if self.nulls else "error",
            self.where,
            self.encoding,
            self.reasoning,
            self.reference_columns or (),
        )

    @cached_property
    def _reference_scorer(self) -> ReferenceScorer | None:
        if not self.metrics:
            return None
        from ..references.reference_scorer import ReferenceScorer

        try:
            return ReferenceScorer(self.metrics, tokenize=self.tokenize, lowercase=self.lowercase, threads=self.threads)
        except ValueError as error:  # an unknown metric or tokenizer
            fail(str(error))

    def _scorer(self) -> TableScorer:
        if self._reference_scorer:
            return self._reference_scorer
        from ..scoring.spec import ScorerSpec

        suite = suite_or_here(self.suite)
        return ScorerSpec(suite, profile=self.profile, float_sum=self.usual_sum, threads=self.threads)

    def _check_many(self) -> None:
        """Ends the command if the options are for a single table."""
        if self.in_place:
            fail("--in-place replaces one table; several are scored into a directory: give --output FOLDER")
        if STDIN in self.places:
            fail("a table on stdin has no name for a file in a directory: score it alone, with --output FILE")
        if self.target == STDIN:
            fail("several tables are scored into a directory, not to stdout: give --output FOLDER")
        if self.target is not None and not self.target.endswith("/"):
            from ..tables.formats import is_table as is_table_name
            from ..tables.places import base_name, file_info, is_folder, shown_place

            name = shown_place(self.target)
            is_there = is_folder(self.target)
            if file_info(self.target) is not None and not is_there:
                fail(f"{name}: is a file; several tables are scored into a directory")
            if is_table_name(base_name(self.target)) and not is_there:
                fail(f"{name}: is named like a file; several tables are scored into a directory, such as {name}/")

    def _score_one(self, target: str, job: TableJob) -> None:
        """Scores one table into another."""
        from ..tables.folders.records import FileTask
        from ..tables.folders.scoring import FileOutcome, score_fetched
        from ..tables.places import fetched, is_remote, shown_place

        source, name = self.places[0], shown_place(self.places[0])
        if source != STDIN and not is_remote(source) and not os.path.lexists(source):
            fail(f"{source}: no such file or folder")
        if self.is_json and target == STDIN:
            fail("--json prints to stdout, so the table cannot go there: give --output FILE")
        outcome = FileOutcome(FileTask(source, os.path.dirname(target), os.path.basename(target)), "pending")
        if not self.dry_run:
            with contextlib.ExitStack() as stack:
                path = stack.enter_context(fetched(source))[0] if is_remote(source) else Path(source)
                count = stack.enter_context(counting("rows", quiet=self.is_silent))
                counts = score_fetched(path, name, target, job, on_batch=lambda done: count(done, None))
            outcome = FileOutcome(outcome.task, "scored", *counts)
        if self.is_json:
            print_json([outcome_as_json(outcome, job)])
        elif self.dry_run:
            print_line(f"to be scored: {shown(name)} -> {shown(shown_place(target))}")
        elif not self.quiet and target != STDIN:
            print_line(f"{rows_told(outcome.n_rows, outcome.n_written, job)}: {shown(shown_place(target))}")
            print_origin(job.suite, job.spec.signature)

    def _single_target(self) -> str:
        """The output file; it may be the input only with `--in-place`."""
        from ..tables.places import is_remote, shown_place

        source, output = self.places[0], self.target
        is_input = output is not None and source != STDIN and is_same(source, output)
        if not self.in_place and output is not None:
            if is_input:
                advice = "give another output" if is_remote(output) else "--in-place replaces it by the scored table"
                fail(f"{shown_place(output)}: is the input itself; {advice}")
            return output
        if source == STDIN:
            fail("--in-place replaces the input, and stdin cannot be replaced")
        if output is not None and not is_input:
            fail(f"--in-place replaces the input, {source}, so --output cannot be {output}")
        if is_remote(source):
            fail(f"--in-place replaces files of this machine; for {shown_place(source)} give --output")
        return os.path.realpath(source) if os.path.islink(source) else source  # a link stays


def is_same(source: str, output: str) -> bool:
    """Whether two places are the same file, for example by a hard link."""
    from ..tables.places import is_remote, place_key

    if is_remote(source) or is_remote(output):
        return place_key(source) == place_key(output)
    return os.path.exists(source) and os.path.exists(output) and os.path.samefile(source, output)


_QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
_REFERENCE_NAMES = ("references", "reference", "refs", "ref", "targets", "target", "参照")
_ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
_MAX_SHOWN_COLUMNS = 20


def ask(options: ScoreOptions) -> NoReturn:
    """Ends the command with the columns of the first table and a complete command."""
    if options.places == ["-"]:
        compared_with = "--reference-column" if options.metrics else "--question-column"
        fail(f"a table on stdin needs {compared_with}, --answer-column and --output ('-' for stdout)")
    from ..tables.folders.plans import first_table
    from ..tables.formats import column_names
    from ..tables.places import fetched, shown_place

    table = first_table(options.places)
    with fetched(table) as (path, _):
        names = column_names(path, options.encoding)
    command = shlex.join(["pfgen-fast", "score", *_words(options, names)])
    fail(f"{shown_place(table)}: a table with {_columns(names)}; to score it, type: {command}")


def _words(options: ScoreOptions, names: Sequence[str]) -> list[str]:
    """The arguments with which a table with these columns is scored."""
    from ..tables.places import shown_place

    is_folder = options.is_many() and not (len(options.places) == 1 and os.path.isdir(options.places[0]))
    usual = "scored/" if is_folder else _beside(options.places[0])
    given: dict[str, str | list[str] | None]
    if options.metrics:
        from ..references.reference_scorer import ReferenceScorer

        references = options.reference_columns
        if not references and ReferenceScorer(options.metrics).needs_references:
            references = [_first(_REFERENCE_NAMES, names) or "REFERENCES"]
        given = {"--metric": options.metrics, "--reference-column": references, "--tokenize": options.tokenize}
    else:
        question = options.question_column or _first(_QUESTION_NAMES, names) or "QUESTION"
        given = {
            "--suite": options.suite or (None if _has_suite() else "SUITE"),
            "--question-column": question,
        }
    given |= {
        "--answer-column": options.answer_column or _first(_ANSWER_NAMES, names) or "ANSWER",
        "--columns": options.columns,
        "--filter": options.where,
        "--encoding": options.encoding,
        "--reasoning": "strip" if options.reasoning == "strip" else None,
    }
    words = []
    for name, value in given.items():
        values = [] if value is None else [value] if isinstance(value, str) else value
        words += [word for one in values for word in (name, one)]
    words += [f"--{name}" for name in ("lowercase", "nulls") if getattr(options, name)]
    destination = ["--in-place"] if options.in_place else ["-o", options.target or usual]
    return [*words, *map(shown_place, options.places), *destination]


def _beside(source: str) -> str:
    """A name for a scored table or directory, such as `answers.scored.csv` or `answers.scored/`."""
    from ..tables.places import base_name, is_remote

    if os.path.isdir(source):
        return f"{os.path.normpath(source)}.scored/"
    path = Path(base_name(source) if is_remote(source) else source)
    stem, dot, ending = path.name.partition(".")
    return str(path.with_name(f"{stem}.scored{dot}{ending}"))


def _has_suite() -> bool:
    """Whether the working directory has a suite."""
    try:
        source_or_here(None)
    except PfgenError:
        return False
    return True


def _first(usual: Sequence[str], names: Sequence[str]) -> str | None:
    """The most likely column by its name."""
    by_name = {name.lower(): name for name in reversed(names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def _columns(names: Sequence[str]) -> str:
    if not names:
        return "no columns"
    return f"the column{'s' if len(names) > 1 else ''} {few_names(list(map(repr, names)), _MAX_SHOWN_COLUMNS)}"

"""The options of `pfgen-fast score`, and scoring of tables: checks and outcomes."""

from __future__ import annotations

import contextlib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from ..errors import PfgenError
from ..scoring.reasoning_text import ReasoningChoice
from . import options
from .app import Json, Quiet, counting, fail, print_json, print_line, shown
from .command_class import option_group
from .suite_line import print_origin, suite_or_here
from .table_suggestion import ask

if TYPE_CHECKING:
    from ..references import ReferenceScorer
    from ..suite.rules import FloatSum
    from ..tables.table_job import TableJob, TableScorer

_STDIN = "-"
_LINES, *_OTHERS = (
    tuple(f"{kind}{packed}" for packed in ("", ".gz", ".xz", ".zst")) for kind in (".jsonl", ".csv", ".tsv", ".json")
)
_ENDINGS = sum(_OTHERS, ())


@option_group
class ScoreOptions:
    """The options of `score`, for runs and for tables."""

    paths: list[str] = Argument(
        help="Runs: directories, trials files, directories with many runs, globs (including '**'). Tables: files, "
        "directories, globs, URLs such as s3://bucket/in/, or '-'.",
        metavar="PATH...",
    )
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    output: str | None = Option(
        None,
        "-o",
        help="Write results below this directory instead of the runs. Tables: write to this file, or '-'; several "
        "tables: to this directory, also a remote one such as s3://bucket/folder/.",
        metavar="PATH",
    )
    in_place: bool = Option(False, help="Tables: replace the input when all of its rows are scored.")
    question_column: str | None = Option(None, help="Tables: name the question column.")
    answer_column: str | None = Option(None, help="Tables: name the answer column.")
    metrics: list[str] | None = Option(
        None,
        "--metric",
        help="Tables: compare answers with the references in their rows, by bleu, chrf, chrf++, rouge_1, rouge_2, "
        "rouge_l, rouge_lsum, token_f1, exact_match, rep_4 or distinct_4, or with 100 references or more fluency or "
        "truthfulness, without a suite. May be repeated.",
        metavar="NAME",
    )
    reference_columns: list[str] | None = Option(
        None,
        "--reference-column",
        help="With --metric: name the column with the references of each row, as lists (in CSV, JSON lists) or texts. "
        "May be repeated.",
        metavar="NAME",
    )
    tokenize: str | None = Option(
        None,
        help="With --metric: split texts by the rules of 13a, intl, zh, char or none. Default: the usual rules of "
        "each metric.",
        metavar="NAME",
    )
    lowercase: bool = Option(False, help="With --metric: convert texts to lower case first.")
    columns: str | None = Option(
        None, help="Tables: add only these scores, such as average,helpfulness. Default: all.", metavar="NAME,..."
    )
    where: str | None = Option(
        None,
        "--filter",
        help="Tables: write only rows that pass, as in 'average >= 0.6 and helpfulness > 0.5'.",
        metavar="CONDITION",
    )
    nulls: bool = Option(False, help="Tables: give missing answers null scores.")
    encoding: str | None = Option(
        None,
        help="Tables: set the encoding of CSV and TSV, such as cp932. Default: by the byte-order mark, or UTF-8.",
        metavar="NAME",
    )
    reasoning: ReasoningChoice = Option(
        "keep", help="Score answers unchanged, or without reasoning (docs/generation.md)."
    )
    profile: options.ProfileOption = "leaderboard"
    float_sum: options.ResultSumOption = "auto"
    force: bool = Option(
        False, "-f", help="Also score runs that are up to date, and tables scored with other settings."
    )
    threads: options.Threads = None
    dry_run: bool = Option(False, "-n", help="Only show what would be done.")
    quiet: Quiet = False
    format: options.FormatWithoutLetter = "text"
    as_json: Json = False

    @property
    def is_json(self) -> bool:
        """Whether the outcome is printed as JSON."""
        return self.as_json or self.format == "json"

    @property
    def is_silent(self) -> bool:
        """Whether the command prints errors and JSON only."""
        return self.quiet or self.is_json

    @property
    def usual_sum(self) -> FloatSum:
        """The float sum of runs without a recorded result."""
        return "naive" if self.float_sum == "naive" else "compensated"

    @cached_property
    def places(self) -> list[str]:
        """The inputs; `file://` is a path."""
        return list(map(_place, self.paths))

    @cached_property
    def target(self) -> str | None:
        """The output; `file://` is a path."""
        return self.output and _place(self.output)

    @property
    def are_tables(self) -> bool:
        """Whether the inputs are tables instead of runs."""
        given = (self.question_column, self.answer_column, self.columns, self.where, self.encoding, self.metrics)
        return self.in_place or any(value is not None for value in given) or all(map(_is_table, self.places))

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
            from .table_files import score_tables

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
        from ..references import ReferenceScorer

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

    def is_many(self) -> bool:
        """Whether the outputs are files in a directory, with the names of their inputs."""
        from ..tables.places.place_names import has_magic
        from ..tables.places.storage import storage_of

        def is_folder(place: str) -> bool:
            return place.endswith("/") or storage_of(place).is_folder(place)

        if len(self.places) > 1 or (self.target not in (None, _STDIN) and is_folder(str(self.target))):
            return True
        path = self.places[0]
        return path != _STDIN and (is_folder(path) or (has_magic(path) and storage_of(path).info(path) is None))

    def _check_many(self) -> None:
        """Ends the command if the options are for a single table."""
        if self.in_place:
            fail("--in-place replaces one table; several are scored into a directory: give --output FOLDER")
        if _STDIN in self.places:
            fail("a table on stdin has no name for a file in a directory: score it alone, with --output FILE")
        if self.target == _STDIN:
            fail("several tables are scored into a directory, not to stdout: give --output FOLDER")
        if self.target is not None and not self.target.endswith("/"):
            from ..tables.formats import is_table as is_table_name
            from ..tables.places.place_names import base_name, shown_place
            from ..tables.places.storage import storage_of

            storage, name = storage_of(self.target), shown_place(self.target)
            if storage.info(self.target) is not None and not storage.is_folder(self.target):
                fail(f"{name}: is a file; several tables are scored into a directory")
            if is_table_name(base_name(self.target)) and not storage.is_folder(self.target):
                fail(f"{name}: is named like a file; several tables are scored into a directory, such as {name}/")

    def _score_one(self, target: str, job: TableJob) -> None:
        """Scores one table into another."""
        from ..tables.folders.records import FileTask
        from ..tables.folders.scoring import FileOutcome, score_fetched
        from ..tables.places.fetching import Fetched, Fetching
        from ..tables.places.place_names import FileInfo, is_remote, shown_place
        from .table_files import outcome_as_json, rows_told

        source, name = self.places[0], shown_place(self.places[0])
        if source != _STDIN and not is_remote(source) and not os.path.lexists(source):
            fail(f"{source}: no such file or folder")
        if self.is_json and target == _STDIN:
            fail("--json prints to stdout, so the table cannot go there: give --output FILE")
        outcome = FileOutcome(FileTask(source, os.path.dirname(target), os.path.basename(target)), "pending")
        if not self.dry_run:
            with contextlib.ExitStack() as stack:
                fetched = Fetched(Path(source), FileInfo(None, ""))
                if is_remote(source):
                    fetched = stack.enter_context(Fetching([source])).get(0)
                count = stack.enter_context(counting("rows", quiet=self.is_silent))
                counts = score_fetched(fetched, name, target, job, on_batch=lambda done: count(done, None))
            outcome = FileOutcome(outcome.task, "scored", *counts)
        if self.is_json:
            print_json([outcome_as_json(outcome, job)])
        elif self.dry_run:
            print_line(f"to be scored: {shown(name)} -> {shown(shown_place(target))}")
        elif not self.quiet and target != _STDIN:
            print_line(f"{rows_told(outcome.n_rows, outcome.n_written, job)}: {shown(shown_place(target))}")
            print_origin(job.suite, job.spec.signature)

    def _single_target(self) -> str:
        """The output file; it may be the input only with `--in-place`."""
        from ..tables.places.place_names import is_remote, shown_place
        from ..tables.places.storage import storage_of

        source, output = self.places[0], self.target
        is_input = output is not None and source != _STDIN and _is_same(source, output)
        if not self.in_place and output is not None:
            if is_input:
                advice = "give another output" if is_remote(output) else "--in-place replaces it by the scored table"
                fail(f"{shown_place(output)}: is the input itself; {advice}")
            return output
        if source == _STDIN:
            fail("--in-place replaces the input, and stdin cannot be replaced")
        if output is not None and not is_input:
            fail(f"--in-place replaces the input, {source}, so --output cannot be {output}")
        if is_remote(source):
            fail(f"--in-place replaces files of this machine; for {shown_place(source)} give --output")
        return os.path.join(*storage_of(source).key(source)) if os.path.islink(source) else source  # a link stays


def _is_same(source: str, output: str) -> bool:
    """Whether two places are the same file, for example by a hard link."""
    from ..tables.places.place_names import is_remote
    from ..tables.places.storage import storage_of

    if is_remote(source) or is_remote(output):
        return storage_of(source).key(source) == storage_of(output).key(output)
    return os.path.exists(source) and os.path.exists(output) and os.path.samefile(source, output)


def _is_table(path: str) -> bool:
    """Whether an input must be a table: a URL, or a file that cannot be trials."""
    if _is_url(path) or not os.path.isfile(path):
        return _is_url(path)
    return path.endswith((".parquet", *_ENDINGS)) or (path.endswith(_LINES) and not _may_be_trials(path))


def _may_be_trials(path: str) -> bool:
    """Whether a file of JSON lines has the keys of trials, or cannot be read (the reader of trials names the error)."""
    from ..tables.formats import column_names

    try:
        names = column_names(path)
    except PfgenError:
        return True
    return not names or {"question", "answer"} <= set(names)


def _place(given: str) -> str:
    """The place that an argument names: `file://` is a path."""
    if not _is_url(given):
        return given
    from ..tables.places.place_names import place_of

    return place_of(given)


def _is_url(given: str) -> bool:
    if "://" not in given:
        return False
    from ..tables.places.place_names import is_remote

    return is_remote(given)

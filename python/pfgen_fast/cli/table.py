"""The options of `pfgen-fast score`, and scoring of tables: checks, suggested commands, outcomes."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from typer import Argument, Option

from ..errors import PfgenError
from ..files.untrusted_text import few_names
from ..scoring.reasoning_text import ReasoningChoice
from . import options
from .app import Json, Quiet, counting, fail, print_json, print_line, shown
from .command_class import option_group
from .suite_line import print_origin, source_or_here, suite_or_here

if TYPE_CHECKING:
    from ..suite.rules import FloatSum
    from ..tables.table_job import TableJob

_STDIN = "-"
_LINES, *_OTHERS = (
    tuple(f"{kind}{packed}" for packed in ("", ".gz", ".xz", ".zst")) for kind in (".jsonl", ".csv", ".tsv", ".json")
)
_ENDINGS = sum(_OTHERS, ())
_QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
_ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
_MAX_SHOWN_COLUMNS = 20


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
        given = (self.question_column, self.answer_column, self.columns, self.where, self.encoding)
        return self.in_place or any(value is not None for value in given) or all(map(_is_table, self.places))

    def ask_if_there(self) -> None:
        """Ends the command with a suggested command if the inputs are tables instead of runs."""
        from ..tables.folders.plans import first_table

        with contextlib.suppress(PfgenError):
            table = first_table(self.places)
            if not table.endswith(".json"):  # a suite, or another file of runs
                self._ask()

    def score_tables(self) -> None:
        """Scores the tables and prints the numbers of rows; ends the command if options are missing."""
        is_many = self._is_many()
        if is_many:
            self._check_many()
        if self.in_place and self.where is not None:
            fail("--in-place would lose the rows that do not pass --filter: give --output instead")
        if not (self.question_column and self.answer_column and (self.target or self.in_place)):
            self._ask()
        target = str(self.target) if is_many else self._single_target()
        if is_many:
            from .table_files import score_tables

            again, quiet, as_json = self.force, self.quiet, self.is_json
            score_tables(
                self.places, target, self._job(), again=again, dry_run=self.dry_run, quiet=quiet, as_json=as_json
            )
        else:
            self._score_one(target, self._job())

    def _job(self) -> TableJob:
        from ..scoring.spec import ScorerSpec
        from ..tables.table_job import TableJob

        suite = suite_or_here(self.suite)
        return TableJob(
            ScorerSpec(suite, profile=self.profile, float_sum=self.usual_sum, threads=self.threads),
            str(self.question_column),
            str(self.answer_column),
            None if self.columns is None else tuple(name.strip() for name in self.columns.split(",")),
            "null" if self.nulls else "error",
            self.where,
            self.encoding,
            self.reasoning,
        )

    def _ask(self) -> NoReturn:
        """Ends the command with the columns of the first table and a complete command."""
        if self.places == [_STDIN]:
            fail("a table on stdin needs --question-column, --answer-column and --output ('-' for stdout)")
        from ..tables.folders.plans import first_table
        from ..tables.formats import column_names
        from ..tables.places.fetching import Fetching
        from ..tables.places.place_names import is_remote, shown_place

        table = first_table(self.places)
        if is_remote(table):
            with Fetching([table]) as fetching:
                names = column_names(fetching.get(0).path, self.encoding)
        else:
            names = column_names(table, self.encoding)
        command = shlex.join(["pfgen-fast", "score", *self._words(names)])
        fail(f"{shown_place(table)}: a table with {_columns(names)}; to score it, type: {command}")

    def _words(self, names: Sequence[str]) -> list[str]:
        """The arguments with which a table with these columns is scored."""
        from ..tables.places.place_names import shown_place

        is_folder = self._is_many() and not (len(self.places) == 1 and os.path.isdir(self.places[0]))
        usual = "scored/" if is_folder else _beside(self.places[0])
        given = {
            "--suite": self.suite or (None if _has_suite() else "SUITE"),
            "--question-column": self.question_column or _first(_QUESTION_NAMES, names) or "QUESTION",
            "--answer-column": self.answer_column or _first(_ANSWER_NAMES, names) or "ANSWER",
            "--columns": self.columns,
            "--filter": self.where,
            "--encoding": self.encoding,
            "--reasoning": "strip" if self.reasoning == "strip" else None,
        }
        words = [word for name, value in given.items() if value is not None for word in (name, value)]
        words += ["--nulls"] if self.nulls else []
        destination = ["--in-place"] if self.in_place else ["-o", self.target or usual]
        return [*words, *map(shown_place, self.places), *destination]

    def _is_many(self) -> bool:
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
            print_origin(job.spec.suite, job.spec.signature)

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


def _beside(source: str) -> str:
    """A name for a scored table or directory, such as `answers.scored.csv` or `answers.scored/`."""
    from ..tables.places.place_names import base_name, is_remote

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

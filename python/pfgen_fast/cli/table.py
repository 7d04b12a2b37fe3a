"""`pfgen-fast score` for tables: checks the options, says what to type where some are missing, and scores."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..errors import PfgenError
from .app import counting, fail, print_json, print_line, shown
from .suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ..scoring.reasoning_text import ReasoningChoice
    from ..suite.rules import FloatSum, Profile
    from ..tables.table_job import TableJob

_STDIN = "-"
_LINES, *_OTHERS = (
    tuple(f"{kind}{packed}" for packed in ("", ".gz", ".xz", ".zst")) for kind in (".jsonl", ".csv", ".tsv", ".json")
)
_ENDINGS = sum(_OTHERS, ())


def is_table(path: str) -> bool:
    """Whether an input can be nothing but a table, or is elsewhere, where no runs are."""
    if _is_url(path) or not os.path.isfile(path):
        return _is_url(path)
    return path.endswith((".parquet", *_ENDINGS)) or (path.endswith(_LINES) and not _may_be_trials(path))


def _may_be_trials(path: str) -> bool:
    """Whether a file of JSON lines has the keys of trials, or cannot be read, which is told where trials are read."""
    from ..tables.formats import column_names

    try:
        names = column_names(path)
    except PfgenError:
        return True
    return not names or {"question", "answer"} <= set(names)


def table_place(given: str) -> str:
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


@dataclass(frozen=True)
class TableCommand:
    """What the command line says about scoring tables."""

    paths: Sequence[str]
    suite: str | None
    output: str | None
    in_place: bool
    question_column: str | None
    answer_column: str | None
    columns: str | None
    where: str | None
    nulls: bool
    encoding: str | None
    force: bool
    dry_run: bool
    reasoning: ReasoningChoice

    @property
    def are_meant(self) -> bool:
        """Whether the command line is about tables, and not about runs."""
        given = (self.question_column, self.answer_column, self.columns, self.where, self.encoding)
        return self.in_place or any(value is not None for value in given) or all(map(is_table, self.paths))

    def ask_if_there(self) -> None:
        """Ends the command with what to type if there are tables, where no runs were found."""
        from ..tables.folders.plans import first_table

        with contextlib.suppress(PfgenError):
            table = first_table(self.paths)
            if not table.endswith(".json"):  # a suite, or what else belongs to runs
                self.ask()

    def score(self, *, profile: Profile, float_sum: FloatSum, threads: int | None, quiet: bool, as_json: bool) -> None:
        """Scores the tables and prints how many rows were scored; ends the command if options are missing."""
        is_many = self._is_many()
        if is_many:
            self._check_many()
        if self.in_place and self.where is not None:
            fail("--in-place would lose the rows that do not pass --filter: give --output instead")
        if not (self.question_column and self.answer_column and (self.output or self.in_place)):
            self.ask()
        from ..scoring.spec import ScorerSpec
        from ..tables.table_job import TableJob

        target = str(self.output) if is_many else self._target()
        job = TableJob(
            ScorerSpec(suite_or_here(self.suite), profile=profile, float_sum=float_sum, threads=threads),
            str(self.question_column),
            str(self.answer_column),
            None if self.columns is None else tuple(name.strip() for name in self.columns.split(",")),
            "null" if self.nulls else "error",
            self.where,
            self.encoding,
            self.reasoning,
        )
        if is_many:
            from .table_files import score_tables

            score_tables(self.paths, target, job, again=self.force, dry_run=self.dry_run, quiet=quiet, as_json=as_json)
        else:
            self._score_one(target, job, quiet=quiet, as_json=as_json)

    def ask(self) -> NoReturn:
        """Ends the command with the columns that there are, and the whole command to type."""
        if list(self.paths) == [_STDIN]:
            fail("a table on stdin needs --question-column, --answer-column and --output ('-' for stdout)")
        from ..tables.folders.plans import first_table
        from .table_columns import beside, what_to_type

        given = {"--columns": self.columns, "--filter": self.where, "--encoding": self.encoding}
        given |= {"--reasoning": "strip"} if self.reasoning == "strip" else {}
        options = [word for name, value in given.items() if value is not None for word in (name, value)]
        is_folder = self._is_many() and not (len(self.paths) == 1 and os.path.isdir(self.paths[0]))
        usual = "scored/" if is_folder else beside(self.paths[0])
        fail(
            what_to_type(
                first_table(self.paths),
                paths=self.paths,
                question_column=self.question_column,
                answer_column=self.answer_column,
                suite=self.suite,
                encoding=self.encoding,
                options=[*options, *(["--nulls"] if self.nulls else [])],
                destination=["--in-place"] if self.in_place else ["-o", self.output or usual],
            )
        )

    def _is_many(self) -> bool:
        """Whether outputs go into a folder, each under the name of its input."""
        from ..tables.places.place_names import has_magic
        from ..tables.places.storage import storage_of

        def is_folder(place: str) -> bool:
            return place.endswith("/") or storage_of(place).is_folder(place)

        if len(self.paths) > 1 or (self.output not in (None, _STDIN) and is_folder(str(self.output))):
            return True
        path = self.paths[0]
        return path != _STDIN and (is_folder(path) or (has_magic(path) and storage_of(path).info(path) is None))

    def _check_many(self) -> None:
        """Ends the command if the options are for one table alone."""
        if self.in_place:
            fail("--in-place replaces one table; several are scored into a folder: give --output FOLDER")
        if _STDIN in self.paths:
            fail("a table on stdin has no name that it could have in a folder: score it alone, with --output FILE")
        if self.output == _STDIN:
            fail("several tables are scored into a folder, not to stdout: give --output FOLDER")
        if self.output is not None and not self.output.endswith("/"):
            from ..tables.formats import is_table as is_table_name
            from ..tables.places.place_names import base_name, shown_place
            from ..tables.places.storage import storage_of

            storage, name = storage_of(self.output), shown_place(self.output)
            if storage.info(self.output) is not None and not storage.is_folder(self.output):
                fail(f"{name}: is a file; several tables are scored into a folder")
            if is_table_name(base_name(self.output)) and not storage.is_folder(self.output):
                fail(f"{name}: is named like a file; several tables are scored into a folder, such as {name}/")

    def _score_one(self, target: str, job: TableJob, *, quiet: bool, as_json: bool) -> None:
        """Scores one table into another."""
        from ..tables.folders.records import FileTask
        from ..tables.folders.scoring import FileOutcome, score_fetched
        from ..tables.places.fetching import Fetched, Fetching
        from ..tables.places.place_names import FileInfo, is_remote, shown_place
        from .table_files import outcome_as_json, rows_told

        source, name = self.paths[0], shown_place(self.paths[0])
        if source != _STDIN and not is_remote(source) and not os.path.lexists(source):
            fail(f"{source}: no such file or folder")
        if as_json and target == _STDIN:
            fail("--json prints to stdout what became of a table, so the table itself cannot go there, too")
        outcome = FileOutcome(FileTask(source, os.path.dirname(target), os.path.basename(target)), "pending")
        if not self.dry_run:
            with contextlib.ExitStack() as stack:
                fetched = Fetched(Path(source), FileInfo(None, ""))
                if is_remote(source):
                    fetched = stack.enter_context(Fetching([source])).get(0)
                count = stack.enter_context(counting("rows", quiet=quiet or as_json))
                counts = score_fetched(fetched, name, target, job, on_batch=lambda done: count(done, None))
            outcome = FileOutcome(outcome.task, "scored", *counts)
        if as_json:
            print_json([outcome_as_json(outcome, job)])
        elif self.dry_run:
            print_line(f"to be scored: {shown(name)} -> {shown(shown_place(target))}")
        elif not quiet and target != _STDIN:
            print_line(f"{rows_told(outcome.n_rows, outcome.n_written, job)}: {shown(shown_place(target))}")
            print_origin(job.spec.suite, job.spec.signature)

    def _target(self) -> str:
        """The file to write; the input only if that was asked for, by whatever name it is given."""
        from ..tables.places.place_names import is_remote, shown_place
        from ..tables.places.storage import storage_of

        source, output = self.paths[0], self.output
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
    """Whether two places are one file; a hard link is the same file, too."""
    from ..tables.places.place_names import is_remote
    from ..tables.places.storage import storage_of

    if is_remote(source) or is_remote(output):
        return storage_of(source).key(source) == storage_of(output).key(output)
    return os.path.exists(source) and os.path.exists(output) and os.path.samefile(source, output)

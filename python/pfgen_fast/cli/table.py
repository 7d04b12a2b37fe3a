"""The options of `pfgen-fast score`, and scoring of tables: checks and outcomes."""

from __future__ import annotations

import contextlib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PfgenError
from .app import counting, fail, print_json, print_line, shown
from .score_options import STDIN, ScoreOptions
from .suite_line import print_origin, suite_or_here
from .table_suggestion import ask

if TYPE_CHECKING:
    from ..references.reference_scorer import ReferenceScorer
    from ..tables.table_job import TableJob, TableScorer


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
        from .table_files import outcome_as_json, rows_told

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

"""The options of `pfgen-fast score`, and scoring of tables: checks and outcomes."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import PfgenError
from .app import counted, counting, exit_if_partial, fail, note, print_json, print_line, shown, warn
from .score_options import STDIN, ScoreOptions
from .suite_line import print_origin, suite_or_here
from .table_columns import print_means, with_columns

if TYPE_CHECKING:
    from ..rewards.references.reference_scorer import ReferenceScorer
    from ..tables.folders import FileOutcome, FilesProgress
    from ..tables.table_job import TableJob, TableScorer


def rows_told(n_rows: int, n_written: int, job: TableJob) -> str:
    """The number of scored rows, and with a filter how many passed."""
    told = f"{counted(n_rows, 'row')} scored"
    return told if job.where is None else f"{told}, {n_written:,} passed the filter, {n_rows - n_written:,} did not"


def outcome_as_json(outcome: FileOutcome, job: TableJob) -> dict[str, object]:
    """The outcome of a file as JSON values."""
    from ..tables.places import shown_place

    is_scored = outcome.status == "scored"
    return {
        "input": shown_place(outcome.task.source),
        "output": shown_place(outcome.task.target),
        "status": outcome.status,
        "rows": outcome.n_rows if is_scored else None,
        "rows_written": outcome.n_written if is_scored else None,
        "error": outcome.error,
        "suite": job.suite and job.suite.name,
        "signature": job.spec.signature,
    }


class TableScoring(ScoreOptions):
    """Scores tables, as the options say."""

    def hold_tables(self) -> bool:
        """Whether tables are found at inputs without runs."""
        from ..tables.folders import first_table

        with contextlib.suppress(PfgenError):
            return not first_table(self.places).endswith(".json")  # a suite, or another file of runs
        return False

    def score_tables(self) -> None:
        """Scores the tables and prints the numbers of rows; ends the command if options are missing."""
        is_many = self.is_many()
        if is_many:
            self._check_many()
        self.check_metrics()
        if self.input_format and self.places != [STDIN]:
            fail("--input-format is for a table on stdin; the extension of a file names its format")
        if is_many:
            self._score_many()
            return
        chosen = self
        with self._local_table() as path:
            if self.places != [STDIN] or self.input_format:
                chosen = with_columns(self, path, self._name, self.reference_scorer)
            else:
                self._check_stdin()
            target = self._single_target() if self.target else None
            chosen._score_one(path, target, chosen._job())

    def _check_stdin(self) -> None:
        """Ends the command if columns of lines on stdin are not named, because these are read only once."""
        scorer = self.reference_scorer
        compared_with = (self.reference_columns or not scorer.needs_references) if scorer else self.question_column
        if not (compared_with and self.answer_column and self.target):
            column = "--reference-column" if scorer else "--question-column"
            fail(f"a table on stdin needs {column}, --answer-column and --output ('-' for stdout), or --input-format")

    @property
    def _name(self) -> str:
        from ..tables.places import shown_place

        return "stdin" if self.places == [STDIN] else shown_place(self.places[0])

    @contextlib.contextmanager
    def _local_table(self) -> Iterator[Path]:
        """The only table as a file, which is temporary for a table elsewhere, and for stdin with --input-format."""
        from ..base.file_reading import stdin
        from ..tables.places import fetched, is_remote, temporary_folder

        source = self.places[0]
        if is_remote(source) and not self.dry_run:
            with fetched(source) as (path, _):
                yield path
        elif source == STDIN and self.input_format:
            with temporary_folder() as folder:
                path = Path(folder, f"stdin.{self.input_format}")
                with path.open("wb") as file:
                    while block := stdin().read(1 << 20):
                        file.write(block)
                yield path
        else:
            if source != STDIN and not is_remote(source) and not os.path.lexists(source):
                fail(f"{source}: no such file or folder")
            yield Path(source)

    def check_metrics(self) -> None:
        """Ends the command if options for a suite and options for reference metrics are combined."""
        metric_options = {
            "--reference-column": self.reference_columns,
            "--tokenize": self.tokenize,
            "--lowercase": self.lowercase,
        }
        suite_options = {
            "--suite": self.suite,
            "--question-column": self.question_column,
            "--profile": self.profile != "leaderboard",
            "--float-sum": self.float_sum != "auto",
        }
        for name, value in (suite_options if self.metrics else metric_options).items():
            if value and self.metrics:
                fail(f"{name}: --metric compares answers with the references in the table: leave out {name}")
            if value:
                fail(f"{name} needs a metric, such as --metric bleu --metric chrf")

        scorer = self.reference_scorer
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
    def reference_scorer(self) -> ReferenceScorer | None:
        """The scorer of the reference metrics, if there are any."""
        if not self.metrics:
            return None
        from ..rewards.references.reference_scorer import ReferenceScorer

        try:
            return ReferenceScorer(self.metrics, tokenize=self.tokenize, lowercase=self.lowercase, threads=self.threads)
        except ValueError as error:  # an unknown metric or tokenizer
            fail(str(error))

    def _scorer(self) -> TableScorer:
        if self.reference_scorer:
            return self.reference_scorer
        from ..scoring.scorer import ScorerSpec

        suite = suite_or_here(self.suite)
        return ScorerSpec(suite, profile=self.profile, float_sum=self.usual_sum, threads=self.threads)

    def _check_many(self) -> None:
        """Ends the command if the options are for a single table."""
        if STDIN in self.places:
            fail("a table on stdin has no name for a file in a directory: score it alone, with --output FILE")
        if self.target is None or self.target == STDIN:
            fail("several tables are scored into a directory: give --output FOLDER")
        if not self.target.endswith("/"):
            from ..tables.formats import is_table as is_table_name
            from ..tables.places import base_name, file_info, is_folder, shown_place

            name = shown_place(self.target)
            is_there = is_folder(self.target)
            if file_info(self.target) is not None and not is_there:
                fail(f"{name}: is a file; several tables are scored into a directory")
            if is_table_name(base_name(self.target)) and not is_there:
                fail(f"{name}: is named like a file; several tables are scored into a directory, such as {name}/")

    def _score_many(self) -> None:
        """Scores tables into a directory and prints the outcomes; ends with exit code 3 if a table failed."""
        from ..tables.folders import first_table, score_files
        from ..tables.places import fetched, shown_place

        first, folder = first_table(self.places), str(self.target)
        with fetched(first) as (path, _):
            job = with_columns(self, path, shown_place(first), self.reference_scorer)._job()

        def tell(outcome: FileOutcome) -> None:
            source, target = (shown(shown_place(place)) for place in (outcome.task.source, outcome.task.target))
            if outcome.error:
                warn(outcome.error)
            elif outcome.status == "pending" and not self.is_silent:
                print_line(f"to be scored: {source} -> {target}")
            elif outcome.status == "scored" and not self.is_silent:
                print_line(f"{rows_told(outcome.n_rows, outcome.n_written, job)}: {target}")

        state, passed_over = "", list[str]()
        with counting("files", quiet=self.is_silent, below=lambda: state) as count:

            def show(progress: FilesProgress) -> None:
                nonlocal state
                n_bytes = f"{progress.n_bytes_done / 1e6:,.1f} of {progress.n_bytes / 1e6:,.1f} MB of input"
                state = f"{counted(progress.n_rows, 'row')}; {n_bytes}"
                count(progress.n_files_done, progress.n_files)

            outcomes = score_files(
                self.places,
                folder,
                job,
                again=self.force,
                dry_run=self.dry_run,
                on_progress=show,
                on_outcome=tell,
                on_passed_over=passed_over.append,
            )
        if passed_over and not self.quiet:
            example = shown_place(passed_over[0])
            note(f"passed over {counted(len(passed_over), 'file')} without the extension of a table, such as {example}")
        if self.as_json:
            print_json([outcome_as_json(outcome, job) for outcome in outcomes])
        elif not self.quiet:
            n_rows, n_written = sum(task.n_rows for task in outcomes), sum(task.n_written for task in outcomes)
            words = {"scored": f"scored ({rows_told(n_rows, n_written, job)})", "pending": "to be scored"}
            words |= {"current": "up to date", "failed": "failed"}
            numbers: Counter[str] = Counter(outcome.status for outcome in outcomes)
            first_part, *others = [(numbers[status], text) for status, text in words.items() if numbers[status]]
            parts = [f"{counted(first_part[0], 'file')} {first_part[1]}", *(f"{n:,} {text}" for n, text in others)]
            print_line(f"{', '.join(parts)}: {shown(shown_place(folder))}")
            print_origin(job.suite, job.spec.signature)
        exit_if_partial(any(outcome.status == "failed" for outcome in outcomes))

    def _score_one(self, path: Path, target: str | None, job: TableJob) -> None:
        """Scores one table into another, or without a target prints the means of its models."""
        from ..tables.folders import FileOutcome, FileTask
        from ..tables.model_means import MeansOfModels
        from ..tables.places import shown_place
        from ..tables.streaming import scored_table

        source, name = self.places[0], self._name
        if self.as_json and target == STDIN:
            fail("--json prints to stdout, so the table cannot go there: give --output FILE")
        task = FileTask(source, os.path.dirname(target or ""), os.path.basename(target or ""))
        outcome, means = FileOutcome(task, "pending"), MeansOfModels.of(path, job)
        if not self.dry_run:
            with counting("rows", quiet=self.is_silent) as count:
                sink = target or means.add
                counts = scored_table(path, sink, job, name=name, on_batch=lambda done: count(done, None))
            outcome = FileOutcome(task, "scored", *counts)
        model_means = None if target else means.models()
        if self.as_json:
            record = outcome_as_json(outcome, job)
            if model_means is not None:
                record |= {"output": None, "models": [model.to_dict() for model in model_means]}
            print_json([record])
        elif self.dry_run:
            print_line(f"to be scored: {shown(name)}" + (f" -> {shown(shown_place(target))}" if target else ""))
        elif not self.quiet and target != STDIN:
            told = rows_told(outcome.n_rows, outcome.n_written, job)
            if model_means is None:
                print_line(f"{told}: {shown(shown_place(str(target)))}")
            else:
                print_means(model_means, means, told)
            print_origin(job.suite, job.spec.signature)

    def _single_target(self) -> str:
        """The output file, which may not be the input."""
        from ..tables.places import shown_place

        target = str(self.target)
        if is_same(self.places[0], target):
            fail(f"{shown_place(target)}: is the input itself; give another output")
        return target


def is_same(source: str, output: str) -> bool:
    """Whether two places are the same file, for example by a hard link."""
    from ..tables.places import is_remote, place_key

    if is_remote(source) or is_remote(output):
        return place_key(source) == place_key(output)
    return os.path.exists(source) and os.path.exists(output) and os.path.samefile(source, output)

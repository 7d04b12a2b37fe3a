"""Scores many tables into a directory, one output for each; finished outputs are not scored again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from ...errors import PfgenError, TrialsError
from ...files.writing import make_folder
from ...scoring.reasoning_text import ReasoningChoice
from ..formats import has_encoding
from ..places import (
    base_name,
    check_target,
    endings,
    fetched,
    file_info,
    is_remote,
    remove_file,
    shown_place,
    temporary_folder,
    write_file,
)
from ..rows import Write
from ..streaming import OnWhole, TableCounts, scored_table
from ..table_job import Nulls, TableJob, TableScorer
from .plans import Sources, plan_files
from .records import (
    FileTask,
    Record,
    foreign,
    prepare_folder,
    read_folder,
    read_record,
    record_place,
    recorded_name,
    source_info,
)

Status = Literal["scored", "current", "pending", "failed"]
"""The status of a file. `current` means that its output was already finished; `pending` occurs only with `dry_run`."""


@dataclass(frozen=True)
class FileOutcome:
    """The outcome of a file."""

    task: FileTask
    status: Status
    n_rows: int = 0
    n_written: int = 0
    error: str | None = None  # why it failed, in one sentence


@dataclass(frozen=True)
class FilesProgress:
    """Progress over many files. Outputs that were already finished count as files, but not as rows and bytes."""

    n_files: int
    n_files_done: int
    n_rows: int
    n_bytes: int
    n_bytes_done: int


def _ignore(about: object) -> None:
    """Does nothing."""


@dataclass(frozen=True)
class Listeners:
    """Functions that are called while tables are scored; see `score_files`."""

    on_progress: Callable[[FilesProgress], None] = _ignore
    on_outcome: Callable[[FileOutcome], None] = _ignore
    on_note: Callable[[str], None] = _ignore
    on_passed_over: Callable[[str], None] = _ignore


class _IsFinished(Exception):
    """Raised if another process has finished the output in the meantime."""

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record


def score_files(
    sources: Sources,
    target: str | os.PathLike[str],
    spec: TableScorer,
    *,
    question_column: str = "question",
    answer_column: str = "answer",
    columns: Sequence[str] | None = None,
    nulls: Nulls = "error",
    where: str | None = None,
    encoding: str | None = None,
    reasoning: ReasoningChoice = "keep",
    reference_column: str | Sequence[str] = "references",
    again: bool = False,
    dry_run: bool = False,
    on_progress: Callable[[FilesProgress], None] | None = None,
    on_outcome: Callable[[FileOutcome], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    on_passed_over: Callable[[str], None] = lambda place: None,
) -> list[FileOutcome]:
    """Scores tables into a directory, one after another. Outputs that are already finished are not changed.

    If a file cannot be scored, the other files are still scored. After a kill, the same call continues with the
    unfinished file. Two processes may score into one directory.

    `sources` are files, directories or globs, local or remote; an output is named by the path of its source below the
    given directory. The `target` is a directory, local or remote; it is created if needed, and its subdirectory
    `_pfgen_fast` has the records. `again` scores everything again and replaces existing outputs; `dry_run` only reports
    the status of each file. `on_progress` is called after each batch and each file, `on_outcome` after each file,
    `on_note` with sentences about other files in the target, and `on_passed_over` with each file that is skipped
    because it is not a table. The other arguments are those of `score_table`.
    """
    job = TableJob(spec, question_column, answer_column, columns, nulls, where, encoding, reasoning, reference_column)
    listeners = Listeners(on_progress or _ignore, on_outcome or _ignore, on_note or _ignore, on_passed_over)
    return score_sources(sources, target, job, again=again, dry_run=dry_run, listeners=listeners)


def score_sources(
    sources: Sources,
    target: str | os.PathLike[str],
    job: TableJob,
    *,
    again: bool,
    dry_run: bool,
    listeners: Listeners,
) -> list[FileOutcome]:
    """Implements `score_files`."""
    tasks = plan_files(sources, target, on_passed_over=listeners.on_passed_over)

    def one_by_one(todo: Sequence[FileTask]) -> Generator[FileOutcome, None, None]:
        done = FilesProgress(len(tasks), len(tasks) - len(todo), 0, sum(map(_size, todo)), 0)

        def tell(n_rows: int = 0) -> None:
            listeners.on_progress(replace(done, n_rows=done.n_rows + n_rows))

        for task in todo:
            if dry_run:
                yield FileOutcome(task, "pending")
                continue
            outcome = score_one_file(task, job, again=again, on_batch=tell)
            done = replace(
                done,
                n_files_done=done.n_files_done + 1,
                n_rows=done.n_rows + outcome.n_rows,
                n_bytes_done=done.n_bytes_done + _size(task),
            )
            tell()
            yield outcome

    return run_tasks(tasks, job, one_by_one, again=again, dry_run=dry_run, listeners=listeners)


def run_tasks(
    tasks: Sequence[FileTask],
    job: TableJob,
    run: Callable[[Sequence[FileTask]], Generator[FileOutcome, None, None]],
    *,
    again: bool,
    dry_run: bool = False,
    listeners: Listeners,
) -> list[FileOutcome]:
    """Scores, by `run`, the tasks without a finished output; returns the outcomes in the order of the tasks."""
    if job.encoding is not None and not any(has_encoding(base_name(task.source)) for task in tasks):
        raise PfgenError("encoding: expected a CSV or TSV file, but no source is such a file")
    records, notes = read_folder(tasks, job, again=again)
    for note in notes:
        listeners.on_note(note)
    todo = [task for task in tasks if task.name not in records]
    if todo and not dry_run:
        prepare_folder(todo[0].folder)
    finished = [_current(task, records[task.name]) for task in tasks if task.name in records]
    outcomes: dict[str, FileOutcome] = {}
    with contextlib.closing(run(todo)) as ended:
        for outcome in chain(finished, ended):
            outcomes[outcome.task.name] = outcome
            listeners.on_outcome(outcome)
    return [outcomes[task.name] for task in tasks]


def score_one_file(
    task: FileTask, job: TableJob, *, again: bool = False, on_batch: Callable[[int], None] | None = None
) -> FileOutcome:
    """Scores a file unless its output is finished. Workers call it, again after a kill; `read_folder` comes before."""
    name = shown_place(task.source)
    of_file = job if has_encoding(base_name(task.source)) else replace(job, encoding=None)

    def on_whole(counts: TableCounts, n_bytes: int) -> None:
        finished = _finished(task, job, again)
        if finished is not None:
            raise _IsFinished(finished)
        # In this order, no unfinished output looks finished after a kill.
        remove_file(task.target)
        record = Record(job.description, recorded_name(task.source), info, *counts, n_bytes)
        write_file(record_place(task.folder, task.name), record.to_bytes())

    try:
        record = _finished(task, job, again)
        if record is None:
            if not is_remote(task.target):
                make_folder(Path(task.target).parent)
            with fetched(task.source) as (source, info):
                counts = score_fetched(source, name, task.target, of_file, on_whole=on_whole, on_batch=on_batch)
            return FileOutcome(task, "scored", *counts)
    except _IsFinished as meanwhile:
        record = meanwhile.record
    except PfgenError as error:
        problem, target = str(error), shown_place(task.target)
        with contextlib.suppress(PfgenError):
            if target not in problem and file_info(task.target) is not None:
                problem += f"; {target} still contains the earlier scores"
        return FileOutcome(task, "failed", error=problem)
    return _current(task, record)


def _current(task: FileTask, record: Record) -> FileOutcome:
    return FileOutcome(task, "current", record.n_rows, record.n_written)


def _finished(task: FileTask, job: TableJob, again: bool) -> Record | None:
    """The record of a finished output; None if the table must be scored."""
    output = file_info(task.target)
    if output is None:
        return None
    record = read_record(task)
    if record is None:
        raise foreign(shown_place(task.target))
    return record if not again and record.is_finished(task, job, source_info(task), output) else None


def _size(task: FileTask) -> int:
    return (task.info and task.info.n_bytes) or 0


def score_fetched(
    source: Path,
    name: str,
    target: str | Write,
    job: TableJob,
    *,
    on_whole: OnWhole | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> TableCounts:
    """Implements `scored_table` for any place; errors contain the name of the table, not that of a temporary file."""
    if not callable(target):
        check_target(target)
    names = {str(source): name} if is_remote(name) or name == "stdin" else {}
    if callable(target) or not is_remote(target):
        with _named(names):
            return scored_table(source, target, job, on_batch=on_batch, on_whole=on_whole)
    with temporary_folder() as folder:
        local = Path(folder, f"output{endings(target)}")
        with _named({**names, str(local): shown_place(target)}):
            counts = scored_table(source, local, job, on_batch=on_batch)
        if on_whole is not None:
            on_whole(counts, local.stat().st_size)
        write_file(target, local)
        return counts


@contextlib.contextmanager
def _named(names: Mapping[str, str]) -> Iterator[None]:
    """Replaces the paths of temporary files in error messages by the names that the user gave."""
    try:
        yield
    except PfgenError as error:
        message = str(error)
        for path, name in names.items():
            message = message.replace(path, name)
        if message == str(error):
            raise
        raise (TrialsError if isinstance(error, TrialsError) else PfgenError)(message) from None

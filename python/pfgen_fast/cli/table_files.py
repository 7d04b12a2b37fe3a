"""`pfgen-fast score` for many tables: progress over all of them, a line for each, and a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .app import counted, counting, exit_if_partial, note, print_json, print_line, shown, warn
from .suite_line import print_origin

if TYPE_CHECKING:
    from ..tables.folders.scoring import FileOutcome, FilesProgress
    from ..tables.table_job import TableJob


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

"""Scores many tables into a directory, each into an output of the same name; finished outputs are skipped, as by make.

An output is finished if it exists and is not older than its input. The file `_pfgen_fast.json`, which readers of
directories skip, has the settings of all outputs, so that scores of different settings are never mixed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..base.errors import PfgenError, TrialsError
from ..base.file_reading import read_stored
from ..base.file_writing import make_folder
from ..base.untrusted_json import checked, entries, json_bytes, parse_json, text
from ..base.untrusted_text import in_one_line
from .formats import format_of, has_encoding, is_table
from .places import (
    FileInfo,
    base_name,
    check_name,
    check_writable,
    fetched,
    file_info,
    files_below,
    glob_matches,
    has_magic,
    is_folder,
    is_hidden,
    is_remote,
    joined,
    place_key,
    place_of,
    remove_file,
    shown_place,
    write_file,
)
from .streaming import score_table
from .table_job import TableJob

SETTINGS = "_pfgen_fast.json"
_MAX_SETTINGS_BYTES = 1 << 20

OnPassedOver = Callable[[str], None]
"""Called with the place of each file that is skipped because it is not a table."""

Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One file, directory or glob, or an iterable of these."""


@dataclass(frozen=True)
class FileTask:
    """A table to score: its place, the directory and name of its output, and its file information."""

    source: str
    folder: str
    name: str
    info: FileInfo | None = None

    @property
    def target(self) -> str:
        """The output."""
        return joined(self.folder, self.name)

    @property
    def is_finished(self) -> bool:
        """Whether the output exists and is not older than its input.

        S3 tells whole seconds, in which an input can be replaced after its output was written.
        """
        output, placed = file_info(self.target), self.info and self.info.placed
        if output is None or not placed or not output.modified:
            return output is not None
        return output.modified > placed or (output.modified == placed and not placed.is_integer())


Status = Literal["scored", "current", "pending", "failed"]
"""The status of a file. `current` means that its output was already finished; `pending` occurs only with `dry_run`."""


@dataclass(frozen=True)
class FileOutcome:
    """The outcome of a file; only a scored file has counts of rows."""

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


def score_files(
    sources: Sources,
    target: str | os.PathLike[str],
    job: TableJob,
    *,
    again: bool = False,
    dry_run: bool = False,
    on_progress: Callable[[FilesProgress], None] = _ignore,
    on_outcome: Callable[[FileOutcome], None] = _ignore,
    on_passed_over: OnPassedOver = _ignore,
) -> list[FileOutcome]:
    """Scores tables into a directory, one after another. Outputs that are already finished are not changed.

    If a file cannot be scored, the other files are still scored. After a kill, the same call continues with the
    unfinished file.

    `sources` are files, directories or globs, local or remote; an output is named by the path of its source below the
    given directory. The `target` is a directory, local or remote; it is created if needed. `again` scores everything
    again and replaces existing outputs; `dry_run` only reports the status of each file. `on_progress` is called after
    each batch and each file, `on_outcome` after each file.
    """
    tasks = plan_files(sources, target, on_passed_over=on_passed_over)
    if job.encoding is not None and not any(has_encoding(base_name(task.source)) for task in tasks):
        raise PfgenError("encoding: expected a CSV or TSV file, but no source is such a file")
    _prepare(tasks, job, again=again, dry_run=dry_run)
    todo = {task.name: (task.info and task.info.n_bytes) or 0 for task in tasks if again or not task.is_finished}
    progress = FilesProgress(len(tasks), len(tasks) - len(todo), 0, sum(todo.values()), 0)
    outcomes: list[FileOutcome] = []

    def tell_rows(n_rows: int) -> None:
        on_progress(replace(progress, n_rows=progress.n_rows + n_rows))

    for task in tasks:
        if task.name not in todo:
            outcomes.append(FileOutcome(task, "current"))
        elif dry_run:
            outcomes.append(FileOutcome(task, "pending"))
        else:
            outcomes.append(_score_file(task, job, on_batch=tell_rows))
            progress = replace(
                progress,
                n_files_done=progress.n_files_done + 1,
                n_rows=progress.n_rows + outcomes[-1].n_rows,
                n_bytes_done=progress.n_bytes_done + todo[task.name],
            )
            on_progress(progress)
        on_outcome(outcomes[-1])
    return outcomes


def plan_files(
    sources: Sources, target: str | os.PathLike[str], *, on_passed_over: OnPassedOver = _ignore
) -> list[FileTask]:
    """Lists the tables of some sources, and assigns to each table its output in the target directory.

    If the source is a directory, the name of an output is the path of its input below that directory. Otherwise it is
    the name of the file. Files in directories and matches of globs are skipped if they are not tables, or if a part of
    their path begins with `_` or `.`.
    """
    folder = place_of(target)
    if not folder:
        raise PfgenError("the output directory has no name")
    check_writable(folder)
    is_in_folder = _within(folder)
    tasks: dict[str, FileTask] = {}
    names: dict[tuple[str, ...], str] = {}
    for source in map(place_of, [sources] if isinstance(sources, str | os.PathLike) else sources):
        is_empty = True
        for place, name, info in _tables(source, folder, on_passed_over):
            is_empty = False
            check_name(name, place)
            if is_in_folder(place):
                raise PfgenError(f"{shown_place(place)}: is in the output directory, {shown_place(folder)}")
            if is_hidden(name):
                raise PfgenError(
                    f"{shown_place(place)}: readers of directories skip names that begin with _ or ., so it can only "
                    "be scored into a file"
                )
            earlier = names.setdefault(place_key(place), name)
            if earlier != name:
                raise PfgenError(
                    f"{shown_place(place)}: would be scored twice, into {shown_place(joined(folder, earlier))} and "
                    f"{shown_place(joined(folder, name))}; give it only once"
                )
            other = tasks.setdefault(name, FileTask(place, folder, name, info))
            if place_key(other.source) != place_key(place):
                raise PfgenError(
                    f"{shown_place(other.source)} and {shown_place(place)} would have the same output, "
                    f"{shown_place(joined(folder, name))}; give the directory above both, or score them separately"
                )
        if is_empty:
            raise TrialsError(f"{shown_place(source)}: there are no tables here, such as .parquet, .jsonl or .csv")
    return list(tasks.values())


def first_table(sources: Iterable[str]) -> str:
    """The first table that `plan_files` would find in some sources."""
    source = ""
    for source in map(place_of, sources):
        for place, _, _ in _tables(source, None, _ignore):
            return place
    raise TrialsError(f"{shown_place(source)}: there are no tables here")


def _tables(
    source: str, folder: str | None, on_passed_over: OnPassedOver
) -> Iterator[tuple[str, str, FileInfo | None]]:
    """The place of each table in a source, the name of its output, and its file information."""
    info = file_info(source)
    if info is not None and not is_folder(source):
        format_of(shown_place(source))  # raises an error if the extension is unknown
        yield source, base_name(source), info
    elif is_folder(source):
        yield from _tables_below(source, folder, on_passed_over)
    elif has_magic(source) and (places := glob_matches(source)):
        for place in places:
            if is_folder(place):
                if not is_hidden(base_name(place)):
                    yield from _tables_below(place, folder, on_passed_over)
            elif is_table(base_name(place)) and not is_hidden(base_name(place)):
                yield place, base_name(place), file_info(place)
            else:
                on_passed_over(place)
    else:
        raise TrialsError(f"{shown_place(source)}: no such file or folder")


def _tables_below(source: str, folder: str | None, on_passed_over: OnPassedOver) -> Iterator[tuple[str, str, FileInfo]]:
    if folder is not None and place_key(source) == place_key(folder):
        raise PfgenError(f"{shown_place(folder)}: is the input directory itself; give another output directory")
    if folder is not None and _within(source)(folder):
        raise PfgenError(f"{shown_place(folder)}: is in the input directory, {shown_place(source)}; give another one")
    for name, info in files_below(source):
        if is_table(name):
            yield joined(source, name), name, info
        else:
            on_passed_over(joined(source, name))


def _within(folder: str) -> Callable[[str], bool]:
    """A function that returns whether a place is below a directory, at any depth."""
    parts = place_key(folder)
    return lambda place: (key := place_key(place))[: len(parts)] == parts and len(key) > len(parts)


def _prepare(tasks: Sequence[FileTask], job: TableJob, *, again: bool, dry_run: bool) -> None:
    """Checks the settings of earlier outputs, and records those of the new ones, before any work."""
    folder = tasks[0].folder
    place = joined(folder, SETTINGS)
    settings: Mapping[str, str] | None = None
    if file_info(place) is not None:
        with fetched(place) as (path, _):
            content = read_stored(path, limit=_MAX_SETTINGS_BYTES)
        where = shown_place(place)
        value = parse_json(content, where, error=PfgenError)
        settings = checked(value, lambda job: entries(job, text), where, error=PfgenError)
    if settings == job.description:
        return
    outputs = [name for name, _ in files_below(folder) if is_table(name)]
    others = set(outputs) - {task.name for task in tasks}
    if others or (outputs and not again):
        origin = f"scored with {_difference(settings, job.description)}" if settings else "of unknown origin"
        advice = "" if others else "--force (again=True) replaces them, or "
        raise PfgenError(f"{shown_place(folder)}: has tables {origin}; {advice}give another output directory")
    if not dry_run:
        for name in outputs:
            remove_file(joined(folder, name))
        write_file(place, json_bytes(dict(job.description)) + b"\n")


def _difference(settings: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    parts = [
        f"{'other' if name.endswith('s') else 'another'} {name} "
        f"({in_one_line(settings.get(name, '') or 'none', 200)}, not {wanted[name] or 'none'})"
        for name in wanted
        if settings.get(name, "") != wanted[name]
    ]
    return " and ".join(parts) or "other settings"


def _score_file(task: FileTask, job: TableJob, *, on_batch: Callable[[int], None]) -> FileOutcome:
    file_job = job if has_encoding(base_name(task.source)) else replace(job, encoding=None)
    try:
        if not is_remote(task.target):
            make_folder(Path(task.target).parent)
        with fetched(task.source) as (path, _):
            name = shown_place(task.source)
            counts = score_table(path, task.target, file_job, name=name, on_batch=on_batch)
        return FileOutcome(task, "scored", *counts)
    except PfgenError as error:
        problem, target = str(error), shown_place(task.target)
        with contextlib.suppress(PfgenError):
            if target not in problem and file_info(task.target) is not None:
                problem += f"; {target} still contains the earlier scores"
        return FileOutcome(task, "failed", error=problem)

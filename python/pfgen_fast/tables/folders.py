"""Scores many tables into a directory, each into an output of the same name; finished outputs are skipped, as by make.

An output is finished if it exists and is not older than its input. The file `_pfgen_fast.json`, which readers of
directories skip, has the settings of all outputs, so that scores of different settings are never mixed.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..base.errors import PfgenError, TrialsError
from ..base.file_reading import read_stored
from ..base.file_writing import make_folder, write_whole
from ..base.untrusted_json import checked, entries, json_bytes, parse_json, text
from ..base.untrusted_text import in_one_line
from .formats import format_of, has_encoding, is_table
from .streaming import score_table
from .table_job import TableJob

SETTINGS = "_pfgen_fast.json"
_MAX_SETTINGS_BYTES = 1 << 20

Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One file, directory or glob, or an iterable of these."""


@dataclass(frozen=True)
class FileTask:
    """A table to score: its path, and the directory and name of its output."""

    source: str
    folder: str
    name: str

    @property
    def target(self) -> str:
        """The output."""
        return os.path.join(self.folder, self.name)

    @property
    def is_finished(self) -> bool:
        """Whether the output exists and is not older than its input, whose mtime `cp -p` and `rsync -t` keep."""
        with contextlib.suppress(OSError):
            modified = os.stat(self.target).st_mtime_ns
            with contextlib.suppress(OSError):  # such as for a broken link, which raises an error when it is read
                source = os.stat(self.source)
                return modified >= max(source.st_mtime_ns, source.st_ctime_ns)
            return True
        return False


Status = Literal["scored", "current", "failed"]
"""The status of a file. `current` means that its output was already finished."""


@dataclass(frozen=True)
class FileOutcome:
    """The outcome of a file; only a scored file has counts of rows."""

    task: FileTask
    status: Status
    n_rows: int = 0
    n_written: int = 0
    error: str | None = None  # why it failed, in one sentence


def score_files(
    sources: Sources,
    target: str | os.PathLike[str],
    job: TableJob,
    *,
    again: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    on_outcome: Callable[[FileOutcome], None] = lambda outcome: None,
) -> list[FileOutcome]:
    """Scores tables into a directory, one after another. Outputs that are already finished are not changed.

    If a file cannot be scored, the other files are still scored. After a kill, the same call continues with the
    unfinished file.

    `sources` are files, directories or globs; an output is named by the path of its source below the given directory.
    The directory `target` is created if needed. `again` scores everything again and replaces existing outputs.
    After each file, `on_outcome` is called, and `on_progress` with the number of files so far and the total.
    """
    tasks = plan_files(sources, target)
    if job.encoding is not None and not any(has_encoding(task.source) for task in tasks):
        raise PfgenError("encoding: expected a CSV or TSV file, but no source is such a file")
    _prepare(tasks, job, again=again)
    is_finished = [not again and task.is_finished for task in tasks]
    outcomes: list[FileOutcome] = []
    for task, is_current in zip(tasks, is_finished, strict=True):
        outcomes.append(FileOutcome(task, "current") if is_current else _score_file(task, job))
        on_outcome(outcomes[-1])
        on_progress(len(outcomes), len(tasks))
    return outcomes


def plan_files(sources: Sources, target: str | os.PathLike[str]) -> list[FileTask]:
    """Lists the tables of some sources, and assigns to each table its output in the target directory.

    If the source is a directory, the name of an output is the path of its input below that directory. Otherwise it is
    the name of the file. Files in directories and matches of globs are skipped if they are not tables, or if a part of
    their path begins with `_` or `.`.
    """
    folder = os.fspath(target)
    if not folder:
        raise PfgenError("the output directory has no name")
    tasks: dict[str, FileTask] = {}
    names: dict[str, str] = {}
    for path_or_text in [sources] if isinstance(sources, str | os.PathLike) else sources:
        source, is_empty = os.fspath(path_or_text), True
        for path, name in _tables(source, folder):
            is_empty = False
            if _is_within(path, folder):
                raise PfgenError(f"{path}: is in the output directory, {folder}")
            if is_hidden(name):
                raise PfgenError(
                    f"{path}: readers of directories skip names that begin with _ or ., so it can only be scored into "
                    "a file"
                )
            task = FileTask(path, folder, name)
            earlier = names.setdefault(os.path.realpath(path), name)
            if earlier != name:
                twice = f"{os.path.join(folder, earlier)} and {task.target}"
                raise PfgenError(f"{path}: would be scored twice, into {twice}; give it only once")
            other = tasks.setdefault(name, task)
            if os.path.realpath(other.source) != os.path.realpath(path):
                raise PfgenError(
                    f"{other.source} and {path} would have the same output, {task.target}; give the directory above "
                    "both, or score them separately"
                )
        if is_empty:
            raise TrialsError(f"{source}: there are no tables here, such as .parquet, .jsonl or .csv")
    return list(tasks.values())


def first_table(sources: Iterable[str]) -> str:
    """The first table that `plan_files` would find in some sources."""
    source = ""
    for source in sources:
        for path, _ in _tables(source, None):
            return path
    raise TrialsError(f"{source}: there are no tables here")


def is_hidden(name: str) -> bool:
    """Whether a part of a relative name begins with `_` or `.`; readers of directories skip such files."""
    return any(part[:1] in ("_", ".") for part in name.split("/") if part not in (".", ".."))


def _tables(source: str, folder: str | None) -> Iterator[tuple[str, str]]:
    """The path of each table in a source, and the name of its output."""
    if os.path.isdir(source):
        yield from _tables_below(source, folder)
    elif os.path.exists(source):
        format_of(source)  # raises an error if the extension is unknown
        yield source, os.path.basename(source)
    elif paths := sorted(glob.glob(source, recursive=True)):
        for path in paths:
            name = os.path.basename(path)
            if os.path.isdir(path):
                if not is_hidden(name):
                    yield from _tables_below(path, folder)
            elif is_table(name) and not is_hidden(name):
                yield path, name
    else:
        raise TrialsError(f"{source}: no such file or folder")


def _tables_below(source: str, folder: str | None) -> Iterator[tuple[str, str]]:
    if folder is not None and os.path.realpath(source) == os.path.realpath(folder):
        raise PfgenError(f"{folder}: is the input directory itself; give another output directory")
    if folder is not None and _is_within(folder, source):
        raise PfgenError(f"{folder}: is in the input directory, {source}; give another one")
    for name in _files_below(source):
        if is_table(name):
            yield os.path.join(source, name), name


def _files_below(folder: str) -> list[str]:
    """The files at any depth by relative name, sorted; hidden files and linked directories are skipped."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise TrialsError(f"{error.filename}: cannot be read: {error.strerror or error}")

    paths: list[str] = []
    for at, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not is_hidden(name)]
        paths += (Path(at, name).relative_to(folder).as_posix() for name in names if not is_hidden(name))
    return sorted(paths)


def _is_within(path: str, folder: str) -> bool:
    """Whether a path is below a directory, at any depth."""
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def _prepare(tasks: Sequence[FileTask], job: TableJob, *, again: bool) -> None:
    """Checks the settings of earlier outputs, and records those of the new ones, before any work."""
    folder = tasks[0].folder
    path = Path(folder, SETTINGS)
    settings: Mapping[str, str] | None = None
    if path.exists():
        value = parse_json(read_stored(path, limit=_MAX_SETTINGS_BYTES), str(path), error=PfgenError)
        settings = checked(value, lambda job: entries(job, text), str(path), error=PfgenError)
    if settings == job.description:
        return
    outputs = [name for name in _files_below(folder) if is_table(name)]
    others = set(outputs) - {task.name for task in tasks}
    if others or (outputs and not again):
        origin = f"scored with {_difference(settings, job.description)}" if settings else "of unknown origin"
        advice = "" if others else "--force (again=True) replaces them, or "
        raise PfgenError(f"{folder}: has tables {origin}; {advice}give another output directory")
    for name in outputs:
        try:
            os.unlink(os.path.join(folder, name))
        except OSError as error:
            raise PfgenError(f"{error.filename}: cannot be replaced: {error.strerror or error}") from None
    write_whole(path, json_bytes(dict(job.description)) + b"\n")


def _difference(settings: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    parts = [
        f"{'other' if name.endswith('s') else 'another'} {name} "
        f"({in_one_line(settings.get(name, '') or 'none', 200)}, not {wanted[name] or 'none'})"
        for name in wanted
        if settings.get(name, "") != wanted[name]
    ]
    return " and ".join(parts) or "other settings"


def _score_file(task: FileTask, job: TableJob) -> FileOutcome:
    file_job = job if has_encoding(task.source) else replace(job, encoding=None)
    try:
        make_folder(Path(task.target).parent)
        return FileOutcome(task, "scored", *score_table(task.source, task.target, file_job))
    except PfgenError as error:
        problem = str(error)
        if task.target not in problem and os.path.exists(task.target):
            problem += f"; {task.target} still contains the earlier scores"
        return FileOutcome(task, "failed", error=problem)

"""Records of finished outputs in the directory `_pfgen_fast/`, which readers of directories skip.

An output is finished if its size is the size in its record, and if the record has the current job and the current
version of the source (size, and etag or time of modification). An output is replaced in four steps: the new file is
completed, the old file is removed, the record is written, and the new file is renamed. After a kill between two steps,
no unfinished output looks finished, and no row is written twice.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import PfgenError
from ...files.json_writing import json_bytes
from ...files.untrusted_json import checked, count, entries, member, parse_json, text
from ...files.untrusted_text import in_one_line
from ..formats import is_table
from ..places import FileInfo, file_info, files_below, is_remote, joined, read_small_files, shown_place, write_file
from ..table_job import TableJob

RECORDS = "_pfgen_fast"
"""The folder of the records in an output directory."""
_MAX_RECORD_BYTES = 1 << 20
_README = "README.txt"
_ABOUT = b"""This folder was written by `pfgen-fast score`. For each table in the directory above, a file here
records how the table was made, so that it is not made again. A table without such a file is treated as a table of
another program.
"""


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


@dataclass(frozen=True)
class Record:
    """Describes the job and the source of an output."""

    job: Mapping[str, str]
    source: str  # without passwords; an absolute path if it is a local file
    source_info: FileInfo  # before it was read
    n_rows: int
    n_written: int
    n_bytes: int

    def to_bytes(self) -> bytes:
        """The record as JSON."""
        info = self.source_info
        source = {"name": self.source, "n_bytes": info.n_bytes, "version": info.version}
        counts = {"n_rows": self.n_rows, "n_written": self.n_written, "n_bytes": self.n_bytes}
        return json_bytes({"job": dict(self.job), "source": source, **counts}) + b"\n"

    @classmethod
    def parsed(cls, content: bytes, where: str) -> Record:
        """The record in the content of a file."""
        return checked(parse_json(content, where, error=PfgenError), cls._checked, where, error=PfgenError)

    @classmethod
    def _checked(cls, value: Any) -> Record:
        def source(about: Any) -> tuple[str, FileInfo]:
            size = member(about, "n_bytes", lambda n: None if n is None else count(n))
            return member(about, "name", text), FileInfo(size, member(about, "version", text))

        name, info = member(value, "source", source)
        n_rows, n_written, n_bytes = (member(value, key, count) for key in ("n_rows", "n_written", "n_bytes"))
        return cls(member(value, "job", lambda job: entries(job, text)), name, info, n_rows, n_written, n_bytes)

    def is_finished(self, task: FileTask, job: TableJob, source: FileInfo | None, output: FileInfo) -> bool:
        """Whether the output is up to date; raises PfgenError if it belongs to another job or another source."""
        target = shown_place(task.target)
        if self.job != job.description:
            raise PfgenError(
                f"{target}: was scored with {_difference(self.job, job.description)}; --force (again=True) scores it "
                "again, or give another output directory"
            )
        if source != self.source_info and self.source != recorded_name(task.source):
            raise PfgenError(
                f"{target}: contains the scores of {self.source}, not of {recorded_name(task.source)}; --force "
                "(again=True) replaces them, or give another output directory"
            )
        return source == self.source_info and output.n_bytes == self.n_bytes


def recorded_name(source: str) -> str:
    """The name of a source in records."""
    return shown_place(source) if is_remote(source) else os.path.abspath(source)


def record_place(folder: str, name: str) -> str:
    """Where the record of an output is."""
    return joined(folder, f"{RECORDS}/{name}.json")


def read_record(task: FileTask) -> Record | None:
    """The record of an output; None if it has no record."""
    place = record_place(task.folder, task.name)
    if file_info(place) is None:
        return None
    return Record.parsed(read_small_files([place], _MAX_RECORD_BYTES)[0], shown_place(place))


def prepare_folder(folder: str) -> None:
    """Creates the output directory before any work, so that an error about it is raised early."""
    place = joined(folder, f"{RECORDS}/{_README}")
    if file_info(place) is None:
        write_file(place, _ABOUT)


def read_folder(
    tasks: Sequence[FileTask], job: TableJob, *, again: bool = False
) -> tuple[dict[str, Record], list[str]]:
    """Checks the output directory before any work: the records of finished outputs, and notes about other files."""
    folder = tasks[0].folder
    # Another process writes a record before its output. Outputs are therefore listed before records are read.
    outputs = {name: info for name, info in files_below(folder) if is_table(name)}
    of_records = joined(folder, RECORDS)
    names = [name for name, _ in files_below(of_records) if name.endswith(".json")]
    contents = read_small_files([joined(of_records, name) for name in names], _MAX_RECORD_BYTES)
    records = {
        name.removesuffix(".json"): Record.parsed(content, shown_place(joined(of_records, name)))
        for name, content in zip(names, contents, strict=True)
    }
    by_name = {task.name: task for task in tasks}
    by_source = {recorded_name(task.source): task for task in tasks}
    notes = []
    for name, info in outputs.items():
        record = records.get(name)
        target = shown_place(joined(folder, name))
        if record is None:
            raise foreign(target)
        if name in by_name:
            continue
        if record.job != job.description:
            raise PfgenError(
                f"{target}: was scored with {_difference(record.job, job.description)}, and would be read together "
                "with the new scores; remove it, or give another output directory"
            )
        if record.source in by_source:
            raise PfgenError(
                f"{target}: has the scores of {record.source}, which would be read together with those in "
                f"{shown_place(by_source[record.source].target)}; remove it, or give another output directory"
            )
        if info.n_bytes != record.n_bytes:
            notes.append(f"{target}: was changed after it was written, and its source is not among the inputs")
    gone = [record.source for name, record in records.items() if name in outputs and name not in by_name]
    near = {_host(source) for source in by_source}  # records are untrusted, so no other server is contacted
    gone = [source for source in gone if _host(source) in near and _is_gone(source)]
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        notes.append(f"{gone[0]}{more}: scored earlier, now missing; the output directory still has the rows")
    finished = {
        name: records[name]
        for name, task in by_name.items()
        if name in outputs and not again and records[name].is_finished(task, job, task.info, outputs[name])
    }
    return finished, notes


def _difference(found: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    parts = [
        f"{'other' if name.endswith('s') else 'another'} {name} "
        f"({in_one_line(found.get(name, '') or 'none', 200)}, not {wanted[name] or 'none'})"
        for name in wanted
        if found.get(name, "") != wanted[name]
    ]
    return " and ".join(parts) or "other settings"


def source_info(task: FileTask) -> FileInfo | None:
    """The current size and version of a source; None if it is missing or unreadable, which scoring reports later."""
    try:
        return file_info(task.source)
    except PfgenError:
        return None


def foreign(target: str) -> PfgenError:
    """The error for a table without a record."""
    return PfgenError(
        f"{target}: has no record in {RECORDS}/, so it is not one of the outputs and would be read together with them; "
        "move it, or give another output directory"
    )


def _host(source: str) -> str:
    """The scheme and the host or bucket of a URL; empty for a local path."""
    return "/".join(source.split("/", 3)[:3]) if is_remote(source) else ""


def _is_gone(source: str) -> bool:
    try:
        return file_info(source) is None
    except PfgenError:
        return False  # unknown

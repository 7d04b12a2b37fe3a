"""Finds files of JSON lines, compressed or not, and reads and checks their objects one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ...base.compression import compressing
from ...base.errors import ChecklistError, TrialsError
from ...base.file_reading import MAX_BYTES, reading, too_large
from ...base.file_writing import writing_whole
from ...base.journal import json_line
from ...base.untrusted_json import Fault, any_object, checked, member, or_none, parse_json, read_json, text, unexpected

T = TypeVar("T")

MAX_LINE_BYTES = 1 << 26
"""The length limit of a line; the longest published answers have a third of a MiB."""

OnFault = Callable[[str], None]
"""Called with a message for each invalid line, which is then skipped; if None, the first invalid line is an error."""

Row = bytes | Mapping[str, Any] | None
"""A line, None for a line that is too long, or a row of a table."""

_ENDINGS = (".jsonl", ".jsonl.xz", ".jsonl.zst", ".jsonl.gz")
_SKIPPED_BYTES = 1 << 20


def check_is_folder(path: Path) -> None:
    """Raises ChecklistError if a folder is missing."""
    if not path.is_dir():
        raise ChecklistError(f"{path}: {'expected a folder, not a file' if path.exists() else 'no such folder'}")


def data_file(folder: Path, name: str) -> Path | None:
    """The file of this name in a directory, compressed or not; None if missing."""
    paths = [path for ending in _ENDINGS if (path := folder / f"{name}{ending}").exists()]
    if len(paths) > 1:
        listed = " and ".join(path.name for path in paths)
        raise ChecklistError(f"{folder}: holds both {listed}; expected one of them")
    return paths[0] if paths else None


def is_data_file(path: Path) -> bool:
    """Whether a file has the extension of JSON lines."""
    return path.name.endswith(_ENDINGS)


def stem(path: Path) -> str:
    """The name of a file without the extensions of its format."""
    return next((path.name.removesuffix(end) for end in _ENDINGS if path.name.endswith(end)), path.name)


def checked_objects(
    path: Path,
    check: Callable[[Any], T],
    *,
    on_fault: OnFault | None = None,
    rows: Iterable[tuple[str, Row]] | None = None,
) -> Iterator[tuple[str, T]]:
    """The objects of a file (or the given rows), converted by a check, each with its place for error messages."""
    try:
        for where, row in _lines(path) if rows is None else rows:
            try:
                value = checked(_object(row, where), check, where, error=ChecklistError)
            except ChecklistError as fault:
                if on_fault is None:
                    raise
                on_fault(str(fault))
            else:
                yield where, value
    except TrialsError as error:
        raise ChecklistError(str(error)) from None


def write_objects(path: Path, objects: Iterable[Mapping[str, Any]]) -> None:
    """Writes a line for each object atomically, compressed as the extension says."""
    with writing_whole(path) as file, compressing(file, path) as packed:
        for row in objects:
            packed.write(json_line(row))


def json_file(path: Path, check: Callable[[Any], T], **limit: int) -> T:
    """The value in a JSON file, converted by a check."""
    return checked(read_json(path, error=ChecklistError, **limit), check, str(path), error=ChecklistError)


def fields_of(value: Any, checks: Mapping[str, Callable[[Any], Any]], needed: Iterable[str]) -> dict[str, Any]:
    """The checked members of an object; null means the default value, except for needed members."""
    names = [name for name in checks if name in needed or value.get(name) is not None]
    return {name: member(value, name, checks[name]) for name in names}


def whole_text(value: Any) -> str:
    """A check of a string that UTF-8 can encode, so that it has a hash."""
    content = text(value)
    try:
        content.encode()
    except UnicodeEncodeError as problem:
        raise Fault(f"a lone surrogate (character {problem.start + 1}), which UTF-8 cannot encode") from None
    return content


whole_text_or_none = or_none(whole_text)


def filled(what: str) -> Callable[[Any], str]:
    """A check of a string that is not blank; errors say what was expected."""

    def check(value: Any) -> str:
        if not whole_text(value).strip():
            raise unexpected(what, value)
        return str(value)

    return check


def number_from_one(value: Any) -> int:
    """A check of a whole number above 0."""
    if type(value) is not int or not 1 <= value < 1 << 53:
        raise unexpected("a whole number from 1", value)
    return value


def number_in_cell(value: Any) -> float:
    """A check of a cell with a finite number, which may be a text."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise unexpected("a number", value)
    return number


def text_in_cell(value: Any) -> str:
    """A check of a cell with a text that is not empty, or with a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise unexpected("a text", value)
    return str(value)


def _lines(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """The lines that are not blank with their places."""
    number = n_bytes = 0
    with reading(path) as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            n_bytes += len(line)
            where = f"{path}, line {number}"
            if n_bytes > MAX_BYTES:
                raise too_large(path, MAX_BYTES)
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = file.readline(_SKIPPED_BYTES)
                yield where, None
            elif line.strip():
                yield where, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def _object(row: Row, where: str) -> Any:
    if row is None:
        raise ChecklistError(f"{where}: longer than {MAX_LINE_BYTES >> 20} MiB, which is the limit")
    if not isinstance(row, bytes):
        return row
    # `any_object` limits the nesting, because the limit of Python's own reader depends on the version of Python.
    return checked(parse_json(row, where, error=ChecklistError), any_object, where, error=ChecklistError)

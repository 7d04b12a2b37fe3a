"""Files of JSON lines, compressed or not: where they are, and their objects one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ..errors import ChecklistError, TrialsError
from ..files.foreign_json import parse_json
from ..files.reading import numbered_lines, reading

_ENDINGS = (".jsonl", ".jsonl.xz", ".jsonl.zst", ".jsonl.gz")


def data_file(folder: Path, name: str, *further: str) -> Path | None:
    """The file of this name in a folder, compressed or not, or with a further ending; None if there is none.

    Raises:
        ChecklistError: There are several.
    """
    found = [path for ending in (*_ENDINGS, *further) if (path := folder / f"{name}{ending}").exists()]
    if len(found) > 1:
        listed = " and ".join(path.name for path in found)
        raise ChecklistError(f"{folder}: holds both {listed}; expected one of them")
    return found[0] if found else None


def stem(path: Path) -> str:
    """The name of a file without the endings of its format."""
    for ending in (*_ENDINGS, ".parquet"):
        if path.name.endswith(ending):
            return path.name.removesuffix(ending)
    return path.name


def numbered_objects(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of the lines, each with its place for error messages.

    Raises:
        ChecklistError: The file cannot be read, or a line is not JSON.
    """
    try:
        with reading(path) as file:
            for number, line in numbered_lines(file, str(path)):
                if line.strip():
                    where = f"{path}, line {number}"
                    yield where, _value(line, where)
    except TrialsError as error:
        raise ChecklistError(str(error)) from None


def _value(line: bytes, where: str) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:  # also for what only Python's reader accepts, such as lone surrogates
        return parse_json(line, where, error=ChecklistError)

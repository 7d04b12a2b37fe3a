"""The files of a suite: finds them and decodes their JSON; errors name the file and the location in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import SuiteError, TrialsError
from ..files.reading import read_stored
from ..files.untrusted_json import parse_json

PACKAGED = Path(__file__).parents[1] / "data"
SAMPLES_FILE = "questions.jsonl"
SETTINGS_FILE = "suite.json"


def question_files(folder: Path) -> list[Path]:
    """The question files of a suite, sorted by name; raises SuiteError if there are none."""
    files = sorted(folder.glob("Q*.json"), key=lambda path: path.name)
    if not files:
        raise SuiteError(f"{folder}: no question files; a suite folder holds at least one Q*.json")
    return files


def suite_folder(source: str | Path) -> Path:
    """The folder of a suite, which may be given by the name of a packaged one; raises SuiteError if there is none."""
    packaged = sorted({path.parent.name for path in PACKAGED.glob("*/Q*.json")})
    if str(source) in packaged:
        return PACKAGED / source
    folder = Path(source)
    if not os.path.isdir(folder):
        raise SuiteError(f"{folder}: no such folder, and no packaged suite of that name ({', '.join(packaged)})")
    return folder


MAX_BYTES = 1 << 27
"""The largest file of a suite; those of the published suite have less than a megabyte."""


def read_bytes(path: Path) -> bytes:
    """The content of a file; raises SuiteError if it cannot be read."""
    try:
        return read_stored(path, limit=MAX_BYTES)
    except TrialsError as error:
        raise SuiteError(str(error)) from None


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """The decoded non-blank lines of a file, each with its location."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, parse_suite_json(line, where)


def parse_suite_json(content: bytes, where: str) -> Any:
    """Decodes JSON or raises SuiteError; a duplicate key is an error, as it would silently drop a reference set."""
    return parse_json(content, where, error=SuiteError)

"""Tables as one JSON array with an object for each row, read and written row by row."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import TrialsError
from ..files.reading import MAX_LINE_BYTES, reading
from ..files.untrusted_text import in_one_line, utf8
from .rows import Columns, RowBatch, RowBatches, Scores, Write
from .text_form import decoded
from .text_rows import json_batches, json_lines

_BLANK = re.compile(r"[ \t\r\n]*")
_BRACKET_OR_TEXT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|"', re.DOTALL)
"""Whatever opens or closes a value. A lone quotation mark begins a text of which more must be read."""


def read_json_array(source: str, columns: Columns, batch_size: int | None) -> RowBatches:
    """Reads the objects of a JSON array; each one is checked."""
    with reading(Path(source)) as file:
        _, blocks = decoded(file, "utf-8", source)
        yield from json_batches(source, _elements(blocks, source), columns, batch_size, unit="row")


def _elements(blocks: Iterator[str], source: str) -> Iterator[tuple[int, str]]:
    """The texts of the objects in an array with their numbers, from 1."""
    text = _Text(blocks)
    if text.next() != "[":
        raise TrialsError(f"{source}: expected a JSON array of objects; a file with an object a line is named .jsonl")
    text.take(1)
    number = 0
    if text.next() == "]":
        text.take(1)
    else:
        mark = ","
        while mark == ",":
            number += 1
            location = f"{source}, row {number}"
            if text.next() != "{":
                raise TrialsError(f"{location}: expected a JSON object, not {_found(text.next())}")
            yield number, text.object(location)
            mark = text.next()
            if mark not in (",", "]"):
                raise TrialsError(f"{location}: expected ',' or ']' after it, not {_found(mark)}")
            text.take(1)
    if text.next():
        raise TrialsError(f"{source}: expected nothing after the array, not {_found(text.next())}")


def _found(mark: str) -> str:
    return in_one_line(repr(mark)) if mark else "the end of the file"


class _Text:
    """The text of a file, of which as much is in memory as the object that is being read."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self._blocks = blocks
        self._text, self._at = "", 0

    def next(self) -> str:
        """The next character that is not blank, which is not taken; empty at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read():
                return ""

    def take(self, n_code_points: int) -> str:
        """Takes some characters."""
        begin, self._at = self._at, self._at + n_code_points
        return self._text[begin : self._at]

    def object(self, location: str) -> str:
        """Takes the object that begins here: up to where all its brackets are closed."""
        depth = 0
        seen = 0  # how many characters have been looked at
        while True:
            for found in _BRACKET_OR_TEXT.finditer(self._text, self._at + seen):
                mark = found[0]
                if mark == '"':
                    seen = found.start() - self._at
                    break
                depth += (mark in "{[") - (mark in "}]")
                if not depth:
                    return self.take(found.end() - self._at)
            else:
                seen = len(self._text) - self._at
            if seen > MAX_LINE_BYTES or len(self._text) - self._at > MAX_LINE_BYTES:
                raise TrialsError(f"{location}: longer than {MAX_LINE_BYTES >> 20} MiB, which is the limit")
            if not self._read():
                raise TrialsError(f"{location}: not JSON: the file ends within it")

    def _read(self) -> bool:
        """Reads another block and forgets what was taken; returns whether there was one."""
        block = next(self._blocks, None)
        if block is None:
            return False
        self._text, self._at = self._text[self._at :] + block, 0
        return True


@contextlib.contextmanager
def writing_json_array(file: IO[bytes], first: RowBatch, columns: Columns) -> Iterator[Write]:
    """Opens a writer of rows as a JSON array with a row on each line."""
    before = "["

    def write(batch: RowBatch, scores: Scores) -> None:
        nonlocal before
        for line in json_lines(batch, scores):
            file.write(utf8(f"{before}\n{line}"))
            before = ","

    yield write
    file.write(b"[]\n" if before == "[" else b"\n]\n")

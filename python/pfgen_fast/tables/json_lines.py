"""Tables as JSON lines; the keys of each line keep their order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import TrialsError
from ..files.reading import numbered_lines, reading, stdin
from ..files.untrusted_text import utf8
from .rows import STANDARD_STREAM, Columns, RowBatch, RowBatches, Scores, Write
from .text_rows import json_batches, json_lines, shown_source


def read_json_lines(source: str, columns: Columns, batch_size: int | None) -> RowBatches:
    """Reads the objects of a file of JSON lines; each one is checked."""
    return json_batches(source, _numbered_lines(source), columns, batch_size)


def _numbered_lines(source: str) -> Iterator[tuple[int, str]]:
    """The non-blank lines with their numbers, split at LF only."""
    is_stdin = source == STANDARD_STREAM
    with contextlib.nullcontext(stdin()) if is_stdin else reading(Path(source)) as file:
        for number, line in numbered_lines(file, shown_source(source)):
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                location = f"{shown_source(source)}, line {number}"
                raise TrialsError(f"{location}: not UTF-8 (byte {error.start} of the line)") from None
            if text.strip(" \t\r\n"):
                yield number, text


@contextlib.contextmanager
def writing_json_lines(file: IO[bytes], first: RowBatch, columns: Columns) -> Iterator[Write]:
    """Opens a writer of rows as JSON lines."""

    def write(batch: RowBatch, scores: Scores) -> None:
        # Lone surrogates, which UTF-8 cannot hold, stay JSON escapes.
        file.write(utf8("".join(f"{line}\n" for line in json_lines(batch, scores))))

    yield write

"""Tables as JSON lines; the keys of each line keep their order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO

from ..files.untrusted_text import utf8
from .rows import Columns, RowBatch, RowBatches, Scores, Write
from .text_rows import json_batches, json_lines, numbered_lines


def read_json_lines(source: str, columns: Columns, batch_size: int | None) -> RowBatches:
    """Reads the objects of a file of JSON lines; each one is checked."""
    lines = ((number, line) for number, line in numbered_lines(source) if line.strip(" \t\r\n"))
    return json_batches(source, lines, columns, batch_size)


@contextlib.contextmanager
def writing_json_lines(file: IO[bytes], first: RowBatch, columns: Columns) -> Iterator[Write]:
    """Opens a writer of rows as JSON lines."""

    def write(batch: RowBatch, scores: Scores) -> None:
        # Lone surrogates, which UTF-8 cannot hold, stay JSON escapes.
        file.write(utf8("".join(f"{line}\n" for line in json_lines(batch, scores))))

    yield write

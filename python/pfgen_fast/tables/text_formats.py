"""Tables as text: CSV and TSV with a header, JSON lines, and one JSON array of objects, read and written row by row.

Texts of CSV are kept unchanged, and an empty field is an empty text. The scored table has the encoding, byte-order mark
and line ends of its source. Texts that a spreadsheet would evaluate are also kept, because other programs read the
scored table.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ..base.errors import TrialsError
from ..base.file_reading import MAX_LINE_BYTES, numbered_lines, reading, stdin
from ..base.untrusted_text import in_one_line, utf8
from .table_rows import STANDARD_STREAM, Columns, RowBatch, RowBatches, Scores, TextForm, Write, decoded, lines_of
from .text_rows import check_keys, finite_json, json_batches, json_lines, score_rows, text_batches

_MARKS = {",": "commas", "\t": "tabs", ";": "semicolons"}

_BLANK = re.compile(r"[ \t\r\n]*")
MAX_ARRAY = 1 << 28
"""Maximum number of characters of a JSON array."""


def read_csv(
    source: str,
    name: str,
    columns: Columns,
    batch_size: int | None,
    *,
    delimiter: str = ",",
    encoding: str | None = None,
) -> RowBatches:
    """Reads the rows of a CSV file, with this name in messages; the header is checked first."""
    with reading(Path(source), name) as file:
        form, blocks = decoded(file, encoding, name)
        records = _Records(lines_of(blocks, name), name, delimiter)
        numbered = iter(records)
        line, header = next(numbered, (1, []))
        if not header:
            raise TrialsError(f"{name}: empty; expected a header with the names of the columns")
        form = replace(form, line_end=records.last_end)
        if len(header) == 1 and (others := [mark for mark in _MARKS if mark in header[0] and mark != delimiter]):
            raise TrialsError(
                f"{name}, line {line}: expected {_MARKS[delimiter]} between the columns, not {_MARKS[others[0]]}"
            )
        columns.check(header, f"{name}, line {line}")

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            for line, fields in numbered:
                if len(fields) != len(header):
                    location = f"{name}, line {line}"
                    raise TrialsError(f"{location}: {len(fields)} fields; expected {len(header)}, as in the header")
                yield line, dict(zip(header, fields, strict=True))

        yield from text_batches(name, rows(), header, batch_size, form=form)


class _Records:
    """The non-blank records of a file, each with the number of its first line."""

    def __init__(self, lines: Iterator[tuple[int, str]], source: str, delimiter: str) -> None:
        self._lines, self._source, self._delimiter = lines, source, delimiter
        self._first, self._n_code_points = 1, 0  # of the record that is being read
        self.last_end = "\n"

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        # The default limit is too small for long answers. It is never lowered, because it is global to the process.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
        reader = csv.reader(self._bounded_lines(), delimiter=self._delimiter, strict=True)
        try:
            for fields in reader:
                if fields:
                    yield self._first, fields
                self._first, self._n_code_points = reader.line_num + 1, 0
        except csv.Error as error:
            raise TrialsError(f"{self._source}, line {self._first}: not CSV: {error}") from None

    def _bounded_lines(self) -> Iterator[str]:
        """The lines; the total size of the lines of a record is limited, because a quoted field can span many lines."""
        for _, text in self._lines:
            self._n_code_points += len(text)
            if self._n_code_points > MAX_LINE_BYTES:
                location = f"{self._source}, line {self._first}"
                raise TrialsError(f"{location}: a row of more than {MAX_LINE_BYTES >> 20} MiB, which is the limit")
            self.last_end = "\r\n" if text.endswith("\r\n") else "\n"
            yield text


@contextlib.contextmanager
def writing_csv(
    file: IO[bytes], first: RowBatch, columns: Columns, *, delimiter: str = ",", encoding: str | None = None
) -> Iterator[Write]:
    """Opens a writer of CSV with the columns of the first batch, in the form of the table that was read."""
    known = dict.fromkeys(first.names)
    form = first.form or TextForm.named(encoding)
    line = _csv_line(delimiter, form.line_end)
    mark = "\ufeff" if form.has_mark else ""
    file.write(form.encoded(mark + line([*known, *columns.scores]), first.location(None)))

    def write(batch: RowBatch, scores: Scores) -> None:
        for i, (row, scored) in enumerate(zip(batch.rows(), score_rows(scores), strict=True)):
            location = batch.location(i)
            check_keys(row, known, location)
            cells = (_cell(row.get(name)) for name in known)
            file.write(form.encoded(line([*cells, *scored.values()]), location))

    yield write


def _csv_line(delimiter: str, line_end: str) -> Callable[[Sequence[Any]], str]:
    """A function that converts a record to a line; it quotes fields that contain CR or LF."""
    lines: list[str] = []

    class Lines:
        write = staticmethod(lines.append)

    # Older versions of Python quote a CR or LF only if it is part of the line terminator.
    writer = csv.writer(Lines, delimiter=delimiter, lineterminator="\r\n")

    def line(values: Sequence[Any]) -> str:
        writer.writerow(values)
        return lines.pop().removesuffix("\r\n") + line_end

    return line


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    text = finite_json(value)
    return None if text == "null" else text


def read_json_lines(source: str, name: str, columns: Columns, batch_size: int | None) -> RowBatches:
    """Reads the objects of a file of JSON lines; each one is checked."""

    def lines() -> Iterator[tuple[int, str]]:
        is_stdin = source == STANDARD_STREAM
        with contextlib.nullcontext(stdin()) if is_stdin else reading(Path(source), name) as file:
            for number, line in numbered_lines(file, name):  # split at LF only
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    location = f"{name}, line {number}"
                    raise TrialsError(f"{location}: not UTF-8 (byte {error.start} of the line)") from None
                if text.strip(" \t\r\n"):
                    yield number, text

    return json_batches(name, lines(), columns, batch_size)


@contextlib.contextmanager
def writing_json_lines(file: IO[bytes], first: RowBatch, columns: Columns) -> Iterator[Write]:
    """Opens a writer of rows as JSON lines."""

    def write(batch: RowBatch, scores: Scores) -> None:
        # Lone surrogates are written as JSON escapes.
        file.write(utf8("".join(f"{line}\n" for line in json_lines(batch, scores))))

    yield write


def read_json_array(source: str, name: str, columns: Columns, batch_size: int | None) -> RowBatches:
    """Reads the objects of a JSON array, which is read whole; each one is checked."""
    with reading(Path(source), name) as file:
        _, blocks = decoded(file, "utf-8", name)
        pieces, n_code_points = [], 0
        for block in blocks:
            pieces.append(block)
            n_code_points += len(block)
            if n_code_points > MAX_ARRAY:
                raise TrialsError(
                    f"{name}: more than {MAX_ARRAY:,} characters; use JSON lines, which are read in parts"
                )
    yield from json_batches(name, _elements("".join(pieces), name), columns, batch_size, unit="row")


def _elements(text: str, source: str) -> Iterator[tuple[int, str]]:
    """The texts of the objects in an array, numbered from 1."""

    def mark_from(at: int) -> tuple[int, str, str]:
        """The next character that is not blank, after its place and before its form for messages."""
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches an empty text
        return at, text[at : at + 1], in_one_line(repr(text[at])) if at < len(text) else "the end of the file"

    at, mark, shown = mark_from(0)
    if mark != "[":
        raise TrialsError(f"{source}: expected a JSON array of objects (JSON lines have the extension .jsonl)")
    number, end, decoder = 0, at + 1, json.JSONDecoder()
    at, mark, shown = mark_from(end)
    end, mark = (at + 1, "") if mark == "]" else (end, ",")
    while mark == ",":
        number += 1
        at, mark, shown = mark_from(end)
        if mark != "{":
            raise TrialsError(f"{source}, row {number}: expected a JSON object, not {shown}")
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = len(text)  # the reader of the object says why it is none
        yield number, text[at:end]
        at, mark, shown = mark_from(end)
        if mark not in (",", "]"):
            raise TrialsError(f"{source}, row {number}: expected ',' or ']' after it, not {shown}")
        end = at + 1
    at, mark, shown = mark_from(end)
    if mark:
        raise TrialsError(f"{source}: expected nothing after the array, not {shown}")


@contextlib.contextmanager
def writing_json_array(file: IO[bytes], first: RowBatch, columns: Columns) -> Iterator[Write]:
    """Opens a writer of rows as a JSON array, with each row on its own line."""
    before = "["

    def write(batch: RowBatch, scores: Scores) -> None:
        nonlocal before
        for line in json_lines(batch, scores):
            file.write(utf8(f"{before}\n{line}"))
            before = ","

    yield write
    file.write(b"[]\n" if before == "[" else b"\n]\n")

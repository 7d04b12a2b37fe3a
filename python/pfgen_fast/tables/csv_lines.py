"""CSV and TSV tables with a header: texts are kept unchanged, and an empty field is an empty text.

The scored table has the encoding, byte-order mark and line ends of its source. Texts that a spreadsheet would evaluate
are also kept, because other programs read the scored table.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ..base.errors import TrialsError
from ..base.file_reading import MAX_LINE_BYTES, reading
from .table_rows import Columns, RowBatch, RowBatches, Scores, Write
from .text_form import TextForm, decoded, lines_of
from .text_rows import check_keys, json_text, score_rows, text_batches

_MARKS = {",": "commas", "\t": "tabs", ";": "semicolons"}


def read_csv(
    source: str, columns: Columns, batch_size: int | None, *, delimiter: str = ",", encoding: str | None = None
) -> RowBatches:
    """Reads the rows of a CSV file; the header is checked first."""
    with reading(Path(source)) as file:
        form, blocks = decoded(file, encoding, source)
        records = _Records(lines_of(blocks, source), source, delimiter)
        numbered = iter(records)
        line, header = next(numbered, (1, []))
        if not header:
            raise TrialsError(f"{source}: empty; expected a header with the names of the columns")
        form = replace(form, line_end=records.last_end)
        if len(header) == 1 and (others := [mark for mark in _MARKS if mark in header[0] and mark != delimiter]):
            raise TrialsError(
                f"{source}, line {line}: expected {_MARKS[delimiter]} between the columns, not {_MARKS[others[0]]}"
            )
        columns.check(header, f"{source}, line {line}")

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            for line, fields in numbered:
                if len(fields) != len(header):
                    location = f"{source}, line {line}"
                    raise TrialsError(f"{location}: {len(fields)} fields; expected {len(header)}, as in the header")
                yield line, dict(zip(header, fields, strict=True))

        yield from text_batches(source, rows(), header, batch_size, form=form)


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
    text = json_text(value)
    return None if text == "null" else text

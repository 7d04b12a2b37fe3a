"""The interface between readers and writers of tables: column names, batches of rows, and the encoding of a text.

Without a byte-order mark and without the option `encoding`, a file is UTF-8.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Protocol

from ..base.errors import PfgenError, TrialsError
from ..base.file_reading import MAX_LINE_BYTES
from ..base.untrusted_text import did_you_mean, in_one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STANDARD_STREAM = "-"
"""The name of stdin or stdout."""


_BLOCK_BYTES = 1 << 20
_MARKS = {  # longer marks first, because the mark of UTF-32 begins with the mark of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_ALWAYS_MARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings that write a byte-order mark, each with the encoding of the text after the mark."""


def usual_columns(names: Sequence[str], usual: Sequence[str]) -> list[str]:
    """The columns with usual names, the most usual first; case, spaces, hyphens and dots do not count."""
    places = {name: place for place, name in enumerate(usual)}
    plain = {name: re.sub(r"[\s\-.]+", "_", name.strip().lower()) for name in names}
    return sorted((name for name in names if plain[name] in places), key=lambda name: places[plain[name]])


@dataclass(frozen=True)
class Columns:
    """The names of the columns to read and of the columns to add."""

    inputs: tuple[str, ...] = ()  # columns to read, in the order of the arguments of the scorer
    answer: str = ""  # the input with the answers
    scores: tuple[str, ...] = ()  # columns to add
    optional: tuple[str, ...] = ()  # inputs that may be missing in some rows
    lists: tuple[str, ...] = ()  # inputs that may contain lists of texts

    def check_row(self, row: Mapping[str, Any], location: str) -> None:
        """Raises TrialsError if the keys of a row are not as expected."""
        if not all(name in row for name in self._required) or any(name in row for name in self.scores):
            self._check(list(row), self._required, location)

    def check(self, names: Sequence[str], location: str) -> None:
        """Raises TrialsError if these columns are not as expected."""
        self._check(names, self.inputs, location)

    @cached_property
    def _required(self) -> tuple[str, ...]:
        return tuple(name for name in self.inputs if name not in self.optional)

    def _check(self, names: Sequence[str], needed: tuple[str, ...], location: str) -> None:
        for name in needed:
            if name not in names:
                there = ", ".join(map(repr, names)) or "no columns"
                raise TrialsError(f"{location}: no column {name!r}; there are {there}{did_you_mean(name, names)}")
        for name in self.scores:
            if name in names:
                raise TrialsError(
                    f"{location}: there is already a column {name!r}, the name of a score; rename or drop it"
                )
        for name, times in Counter(names).items():
            if times > 1:
                raise TrialsError(f"{location}: the column {name!r} appears {times} times")


class AnyColumns(Columns):
    """Accepts any columns."""

    def check_row(self, row: Mapping[str, Any], location: str) -> None:
        """Accepts the row."""

    def check(self, names: Sequence[str], location: str) -> None:
        """Accepts the columns."""


class ChosenColumns(AnyColumns):
    """Accepts any columns, each once. A format of columns reads only `inputs`, or all columns if there are none."""

    def check(self, names: Sequence[str], location: str) -> None:
        """Raises TrialsError if a column appears twice."""
        self._check(names, (), location)


@dataclass(frozen=True)
class TextForm:
    """The encoding, byte-order mark and line ends of a text file."""

    encoding: str = "utf-8"  # encoding of the text after the byte-order mark
    has_mark: bool = False  # whether the file begins with a byte-order mark
    line_end: str = "\n"

    @classmethod
    def named(cls, encoding: str | None) -> TextForm:
        """The form of a new file with an encoding that Python supports; by default UTF-8."""
        try:
            name = codecs.lookup("utf-8" if encoding is None else encoding).name
            codecs.getincrementaldecoder(name)
            "a".encode(name)
        except (LookupError, ValueError):
            expected = "expected a name such as utf-8, utf-16 or cp932"
            raise PfgenError(f"encoding: {expected}, not {in_one_line(repr(encoding), 60)}") from None
        return cls(_ALWAYS_MARKED.get(name, name), name in _ALWAYS_MARKED)

    def encoded(self, text: str, location: str) -> bytes:
        """Encodes a text; raises TrialsError for a character that is not in the encoding."""
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            code_point = ord(error.object[error.start])
            kind = "the lone surrogate" if 0xD800 <= code_point <= 0xDFFF else "the character"
            raise TrialsError(f"{location}: {kind} U+{code_point:04X} is not in the encoding {self.encoding}") from None


def decoded(file: IO[bytes], encoding: str | None, where: str) -> tuple[TextForm, Iterator[str]]:
    """The form of a file without its line ends, and its text in blocks without the byte-order mark."""
    form = TextForm.named(encoding)
    first = file.read(_BLOCK_BYTES)
    mark = next((mark for mark in _MARKS if first.startswith(mark)), b"")
    if mark:
        if encoding is not None and _family(form.encoding) != _family(_MARKS[mark]):
            raise TrialsError(f"{where}: begins with the byte-order mark of {_MARKS[mark]}, so it is not {encoding}")
        form = TextForm(_MARKS[mark], has_mark=True)
    if not mark and encoding is None and b"\0" in first.partition(b"\n")[0]:
        guess = "utf-16-be" if first.startswith(b"\0") else "utf-16-le"
        raise TrialsError(
            f"{where}, line 1: zero bytes, as in UTF-16 without a byte-order mark; pass the encoding {guess}"
        )
    blocks = chain((first[len(mark) :],), iter(lambda: file.read(_BLOCK_BYTES), b""))
    hint = "" if mark or encoding is not None else "; for other encodings, pass the encoding, such as cp932"
    return form, _decoded_blocks(blocks, form.encoding, where, hint)


def _family(encoding: str) -> str:
    return encoding.removesuffix("-le").removesuffix("-be")


def _decoded_blocks(blocks: Iterator[bytes], encoding: str, where: str, hint: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    n_lines = 0
    for block, is_last in chain(((block, False) for block in blocks), ((b"", True),)):
        try:
            text = decoder.decode(block, is_last)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(encoding, "ignore")
            line = n_lines + before.count("\n") + 1
            byte = error.object[error.start]
            raise TrialsError(f"{where}, line {line}: not {encoding} (byte 0x{byte:02x}){hint}") from None
        n_lines += text.count("\n")
        yield text


def lines_of(blocks: Iterator[str], where: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers and line ends, split at LF only."""
    n_lines, rest = 0, ""
    for block in blocks:
        *lines, rest = (rest + block).split("\n")
        for line in lines:
            n_lines += 1
            yield n_lines, line + "\n"
        if len(rest) > MAX_LINE_BYTES:
            location = f"{where}, line {n_lines + 1}"
            raise TrialsError(f"{location}: longer than {MAX_LINE_BYTES >> 20} MiB, which is the limit")
    if rest:
        yield n_lines + 1, rest


class RowBatch(Protocol):
    """A batch of rows of a table, in the form in which they were read."""

    def __len__(self) -> int: ...

    @property
    def form(self) -> TextForm | None:
        """The encoding and line ends of the file, if it is CSV or TSV."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    def location(self, row: int | None) -> str:
        """The location of a row for messages: its line, or its row (from 1) and row group (from 0)."""

    def values(self, column: str) -> Any:
        """A column for the scorer."""

    def lists(self, column: str) -> Any:
        """A column of lists of texts for the scorer, in which a text is a list of one text."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows, with values in the types of JSON (or NaN, infinity)."""

    def schema(self) -> Any:
        """The Arrow schema of the columns."""

    def arrays(self, schema: Any) -> list[Any]:
        """The columns as Arrow arrays of the types in `schema`."""

    def only(self, passing: NDArray[np.bool_]) -> RowBatch:
        """The rows for which `passing` is true."""


RowBatches = Generator[RowBatch, None, None]
Scores = Mapping[str, "NDArray[np.float64]"]
"""Columns of scores by name, in order, with NaN for missing scores."""
Write = Callable[[RowBatch, Scores], None]

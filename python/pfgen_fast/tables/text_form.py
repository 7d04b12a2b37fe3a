"""The encoding, byte-order mark and line ends of a text file, and its text, decoded block by block.

Without a byte-order mark and without the option `encoding`, a file is UTF-8.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO

from ..base.errors import PfgenError, TrialsError
from ..base.file_reading import MAX_LINE_BYTES
from ..base.untrusted_text import in_one_line

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

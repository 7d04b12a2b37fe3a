"""Bodies that are Arrow streams: checks that they are two columns of valid, uncompressed texts.

Dictionaries, views, nulls and compressed buffers are refused, because with them a small body can contain many large
answers.
"""

from __future__ import annotations

import struct
from typing import Any

from ..errors import PfgenError
from ..files.optional import optional
from ..files.untrusted_text import in_one_line
from .limits import Limits, Refusal, check_number, too_long

COLUMNS = ("questions", "answers")
_OF_DAMAGE = (OSError, ValueError, TypeError, ArithmeticError, LookupError, NotImplementedError, struct.error)
_MAX_MESSAGES = 10_000
_DICTIONARIES, _ROWS = 2, 3  # kinds of messages in Arrow's format
_HEADER_KIND, _HEADER, _COMPRESSION = 1, 2, 3  # places of fields in its tables


def texts_of_stream(body: bytes, limits: Limits) -> tuple[Any, Any]:
    """The columns of questions and of answers."""
    pa = pyarrow()
    try:
        _check_messages(pa, body)
        with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
            _check_columns(pa, stream.schema)
            table = stream.read_all()
        check_number(table.num_rows, limits)
        table.validate(full=True)
        lengths = pa.compute.utf8_length(table["answers"])
        longest = pa.compute.max(lengths).as_py() or 0
    except (*_OF_DAMAGE, pa.ArrowException) as problem:
        raise Refusal(400, f"the body is not a valid Arrow stream: {in_one_line(problem, 200)}") from None
    if longest > limits.n_code_points:
        raise too_long(pa.compute.index(lengths, longest).as_py(), longest, limits)
    return table["questions"], table["answers"]


def stream_of(columns: Any, signature: str) -> bytes:
    """Columns as an Arrow stream; the metadata of its schema has the signature."""
    pa = pyarrow()
    table = pa.table(columns).replace_schema_metadata({"signature": signature})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def pyarrow() -> Any:
    """Imports pyarrow with its modules for streams and computations."""
    try:
        for module in ("pyarrow.ipc", "pyarrow.compute"):
            optional(module, extra="tables", needed_for="Arrow")
        return optional("pyarrow", extra="tables", needed_for="Arrow")
    except PfgenError as problem:
        raise Refusal(501, f"this server accepts only JSON: {problem}") from None


def _check_columns(pa: Any, schema: Any) -> None:
    if sorted(schema.names) != sorted(COLUMNS):
        found = ", ".join(repr(in_one_line(name, 40)) for name in schema.names[:5]) or "none"
        raise Refusal(400, f"the columns are {found}; expected 'questions' and 'answers'")
    for field in schema:
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            found = in_one_line(field.type, 40)
            raise Refusal(400, f"column {field.name!r}: expected the type string or large_string, not {found}")


def _check_messages(pa: Any, body: bytes) -> None:
    """Refuses compressed buffers and too many messages."""
    # The reader verifies the metadata of each message, so the offsets in it are valid.
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(body))
    for _ in range(_MAX_MESSAGES):
        try:
            message = reader.read_next_message()
        except StopIteration:
            return
        if _is_compressed(message.metadata.to_pybytes()):
            raise Refusal(415, "the Arrow stream has compressed buffers; write it without compression")
    raise Refusal(413, f"more than {_MAX_MESSAGES:,} batches in a stream; use larger batches")


def _is_compressed(metadata: bytes) -> bool:
    """Whether the record batch in a message has the field `compression`."""
    message = _at(metadata, 0)
    kind = _field(metadata, message, _HEADER_KIND)
    if kind is None or metadata[kind] not in (_DICTIONARIES, _ROWS):
        return False
    place = _field(metadata, message, _HEADER)
    if place is not None and metadata[kind] == _DICTIONARIES:
        place = _field(metadata, _at(metadata, place), 1)  # its record batch
    return place is not None and _field(metadata, _at(metadata, place), _COMPRESSION) is not None


def _at(metadata: bytes, place: int) -> int:
    """The position of the table that an offset refers to."""
    offset: int = struct.unpack_from("<I", metadata, place)[0]
    return place + offset


def _field(metadata: bytes, table: int, number: int) -> int | None:
    """The position of a field of a table; None if the field is missing."""
    fields: int = table - struct.unpack_from("<i", metadata, table)[0]
    n_bytes = struct.unpack_from("<H", metadata, fields)[0]
    place = 4 + 2 * number
    if place + 2 > n_bytes:
        return None
    offset: int = struct.unpack_from("<H", metadata, fields + place)[0]
    return table + offset if offset else None

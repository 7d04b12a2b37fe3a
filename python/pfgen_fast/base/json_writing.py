"""Writes the same bytes as `json.dumps`, ten times as fast."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from .untrusted_text import utf8

# Values that json.dumps and orjson write differently. The patterns never match within a string, because a string has a
# quote at the end of a line. Each pattern begins with literal characters, which makes the search fast.
_SMALL = re.compile(rb"0\.0000[0-9]+(?=,?(?:\n|\Z))")
_EXPONENT = re.compile(rb"e(-?)([0-9]+)(?=,?(?:\n|\Z))")
_NULL = re.compile(rb"null,?(?:\n|\Z)")


class WrittenObject(Mapping[str, Any]):
    """A JSON text that behaves like the object it contains; it is decoded on the first access."""

    __slots__ = ("_decoded", "json")

    def __init__(self, json: bytes) -> None:
        self.json = json
        self._decoded: dict[str, Any] | None = None

    def decoded(self) -> dict[str, Any]:
        """The object."""
        if self._decoded is None:
            self._decoded = json.loads(self.json)
        return self._decoded

    def __getitem__(self, key: str) -> Any:
        return self.decoded()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.decoded())

    def __len__(self) -> int:
        return len(self.decoded())

    def __repr__(self) -> str:
        return repr(self.decoded())


def json_bytes(value: Any) -> bytes:
    """Encodes a value as `json.dumps(value, ensure_ascii=False, indent=2)` does, in UTF-8."""
    try:
        fast = orjson.dumps(value, _as_written, orjson.OPT_INDENT_2)
        if not _NULL.search(fast):
            fast = _EXPONENT.sub(lambda match: b"e" + (match[1] or b"+") + match[2].zfill(2), fast)
            return _SMALL.sub(_as_python_writes, fast)
    except TypeError:
        pass  # a lone surrogate, or an integer of more than 64 bits
    return utf8(json.dumps(value, ensure_ascii=False, indent=2, default=_decoded))


def _as_written(value: Any) -> orjson.Fragment:
    if isinstance(value, WrittenObject):
        return orjson.Fragment(value.json)
    raise TypeError


def _decoded(value: Any) -> dict[str, Any]:
    if isinstance(value, WrittenObject):
        return value.decoded()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _as_python_writes(small: re.Match[bytes]) -> bytes:
    before = small.string[max(small.start() - 1, 0) : small.start()]
    return repr(float(small[0])).encode() if before in b" -" else small[0]

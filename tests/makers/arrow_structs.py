"""Structures of the Arrow C data interface with any content, as a faulty producer hands them over."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Fill = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_Message = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_MESSAGE = ctypes.create_string_buffer(b"broken \xff")
_RELEASE = _Release(lambda struct: None)  # outlives the producer, as columns may


class _Schema(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
        *((name, ctypes.c_int64) for name in ("flags", "n_children")),
        *((name, ctypes.c_void_p) for name in ("children", "dictionary", "release", "private_data")),
    ]


class _Array(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
        *((name, ctypes.c_void_p) for name in ("buffers", "children", "dictionary", "release", "private_data")),
    ]


class _Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "data")]


@dataclass(frozen=True)
class Column:
    """A column with its schema. A value of None is a null pointer; counts say what they say, whatever is there."""

    format: bytes | None
    length: int = 0
    buffers: Sequence[bytes | None] | None = ()
    offset: int = 0
    null_count: int = 0
    n_buffers: int | None = None
    children: Sequence[Column | None] | None = ()
    n_children: int | None = None
    n_schema_children: int | None = None
    has_schema_children: bool = True
    dictionary: Column | None = None
    has_dictionary: bool = True

    def but(self, **changes: Any) -> Column:
        return replace(self, **changes)


class Producer:
    """Exports a column; `stream` says how: "array", "stream", or a fault of a stream."""

    def __init__(self, column: Column, stream: str = "array") -> None:
        self._kept: list[Any] = []
        self._column, self._how = column, stream
        setattr(self, "__arrow_c_array__" if stream == "array" else "__arrow_c_stream__", self._export)

    def _export(self, requested_schema: object = None) -> object:
        if self._how == "array":
            schema, array = self._schema(self._column), self._array(self._column)
            return _capsule(schema, b"arrow_schema"), _capsule(array, b"arrow_array")
        chunks = [self._array(self._column)]

        def fill_schema(stream: int, out: int) -> int:
            if self._how == "failing":
                return 5
            if self._how != "no schema":
                ctypes.memmove(out, ctypes.byref(self._schema(self._column)), ctypes.sizeof(_Schema))
            return 0

        def fill_next(stream: int, out: int) -> int:
            ctypes.memset(out, 0, ctypes.sizeof(_Array))
            if chunks:
                ctypes.memmove(out, ctypes.byref(chunks.pop()), ctypes.sizeof(_Array))
            return 0

        functions = [
            None if self._how == "no functions" else _Fill(fill_schema),
            _Fill(fill_next),
            None if self._how == "no message" else _Message(lambda stream: ctypes.addressof(_MESSAGE)),
            _RELEASE,
        ]
        self._kept += functions
        stream = _Stream(*(ctypes.cast(function, ctypes.c_void_p) if function else None for function in functions))
        self._kept.append(stream)
        return _capsule(stream, b"arrow_array_stream")

    def _pointers(self, values: Sequence[Any] | None, place: Callable[[Any], int]) -> int | None:
        if values is None:
            return None
        places = [None if value is None else place(value) for value in values]
        array = (ctypes.c_void_p * (len(values) + 1))(*places)
        self._kept.append(array)
        return ctypes.addressof(array)

    def _schema(self, column: Column) -> _Schema:
        children = column.children if column.has_schema_children else None
        schema = _Schema(
            format=column.format,
            n_children=len(column.children or ()) if column.n_schema_children is None else column.n_schema_children,
            children=self._pointers(children, lambda child: self._at(self._schema(child))),
            dictionary=column.dictionary and self._at(self._schema(column.dictionary)),
            release=ctypes.cast(_RELEASE, ctypes.c_void_p),
        )
        self._kept.append(schema)
        return schema

    def _array(self, column: Column) -> _Array:
        array = _Array(
            length=column.length,
            null_count=column.null_count,
            offset=column.offset,
            n_buffers=len(column.buffers or ()) if column.n_buffers is None else column.n_buffers,
            n_children=len(column.children or ()) if column.n_children is None else column.n_children,
            buffers=self._pointers(column.buffers, self._bytes),
            children=self._pointers(column.children, lambda child: self._at(self._array(child))),
            dictionary=self._at(self._array(column.dictionary))
            if column.dictionary and column.has_dictionary
            else None,
            release=ctypes.cast(_RELEASE, ctypes.c_void_p),
        )
        self._kept.append(array)
        return array

    def _at(self, struct: ctypes.Structure) -> int:
        self._kept.append(struct)
        return ctypes.addressof(struct)

    def _bytes(self, content: bytes) -> int:
        kept = ctypes.create_string_buffer(content, len(content) + 1)
        self._kept.append(kept)
        return ctypes.addressof(kept)


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def _capsule(struct: ctypes.Structure, name: bytes) -> object:
    return _new_capsule(ctypes.addressof(struct), name, None)

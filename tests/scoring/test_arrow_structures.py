"""Malformed structures of the Arrow C data interface: a fault that a consumer can detect raises TrialsError.

pyarrow makes and exports sound arrays, whose buffers and structures are changed afterwards.
"""

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pfgen_fast import Scorer, TrialsError

LONG = b"Ice floats because it is lighter."
TEXTS = ["Ice floats.", LONG.decode(), ""]
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
NO_RELEASE = RELEASE(lambda _: None)


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


def children_of(kind: Any) -> Any:
    return ctypes.POINTER(ctypes.POINTER(kind))


REST = [("dictionary", ctypes.c_void_p), ("release", RELEASE), ("private_data", ctypes.c_void_p)]
Schema._fields_ = [
    *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
    *((name, ctypes.c_int64) for name in ("flags", "n_children")),
    *(("children", children_of(Schema)), *REST),
]
Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    *(("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", children_of(Array)), *REST),
]
FILL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
MESSAGE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
BROKEN = ctypes.create_string_buffer(b"broken \xff")


class Stream(ctypes.Structure):
    _fields_ = (("get_schema", FILL), ("get_next", FILL), ("get_last_error", MESSAGE), *REST[1:])


Change = Callable[[Schema, Array], None]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def scored(scorer: Scorer, method: str, exported: object) -> int:
    exporter = type("Exporter", (), {method: lambda self, requested_schema=None: exported})()
    return len(scorer.score("Q07", exporter))


def schema(**fields: Any) -> Change:
    return lambda schema, array: [setattr(schema, name, value) for name, value in fields.items()] and None


def array(**fields: Any) -> Change:
    return lambda schema, array: [setattr(array, name, value) for name, value in fields.items()] and None


def without_buffer(number: int) -> Change:
    return lambda schema, array: array.buffers.__setitem__(number, None)


def unchanged(schema: Schema, array: Array) -> None:
    pass


def with_buffer(kind: pa.DataType, length: int, content: bytes, *dictionary: pa.Array) -> pa.Array:
    buffer = bytearray(len(content))
    buffers = [None, pa.py_buffer(buffer), pa.py_buffer(LONG)]
    make = pa.DictionaryArray.from_buffers if dictionary else pa.Array.from_buffers
    created = make(kind, length, buffers[: 3 - len(dictionary)], *dictionary)
    buffer[:] = content  # pyarrow has checked the zeros that were there before
    return created


def with_offsets(*offsets: int) -> pa.Array:
    return with_buffer(pa.string(), 3, struct.pack("=4i", *offsets))


def with_view(length: int, buffer: int = 0, offset: int = 0) -> pa.Array:
    return with_buffer(pa.string_view(), 1, struct.pack("=i4sii", length, LONG[:4], buffer, offset))


def with_index(index: int) -> pa.Array:
    return with_buffer(pa.dictionary(pa.int8(), pa.string()), 1, struct.pack("=b", index), STRINGS)


def nested(column: pa.Array, depth: int) -> pa.Array:
    for _ in range(depth):
        column = pa.StructArray.from_arrays([column], ["a"])
    return column


STRINGS = pa.array(TEXTS)
TABLE = nested(STRINGS, 1)
N = len(LONG)
FAULTS = {
    "numbers": (pa.array([1, 2]), unchanged, "expected an Arrow column of strings, not of format 'l'"),
    "a dictionary of numbers": (pa.array([1, 2]).dictionary_encode(), unchanged, "of strings, not of format 'l'"),
    "two columns": (pa.array([{"a": "x", "b": "y"}]), unchanged, "one string column, not a table of 2; select one"),
    "no format": (STRINGS, schema(format=None), "an Arrow schema without a format"),
    "a format of other bytes": (STRINGS, schema(format=b"\xff" * 99), "not of format '�+'$"),
    "no pointers to buffers": (STRINGS, array(buffers=None), "without buffer 1"),
    "no offsets": (STRINGS, without_buffer(1), "without buffer 1"),
    "no texts": (STRINGS, without_buffer(2), "without buffer 2"),
    "too few buffers": (STRINGS.cast(pa.large_string()), array(n_buffers=2), "without buffer 2"),
    "a negative number of buffers": (STRINGS, array(n_buffers=-1), "without buffer 1"),
    "a negative offset": (with_offsets(-9, 0, 1, 2), unchanged, "a negative offset"),
    "falling offsets": (with_offsets(0, 9, 2, 3), unchanged, "offsets fall"),
    "a negative length": (STRINGS, array(length=-1), "negative length or offset"),
    "a negative start": (STRINGS, array(offset=-1), "negative length or offset"),
    "an impossible start": (STRINGS, array(offset=2**63 - 1), "impossible length or offset"),
    "an impossible length": (pa.nulls(1), array(length=2**48), "do not fit into memory"),
    "views without sizes": (with_view(N), array(n_buffers=2), "without the sizes"),
    "a view of negative length": (with_view(-1), unchanged, "negative length"),
    "a view of no buffer": (with_view(N, 1), unchanged, "a buffer that is not there"),
    "a view of the last buffer of all": (with_view(N, 2**31 - 1), unchanged, "a buffer that is not there"),
    "a view of a negative buffer": (with_view(N, -1), unchanged, "a buffer that is not there"),
    "a view before its buffer": (with_view(N, 0, -1), unchanged, "past its buffer"),
    "a view behind its buffer": (with_view(N, 0, 1), unchanged, "past its buffer"),
    "a view of a missing buffer": (with_view(N), without_buffer(2), "buffer 2"),
    "no dictionary": (with_index(0), array(dictionary=None), "without its dictionary"),
    "no indices": (with_index(0), without_buffer(1), "without buffer 1"),
    "an index too large": (with_index(3), unchanged, "an Arrow dictionary index without a value"),
    "a negative index": (with_index(-1), unchanged, "an Arrow dictionary index without a value"),
    "an index of another kind": (with_index(0), schema(format=b"g"), "indices of format 'g'"),
    "no children of the schema": (TABLE, schema(children=None), "without its child"),
    "no child of the schema": (TABLE, schema(children=(ctypes.POINTER(Schema) * 1)()), "without its child"),
    "no children of the array": (TABLE, array(children=None), "without the child"),
    "no child of the array": (TABLE, array(children=(ctypes.POINTER(Array) * 1)()), "without the child"),
    "a child too few": (TABLE, array(n_children=0), "without the child"),
    "a child too short": (TABLE, array(length=4), "whose child is too short"),
    "a negative number of children": (TABLE, schema(n_children=-1), "not a table of -1; select one"),
    "deep nesting": (nested(STRINGS, 100), unchanged, "nested too deep"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_can_be_seen_is_named(scorer: Scorer, fault: str):
    column, change, problem = FAULTS[fault]
    capsules = column.__arrow_c_array__()
    schema = Schema.from_address(_pointer(capsules[0], b"arrow_schema"))
    array = Array.from_address(_pointer(capsules[1], b"arrow_array"))
    schema.release = array.release = NO_RELEASE  # pyarrow would read what is changed
    change(schema, array)
    with pytest.raises(TrialsError, match=problem):
        scored(scorer, "__arrow_c_array__", capsules)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"get_schema": FILL(lambda stream, out: 0)}, "an Arrow stream without a schema"),
        ({"get_schema": FILL()}, "an Arrow stream without functions"),
        (
            {"get_schema": FILL(lambda stream, out: 5), "get_last_error": MESSAGE(lambda _: ctypes.addressof(BROKEN))},
            "the Arrow stream failed: broken �",
        ),
        ({"get_next": FILL(lambda stream, out: 5), "get_last_error": MESSAGE()}, "the Arrow stream failed"),
    ],
)
def test_a_faulty_stream_is_named(scorer: Scorer, fields: dict[str, Any], problem: str):
    capsule = pa.chunked_array([TEXTS]).__arrow_c_stream__()
    stream = Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    for name, function in fields.items():
        setattr(stream, name, function)
    with pytest.raises(TrialsError, match=problem):
        scored(scorer, "__arrow_c_stream__", capsule)


def test_a_capsule_is_read_once_and_other_objects_are_refused(scorer: Scorer):
    for method, capsules in [
        ("__arrow_c_stream__", pa.chunked_array([["a"]]).__arrow_c_stream__()),
        ("__arrow_c_array__", pa.array(["a"]).__arrow_c_array__()),
    ]:
        assert scored(scorer, method, capsules) == 1
        with pytest.raises(TrialsError, match="answers: an Arrow capsule that was read before"):
            scored(scorer, method, capsules)
    for method, value in [("__arrow_c_stream__", 5), ("__arrow_c_array__", 5), ("__arrow_c_array__", (1, 2))]:
        with pytest.raises(TrialsError, match=r"expected (an|two) Arrow capsule"):
            scored(scorer, method, value)


def test_the_arrays_of_a_stream_are_checked(scorer: Scorer):
    with pytest.raises(TrialsError, match="offsets fall"):
        scorer.score("Q07", pa.chunked_array([STRINGS, with_offsets(0, 9, 2, 3)]))


@pytest.mark.parametrize("n", [0, 3])
def test_texts_that_are_all_empty_need_no_bytes(scorer: Scorer, n: int):
    capsules = pa.array([""] * n, pa.string()).__arrow_c_array__()
    array = Array.from_address(_pointer(capsules[1], b"arrow_array"))
    array.buffers[2] = None
    if n == 0:
        array.buffers = None
    assert scored(scorer, "__arrow_c_array__", capsules) == n

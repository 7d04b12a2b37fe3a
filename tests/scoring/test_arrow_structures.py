"""Malformed structures of the Arrow C data interface: what a consumer can see is a TrialsError, never a crash."""

from __future__ import annotations

import struct

import pytest
from makers.arrow_structs import Column, Producer
from pfgen_fast import Scorer, TrialsError

LONG = b"Ice floats because it is lighter."
TEXTS = ["Ice floats.", LONG.decode(), ""]
SMALL = b"".join(text.encode() for text in TEXTS)
ENDS = (0, len(TEXTS[0]), len(SMALL), len(SMALL))


def view(text: bytes, buffer: int = 0, offset: int = 0) -> bytes:
    if len(text) <= 12:
        return struct.pack("=i12s", len(text), text)
    return struct.pack("=i4sii", len(text), text[:4], buffer, offset)


STRINGS = Column(b"u", 3, (None, struct.pack("=4i", *ENDS), SMALL))
LARGE = Column(b"U", 3, (None, struct.pack("=4q", *ENDS), SMALL))
VIEWS = Column(b"vu", 3, (None, b"".join(view(t.encode()) for t in TEXTS), LONG, struct.pack("=q", len(LONG))))
INDICES = Column(b"c", 3, (None, bytes([0, 1, 2])), dictionary=STRINGS)
TABLE = Column(b"+s", 3, (None,), children=(STRINGS,))
SOUND = {"strings": STRINGS, "large": LARGE, "views": VIEWS, "indices": INDICES, "table": TABLE}


def nested(depth: int) -> Column:
    column = STRINGS
    for _ in range(depth):
        column = TABLE.but(children=(column,))
    return column


def with_view(content: bytes) -> Column:
    return VIEWS.but(buffers=(None, view(b"") * 2 + content, LONG, struct.pack("=q", len(LONG))))


FAULTS = {
    "no format": (STRINGS.but(format=None), "an Arrow schema without a format"),
    "a format of other bytes": (STRINGS.but(format=b"\xff" * 99), "not of format '�+'$"),
    "no buffers": (STRINGS.but(buffers=None), "without buffer 1"),
    "no pointers to buffers": (STRINGS.but(buffers=None, n_buffers=3), "without buffer 1"),
    "no offsets": (STRINGS.but(buffers=(None, None, SMALL)), "without buffer 1"),
    "no texts": (STRINGS.but(buffers=(None, STRINGS.buffers[1], None)), "without buffer 2"),
    "too few buffers": (LARGE.but(n_buffers=2), "without buffer 2"),
    "a negative number of buffers": (LARGE.but(n_buffers=-1), "without buffer 1"),
    "a negative offset": (STRINGS.but(buffers=(None, struct.pack("=4i", -9, 0, 1, 2), SMALL)), "a negative offset"),
    "falling offsets": (STRINGS.but(buffers=(None, struct.pack("=4i", 0, 9, 2, 3), SMALL)), "offsets fall"),
    "a negative length": (STRINGS.but(length=-1), "negative length or offset"),
    "a negative start": (STRINGS.but(offset=-1), "negative length or offset"),
    "an impossible start": (STRINGS.but(offset=2**63 - 1), "impossible length or offset"),
    "an impossible length": (Column(b"n", 2**48), "do not fit into memory"),
    "views without sizes": (VIEWS.but(n_buffers=2), "without the sizes"),
    "a view of negative length": (with_view(struct.pack("=i12s", -1, b"")), "negative length"),
    "a view of no buffer": (with_view(view(LONG, 1)), "a buffer that is not there"),
    "a view of the last buffer of all": (with_view(view(LONG, 2**31 - 1)), "a buffer that is not there"),
    "a view of a negative buffer": (with_view(view(LONG, -1)), "a buffer that is not there"),
    "a view before its buffer": (with_view(view(LONG, 0, -1)), "past its buffer"),
    "a view behind its buffer": (with_view(view(LONG, 0, 1)), "past its buffer"),
    "a view of a missing buffer": (VIEWS.but(buffers=(None, VIEWS.buffers[1], None, VIEWS.buffers[3])), "buffer 2"),
    "no dictionary": (INDICES.but(has_dictionary=False), "without its dictionary"),
    "no indices": (INDICES.but(buffers=(None, None)), "without buffer 1"),
    "an index too large": (INDICES.but(buffers=(None, bytes([0, 1, 3]))), "an Arrow dictionary index without a value"),
    "a negative index": (INDICES.but(buffers=(None, bytes([0, 1, 255]))), "an Arrow dictionary index without a value"),
    "an index of another kind": (INDICES.but(format=b"g"), "indices of format 'g'"),
    "no children": (TABLE.but(children=None, n_schema_children=1, n_children=1), "without its child"),
    "no child of the schema": (TABLE.but(has_schema_children=False), "without its child"),
    "no child of the array": (TABLE.but(n_children=0), "without the child"),
    "a null child": (TABLE.but(children=(None,)), "without its child"),
    "a child too short": (TABLE.but(length=4), "whose child is too short"),
    "two children": (TABLE.but(children=(STRINGS, STRINGS)), "not a table of 2; select one"),
    "a negative number of children": (TABLE.but(n_schema_children=-1), "not a table of -1; select one"),
    "deep nesting": (nested(100), "nested too deep"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_can_be_seen_is_named(scorer: Scorer, fault: str):
    column, problem = FAULTS[fault]
    for how in ("array", "stream"):
        with pytest.raises(TrialsError, match=problem):
            scorer.score("Q07", Producer(column, how))


def test_a_faulty_stream_is_named(scorer: Scorer):
    for how, problem in {
        "no schema": "an Arrow stream without a schema",
        "no functions": "an Arrow stream without functions",
        "failing": "the Arrow stream failed: broken �",
    }.items():
        with pytest.raises(TrialsError, match=problem):
            scorer.score("Q07", Producer(STRINGS, how))
    assert len(scorer.score("Q07", Producer(STRINGS, "no message"))) == 3


@pytest.mark.parametrize("kind", SOUND)
def test_sound_structures_are_read(scorer: Scorer, kind: str):
    expected = scorer.reward("Q07", TEXTS).tolist()
    for how in ("array", "stream"):
        assert scorer.reward("Q07", Producer(SOUND[kind], how)).tolist() == expected
    assert len(scorer.score("Q07", Producer(SOUND[kind].but(length=0, buffers=None)))) == 0


def test_texts_that_are_all_empty_need_no_bytes(scorer: Scorer):
    empty = STRINGS.but(buffers=(None, struct.pack("=4i", 5, 5, 5, 5), None))
    assert scorer.reward("Q07", Producer(empty)).tolist() == scorer.reward("Q07", ["", "", ""]).tolist()

"""How requests are framed: the same replies however they are cut into pieces, and no framing that fills the memory."""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import re
import unittest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from makers.reward_server import SECONDS, post
from pfgen_fast import Scorer
from pfgen_fast.serving.access import Guard
from pfgen_fast.serving.application import Application
from pfgen_fast.serving.connections import bounded_protocol
from pfgen_fast.serving.limits import MAX_HEAD_BYTES, MAX_HEADERS, Limits

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("httptools")
pytest.importorskip("prometheus_client")
HOST = "localhost:80"
ENDS = b"0\r\n\r\n"
LIMITS = Limits(n_body_bytes=100_000)


class Wire(asyncio.Transport):
    """A connection in this process: keeps what the server writes."""

    def __init__(self, protocol):
        super().__init__()
        self.protocol, self.sent, self.is_closed, self.is_paused = protocol, b"", False, False

    def write(self, data):
        self.sent += b"" if self.is_closed else data

    def close(self):
        if not self.is_closed:
            self.is_closed = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    abort = close

    def is_closing(self):
        return self.is_closed

    def pause_reading(self):
        self.is_paused = True

    def resume_reading(self):
        self.is_paused = False

    def get_write_buffer_size(self):
        return 0


@functools.cache
def application():
    return Application(Scorer("mini"), Guard(None, 80), LIMITS)


def connected(app):
    """A connection to an application, and what the server knows of it."""
    config = uvicorn.Config(app, http=bounded_protocol(LIMITS), lifespan="off", log_config=None)
    config.load()
    state = uvicorn.server.ServerState()
    protocol = config.http_protocol_class(config=config, server_state=state, app_state={})
    wire = Wire(protocol)
    protocol.connection_made(wire)
    return protocol, wire, state


def exchange(pieces):
    """What the server sends to a client that sends these pieces, and leaves after the replies."""

    async def talk():
        protocol, wire, state = connected(application())
        for piece in pieces:
            while wire.is_paused and not wire.is_closed:
                await asyncio.sleep(0)
            if wire.is_closed:
                break
            protocol.data_received(piece)
        while state.tasks:
            await asyncio.wait(state.tasks)
            await asyncio.sleep(0)
        wire.close()
        await asyncio.sleep(0)
        return wire.sent

    with unittest.TestCase().assertNoLogs(level="ERROR"):
        return asyncio.run(asyncio.wait_for(talk(), SECONDS))


def replies_in(sent):
    """Status and JSON of each reply, which must fill what was sent."""
    found = []
    while sent:
        head, _, sent = sent.partition(b"\r\n\r\n")
        status = int(re.match(rb"HTTP/1\.1 (\d{3}) ", head)[1])
        if status != 100:
            length = int(re.search(rb"(?i)\r\ncontent-length: (\d+)", head)[1])
            found.append((status, json.loads(sent[:length])))
            sent = sent[length:]
    return found


def chunked(content, sizes, extension=b"", trailers=b""):
    """A request whose body has no length; the last size repeats."""
    chunks = b""
    for size in (*sizes, *[sizes[-1]] * len(content)):
        chunk, content = content[:size], content[size:]
        chunks += b"%x%s\r\n%s\r\n" % (len(chunk), extension, chunk) if chunk else b""
    head = post(b"", Content_Length="", Transfer_Encoding="chunked", Host=HOST, close=False)
    return head + chunks + ENDS.removesuffix(b"\r\n") + trailers + b"\r\n"


def body_of(answer):
    return json.dumps({"questions": "Q07", "answers": [answer]}).encode()


TRAILERS = st.lists(
    st.sampled_from(
        [b"X: y\r\n", b"Host: example.org\r\n", b"Authorization: Bearer x\r\n", b"Content-Encoding: br\r\n"]
    ),
    max_size=3,
).map(b"".join)
ANSWERS = st.sampled_from(["Ice.", "Ice floats because it is less dense than water.", "", "\u6c37 " * 99])


@st.composite
def requests(draw):
    """Some requests one behind the other, and the answers in them."""
    answers = draw(st.lists(ANSWERS, min_size=1, max_size=4))
    sent = b""
    for answer in answers:
        if draw(st.booleans()):
            sent += post(body_of(answer), Host=HOST, close=False)
        else:
            sizes = draw(st.lists(st.integers(1, 400), min_size=1, max_size=4))
            sent += chunked(body_of(answer), sizes, draw(st.sampled_from([b"", b";x", b';x="y"'])), draw(TRAILERS))
    return sent, answers


@st.composite
def pieces_of(draw, sent):
    cuts = sorted({0, len(sent), *draw(st.lists(st.integers(0, len(sent)), max_size=8))})
    return [sent[begin:end] for begin, end in itertools.pairwise(cuts)]


@examples(160)
@given(st.data(), requests())
def test_replies_do_not_depend_on_how_requests_are_framed(scorer, data, made):
    sent, answers = made
    found = replies_in(exchange(data.draw(pieces_of(sent))))
    assert [status for status, _ in found] == [200] * len(answers)
    assert [reply["rewards"] for _, reply in found] == [scorer.reward("Q07", [one]).tolist() for one in answers]


LONG = b"POST /reward HTTP/1.1\r\nHost: localhost:80\r\nX: %s\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "status", "sentence"),
    [
        (LONG % (b"x" * MAX_HEAD_BYTES), 431, f"larger than {MAX_HEAD_BYTES:,} bytes"),
        (LONG % (b"x" * (MAX_HEAD_BYTES - len(LONG) + 2)), 415, "Content-Type"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * (MAX_HEADERS + 1) + b"\r\n", 431, f"more than {MAX_HEADERS} headers"),
        (b"GET /" + b"x" * 70_000, 431, f"larger than {MAX_HEAD_BYTES:,} bytes"),
        (chunked(b"{}", [1], trailers=b"X: " + b"y" * 300_000), 431, f"larger than {MAX_HEAD_BYTES:,} bytes"),
        (chunked(b"{}", [1], b";" + b"x" * 300_000), 431, f"larger than {MAX_HEAD_BYTES:,} bytes"),
    ],
    ids=lambda value: ascii(value)[:30],
)
@pytest.mark.parametrize("size", [1 << 20, 1000], ids=["at-once", "in-pieces"])
def test_framing_is_bounded(sent, status, sentence, size):
    pieces = [sent[begin : begin + size] for begin in range(0, len(sent), size)]
    ((found, reply),) = replies_in(exchange(pieces))
    assert found == status
    assert sentence in reply["error"]

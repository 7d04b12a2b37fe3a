"""What is no batch, too large, too slow or too much gets a sentence or is cut off, and costs no memory."""

from __future__ import annotations

import io
import itertools
import json
import re
import zlib

import pyarrow as pa
import pytest
from makers.reward_server import HTTP, parsed, post, received, serving_within, wait_until
from pfgen_fast.serving.arrow_bodies import texts_of_stream
from pfgen_fast.serving.limits import Limits, Refusal

GOOD = b'{"questions": "Q07", "answers": ["Ice."]}'
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def server():
    with serving_within(n_body_bytes=4_000_000, n_answers=100, n_code_points=1000, n_requests=2) as running:
        yield running


@pytest.fixture(scope="module")
def hasty():
    """A server that waits for nobody."""
    with serving_within(head_seconds=1, seconds=1) as running:
        yield running


@pytest.fixture(autouse=True)
def _still_answers(server):
    """Whatever a test did, the next request is answered."""
    yield
    assert ask(server, GOOD)[0] == 200


def ask(server, body, path="/reward", **headers):
    return parsed(server.send(post(body, path, Host=f"127.0.0.1:{server.port}", **headers)))


def batch(answers: bytes, questions: bytes = b'"Q07"') -> bytes:
    return b'{"questions": %s, "answers": %s}' % (questions, answers)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        *((body, "not JSON") for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"answers":' * 100_000)),
        *((batch(answers), "not JSON") for answers in (b'["\xe3\x81"]', b'["\\ud800"]', b"[NaN]")),
        (batch(b"[1e999]"), "not JSON|not a number"),
        (b"[" * 500 + b"]" * 500, "expected a JSON object with"),
        (b'{"questions": "Q07"}', "the key 'answers' is missing"),
        (batch(b'[], "\\u001b[31m": 1'), r"unknown key '\\u001b\[31m'"),
        (batch(b'["a"], "\\u0061nswers" : ["b"]'), "a key appears twice"),
        (batch(b'[{"a": "b"}]'), r"answers\[0\]: expected a text, not an object"),
        (batch(b'"Ice."'), "answers: expected a list of texts, not a text"),
        (batch(b'["a", null]'), r"answers\[1\]: expected a text, not null"),
        (batch(b"[]", b"7"), "questions: expected a list of texts, not a number"),
        (batch(b'["", ""]', b'["Q07"]'), "1 questions? .*2 answers?|questions.*answers"),
        (batch(b'["", ""]', b'["Q07", "\\u202eQ99"]'), r"questions\[1\].*\\u202eQ99"),
    ],
)
def test_what_is_no_batch_gets_a_sentence(server, body, sentence):
    status, reply = ask(server, body)
    assert status == 400
    assert re.search(sentence, reply["error"]), reply
    assert len(reply["error"]) < 500
    assert reply["error"].isprintable()


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ([""] * 101, "101 answers; the limit for a request is 100"),
        (["", "x" * 1001], r"answers\[1\]: 1,001 characters; the limit is 1,000"),
        (["x" * 4_000_000], "larger than 4,000,000 bytes"),
        ([[]] * 1_200_000, "more than 1,000,000 commas and brackets"),  # before the values are made
        ([[]] * 2_000_000, "larger than 4,000,000 bytes"),
    ],
)
def test_what_is_too_large_gets_413(server, answers, sentence):
    status, reply = ask(server, json.dumps({"questions": "Q07", "answers": answers}, separators=(",", ":")))
    assert status == 413
    assert re.search(sentence, reply["error"])


def test_a_large_body_is_refused_by_its_head_or_while_it_arrives(server):
    host = f"127.0.0.1:{server.port}"
    with server.connect() as connection:  # of which nothing more comes
        connection.sendall(post(b"", Content_Length=str(1 << 40), Host=host))
        by_head = received(connection)
    head = post(b"", Content_Length="", Transfer_Encoding="chunked", Host=host)
    for reply in (by_head, server.send(head + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 200)):
        status, told = parsed(reply)
        assert status == 413
        assert "larger than 4,000,000 bytes" in told["error"]
    assert parsed(server.send(head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD)))[0] == 200


def test_compressed_bodies_are_refused(server):
    for encoding in ("deflate", "identity, gzip"):
        status, reply = ask(server, zlib.compress(GOOD), Content_Encoding=encoding)
        assert status == 415
        assert "compressed bodies are not accepted" in reply["error"]


def test_other_paths_and_methods_are_named(server):
    status, reply = ask(server, GOOD, "/rewards")
    assert status == 404
    assert "/reward" in reply["error"]
    assert ask(server, GOOD, "/metrics")[0] == 405
    assert HTTP.get(f"{server.url}/reward").status_code == 405
    assert HTTP.put(f"{server.url}/reward").headers["allow"] == "POST"


@pytest.mark.parametrize(
    "request_of",
    [
        lambda host: b"GARBAGE\r\n\r\n",
        lambda host: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
        lambda host: post(GOOD, Content_Length="x", Host=host),
        lambda host: post(GOOD, Content_Length="-1", Host=host),
    ],
    ids=["garbage", "TLS", "length", "negative"],
)
def test_what_is_not_http_is_refused_or_cut_off(server, request_of):
    reply = server.send(request_of(f"127.0.0.1:{server.port}"))
    assert not reply or re.match(rb"HTTP/1.1 4\d\d ", reply)


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST /rew", post(GOOD, Host="127.0.0.1:{port}")[:-45], post(GOOD, Host="127.0.0.1:{port}")[:-3]],
    ids=["nothing", "half-a-line", "half-a-head", "half-a-body"],
)
def test_who_sends_too_slowly_is_cut_off(hasty, sent):
    with hasty.connect() as connection:
        connection.sendall(sent.replace(b"{port}", str(hasty.port).encode()))
        assert received(connection) == b""


def test_one_byte_at_a_time_does_not_buy_time(hasty):
    request = itertools.chain(b"POST /reward HTTP/1.1\r\n", itertools.cycle(b"X: y\r\n"))
    with hasty.connect() as connection:
        connection.settimeout(0.05)
        for byte in request:
            try:
                connection.sendall(bytes([byte]))
                if connection.recv(1 << 16) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break


def test_more_requests_than_the_limit_are_told_to_come_again(server):
    def in_progress():
        return "pfgen_requests_in_progress 2.0" in HTTP.get(f"{server.url}/metrics").text

    half = post(GOOD, Host=f"127.0.0.1:{server.port}")[:-3]
    with server.connect() as first, server.connect() as second:
        first.sendall(half)
        second.sendall(half)
        wait_until(in_progress)
        reply = HTTP.post(f"{server.url}/reward", content=GOOD, headers={"Content-Type": "application/json"})
        assert reply.status_code == 429
        assert reply.headers["retry-after"] == "1"
        assert "2 requests are in progress, which is the limit" in reply.json()["error"]
        first.sendall(GOOD[-3:])
        assert parsed(received(first))[0] == 200


def test_bodies_together_have_a_limit():
    with serving_within(n_held_bytes=1000, n_body_bytes=1000) as running, running.connect() as connection:
        request = post(json.dumps({"questions": "Q07", "answers": ["x" * 700]}), Host=f"127.0.0.1:{running.port}")
        connection.sendall(request[:-3])
        wait_until(lambda: re.search(r"pfgen_held_bytes [1-9]", HTTP.get(f"{running.url}/metrics").text))
        status, reply = parsed(running.send(request))
        assert status == 429
        assert "bodies and replies reach the limit of" in reply["error"]
        connection.sendall(request[-3:])
        assert parsed(received(connection))[0] == 200


def test_more_connections_than_the_limit_are_refused():
    with serving_within(n_connections=2) as running, running.connect() as first, running.connect() as second:
        for connection in (first, second):
            connection.sendall(post(GOOD, Host=f"127.0.0.1:{running.port}")[:-3])
        status, reply = parsed(running.send(b""))
        assert status == 429
        assert "2 connections are open" in reply["error"]


def stream(table, **options):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


BATCH = pa.table({"questions": ["Q07"] * 3, "answers": ["Ice.", "Water.", ""]})
STREAM = stream(BATCH)


def columns(questions, answers):
    return stream(pa.table({"questions": questions, "answers": answers}))


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        *((body, 400, "not a valid Arrow stream") for body in (b"", b"nothing of Arrow", STREAM[:200])),
        *((stream(BATCH, compression=kind), 415, "compressed buffers") for kind in ("zstd", "lz4")),
        (stream(BATCH.select(["answers"])), 400, "the columns are 'answers'; expected"),
        (stream(BATCH.append_column("more", pa.array([1, 2, 3]))), 400, "expected 'questions' and 'answers'"),
        (columns(["Q07"], [1]), 400, "expected the type string"),
        (columns(pa.array(["Q"]).dictionary_encode(), ["a"]), 400, "type string"),
        (columns(["Q07"], pa.array([None], pa.string())), 400, r"answers\[0\]"),
        (columns(["Q07"] * 101, ["a"] * 101), 413, "101 answers"),
        (columns(["Q07"] * 2, ["a", "x" * 1001]), 413, r"answers\[1\]: 1,001 ch"),
    ],
)
def test_streams_of_arrow_are_checked(server, body, status, sentence):
    found, reply = ask(server, body, Content_Type=ARROW)
    assert found == status
    assert re.search(sentence, reply["error"]), reply


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_damaged_streams_of_arrow_are_refused_or_hold_texts(every):
    n_refused = 0
    for place in range(0, len(STREAM), every):
        for flipped in (0x01, 0x80, 0xFF):
            damaged = bytearray(STREAM)
            damaged[place] ^= flipped
            try:
                questions, answers = texts_of_stream(bytes(damaged), Limits())
            except Refusal:
                n_refused += 1
            else:
                texts = questions.to_pylist() + answers.to_pylist()
                assert all(text is None or isinstance(text, str) for text in texts)
    assert n_refused > len(STREAM) / every / 2

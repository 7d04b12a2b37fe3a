"""What is no batch, too large, too slow or too much gets a sentence or is cut off, and costs no memory."""

import contextlib
import itertools
import json
import re
import zlib

import pytest
from makers.reward_server import HTTP, parsed, post, received, serving_within, wait_until
from pfgen_fast.rewards.server.admission import MAX_HEAD_BYTES, MAX_HEADERS

GOOD = b'{"questions": "Q07", "answers": ["Ice."]}'


@pytest.fixture(scope="module")
def server():
    with serving_within(n_body_bytes=4_000_000, n_answers=100, n_code_points=1000, n_requests=2) as running:
        yield running


@pytest.fixture(scope="module")
def hasty():
    """A server that waits for nobody."""
    with serving_within(seconds=1) as running:
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


def case(status, sentence, body, **options):
    return status, sentence, body, options


def answers_of(values):
    return json.dumps({"questions": "Q07", "answers": values}, separators=(",", ":")).encode()


OF_JSON = [
    *(case(400, "not JSON", body) for body in (b"", b"{")),
    *(case(400, "not UTF-8", body) for body in (b"\xff\xfe", batch(b'["\xe3\x81"]'))),
    *(case(400, "nested too deeply", body) for body in (b"[" * 100_000, b'{"answers":' * 100_000)),
    *(case(400, r"answers\[0\]: expected a text, not a number", batch(answers)) for answers in (b"[NaN]", b"[1e999]")),
    case(400, "expected a JSON object with", b"[" * 500 + b"]" * 500),
    case(400, "the key 'answers' is missing", b'{"questions": "Q07"}'),
    case(400, r"unknown key '\\u001b\[31m'", batch(b'[], "\\u001b[31m": 1')),
    case(400, "the key 'answers' appears twice", batch(b'["a"], "\\u0061nswers" : ["b"]')),
    case(400, r"answers\[0\]: expected a text, not an object", batch(b'[{"a": "b"}]')),
    case(400, "answers: expected a list of texts, not a text", batch(b'"Ice."')),
    case(400, r"answers\[1\]: expected a text, not null", batch(b'["a", null]')),
    case(400, "questions: expected a list of texts, not a number", batch(b"[]", b"7")),
    case(400, "1 questions? .*2 answers?|questions.*answers", batch(b'["", ""]', b'["Q07"]')),
    case(400, r"questions\[1\].*\\u202eQ99", batch(b'["", ""]', b'["Q07", "\\u202eQ99"]')),
    case(404, "/reward", GOOD, path="/rewards"),
    case(413, "101 answers; the limit for a request is 100", answers_of([""] * 101)),
    case(413, r"answers\[1\]: 1,001 characters; the limit is 1,000", answers_of(["", "x" * 1001])),
    case(413, "larger than 4,000,000 bytes", answers_of(["x" * 4_000_000])),
    case(400, "more than 1,000,000 values", answers_of([[]] * 1_200_000)),  # before the values are made
    case(413, "larger than 4,000,000 bytes", answers_of([[]] * 2_000_000)),
    *(
        case(415, "compressed bodies are not accepted", zlib.compress(GOOD), Content_Encoding=encoding)
        for encoding in ("deflate", "identity, gzip")
    ),
    *(
        case(415, "Content-Type: expected application/json", GOOD, Content_Type=kind)  # as forms of pages send
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "")
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("status", "sentence", "body", "options"), OF_JSON, ids=lambda value: ascii(value)[:30])
def test_an_invalid_or_large_batch_gets_a_sentence(server, status, sentence, body, options):
    result, reply = ask(server, body, **options)
    assert result == status
    assert re.search(sentence, reply["error"]), reply
    assert len(reply["error"]) < 500
    assert reply["error"].isprintable()


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


TOO_LARGE = f"larger than {MAX_HEAD_BYTES:,} bytes"
CHUNKED = post(b"", Content_Length="", Transfer_Encoding="chunked", Host="127.0.0.1:{port}", close=False)


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (b"POST /reward HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES + b"\r\n\r\n", TOO_LARGE),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * (MAX_HEADERS + 1) + b"\r\n", f"more than {MAX_HEADERS} headers"),
        (b"GET /" + b"x" * 70_000, TOO_LARGE),
        (CHUNKED + b"1\r\n{\r\n0\r\nX: " + b"y" * 300_000, TOO_LARGE),
        (CHUNKED + b"1;" + b"x" * 300_000, TOO_LARGE),
    ],
    ids=["head", "headers", "line", "trailers", "extension"],
)
@pytest.mark.parametrize("size", [1 << 20, 1000], ids=["at-once", "in-pieces"])
def test_heads_and_trailers_are_bounded(server, sent, sentence, size):
    sent = sent.replace(b"{port}", str(server.port).encode())
    with server.connect() as connection:
        with contextlib.suppress(ConnectionError):  # the server may have heard enough
            for begin in range(0, len(sent), size):
                connection.sendall(sent[begin : begin + size])
        status, reply = parsed(received(connection))
    assert (status, sentence in reply["error"]) == (431, True)


def test_requests_one_behind_the_other_are_answered_however_they_are_cut(server):
    first, last = (post(GOOD, Host=f"127.0.0.1:{server.port}", close=is_last) for is_last in (False, True))
    sent = first * 2 + last
    with server.connect() as connection:
        for begin in range(0, len(sent), 50):
            connection.sendall(sent[begin : begin + 50])
        assert received(connection).count(b'{"rewards":[') == 3


def test_other_methods_are_refused(server):
    assert ask(server, GOOD, "/healthz")[0] == 405
    assert HTTP.get(f"{server.url}/reward").status_code == 405
    assert HTTP.put(f"{server.url}/reward").headers["allow"] == "POST"


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [b"", b"POST /rew", post(GOOD, Host="127.0.0.1:{port}")[:-45], post(GOOD, Host="127.0.0.1:{port}")[:-3]],
    ids=["nothing", "half-a-line", "half-a-head", "half-a-body"],
)
def test_a_slow_client_is_cut_off(hasty, sent):
    with hasty.connect() as connection:
        connection.sendall(sent.replace(b"{port}", str(hasty.port).encode()))
        assert received(connection) == b""


@pytest.mark.slow
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


def test_more_requests_than_the_limit_get_429(server):
    def in_progress():
        return HTTP.get(f"{server.url}/healthz").json()["requests"] == 2

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


@pytest.mark.slow
def test_bodies_together_have_a_limit():
    with serving_within(n_held_bytes=1000, n_body_bytes=1000) as running, running.connect() as connection:
        request = post(json.dumps({"questions": "Q07", "answers": ["x" * 700]}), Host=f"127.0.0.1:{running.port}")
        connection.sendall(request[:-3])
        wait_until(lambda: HTTP.get(f"{running.url}/healthz").json()["bytes"] > 0)
        status, reply = parsed(running.send(request))
        assert status == 429
        assert "bodies and replies reach the limit of" in reply["error"]
        connection.sendall(request[-3:])
        assert parsed(received(connection))[0] == 200

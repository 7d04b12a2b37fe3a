"""The openai engine against a local server that imitates the faults of servers, whatever they send."""

import gzip
import json
import re
import threading
import tracemalloc

import pytest
from makers.asked_engines import ask_server
from makers.fault_server import Reply, answering, echo, refusing, serving
from makers.runs import answers_by_trial
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.server_engine import MAX_REPLY_BYTES
from pfgen_fast.generation.events import Events, Trouble
from pfgen_fast.generation.prompts import make_tasks


def with_choices(*texts):
    choices = [{"index": index, "text": text} for index, text in enumerate(texts)]
    return Reply(json.dumps({"id": "the same", "choices": choices}).encode())


def headed(*pieces):
    """Pieces of a reply, which hold its head too."""
    return Reply(pieces=pieces, has_head=False)


COMPRESSED = {"Content_Encoding": "gzip"}
DEEP = b"[" * 950 + b"]" * 950
FAULTS = {
    "500": (refusing(500, "oops"), Trouble.SERVER_ERROR, "HTTP 500: oops"),
    "a deep message": (Reply(b'{"error": ' + DEEP + b"}", 500), Trouble.SERVER_ERROR, r"HTTP 500: .*\[\[\["),
    "408": (refusing(408, "too slow"), Trouble.TIMEOUT, "HTTP 408: too slow"),
    "429": (refusing(429, "slow down", Retry_After="0"), Trouble.RATE_LIMIT, "HTTP 429: slow down"),
    "no response": (Reply(b"{}", n_bytes=0, has_head=False, pieces=()), Trouble.CONNECTION, ""),
    "half a response": (Reply(answering("whole").body, n_bytes=20), Trouble.CONNECTION, ""),
    "headers": (
        Reply(answering("fine").body, headers={f"X_{n}": "x" * 100 for n in range(5000)}),
        Trouble.CONNECTION,
        "",
    ),
    "no HTTP": (headed(b"\x00\xff" * 1000), Trouble.CONNECTION, ""),
    "malformed JSON": (Reply(b'{"choices": [{"text": "cut'), Trouble.UNUSABLE, "the reply is not JSON: {"),
    "not UTF-8": (Reply(b'"\xff\xfe"'), Trouble.UNUSABLE, "the reply is not JSON"),
    "deep JSON": (Reply(b"[" * 100_000), Trouble.UNUSABLE, "the reply is not JSON"),
    "endless digits": (Reply(b'{"choices": ' + b"9" * 100_000 + b"}"), Trouble.UNUSABLE, "the reply is not JSON"),
    "JSON of something else": (Reply(b'{"choices": [{"text": 3}]}'), Trouble.UNUSABLE, "the reply has no answer"),
    "two answers": (with_choices("one", "two"), Trouble.UNUSABLE, "the reply has 2 answers to a request for one"),
    "gzip": (
        Reply(gzip.compress(answering("fine").body), headers=COMPRESSED),
        Trouble.UNUSABLE,
        r"the reply is compressed \(gzip\), which was not requested",
    ),
    "an unknown encoding": (
        Reply(answering("fine").body, headers={"Content_Encoding": "a\x1bb"}),
        Trouble.UNUSABLE,
        r"the reply is compressed \(a\\u001bb\)",
    ),
    "a long reply": (
        answering("x" * (MAX_REPLY_BYTES + 1)),
        Trouble.UNUSABLE,
        "the reply is longer than 2,097,152 bytes, which is the limit",
    ),
    "an empty answer": (answering(" \n"), Trouble.EMPTY, "the answer is empty"),
    "null": (Reply(b'{"choices": [{"message": {"content": null}}]}'), Trouble.EMPTY, "the answer is empty"),
}
SENT_AGAIN = {Trouble.SERVER_ERROR, Trouble.TIMEOUT, Trouble.RATE_LIMIT, Trouble.CONNECTION}


QUICK = ("429", "half a response", "malformed JSON", "endless digits", "gzip", "an empty answer")


@pytest.mark.parametrize(
    "fault", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in FAULTS if name not in QUICK)]
)
def test_a_temporary_fault_changes_no_answer_and_a_lasting_one_fails_its_trial(mini, tmp_path, fault):
    """In trial 2, every question fails once and is answered the second time, except one, which always fails."""
    reply, kind, message = FAULTS[fault]
    second = [task.prompt.text for task in make_tasks(mini, 2, mode="completion")]

    def behave(request):
        is_bad = request.prompt == second[3] or (request.prompt in second and request.again == 0)
        return reply if is_bad else answering("fine")

    with serving(behave) as server:
        generated = ask_server(mini, server, tmp_path, trials=2, retries=1, concurrency=4)
    n_bad = 20 if kind in SENT_AGAIN else 10
    assert len(server.requests) == 8 + 2 * 7 + n_bad
    assert generated.events.troubles == {kind: 7 + n_bad}
    assert generated.events.n_retries == (7 + 10) * (kind in SENT_AGAIN)
    assert answers_by_trial(generated.folder) == {1: ["fine"] * len(mini)}
    assert list(generated.failed) == [2]
    expected = rf"trial 2: no usable answer to Q04 in 10 rounds \({server.base_url}: .*{message}[^\n]*"
    assert re.fullmatch(expected, generated.failed[2])
    with serving(echo) as server:
        again = ask_server(mini, server, tmp_path, trials=2)
    assert len(server.requests) == 1  # only the missing answer
    assert not again.failed
    assert not list(again.folder.glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_that_was_compressed_unasked_is_not_decompressed(mini, tmp_path, status):
    bomb = gzip.compress(bytes(40_000_000), compresslevel=9)

    def behave(request):
        assert request.headers["Accept-Encoding"] == "identity"
        return Reply(bomb, status, headers=COMPRESSED)

    tracemalloc.start()
    try:
        with serving(behave) as server, pytest.raises(EngineError, match=r"the reply is compressed \(gzip\)"):
            ask_server(mini, server, tmp_path, trials=5, retries=0)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_server_leaves_nothing_behind_in_later_requests(mini, tmp_path):
    """It could add to its cookies without end."""

    def behave(request):
        return refusing(500, "no", Set_Cookie=f"c{request.number}={'x' * 4000}")

    message = "10 requests in a row have failed"
    with serving(behave) as server, pytest.raises(EngineError, match=message):
        ask_server(mini, server, tmp_path, trials=2, retries=3, concurrency=1)
    assert not any("Cookie" in request.headers for request in server.requests)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("has_head", "seconds"), [(True, 0.01), (False, 0.01), (False, 60)], ids=["a body", "a head", "nothing"]
)
def test_the_time_limit_is_for_the_whole_reply(mini, tmp_path, has_head, seconds):
    """The server sends single bytes without end, or nothing more."""
    ended = threading.Event()

    def drops():
        yield b"" if has_head else b"HTTP/1.1 200 OK\r\nX-Long: "
        while not ended.wait(seconds):
            yield b"x"

    events = Events()
    message = r"10 requests in a row have failed, .* no complete reply within 0\.2 s"
    with serving(lambda request: Reply(pieces=drops(), has_head=has_head)) as server:
        try:
            with pytest.raises(EngineError, match=message):
                ask_server(mini, server, tmp_path, trials=2, timeout=0.2, retries=0, events=events)
        finally:
            ended.set()
    assert set(events.troubles) == {Trouble.TIMEOUT}
    assert not list(tmp_path.iterdir())


def test_a_refused_request_and_a_failed_one_after_an_answer_are_counted(mini, tmp_path):
    replies = (answering("Ice."), refusing(400, "not this one"), *[refusing(500, "oops")] * 3)
    with serving(lambda request: replies[request.number] if request.number < 5 else echo(request)) as server:
        generated = ask_server(mini, server, tmp_path, retries=2, concurrency=1)
    assert generated.events.troubles == {Trouble.REFUSAL: 1, Trouble.SERVER_ERROR: 3}
    assert (generated.events.n_retries, generated.events.n_given_up, generated.n_new) == (2, 2, 8)

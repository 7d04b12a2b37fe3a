"""The openai engine against a local server that imitates the faults of servers."""

from __future__ import annotations

import asyncio
import datetime
import email.utils
import gzip
import json
import re
import signal
import subprocess
import sys
import threading
import tracemalloc
from functools import partial

import pytest
from makers.fault_server import Reply, answering, echo, refusing, serving
from pfgen_fast.errors import EngineError
from pfgen_fast.generation import Setting, generate
from pfgen_fast.generation.engines import Sampling, open_engine
from pfgen_fast.generation.engines.server import MAX_REPLY_BYTES
from pfgen_fast.generation.events import Trouble
from pfgen_fast.generation.prompts import STOP, make_tasks
from pfgen_fast.runs.trials import Trials

KEY = "sk-0123456789abcdefSECRET"


@pytest.fixture
def waits(monkeypatch):
    """Records the engine's pauses before its requests, in seconds, without waiting."""
    seconds: list[float] = []
    sleep = asyncio.sleep

    async def remember(delay):
        seconds.append(delay)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", remember)
    return seconds


def make_engine(mini, server, mode="completion", **options):
    options = {"base_url": server.base_url, "backoff": 0.001, **options}
    return open_engine("openai", suite=mini, model="org/m", mode=mode, **options)


def run(mini, server, tmp_path, mode="completion", trials=1, **options):
    return generate(
        mini, make_engine(mini, server, mode, **options), Setting("org/m", mode), trials=trials, output=tmp_path
    )


def answers_of(generated):
    return {
        (int(path.stem[-3:]), trial["question"]): trial["answer"]
        for path in generated.folder.glob("trial_*.jsonl")
        for trial in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_a_request_carries_what_the_rules_say(mini, tmp_path, mode):
    with serving(echo) as server:
        generated = run(mini, server, tmp_path, mode)
    assert not generated.failed
    assert server.paths == {"/v1/completions" if mode == "completion" else "/v1/chat/completions"}
    tasks = {task.question: task for task in make_tasks(mini, 1, mode=mode)}
    for request in server.requests:
        task = tasks[request.question]
        body = dict(request.body)
        if mode == "completion":
            assert body.pop("prompt") == task.prompt.text
        else:
            assert body.pop("messages") == list(task.prompt.messages)
        assert body == {
            "model": "org/m",
            "max_tokens": 300,
            "temperature": 1.0,
            "top_p": 0.98,
            "stop": list(STOP[mode]),
            "seed": task.seed,
        }


def test_a_server_may_call_the_greatest_length_otherwise(mini, tmp_path):
    with serving(echo) as server:
        usual = run(mini, server, tmp_path, "chat")
        n_usual = len(server.requests)
        named = run(mini, server, tmp_path, "chat", max_tokens_name="max_completion_tokens")
    assert all("max_tokens" not in request.body for request in server.requests[n_usual:])
    assert {request.body["max_completion_tokens"] for request in server.requests[n_usual:]} == {300}
    configs = [json.loads((made.folder / "config.json").read_text()) for made in (usual, named)]
    assert configs[1] == {**configs[0], "max_tokens_name": "max_completion_tokens"}
    assert "max_tokens_name" not in configs[0]
    with pytest.raises(EngineError, match="max_completion_tokens is known to chat models only"):
        make_engine(mini, server, "completion", max_tokens_name="max_completion_tokens")


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_thinking_is_switched_off_before_the_prompt(mini, tmp_path, mode):
    """As the published script does; that thinking is on is only recorded."""
    sent = {}
    for wanted in (None, True, False):
        with serving(echo) as server:
            made = run(mini, server, tmp_path / str(wanted), mode, enable_thinking=wanted)
        sent[wanted] = sorted(
            request.body.get("prompt") or request.body["messages"][0]["content"] for request in server.requests
        )
        assert json.loads((made.folder / "config.json").read_text()).get("enable_thinking") is wanted
    assert sent[None] == sent[True]
    assert sent[False] == [f"/no_think\n{text}" for text in sent[None]]


def test_top_k_is_sent_if_given_and_top_p_unless_it_is_none(mini, tmp_path):
    sampling = Sampling(top_p=None, top_k=7, stop=("Q:", "<|end|>"))
    with serving(echo) as server:
        engine = make_engine(mini, server, "qa", sampling=sampling)
        made = generate(mini, engine, Setting("org/m", "qa", sampling), trials=1, output=tmp_path)
    assert all("top_p" not in request.body for request in server.requests)
    assert all((request.body["stop"], request.body["top_k"]) == (["Q:", "<|end|>"], 7) for request in server.requests)
    config = json.loads((made.folder / "config.json").read_text())
    assert "top_p" not in config
    assert config["stop"] == ["Q:", "<|end|>"]


def test_no_more_requests_are_under_way_than_allowed(mini, tmp_path):
    lock, now, most = threading.Lock(), 0, 0
    three_at_once = threading.Barrier(3)  # 24 requests, each of which is answered only with two others

    def behave(request):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        three_at_once.wait(60)
        with lock:
            now -= 1
        return echo(request)

    with serving(behave) as server:
        run(mini, server, tmp_path, trials=3, concurrency=3)
    assert most == 3


PASSING_FAULTS = {
    "500": (lambda: refusing(500, "oops"), Trouble.SERVER_ERROR),
    "503 without JSON": (lambda: Reply(b"<html>busy</html>", 503), Trouble.SERVER_ERROR),
    "425": (lambda: refusing(425, "too early"), Trouble.SERVER_ERROR),
    "408": (lambda: refusing(408, "too slow"), Trouble.TIMEOUT),
    "429": (lambda: refusing(429, "slow down", Retry_After="0"), Trouble.RATE_LIMIT),
    "no response": (lambda: Reply(b"{}", n_bytes=0, has_head=False, pieces=()), Trouble.CONNECTION),
    "half a response": (lambda: Reply(answering("whole").body, n_bytes=20), Trouble.CONNECTION),
    "malformed JSON": (lambda: Reply(b'{"choices": [{"text": "cut'), Trouble.UNUSABLE),
    "JSON of something else": (lambda: Reply(b'{"choices": [{"text": 3}]}'), Trouble.UNUSABLE),
    "not UTF-8": (lambda: Reply(b'"\xff\xfe"'), Trouble.UNUSABLE),
    "a list": (lambda: Reply(b"[1]"), Trouble.UNUSABLE),
    "deep JSON": (lambda: Reply(b"[" * 100_000), Trouble.UNUSABLE),
    "no choices": (lambda: Reply(b'{"choices": []}'), Trouble.UNUSABLE),
    "compressed": (lambda: Reply(b"x", headers={"Content-Encoding": "gzip"}), Trouble.UNUSABLE),
    "an empty answer": (lambda: answering(" \n"), Trouble.EMPTY),
    "null": (lambda: Reply(b'{"choices": [{"message": {"content": null}}]}'), Trouble.EMPTY),
    "content of something else": (lambda: Reply(b'{"choices": [{"message": {"content": 3}}]}'), Trouble.UNUSABLE),
}
SENT_AGAIN = {Trouble.SERVER_ERROR, Trouble.TIMEOUT, Trouble.RATE_LIMIT, Trouble.CONNECTION}


@pytest.mark.parametrize("fault", PASSING_FAULTS)
def test_a_fault_that_passes_is_counted_and_changes_no_answer(mini, tmp_path, fault):
    """Every question fails once and is answered the second time."""
    reply, kind = PASSING_FAULTS[fault]
    with serving(lambda request: reply() if request.again == 0 else answering("fine")) as server:
        generated = run(mini, server, tmp_path, concurrency=4)
    assert not generated.failed
    assert set(answers_of(generated).values()) == {"fine"}
    assert len(server.requests) == 2 * len(mini)
    assert generated.events.troubles == {kind: len(mini)}
    assert generated.events.n_retries == len(mini) * (kind in SENT_AGAIN)


@pytest.mark.parametrize("fault", ["500", "half a response", "malformed JSON", "an empty answer"])
def test_a_fault_that_stays_fails_its_trial_and_no_other(mini, tmp_path, fault):
    bad = make_tasks(mini, 2, mode="completion")[3]

    def behave(request):
        return PASSING_FAULTS[fault][0]() if request.prompt == bad.prompt.text else echo(request)

    with serving(behave) as server:
        generated = run(mini, server, tmp_path, trials=3, retries=1)
        asked = sum(request.prompt == bad.prompt.text for request in server.requests)
    assert asked == (20 if fault in ("500", "half a response") else 10)
    assert list(generated.failed) == [2]
    assert "trial 2: no usable answer to Q04 in 10 rounds (http" in generated.failed[2]
    assert {trial for trial, _ in answers_of(generated)} == {1, 3}
    with serving(echo) as server:
        again = run(mini, server, tmp_path, trials=3)
    assert len(server.requests) == 1  # only what was missing
    assert not again.failed
    assert not list(again.folder.glob(".*"))


def test_a_request_that_takes_too_long_is_given_up(mini, tmp_path):
    done = threading.Event()

    def behave(request):
        if request.again == 0 and request.question == mini["Q02"].question:
            done.wait(60)
            return answering("too late")
        return echo(request)

    with serving(behave) as server:
        generated = run(mini, server, tmp_path, timeout=0.5)
        done.set()
    assert not generated.failed
    assert "too late" not in answers_of(generated).values()


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
def test_retry_after_is_honoured_by_all(mini, tmp_path, waits, as_date):
    def behave(request):
        if request.number > 0:
            return echo(request)
        moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=300)
        return refusing(429, "wait", Retry_After=email.utils.format_datetime(moment, usegmt=True) if as_date else "300")

    with serving(behave) as server:
        assert not run(mini, server, tmp_path, concurrency=1).failed
    assert len(waits) == 1 + len(mini)  # the refused request, then each request that is sent
    assert all(200 < seconds < 302 for seconds in waits)


def test_a_pause_of_hours_is_an_error_and_not_waited_for(mini, tmp_path):
    message = "asks to wait for 36000 s; run the same command again later to continue"
    tomorrow = refusing(429, "tomorrow", Retry_After="36000")
    with serving(lambda request: tomorrow) as server, pytest.raises(EngineError, match=message):
        run(mini, server, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (refusing(401, f"Incorrect API key: {KEY}"), "the key in OPENAI_API_KEY was refused: HTTP 401: Incorrect"),
        (refusing(403, "no"), "the key in OPENAI_API_KEY was refused: HTTP 403: no"),
        (
            refusing(404, "The model `org/m` does not exist"),
            "there is no such model, or .* HTTP 404: The model `org/m`",
        ),
        (refusing(400, "no template\nis\x1b[31m set"), r"requests of mode chat: HTTP 400: no .* is\\u001b\[31m"),
        (Reply(b'{"detail": "bad field"}', 422), "HTTP 422: bad field"),
        (Reply(b"", 301, {"Location": "/"}), r"HTTP 301: \(nothing\)"),
        (refusing(429, "insufficient_quota: pay"), "HTTP 429: insufficient_quota: pay"),
    ],
    ids=["401", "403", "404", "400", "422", "301", "no quota"],
)
def test_what_concerns_all_requests_ends_in_one_line(mini, tmp_path, monkeypatch, reply, message):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda request: reply) as server, pytest.raises(EngineError, match=message) as caught:
        run(mini, server, tmp_path, "chat", concurrency=2)
    assert str(caught.value).startswith(f"{server.base_url}, model org/m: ")
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    assert len(server.requests) <= 2


def test_a_server_that_is_not_there_is_named_at_once(mini, tmp_path, waits):
    with serving(echo) as server:
        pass
    with pytest.raises(EngineError, match=rf"{server.base_url}, model org/m: cannot be reached"):
        run(mini, server, tmp_path, backoff=60)
    assert not waits
    assert not list(tmp_path.iterdir())


def test_a_server_that_only_fails_is_given_up(mini, tmp_path):
    message = "10 requests in a row have failed, the last with HTTP 500: broken"
    with serving(lambda request: refusing(500, "broken")) as server, pytest.raises(EngineError, match=message):
        run(mini, server, tmp_path, trials=5, retries=0)
    assert not list(tmp_path.iterdir())


def test_what_came_before_the_server_went_away_is_kept(mini, tmp_path):
    def behave(request):
        return echo(request) if request.number < 11 else refusing(401, "expired")

    with serving(behave) as server, pytest.raises(EngineError, match="expired"):
        run(mini, server, tmp_path, trials=2, concurrency=1)
    with serving(echo) as server:
        generated = run(mini, server, tmp_path, trials=2)
    assert len(server.requests) == 2 * len(mini) - 11
    assert len(answers_of(generated)) == 2 * len(mini)


def test_one_question_that_is_refused_does_not_stop_the_others(mini, tmp_path):
    def behave(request):
        return refusing(400, "content_filter") if request.question == mini["Q01"].question else echo(request)

    with serving(behave) as server:
        generated = run(mini, server, tmp_path)
    assert "HTTP 400: content_filter" in generated.failed[1]


def with_choices(*texts):
    choices = [{"index": index, "text": text} for index, text in enumerate(texts)]
    return Reply(json.dumps({"id": "the same", "choices": choices}).encode())


UNUSABLE = {
    "gzip": (
        lambda: Reply(gzip.compress(answering("fine").body), headers={"Content_Encoding": "gzip"}),
        r"the reply is compressed \(gzip\), which was not requested",
    ),
    "an unknown encoding": (
        lambda: Reply(answering("fine").body, headers={"Content_Encoding": "a\x1bb"}),
        r"the reply is compressed \(a\\u001bb\)",
    ),
    "a long reply": (
        lambda: Reply(answering("x" * (MAX_REPLY_BYTES + 1)).body),
        "the reply is longer than 2,097,152 bytes, which is the limit",
    ),
    "204": (lambda: Reply(status=204), r"the reply is not JSON: \(nothing\)"),
    "two answers": (lambda: with_choices("one", "two"), "the reply holds 2 answers to a request for one"),
    "no answer": (lambda: with_choices(), "the reply holds no answer"),
    "999": (lambda: refusing(999, "odd"), "HTTP 999: odd"),
    "a deep message": (lambda: Reply(b'{"error": ' + b"[" * 950 + b"]" * 950 + b"}", 500), r"HTTP 500: .*\[\[\["),
    "a flood of headers": (
        lambda: Reply(answering("fine").body, headers={f"X_{number}": "x" * 100 for number in range(5000)}),
        "",
    ),
    "a flood of interim replies": (
        lambda: Reply(pieces=[b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"] * 1000, has_head=False),
        "",
    ),
    "a status of five digits": (lambda: Reply(pieces=[b"HTTP/1.1 20000 OK\r\n\r\n"], has_head=False), ""),
    "no HTTP": (lambda: Reply(pieces=[b"\x00\xff" * 1000], has_head=False), ""),
    "endless digits": (lambda: Reply(b'{"choices": ' + b"9" * 100_000 + b"}"), "the reply is not JSON"),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_a_reply_that_cannot_be_used_is_one_sentence_and_costs_one_trial(mini, tmp_path, fault):
    reply, message = UNUSABLE[fault]

    def behave(request):
        return reply() if request.question == mini["Q04"].question else echo(request)

    with serving(behave) as server:
        generated = run(mini, server, tmp_path, retries=0)
    assert list(generated.failed) == [1]
    assert "\n" not in generated.failed[1]
    assert re.search(
        rf"trial 1: no usable answer to Q04 in 10 rounds \({server.base_url}: .*{message}", generated.failed[1]
    )


@pytest.mark.parametrize("fault", ["gzip", "a long reply", "999", "no HTTP", "a flood of headers"])
def test_a_server_that_sends_nothing_usable_is_given_up(mini, tmp_path, fault):
    reply, _ = UNUSABLE[fault]
    with serving(lambda request: reply()) as server, pytest.raises(EngineError, match="10 requests in a row") as caught:
        run(mini, server, tmp_path, trials=5, retries=0)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_replies_with_the_same_id_are_different_answers(mini, tmp_path):
    with serving(lambda request: with_choices(request.question)) as server:
        generated = run(mini, server, tmp_path)
    assert answers_of(generated) == {(1, question.question): question.question for question in mini}


@pytest.fixture(scope="module")
def bomb():
    return gzip.compress(bytes(40_000_000), compresslevel=9)


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_that_was_compressed_unasked_is_not_decompressed(mini, tmp_path, bomb, status):
    assert len(bomb) < 40_000

    def behave(request):
        assert request.headers["Accept-Encoding"] == "identity"
        return Reply(bomb, status, headers={"Content_Encoding": "gzip"})

    tracemalloc.start()
    try:
        with serving(behave) as server, pytest.raises(EngineError, match=r"the reply is compressed \(gzip\)"):
            run(mini, server, tmp_path, trials=5, retries=0)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_server_leaves_nothing_behind_in_later_requests(mini, tmp_path):
    """It could add to its cookies without end."""
    with serving(lambda request: refusing(500, "no", Set_Cookie=f"c{request.number}={'x' * 4000}")) as server:
        engine = make_engine(mini, server, retries=3, concurrency=1)
        with pytest.raises(EngineError, match="10 requests in a row have failed"):
            generate(mini, engine, Setting("org/m"), trials=2, output=tmp_path)
    assert not any("Cookie" in request.headers for request in server.requests)


@pytest.mark.parametrize(
    "wish",
    [
        "soon",
        "nan",
        "-1",
        "Mon, 01 Jan 0001 00:00:00 +9999",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2026 00:00:00 +99999999999999999999",
        "9" * 5000 + "x",
    ],
)
def test_a_pause_that_cannot_be_read_is_none(mini, tmp_path, waits, wish):
    refused = refusing(429, "no", Retry_After=wish)
    with serving(lambda request: refused if request.again == 0 else echo(request)) as server:
        assert not run(mini, server, tmp_path, concurrency=1).failed
    assert max(waits) < 1


@pytest.mark.parametrize("has_head", [True, False], ids=["a body", "a head"])
def test_the_time_limit_is_for_the_whole_reply(mini, tmp_path, has_head):
    """The server never pauses for long, and never ends."""
    ended = threading.Event()

    def drops():
        yield b"" if has_head else b"HTTP/1.1 200 OK\r\nX-Long: "
        while not ended.wait(0.01):
            yield b"x"

    with serving(lambda request: Reply(pieces=drops(), has_head=has_head)) as server:
        try:
            with pytest.raises(
                EngineError, match=r"10 requests in a row have failed, .* no complete reply within 0\.2 s"
            ):
                run(mini, server, tmp_path, trials=2, timeout=0.2, retries=0)
        finally:
            ended.set()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for other processes")
def test_ctrl_c_ends_a_reply_that_never_ends(tmp_path):
    asked, ended = threading.Event(), threading.Event()

    def zeros():
        asked.set()
        while not ended.is_set():
            yield bytes(1000)
            ended.wait(0.01)

    with serving(lambda request: Reply(pieces=zeros())) as server:
        options = ["-e", "openai", "--base-url", server.base_url, "-m", "m", "-s", "mini", "--output", str(tmp_path)]
        command = [sys.executable, "-m", "pfgen_fast", "generate", *options, "--timeout", "3600"]
        # What a shell has begun in the background ignores it, as do its children.
        heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=heed) as process:
            try:
                assert asked.wait(60)
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=60)
            finally:
                process.kill()
                ended.set()
    assert process.returncode == 130, said
    assert said.decode() == (
        "error: stopped with 0 of 80 answers, which are kept; run the same command again to continue\n"
    )


def test_the_key_is_in_no_message_and_answers_stay_as_they_are(mini, tmp_path, monkeypatch, capfd):
    """The server repeats the key wherever it can."""
    monkeypatch.setenv("MY_KEY", KEY)

    def behave(request):
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        assert KEY not in json.dumps(request.body)
        question = request.question
        if question == mini["Q01"].question:
            return refusing(500, f"key {KEY}")
        if question == mini["Q02"].question:
            return Reply(f"<{KEY}>".encode())
        return answering(f"the key is {KEY}")

    with serving(behave) as server:
        generated = run(mini, server, tmp_path, trials=2, retries=0, key_env="MY_KEY")
    assert len(server.requests) > 30
    said = [*generated.failed.values(), *capfd.readouterr(), repr(generated)]
    assert not any("SECRET" in text for text in said)
    assert any("[key]" in text for text in said)
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.jsonl"))
    assert written.count(f"the key is {KEY}") == written.count("SECRET") > 10


@pytest.mark.parametrize(
    ("key", "quoted", "shown"),
    [
        ("1", "1 of 11 is busy", "1 of 11 is busy"),
        ("EMPTY12", "EMPTY12 is busy", "EMPTY12 is busy"),
        ("EMPTY123", "(EMPTY123)/EMPTY1234/EMPTY123: busy", "([key])/EMPTY1234/[key]: busy"),
    ],
)
def test_a_short_key_and_a_part_of_a_word_are_no_secret(mini, tmp_path, monkeypatch, key, quoted, shown):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with serving(lambda request: refusing(403, quoted)) as server, pytest.raises(EngineError) as caught:
        run(mini, server, tmp_path)
    assert str(caught.value).endswith(f"HTTP 403: {shown}")
    with serving(lambda request: answering(f"{key} of {key}1.")) as server:
        generated = run(mini, server, tmp_path)
    assert set(Trials.read(generated.run.trials_path).answers) == {f"{key} of {key}1."}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "localhost:8000"}, "base URL: expected an address such as http://localhost:8000/v1, not loc"),
        ({"base_url": "ftp://x/v1"}, "not ftp://x/v1"),
        ({"base_url": "http://"}, "expected an address such as"),
        ({"base_url": "http://x:port/v1"}, "expected an address such as"),
        ({"base_url": "http://me:SECRET@x/v1"}, "without a user, a password and a query"),
        ({"base_url": "http://x/v1?key=SECRET"}, "without a user, a password and a query"),
        ({}, "the variable OPENAI_API_KEY is empty or not set"),
        ({"base_url": "http://x/v1", "key_env": "NO_KEY"}, "the variable NO_KEY is empty or not set; put the key into"),
        ({"base_url": "http://x/v1", "concurrency": 0}, "concurrency: expected at least 1, not 0"),
        ({"base_url": "http://x/v1", "timeout": 0}, "timeout: expected at least 0.001, not 0"),
        ({"base_url": "http://x/v1", "timeout": float("nan")}, "timeout: expected at least 0.001, not nan"),
        ({"base_url": "http://x/v1", "max_tokens_name": "n"}, "expected max_tokens or max_completion_tokens, not n"),
        ({"base_url": "http://x/v1", "retries": -1}, "retries: expected at least 0, not -1"),
    ],
)
def test_wrong_options_are_refused(mini, options, message):
    with pytest.raises(EngineError, match=message) as caught:
        open_engine("openai", suite=mini, model="m", mode="qa", **options)
    assert "SECRET" not in str(caught.value)


def test_a_key_that_no_header_can_hold_is_refused_unseen(mini, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "SECRET\u3042")
    with pytest.raises(EngineError, match="holds characters that no key has") as caught:
        open_engine("openai", suite=mini, model="m", mode="qa")
    assert "SECRET" not in str(caught.value)


def test_an_engine_whose_answers_nobody_wants_any_more_stops_asking(mini):
    async def take_one(engine):
        answers = engine.answers(make_tasks(mini, 1, mode="qa") * 20)
        first = await anext(answers)
        await answers.aclose()
        await engine.close()
        return first

    with serving(echo) as server:
        index, answer = asyncio.run(take_one(make_engine(mini, server, "qa", concurrency=2)))
    assert mini.questions[index].question in answer
    assert len(server.requests) < 80  # of 160; how many were sent before the first answer depends on timing

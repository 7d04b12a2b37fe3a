"""The openai engine against a local server, and its protocol: requests, pauses, refusals, keys, options, replies."""

import asyncio
import contextlib
import datetime
import email.utils
import json
import re
import threading
from dataclasses import astuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.asked_engines import ask_server, open_served
from makers.fault_server import Reply, answering, echo, refusing, serving
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.engines.hosted import Details, NoAnswer, RequestForm
from pfgen_fast.generation.engines.server_engine import _Reply, _seconds
from pfgen_fast.generation.events import Events, Trouble
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.prompts import Sampling, make_tasks
from pfgen_fast.generation.protocol import Usage
from pfgen_fast.generation.setting import Setting
from pfgen_fast.runs.trials import Trials
from pfgen_fast.scoring.reply_text import MODES, STOP

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


REQUESTS = [
    ({}, {}, {}),
    ({"top_p": None, "top_k": 7}, {}, {"top_p": None, "top_k": 7}),
    ({}, {"enable_thinking": True}, {}),  # is recorded, and changes no request
    ({}, {"enable_thinking": False}, {"prefix": "/no_think\n"}),  # as the published script does
]
OF_CHAT = ({}, {"max_tokens_name": "max_completion_tokens"}, {"max_tokens": None, "max_completion_tokens": 300})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "sampling", "options", "changes"),
    [(mode, *request) for mode in MODES for request in (REQUESTS if mode == "completion" else [*REQUESTS, OF_CHAT])],
)
def test_a_request_follows_the_rules(mini, tmp_path, mode, sampling, options, changes):
    stop = [*STOP[mode], "<|end|>"]
    setting = Setting("org/m", mode, Sampling(stop=tuple(stop), **sampling))
    with serving(echo) as server:
        engine = open_served(server, mode, sampling=setting.sent_sampling, **options)
        generated = generate(mini, engine, setting, trials=1, output=tmp_path)
    assert not generated.failed
    assert server.paths == {"/v1/completions" if mode == "completion" else "/v1/chat/completions"}
    tasks = {task.question: task for task in make_tasks(mini, 1, mode=mode)}
    expected = {"model": "org/m", "max_tokens": 300, "temperature": 1.0, "top_p": 0.98, **changes}
    prefix = expected.pop("prefix", "")
    for request in server.requests:
        task = tasks[request.question]
        first, *others = task.prompt.messages or [{}]
        prompt = {"messages": [{**first, "content": prefix + first.get("content", "")}, *others], "seed": task.seed}
        if mode == "completion":
            prompt = {"prompt": prefix + task.prompt.text, "stop": stop, "seed": task.seed}
        assert request.body == {key: value for key, value in {**expected, **prompt}.items() if value is not None}
    recorded = json.loads((generated.folder / "config.json").read_text())
    changeable = {"enable_thinking": None, "max_tokens_name": None, "top_k": None, "top_p": 0.98}
    assert {name: recorded.get(name) for name in changeable} == {**changeable, **options, **sampling}
    assert recorded["stop"] == stop


def test_concurrent_requests_are_limited(mini, tmp_path):
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
        ask_server(mini, server, tmp_path, trials=3, concurrency=3)
    assert most == 3


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
def test_all_requests_honour_retry_after_and_the_pause_is_counted_once(mini, tmp_path, waits, as_date):
    def behave(request):
        if request.number > 1:
            return echo(request)
        moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=300)
        return refusing(429, "wait", Retry_After=email.utils.format_datetime(moment, usegmt=True) if as_date else "300")

    told = []
    events = Events(on_trouble=lambda trouble, what: told.append((trouble, what)))
    with serving(behave) as server:
        assert not ask_server(mini, server, tmp_path, concurrency=1, events=events).failed
    assert len(waits) == 2 + 1 + len(mini)  # after two refused requests, and before each request but the first
    assert all(200 < seconds < 302 for seconds in waits)
    assert events.paused_seconds == pytest.approx(300, abs=5)  # the second pause begins before the first has passed
    kind, what = told[0]
    assert kind is Trouble.RATE_LIMIT
    assert re.fullmatch(r"HTTP 429: wait; next try in [23]\d\d s", what)


def test_a_server_that_wants_hours_or_cannot_be_reached_is_an_error_without_a_retry(mini, tmp_path, waits):
    message = "asks to wait for 36000 s; run the same command again later to continue"
    tomorrow = refusing(429, "tomorrow", Retry_After="36000")
    with serving(lambda request: tomorrow) as server, pytest.raises(EngineError, match=message):
        ask_server(mini, server, tmp_path)
    assert not list(tmp_path.iterdir())
    with serving(echo) as server:
        pass
    with pytest.raises(EngineError, match=rf"{server.base_url}, model org/m: cannot be reached"):
        ask_server(mini, server, tmp_path, backoff=60)
    assert not waits
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (refusing(401, f"Incorrect API key: {KEY}"), "the key in OPENAI_API_KEY was refused: HTTP 401: Incorrect"),
        (refusing(403, "no"), "the key in OPENAI_API_KEY was refused: HTTP 403: no"),
        (refusing(404, "The model `org/m` does not exist"), "there is no such model, or .* HTTP 404: The model"),
        (refusing(400, "no template\nis\x1b[31m set"), r"requests of mode chat: HTTP 400: no .* is\\u001b\[31m"),
        (Reply(b'{"detail": "bad field"}', 422), "HTTP 422: bad field"),
        (Reply(b"[" + refusing(400, "no field").body + b"]", 400), "HTTP 400: no field$"),  # as Google's servers do
        (Reply(b"", 301, {"Location": "/"}), r"HTTP 301: \(nothing\)"),
        (refusing(429, "insufficient_quota: pay"), "HTTP 429: insufficient_quota: pay"),
    ],
    ids=["401", "403", "404", "400", "422", "in a list", "301", "no quota"],
)
def test_an_error_that_concerns_all_requests_is_one_line(mini, tmp_path, monkeypatch, reply, message):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda request: reply) as server, pytest.raises(EngineError, match=message) as caught:
        ask_server(mini, server, tmp_path, "chat", concurrency=2)
    assert str(caught.value).startswith(f"{server.base_url}, model org/m: ")
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    assert len(server.requests) <= 2


@pytest.mark.parametrize(
    "wish",
    [
        *("soon", "nan", "-1", "9" * 5000 + "x", "Mon, 01 Jan 0001 00:00:00 +9999"),
        *("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 2026 00:00:00 +99999999999999999999"),
    ],
)
def test_an_invalid_retry_after_is_ignored(wish):
    assert _seconds(wish) == 0


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
        generated = ask_server(mini, server, tmp_path, trials=2, retries=0, key_env="MY_KEY")
    assert len(server.requests) > 30
    message = [*generated.failed.values(), *capfd.readouterr(), repr(generated)]
    assert not any("SECRET" in text for text in message)
    assert any("[key]" in text for text in message)
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
        ask_server(mini, server, tmp_path)
    assert str(caught.value).endswith(f"HTTP 403: {shown}")
    with serving(lambda request: answering(f"{key} of {key}1.")) as server:
        generated = ask_server(mini, server, tmp_path)
    assert set(Trials.read(generated.run.trials_path).answers) == {f"{key} of {key}1."}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "localhost:8000"}, "base URL: expected an address such as http://localhost:8000/v1, not loc"),
        ({"base_url": "http://x:port/v1"}, "expected an address such as"),
        ({"base_url": "http://me:SECRET@x/v1"}, "without user, password and query"),
        ({"base_url": "http://x/v1?key=SECRET"}, "without user, password and query"),
        ({}, "the variable OPENAI_API_KEY is empty or not set"),
        ({"base_url": "http://x/v1", "key_env": "NO_KEY"}, "the variable NO_KEY is empty or not set; put the key into"),
        ({"base_url": "http://x/v1", "concurrency": 0}, "concurrency: expected at least 1, not 0"),
        ({"base_url": "http://x/v1", "timeout": float("nan")}, "timeout: expected at least 0.001, not nan"),
        ({"base_url": "http://x/v1", "max_tokens_name": "n"}, "expected max_tokens or max_completion_tokens, not n"),
        ({"base_url": "http://x/v1", "retries": -1}, "retries: expected at least 0, not -1"),
        ({"mode": "completion", "max_tokens_name": "max_completion_tokens"}, "only chat models know max_comp"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(EngineError, match=message) as caught:
        open_engine("openai", **{"model": "m", "mode": "qa", **options})
    assert "SECRET" not in str(caught.value)


def test_a_key_that_no_header_can_hold_is_refused_unseen(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "SECRET\u3042")
    with pytest.raises(EngineError, match="has characters that cannot be part of a key") as caught:
        open_engine("openai", model="m", mode="qa")
    assert "SECRET" not in str(caught.value)


FORM = RequestForm("m", "qa", Sampling())
KEYS = st.sampled_from(["choices", "message", "content", "text", "type", "reasoning", "error", "detail", "code", ""])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["thinking", "text"])
REPLIES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@given(REPLIES)
@example({"choices": ["message"]})
@example({"choices": [{"message": "content"}]})
@example({"choices": [{"message": None, "text": "t"}]})
@example({"choices": [None], "model": {"a": 1}, "system_fingerprint": ""})
def test_a_reply_has_an_answer_or_says_why_not_and_its_details_are_short(reply):
    try:
        message = FORM.raw_reply(reply).text
    except NoAnswer as problem:
        message = str(problem)
    assert isinstance(message, str)
    for name in astuple(FORM.details_in(reply)):
        assert name is None or (0 < len(name) <= 200 * 10 and name.isprintable())


@given(st.binary(max_size=50) | REPLIES.map(lambda reply: json.dumps(reply).encode()), st.sampled_from([200, 500]))
def test_any_bytes_are_an_answer_or_one_line(content, status):
    engine = open_engine("openai", model="m", mode="qa", sampling=Sampling(), base_url="http://localhost/v1")
    assert "\n" not in engine._message_in(content)
    with contextlib.suppress(EngineError):
        engine._read(_Reply(status, "", content))
    assert "\n" not in engine.trouble


def test_details_are_the_finish_reason_the_model_and_its_fingerprint():
    reply = {"model": "judge-2024\n", "system_fingerprint": "fp", "choices": [{"finish_reason": "length"}]}
    assert FORM.details_in(reply) == Details("length", "judge-2024\\n", "fp")
    assert FORM.details_in(reply).version == "judge-2024\\n fp"
    assert FORM.details_in({"model": "m" * 201, "choices": []}) == Details()
    assert Details().version is None


@pytest.mark.parametrize("usage", [None, [], "many", *({"prompt_tokens": n} for n in (-1, True, 10**30, 1e300, "7"))])
def test_a_reported_number_of_tokens_that_is_no_such_number_is_ignored(usage):
    assert FORM.usage_in({"usage": usage}) == FORM.usage_in([usage]) == Usage()
    reported = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 30}}
    assert FORM.usage_in({"usage": reported}) == Usage(100, 7, 30)

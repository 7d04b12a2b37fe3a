"""What becomes of requests whose clients leave, and of those that wait for a worker for too long."""

import asyncio
import gc
import json
import threading
from collections import Counter
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples, share
from makers.reward_server import SECONDS
from pfgen_fast import ReferenceScorer, Reward, Scorer, TrialsError
from pfgen_fast.base.errors import ServingError
from pfgen_fast.base.untrusted_json import json_bytes
from pfgen_fast.rewards.completions import CompletionReward
from pfgen_fast.rewards.server.adapters import adapters
from pfgen_fast.rewards.server.admission import Guard, Limits, Refusal
from pfgen_fast.rewards.server.application import Application

HEADERS = [(b"host", b"localhost:80"), (b"content-type", b"application/json")]


class WaitingScorer(Scorer):
    """A scorer that scores when it is told to, and keeps the answers that it was asked for."""

    def __init__(self, suite):
        super().__init__(suite)
        self.begun, self.go_on, self.asked = threading.Semaphore(0), threading.Event(), []

    def reward(self, questions, answers):
        self.asked.extend(answers)
        self.begun.release()
        assert self.go_on.wait(SECONDS)
        return super().reward(questions, answers)


class Request:
    """A request of one answer, whose client may leave."""

    def __init__(self, application, answer, **known):
        self._body = json.dumps({"questions": "Q07", "answers": [answer], **known}).encode()
        self._left, self.sent = asyncio.Event(), []
        scope = {"type": "http", "method": "POST", "path": "/reward", "headers": HEADERS}
        self.task = asyncio.ensure_future(application(scope, self._receive, lambda message: self._send(message)))

    async def _receive(self):
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        self.sent.append(message)

    def leave(self):
        self._left.set()

    @property
    def status(self):
        return self.sent[0]["status"]


@pytest.fixture
def scorer_that_waits(mini):
    created = WaitingScorer(mini)
    yield created
    created.go_on.set()


def run(scorer, limits, steps):
    application = Application(scorer, Guard(None, 80), limits, workers=1)
    try:
        asyncio.run(asyncio.wait_for(steps(application), SECONDS))
    finally:
        application.close()


async def emptied(application):
    """Waits until no request is in progress; then nothing may be held."""
    while application.room.n_requests:
        await asyncio.sleep(0)
    assert application.room.n_bytes == 0


def test_work_of_a_client_that_left_is_dropped(scorer_that_waits):
    async def steps(application):
        first = Request(application, "first")
        await asyncio.to_thread(scorer_that_waits.begun.acquire)
        left, stays = Request(application, "left"), Request(application, "stays")
        left.leave()
        await left.task
        assert application.room.n_requests == 2
        scorer_that_waits.go_on.set()
        await asyncio.gather(first.task, stays.task)
        assert (first.status, stays.status, left.sent) == (200, 200, [])
        assert (application.room.n_requests, application.room.n_bytes) == (0, 0)

    run(scorer_that_waits, Limits(), steps)
    assert scorer_that_waits.asked == ["first", "stays"]


def test_a_request_that_waits_for_too_long_gets_503(scorer_that_waits):
    async def steps(application):
        first = Request(application, "first")
        await asyncio.to_thread(scorer_that_waits.begun.acquire)
        waits = Request(application, "waits")
        await waits.task
        assert waits.status == 503
        assert (b"retry-after", b"1") in waits.sent[0]["headers"]
        scorer_that_waits.go_on.set()
        await first.task

    run(scorer_that_waits, Limits(seconds=0.5), steps)
    assert scorer_that_waits.asked == ["first"]


def test_a_batch_that_takes_too_long_gets_413_and_keeps_its_place(scorer_that_waits):
    async def steps(application):
        request = Request(application, "first")
        await request.task
        assert request.status == 413
        assert b"scoring takes more than 0.5 s; send smaller batches" in request.sent[1]["body"]
        assert (application.room.n_requests, application.room.n_bytes > 0) == (1, True)
        scorer_that_waits.go_on.set()
        await emptied(application)

    run(scorer_that_waits, Limits(seconds=0.5), steps)


@pytest.mark.parametrize("n_answers", [3, 80])
def test_a_comparison_that_takes_too_long_gives_its_worker_back(n_answers):
    """80 rows are shared by the threads of the core, of which the last to end may not be the worker."""
    text, reward = "a\n" * 31_000, Reward(ReferenceScorer("rouge_lsum", threads=2))

    async def steps(application):
        long = Request(application, "", answers=[text] * n_answers, references=[[text]] * n_answers)
        await long.task
        assert (long.status, b"scoring takes more than 0.3 s" in long.sent[1]["body"]) == (413, True)
        for _ in range(100):  # where other processes take the time, a short comparison ends too late, too
            short = Request(application, "a", references=[["a"]])
            await short.task
            if short.status == 200:
                break
        assert b"[1.0]" in short.sent[1]["body"]
        await emptied(application)

    run(reward, Limits(seconds=0.3, n_pairs=1 << 60), steps)


@pytest.mark.parametrize(("metric", "status"), [("rouge_l", 413), ("chrf", 200)])
def test_pairs_of_characters_have_a_limit(metric, status):
    async def steps(application):
        request = Request(application, "ab\n", references=[["abc", "\n"]])  # 48 and 49 characters
        await request.task
        assert request.status == status
        assert (b"have 2,352 pairs of characters (a line" in request.sent[1]["body"]) == (status == 413)

    run(Reward(ReferenceScorer(metric)), Limits(n_pairs=2_351), steps)


@pytest.mark.slow
def test_work_that_fails_after_its_client_left_is_no_error_of_the_server(mini, caplog):
    class Failing(WaitingScorer):
        def reward(self, questions, answers):
            super().reward(questions, answers)
            raise TrialsError("nobody reads this")

    scorer = Failing(mini)

    async def steps(application):
        request = Request(application, "first")
        await asyncio.to_thread(scorer.begun.acquire)
        request.leave()
        await request.task
        scorer.go_on.set()
        await emptied(application)
        gc.collect()  # which tells of errors that nobody has read

    run(scorer, Limits(), steps)
    assert caplog.records == []


def test_a_reply_is_held_until_it_is_sent(mini):
    async def steps(application):
        request, may_send = Request(application, "answer"), asyncio.Event()
        send, held = request._send, []

        async def slowly(message):
            held.append(application.room.n_bytes)
            await may_send.wait()
            await send(message)

        request._send = slowly
        while not held:
            await asyncio.sleep(0.001)
        assert application.room.n_requests == 1
        may_send.set()
        await request.task
        content = b"".join(message.get("body", b"") for message in request.sent)
        assert held[0] >= len(content) > 0
        assert (application.room.n_requests, application.room.n_bytes) == (0, 0)

    run(Scorer(mini), Limits(), steps)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_limit_is_a_number_of_seconds(seconds):
    with pytest.raises(ServingError, match="--seconds: expected a number of seconds, not"):
        Limits(seconds=seconds)


def test_a_request_may_name_the_address_that_the_server_listens_on():
    guard = Guard(None, 8771, "127.0.0.2")
    for host in ("127.0.0.2:8771", "LOCALHOST:8771"):
        guard.check({"host": host})
    with pytest.raises(Refusal, match=r"Host: expected 127\.0\.0\.2:8771 or localhost:8771"):
        guard.check({"host": "127.0.0.3:8771"})


def test_a_failure_of_the_server_tells_nothing_of_it(mini, caplog):
    class Broken(Scorer):
        def reward(self, questions, answers):
            raise RuntimeError("a secret of the server")

    async def steps(application):
        request = Request(application, "answer")
        await request.task
        assert request.status == 500
        assert b"secret" not in request.sent[1]["body"]
        assert b"see its log" in request.sent[1]["body"]

    run(Broken(mini), Limits(), steps)
    assert "a secret of the server" in caplog.text


# ---- Bodies of JSON: every text arrives as it was, whatever JSON's own characters it has, and no key appears twice


REWARD = adapters(CompletionReward(Reward("mini")))["/reward"]
PIECES = ('":', '"', ":", "\\", '\\"', "{", "}", "[", ",", " ", "\n", "answers", "\u3042", "\U0001f363")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
ANSWERS = st.lists(TEXTS, max_size=6)
QUESTIONS = st.one_of(TEXTS, ANSWERS)
ENCODERS = {
    "plain": partial(json_bytes, is_compact=True),
    "escaped": lambda text: json.dumps(text).encode(),
    "spaced": lambda text: json.dumps(text, indent="\t", separators=(" ,\n", " :\r\n")).encode(),
}


@pytest.mark.parametrize("encoder", ENCODERS)
def test_texts_arrive_as_they_were(encoder):
    reached = Counter()

    @examples(300)
    @given(QUESTIONS, ANSWERS)
    @example("", [":", '":', "\\"])
    def check(questions, answers):
        reached["looks like the end of a key"] += any(text.startswith(":") for text in answers)
        reached["ends in a backslash"] += any(text.endswith("\\") for text in answers)
        reached["an escaped quotation mark before a colon"] += any('":' in text for text in answers)
        body = ENCODERS[encoder]({"questions": questions, "answers": answers})
        assert REWARD.read(body) == {"questions": questions, "answers": answers}

    check()
    assert all(count >= share(10, at_least=1) for count in reached.values()), reached


@examples(200)
@given(QUESTIONS, QUESTIONS, ANSWERS, st.booleans())
def test_a_key_that_appears_twice_is_refused(first, second, answers, comes_last):
    again = b',"questions":' + json_bytes(second)
    pieces = [b'{"questions":' + json_bytes(first), b',"answers":' + json_bytes(answers), b"}"]
    pieces.insert(2 if comes_last else 1, again)
    with pytest.raises(TrialsError, match=r"^the body: the key 'questions' appears twice"):
        REWARD.read(b"".join(pieces))

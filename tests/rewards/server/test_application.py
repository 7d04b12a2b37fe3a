"""What becomes of requests whose clients leave, and of those that wait for a worker for too long."""

import asyncio
import gc
import json
import threading
from collections import Counter

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples, share
from makers.reward_server import HTTP, SECONDS, serving
from pfgen_fast import ReferenceScorer, Reward, Scorer, TrialsError
from pfgen_fast.base.errors import ServingError
from pfgen_fast.rewards.completions import CompletionReward
from pfgen_fast.rewards.server.admission import Guard, Limits, Refusal
from pfgen_fast.rewards.server.application import Application
from pfgen_fast.rewards.server.request_bodies import END_TOKENS, read_batch, scores_of_queries
from pfgen_fast.suite.rules import PARTS

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


# ---- OpenRLHF's protocol: where the answer in a query is, and which question a label names


PROMPT = "Q: Why does ice float on water?\nA:"
GOOD = "Ice is about 9% less dense than water: its molecules freeze into an open crystal lattice."


@pytest.mark.parametrize(
    ("query", "prompt", "mode", "answer"),
    [
        (f"{PROMPT} {GOOD}\n\nQ: And", PROMPT, "completion", GOOD),
        (f"<s> {PROMPT} {GOOD}</s>", PROMPT, "completion", GOOD),
        (f"{PROMPT}{GOOD} Q: more", PROMPT, "qa", GOOD),
        (f"<|im_start|>Why?<|im_end|>A: {GOOD}<|im_end|>\n<pad>", "<|im_start|>Why?<|im_end|>", "chat", GOOD),
        (f"{GOOD}<|eot_id|>{GOOD}", "", "chat", GOOD),
        (PROMPT, PROMPT, "completion", ""),
        (f"{PROMPT}{PROMPT}", PROMPT, "completion", ""),
    ],
)
def test_the_answer_is_what_follows_the_prompt(scorer, query, prompt, mode, answer):
    reply = scores_of_queries(CompletionReward(Reward(scorer), mode), [query], [prompt], ["Q07"])
    assert reply["rewards"].tolist() == scorer.score("Q07", [answer]).average.tolist()


@pytest.mark.parametrize("token", END_TOKENS)
def test_an_answer_ends_at_every_special_token(scorer, token):
    reply = scores_of_queries(
        CompletionReward(Reward(scorer)), [f"{PROMPT} Ice floats.{token} Not ice."], [PROMPT], ["Q07"]
    )
    assert reply["rewards"].tolist() == scorer.score("Q07", ["Ice floats."]).average.tolist()


@pytest.mark.parametrize(
    ("queries", "prompts", "labels", "sentence"),
    [
        (["a"], ["b"], ["Q07"], r"query\[0\]: does not contain its prompt 'b'"),
        (["ab", "ab"], ["a", "a"], ["Q07", "Q99"], r"labels\[1\]: .*Q99"),
        (["ab"], ["a"], [None], r"labels\[0\]"),
        (["ab"], ["a"], [], "1 queries, 1 prompts, 0 labels"),
    ],
)
def test_what_cannot_be_scored_is_named(scorer, queries, prompts, labels, sentence):
    with pytest.raises(TrialsError, match=sentence):
        scores_of_queries(CompletionReward(Reward(scorer)), queries, prompts, labels)


@pytest.mark.slow
def test_the_server_supports_the_protocol(scorer):
    with serving("--suite", "mini", "--mode", "chat") as running:
        queries = [f"{PROMPT} A: {answer}</s>" for answer in (GOOD, "Because.", "")]
        labels = ["Q07", "Why does ice float on water?", "Q07"]
        asked = {"query": queries, "prompts": [PROMPT] * 3, "labels": labels}
        reply = HTTP.post(f"{running.url}/get_reward", json=asked).json()
    expected = scorer.score("Q07", [GOOD, "Because.", ""])
    assert reply == {
        "rewards": expected.average.tolist(),
        "scores": expected.average.tolist(),
        "extra_logs": {name: expected[name].tolist() for name in PARTS},
    }


# ---- Bodies of JSON: every text arrives as it was, whatever JSON's own characters it has, and no key appears twice


PIECES = ('":', '"', ":", "\\", '\\"', "{", "}", "[", ",", " ", "\n", "answers", "\u3042", "\U0001f363")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
ANSWERS = st.lists(TEXTS, max_size=6)
QUESTIONS = st.one_of(TEXTS, ANSWERS)
ENCODERS = {
    "plain": orjson.dumps,
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
        batch = read_batch(body, Limits())
        assert batch == (questions, answers, {})

    check()
    assert all(count >= share(10, at_least=1) for count in reached.values()), reached


@examples(200)
@given(QUESTIONS, QUESTIONS, ANSWERS, st.booleans())
def test_a_key_that_appears_twice_is_refused(first, second, answers, comes_last):
    again = b',"questions":' + orjson.dumps(second)
    pieces = [b'{"questions":' + orjson.dumps(first), b',"answers":' + orjson.dumps(answers), b"}"]
    pieces.insert(2 if comes_last else 1, again)
    with pytest.raises(Refusal, match=r"^a key appears twice; expected each key once: .questions., .answers.; opt"):
        read_batch(b"".join(pieces), Limits())

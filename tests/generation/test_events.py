"""What happens while a server is asked: counted by kind, returned as data."""

from __future__ import annotations

import asyncio
import itertools
import threading

import pytest
from makers.asked_engines import FakeEngine, ask_server
from makers.fault_server import answering, echo, refusing, serving
from pfgen_fast.generation import Events, Setting, Trouble, generate
from pfgen_fast.generation.engines import Sampling
from pfgen_fast.generation.openai_protocol import RequestForm
from pfgen_fast.generation.protocol import Usage


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch):
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda delay: sleep(0))


def run(mini, output, behave, **options):
    """A run from a server, asked one request after another."""
    with serving(behave) as server:
        return ask_server(mini, server, output, **{"concurrency": 1, **options})


def first_then_echo(*replies):
    """A server's behaviour: these replies to the first requests, then answers."""
    return lambda request: replies[request.number] if request.number < len(replies) else echo(request)


def test_a_stall_is_a_timeout(mini, tmp_path):
    release = threading.Event()

    def behave(request):
        if request.number == 0:
            release.wait(60)
        return echo(request)

    events = Events(on_trouble=lambda trouble, what: release.set())
    assert run(mini, tmp_path, behave, events=events, timeout=1).n_new == len(mini)
    assert events.troubles[Trouble.TIMEOUT] >= 1
    assert set(events.troubles) == {Trouble.TIMEOUT}


def test_one_refused_request_and_one_that_is_given_up_are_counted(mini, tmp_path):
    replies = (answering("Ice."), refusing(400, "not this one"), *[refusing(500, "oops")] * 3)
    made = run(mini, tmp_path, first_then_echo(*replies), retries=2)
    assert made.events.troubles == {Trouble.REFUSAL: 1, Trouble.SERVER_ERROR: 3}
    assert (made.events.n_retries, made.events.n_given_up) == (2, 2)


def test_the_pause_that_a_server_asks_for_is_told_and_added_up(mini, tmp_path):
    told = []
    events = Events(on_trouble=lambda trouble, what: told.append((trouble, what)))
    replies = (refusing(429, "slow down", Retry_After="20"), refusing(429, "slow down", Retry_After="500"))
    run(mini, tmp_path, first_then_echo(*replies), events=events)
    assert told[0] == (Trouble.RATE_LIMIT, "HTTP 429: slow down; next try in 20 s")
    assert events.paused_seconds == pytest.approx(500, abs=5)  # the second pause begins before the first has passed


@pytest.mark.parametrize(
    "usage", [None, [], "many", *({"prompt_tokens": number} for number in (-1, True, 10**30, 1e300, "7"))]
)
def test_tokens_that_are_no_number_of_tokens_are_left_out(usage):
    form = RequestForm("m", "qa", Sampling())
    assert form.usage_in({"usage": usage}) == form.usage_in([usage]) == Usage()
    reported = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 30}}
    assert form.usage_in({"usage": reported}) == Usage(100, 7, 30)


def test_an_answer_of_which_nothing_is_left_counts_as_empty(mini, tmp_path):
    answers = itertools.chain([""] * 3, itertools.repeat("Ice."))
    engine = FakeEngine(lambda task: next(answers), parameters={"num_examples": None})
    made = generate(mini, engine, Setting("m"), trials=1, output=tmp_path)
    assert made.events.troubles == {Trouble.EMPTY: 3}

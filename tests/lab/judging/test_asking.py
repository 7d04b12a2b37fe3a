"""Asking: stored replies, duplicate requests, budgets, and servers that stall, refuse and lie."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine, moody
from makers.fault_server import Reply, answering, refusing, serving
from pfgen_fast import JudgingError
from pfgen_fast.lab.judging.judge_asking import Asking, Prices, Spending
from pfgen_fast.lab.judging.judge_requests import Judge, Server
from pfgen_fast.lab.judging.reply_store import Replies

JUDGE = Judge("org/judge", max_tokens=50)


def requests_of(*numbers):
    return [JUDGE.request(f"text {number}", seed=number, name=f"request {number}") for number in numbers]


def by_server(server, **options):
    return Server(server.base_url, **{"backoff": 0.001, **options}).engine(JUDGE)


def echo(request):
    return answering(f"I saw {request.prompt}. [[5]]")


def expected(*numbers):
    return [f"I saw text {number}. [[5]]" for number in numbers]


def test_requests_are_those_of_the_protocol(tmp_path):
    asking = Asking(requests_of(*range(40)), Replies(tmp_path / "r.jsonl"))
    told = []
    with serving(echo) as server:
        assert asking.ask(by_server(server), on_progress=lambda done, total: told.append((done, total))) is None
    assert asking.replies() == expected(*range(40))
    assert told == [(done, 40) for done in range(41)]
    assert len(server.requests) == 40
    for request in server.requests:
        number = int(request.prompt.removeprefix("text "))
        assert request.body == {
            "model": "org/judge",
            "messages": [{"role": "user", "content": f"text {number}"}],
            "max_tokens": 50,
            "temperature": 0.0,
            "top_p": 1.0,
            "seed": number,
        }


@given(st.lists(st.integers(0, 30), max_size=40), st.sets(st.integers(0, 30)))
def test_equal_requests_are_asked_once_and_kept_ones_never(tmp_path_factory, numbers, kept):
    path = tmp_path_factory.mktemp("asking") / "r.jsonl"
    Asking(requests_of(*kept), Replies(path)).ask(FakeEngine())
    engine = FakeEngine()
    asking = Asking(requests_of(*numbers), Replies(path))
    left = set(numbers) - kept
    estimate = asking.estimate()
    assert (estimate.n_replies, estimate.n_requests) == (len(numbers), len(left))
    assert estimate.n_stored == sum(number in kept for number in numbers)
    assert estimate.n_equal == len(numbers) - estimate.n_stored - len(left)
    assert asking.ask(engine) is None
    assert sorted(request.seed for request in engine.asked) == sorted(left)
    assert asking.replies() == [moody(request) for request in requests_of(*numbers)]
    assert engine.n_closed == 1


def test_a_budget_ends_the_asking_before_it_is_exceeded(tmp_path):
    prices = Prices(of_prompts=1000, of_replies=1000)
    asking = Asking(requests_of(*range(100)), Replies(tmp_path / "r.jsonl"))
    assert asking.estimate(prices).cost == pytest.approx(6)
    engine = FakeEngine(lambda request: "x" * 1000)  # the maximum length
    problem = asking.ask(engine, spending=Spending(prices, 1.51))
    assert (
        problem == "the budget of 1.51 is used up after 25 requests (about 1.50); the next request may cost up to 0.06"
    )
    assert asking.n_missing == 75
    assert asking.ask(FakeEngine(), spending=Spending(prices, 5)) is None
    shorter = Asking(requests_of(*range(200)), Replies(tmp_path / "short.jsonl"))
    problem = shorter.ask(FakeEngine(lambda request: "x" * 100), spending=Spending(Prices(0, 1000), 5))
    assert problem == "the budget of 5 is used up after 199 requests (about 4.97); the next request may cost up to 0.05"


def test_tokens_and_costs_are_estimated_from_above(tmp_path):
    asking = Asking(requests_of(1, 2, 2), Replies(tmp_path / "r.jsonl"))
    estimate = asking.estimate(Prices(of_prompts=2, of_replies=8))
    assert (estimate.n_prompt_tokens, estimate.n_reply_tokens) == (2 * (2 + 8), 2 * 50)
    assert estimate.cost == pytest.approx((2 * 20 + 8 * 100) / 1e6)
    with pytest.raises(JudgingError, match="prices: expected numbers from 0"):
        Prices(of_prompts=-1)
    with pytest.raises(JudgingError, match="--budget needs prices: --prompt-price, --reply-price"):
        Spending(budget=3)


@pytest.mark.parametrize("lie", [Reply(b'{"choices": []}'), refusing(400, "no")], ids=["no choices", "refused"])
def test_an_unusable_reply_is_not_stored_and_requested_again(tmp_path, lie):
    path = tmp_path / "r.jsonl"

    def behave(request):
        return lie if request.number >= 5 else echo(request)

    asking = Asking(requests_of(*range(20)), Replies(path))
    with serving(behave) as server:
        problem = asking.ask(by_server(server, concurrency=1, retries=0))
    assert problem.startswith("15 requests had no reply (")
    assert len(path.read_bytes().splitlines()) == 5
    with serving(echo) as server:
        assert asking.ask(by_server(server)) is None  # the same object can resume
        assert len(server.requests) == 15
    assert asking.replies() == expected(*range(20))


def test_an_empty_reply_counts_only_on_request(tmp_path):
    for keeps_empty, n_missing in ((False, 2), (True, 0)):
        asking = Asking(requests_of(1, 2), Replies(tmp_path / f"{keeps_empty}.jsonl"), keeps_empty=keeps_empty)
        with serving(lambda request: answering("")) as server:
            asking.ask(by_server(server))
        assert asking.n_missing == n_missing
    asking = Asking(requests_of(1, 2), Replies(tmp_path / "refused.jsonl"), keeps_empty=True)
    with serving(lambda request: refusing(500, "busy")) as server:
        assert asking.ask(by_server(server, retries=0)).startswith("2 requests had no reply")


def test_requests_of_another_process_are_not_sent_again(tmp_path):
    first, second = (Asking(requests_of(1, 2, 3), Replies(tmp_path / "r.jsonl")) for _ in range(2))
    with Replies(tmp_path / "r.jsonl").adding() as keep:
        keep(requests_of(2)[0], "[[4]]")
    engines = FakeEngine(), FakeEngine()
    assert [asking.ask(engine) for asking, engine in zip((first, second), engines, strict=True)] == [None, None]
    assert [len(engine.asked) for engine in engines] == [2, 0]
    assert first.replies() == second.replies()


def test_a_request_that_no_line_could_hold_is_not_sent(tmp_path):
    requests = [JUDGE.request(text, seed=0, name="r") for text in ("\x1c" * (1 << 20), "x" * (1 << 20), "short")]
    asking, engine = Asking(requests, Replies(tmp_path / "r.jsonl")), FakeEngine()
    assert (asking.estimate().n_requests, asking.estimate().n_equal) == (2, 0)
    assert asking.ask(engine) == "1 request is longer than 4 MiB and therefore not sent"
    assert len(engine.asked) == len(Replies(tmp_path / "r.jsonl")) == 2

"""Asking judges: stored replies, keys, templates, budgets, and servers that stall, refuse and lie."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine, moody
from makers.fault_server import Reply, answering, refusing, serving
from pfgen_fast import JudgingError
from pfgen_fast.generation.engines.hosted import Details
from pfgen_fast.lab.judging.judge_asking import Asking, JudgePrices, Spending
from pfgen_fast.lab.judging.judge_requests import Judge, Server, Template
from pfgen_fast.lab.judging.reply_store import ReplyStore


def request(number=0):
    return Judge("org/judge").request(f"text {number}", seed=number, name=f"request {number}")


def keep(path, *pairs):
    with ReplyStore(path).adding() as add:
        for number, reply in pairs:
            add(request(number), reply)


def test_an_entry_has_request_reply_time_and_details(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path, message = tmp_path / "new" / "replies.jsonl", Details("stop", "judge-2024-08-06", "fp_1")
    kept = ReplyStore(path)
    with kept.adding() as add:
        add(request(0), "yes", message)
        add(request(1), "[[3]] \ud800 水")
    line = path.read_text(encoding="utf-8").splitlines()[1]
    entry = {"key": request(1).key, "request": request(1).record(), "reply": "[[3]] \ud800 水"}
    unknown = dict.fromkeys(("finish_reason", "model", "system_fingerprint"))
    assert json.loads(line) == {**entry, **unknown, "time": "2023-11-14T22:13:20+00:00"}
    assert list(json.loads(line))[:3] == ["key", "request", "reply"]
    for replies in (kept, ReplyStore(path)):
        assert replies.get(request(1).key) == "[[3]] \ud800 水"
        assert [replies.details(request(number).key) for number in range(3)] == [message, Details(), Details()]
    assert [path.name for path in path.parent.iterdir()] == ["replies.jsonl"]  # no lock is left


def test_entries_of_other_programs_are_read(tmp_path):
    path = tmp_path / "replies.jsonl"
    odd = {"finish_reason": ["stop"], "model": "\x1b[2J\ud800", "system_fingerprint": "x" * 201}
    entries = [{"key": request().key, "reply": "[[7]]"}, {"key": "k", "reply": "r", **odd}]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    keep(path, (1, "[[8]]"))
    assert [ReplyStore(path).get(request(number).key) for number in range(3)] == ["[[7]]", "[[8]]", None]
    assert ReplyStore(path).details("k") == Details(None, "\\u001b[2J\\ud800", None)


def test_incomplete_and_invalid_entries_are_skipped(tmp_path):
    path = tmp_path / "replies.jsonl"
    keep(path, (1, "one"))
    with path.open("ab") as file:
        file.write(b'[]\n{"key": 3, "reply": "x"}\n{"key": "k"}\n\xff\n' + b"[" * 100_000 + b'\n{"key": "torn", "re')
    assert len(ReplyStore(path)) == 1
    keep(path, (2, "two"))
    assert [ReplyStore(path).get(request(number).key) for number in (1, 2)] == ["one", "two"]


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text("model,rating\n")
    with pytest.raises(JudgingError, match=r"replies\.jsonl: expected replies of a judge, found only other content"):
        ReplyStore(path)
    path.write_text('{"key": "torn')  # what a kill left of the first entry
    assert len(ReplyStore(path)) == 0
    with pytest.raises(JudgingError, match="no such file; expected the replies of an earlier call"):
        ReplyStore(tmp_path / "none.jsonl", must_exist=True)


def test_a_second_process_is_refused(tmp_path):
    path = tmp_path / "replies.jsonl"
    with ReplyStore(path).adding() as add:
        with pytest.raises(JudgingError, match="another process is adding"), ReplyStore(path).adding():
            pass
        add(request(), "[[3]]")
    keep(path, (1, "[[4]]"))
    assert len(ReplyStore(path)) == 2


def test_reasoning_is_kept_in_the_file_but_is_no_part_of_a_reply(tmp_path):
    path = tmp_path / "replies.jsonl"
    quoting = '{"reason": "It shows its </think> tag.", "score": 2}'  # JSON may quote a tag
    keep(path, (1, '<think>{"verdict": 0}</think>\n{"verdict": 1}'), (2, quoting))
    assert [ReplyStore(path).get(request(number).key) for number in (1, 2)] == ['{"verdict": 1}', quoting]
    assert "<think>" in path.read_text()


# ---- Requests to a judge: keys never change, and records contain what was asked


def test_keys_are_those_of_existing_files_and_of_everything_that_decides_a_reply():
    request = Judge("org/judge", 1.0, 300).request("Is 水 wet? {answer}", seed=818176819, name="rating 1")
    assert request.key == "c3f8310bc3b9d38e1b7cf56d6efd901708c765921038315e00850362e0b4775b"
    judge = Judge("j")
    usual = judge.request("text", seed=1, name="n")
    judges = (Judge("k"), Judge("j", temperature=0.5), Judge("j", max_tokens=7))
    others = [other.request("text", seed=1, name="n") for other in judges]
    others += [judge.request(text, seed=seed, name="n") for text, seed in (("texts", 1), ("text", 2))]
    others.append(judge.request("text", seed=1, name="n", system="Be strict."))
    assert len({request.key for request in [usual, *others]}) == 7
    assert judge.request("text", seed=1, name="another name").key == usual.key
    assert Judge("j", temperature=0).request("text", seed=1, name="n").key == usual.key  # which is 0.0 by default


def test_the_record_is_the_request_in_which_a_lone_surrogate_is_an_escape():
    record = Judge("org/judge", 0.5, 7).request("a\ud800b", seed=3, name="n", system="Be strict.").record()
    assert record == {
        "model": "org/judge",
        "messages": [{"role": "system", "content": "Be strict."}, {"role": "user", "content": "a\\ud800b"}],
        "parameters": {"temperature": 0.5, "max_tokens": 7, "seed": 3},
    }


NAMES = ("question", "sample", "answer", "language")


def test_a_template_is_read_as_it_is_and_braces_in_values_are_no_placeholders(tmp_path):
    template = Template("{question}|{sample}|{answer}|{language}|{other}", NAMES)
    filled = template.fill(question="{answer}", sample="{0}", answer="\\1 {sample}", language="ja")
    assert filled == "{answer}|{0}|\\1 {sample}|ja|{other}"
    path = tmp_path / "prompt.txt"
    path.write_bytes(b'\xef\xbb\xbf{question}\r\n{answer} {"rating": 3}')
    template = Template.read(path, placeholders=NAMES, needed=("question", "answer"))
    assert template == Template('{question}\r\n{answer} {"rating": 3}', NAMES)
    assert template.uses("answer")
    assert not template.uses("sample")
    assert Template("a", ("b",)).hash == Template("a", ()).hash != Template("a ", ("b",)).hash


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{question} {answer} {smaple}", r"unknown placeholder \{smaple\}; there are \{question\}, \{sample\}"),
        (b"{question}", r"expected the placeholder \{answer\} in the template"),
        (b"{question} \xff", "not UTF-8 \\(byte 11\\)"),
        (b"x" * (1 << 20) + b"x", "holds more than 1 MiB"),
        (None, "cannot be read: No such file"),
    ],
)
def test_an_invalid_template_is_refused(tmp_path, content, message):
    path = tmp_path / "prompt.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JudgingError, match=message) as caught:
        Template.read(path, placeholders=NAMES, needed=("question", "answer"))
    assert str(caught.value).startswith(f"{path}: ")


# ---- Asking: duplicate requests, budgets and bad servers

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
    asking = Asking(requests_of(*range(40)), ReplyStore(tmp_path / "r.jsonl"))
    told = []
    with serving(echo) as server:
        assert asking.ask(by_server(server), on_progress=lambda done, total: told.append((done, total))) is None
    assert asking.replies() == expected(*range(40))
    assert told == [(done, 40) for done in range(41)]
    assert len(server.requests) == 40
    for request in server.requests:
        number = int(request.prompt.removeprefix("text "))
        wanted = {"model": "org/judge", "messages": [{"role": "user", "content": f"text {number}"}], "seed": number}
        assert request.body == {**wanted, "max_tokens": 50, "temperature": 0.0, "top_p": 1.0}


@given(st.lists(st.integers(0, 30), max_size=40), st.sets(st.integers(0, 30)))
def test_equal_requests_are_asked_once_and_kept_ones_never(tmp_path_factory, numbers, kept):
    path = tmp_path_factory.mktemp("asking") / "r.jsonl"
    Asking(requests_of(*kept), ReplyStore(path)).ask(FakeEngine())
    engine = FakeEngine()
    asking = Asking(requests_of(*numbers), ReplyStore(path))
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
    prices = JudgePrices(of_prompts=1000, of_replies=1000)
    asking = Asking(requests_of(*range(100)), ReplyStore(tmp_path / "r.jsonl"))
    assert asking.estimate(prices).cost == pytest.approx(6)
    engine = FakeEngine(lambda request: "x" * 1000)  # the maximum length
    problem = asking.ask(engine, spending=Spending(prices, 1.51))
    assert (
        problem == "the budget of 1.51 is used up after 25 requests (about 1.50); the next request may cost up to 0.06"
    )
    assert asking.n_missing == 75
    assert asking.ask(FakeEngine(), spending=Spending(prices, 5)) is None
    shorter = Asking(requests_of(*range(200)), ReplyStore(tmp_path / "short.jsonl"))
    problem = shorter.ask(FakeEngine(lambda request: "x" * 100), spending=Spending(JudgePrices(0, 1000), 5))
    assert problem == "the budget of 5 is used up after 199 requests (about 4.97); the next request may cost up to 0.05"


def test_tokens_and_costs_are_estimated_from_above(tmp_path):
    asking = Asking(requests_of(1, 2, 2), ReplyStore(tmp_path / "r.jsonl"))
    estimate = asking.estimate(JudgePrices(of_prompts=2, of_replies=8))
    assert (estimate.n_prompt_tokens, estimate.n_reply_tokens) == (2 * (2 + 8), 2 * 50)
    assert estimate.cost == pytest.approx((2 * 20 + 8 * 100) / 1e6)
    with pytest.raises(JudgingError, match="prices: expected numbers from 0"):
        JudgePrices(of_prompts=-1)
    with pytest.raises(JudgingError, match="--budget needs prices: --prompt-price, --reply-price"):
        Spending(budget=3)


@pytest.mark.parametrize("lie", [Reply(b'{"choices": []}'), refusing(400, "no")], ids=["no choices", "refused"])
def test_an_unusable_reply_is_not_stored_and_requested_again(tmp_path, lie):
    path = tmp_path / "r.jsonl"

    def behave(request):
        return lie if request.number >= 5 else echo(request)

    asking = Asking(requests_of(*range(20)), ReplyStore(path))
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
        asking = Asking(requests_of(1, 2), ReplyStore(tmp_path / f"{keeps_empty}.jsonl"), keeps_empty=keeps_empty)
        with serving(lambda request: answering("")) as server:
            asking.ask(by_server(server))
        assert asking.n_missing == n_missing
    asking = Asking(requests_of(1, 2), ReplyStore(tmp_path / "refused.jsonl"), keeps_empty=True)
    with serving(lambda request: refusing(500, "busy")) as server:
        assert asking.ask(by_server(server, retries=0)).startswith("2 requests had no reply")


def test_requests_of_another_process_are_not_sent_again(tmp_path):
    first, second = (Asking(requests_of(1, 2, 3), ReplyStore(tmp_path / "r.jsonl")) for _ in range(2))
    with ReplyStore(tmp_path / "r.jsonl").adding() as keep:
        keep(requests_of(2)[0], "[[4]]")
    engines = FakeEngine(), FakeEngine()
    assert [asking.ask(engine) for asking, engine in zip((first, second), engines, strict=True)] == [None, None]
    assert [len(engine.asked) for engine in engines] == [2, 0]
    assert first.replies() == second.replies()


def test_a_request_that_no_line_could_hold_is_not_sent(tmp_path):
    requests = [JUDGE.request(text, seed=0, name="r") for text in ("\x1c" * (1 << 20), "x" * (1 << 20), "short")]
    asking, engine = Asking(requests, ReplyStore(tmp_path / "r.jsonl")), FakeEngine()
    assert (asking.estimate().n_requests, asking.estimate().n_equal) == (2, 0)
    assert asking.ask(engine) == "1 request is longer than 4 MiB and therefore not sent"
    assert len(engine.asked) == len(ReplyStore(tmp_path / "r.jsonl")) == 2

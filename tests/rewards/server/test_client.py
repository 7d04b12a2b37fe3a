"""The client: rewards as the scorer has them, and what it does about servers that are busy, gone or of no help."""

import asyncio
import contextlib
import functools
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
from makers.documented import documented_example
from makers.reward_server import HTTP, TOKEN, serving
from pfgen_fast import AsyncRewardClient, ReferenceScorer, Reward, RewardClient, Scorer, Suite, TrialsError
from pfgen_fast.base.errors import ServingError
from pfgen_fast.integrations import openrlhf
from pfgen_fast.rewards.completions import CompletionReward
from pfgen_fast.rewards.server.adapters import adapters
from pfgen_fast.rewards.server.admission import Refusal


def batch_of_all_kinds() -> dict[str, list[str]]:
    """Questions by id and by text, and answers of every kind."""
    odd = ("", "。" * 300, 'a "quoted"\\ \n\t\0 answer \U0001f600', '"answers":')
    suite = Suite.load("mini")
    pairs = [
        (name, answer)
        for question in suite
        for name in (question.question_id, question.question)
        for answer in (*question.answers["A"][:5], *odd)
    ]
    return {"questions": [name for name, _ in pairs], "answers": [answer for _, answer in pairs]}


@pytest.fixture(scope="module")
def server():
    with serving("--suite", "mini", env={"PFGEN_FAST_TOKEN": TOKEN}) as running:
        yield running


@pytest.fixture
def client(server):
    with RewardClient(server.url, token=TOKEN, n_answers=7, retry_seconds=0) as created:
        yield created


@pytest.mark.slow
def test_rewards_and_scores_equal_those_of_the_scorer(client, scorer):
    questions, answers = batch_of_all_kinds().values()
    assert client.reward(questions, answers).tobytes() == scorer.reward(questions, answers).tobytes()
    assert client.reward("Q07", answers).tobytes() == scorer.reward("Q07", answers).tobytes()
    assert client.reward("Q07", []).tolist() == []
    table, expected = client.score(questions, answers), scorer.score(questions, answers)
    assert tuple(table) == expected.columns
    for name in expected.columns:
        assert np.array_equal(table[name], expected[name])
        assert table[name].dtype == expected[name].dtype or name == "question_id"
    assert client.signature() == scorer.signature


@pytest.mark.slow
def test_a_set_that_a_question_lacks_is_nan(make_suite):
    folder = make_suite({}, {"answers": {"P": ["an answer"], "R": ["another answer"]}})
    with serving("--suite", folder) as running, RewardClient(running.url) as client:
        result = client.score(["Q01", "Q02"], ["an", "an"])["fluency_R"]
    assert result.tobytes() == Scorer(folder).score(["Q01", "Q02"], ["an", "an"])["fluency_R"].tobytes()


def test_threads_share_a_client_and_workers_get_one_of_their_own(client, scorer):
    sent = pickle.loads(pickle.dumps(client))
    answers = [f"Ice floats {n} times." for n in range(64)]
    with ThreadPoolExecutor(8) as pool, contextlib.closing(sent):
        listed = [list(pool.map(item.reward, ["Q07"] * 64, [[text] for text in answers])) for item in (client, sent)]
    assert np.ravel(listed).tolist() == scorer.reward("Q07", answers).tolist() * 2


def test_coroutines_get_the_same_rewards_in_every_event_loop(server, scorer):
    questions, answers = batch_of_all_kinds().values()
    client = AsyncRewardClient(server.url, token=TOKEN, n_answers=50, retry_seconds=0)

    async def steps(client):
        rewards = await asyncio.gather(*(client.reward("Q07", [answer]) for answer in answers[:40]))
        async with client:
            with pytest.raises(TrialsError, match=r"^answers\[50\]: expected a text, not null"):
                await client.reward("Q07", [*[""] * 50, None])
            table = await client.score(questions, answers)
            return np.ravel(rewards), await client.reward(questions, answers), table, await client.signature()

    for sent in (client, client, pickle.loads(pickle.dumps(client))):
        singles, rewards, table, signature = asyncio.run(steps(sent))
        assert singles.tobytes() == scorer.reward("Q07", answers[:40]).tobytes()
        assert rewards.tobytes() == scorer.reward(questions, answers).tobytes()
        assert table["helpfulness"].tobytes() == scorer.score(questions, answers).helpfulness.tobytes()
        assert (signature, repr(sent)) == (scorer.signature, f"AsyncRewardClient('{server.url}')")
    with pytest.raises(ServingError, match="cannot be reached"):
        asyncio.run(AsyncRewardClient("http://127.0.0.1:1", retry_seconds=0.05).reward("Q07", ["Ice."]))


def test_answers_that_cannot_be_scored_are_named_with_their_rows(client):
    with pytest.raises(TrialsError, match=r"Q99.*in rows 0 to 0"):
        client.reward("Q99", ["Ice."])
    for questions in ("Q07", ["Q07"] * 9):
        with pytest.raises(TrialsError, match=r"^answers\[7\]: expected a text, not null$") as error:
            client.reward(questions, [*["Ice."] * 7, None, ""])
        assert (error.value.column, error.value.row) == ("answers", 7)
    with pytest.raises(TrialsError, match=r"^questions\[8\]: .*Q99"):
        client.reward([*["Q07"] * 8, "Q99"], ["Ice."] * 9)
    with pytest.raises(TrialsError, match=r"rows 0 to 0 cannot be sent: .*set"):
        client.reward("Q07", [{"Ice."}])
    with pytest.raises(TrialsError, match="1 questions and 2 answers"):
        client.reward(["Q07"], ["", ""])


GOOD = (200, {}, {"rewards": [0.5], "signature": "s"})


@pytest.fixture
def replying(monkeypatch):
    """Makes a client of a server that sends these replies: a status, headers and JSON, or None to hang up."""

    def client_of(*replies, **options):
        left = list(replies)

        def reply(request):
            if not left or (arguments := left.pop(0)) is None:
                raise httpx.RemoteProtocolError("Server disconnected")
            status, headers, value = arguments
            return httpx.Response(status, headers=headers, json=value)

        server = httpx.MockTransport(reply)
        monkeypatch.setattr(httpx, "Client", functools.partial(httpx.Client, transport=server))
        return RewardClient("http://127.0.0.1:1", **options), left

    return client_of


@pytest.fixture
def waits(monkeypatch):
    """The seconds that the client would have slept, on a clock that only sleeping moves."""
    slept = []
    clock = SimpleNamespace(sleep=slept.append, monotonic=lambda: sum(slept))
    monkeypatch.setattr("pfgen_fast.rewards.server.reward_client.time", clock)
    return slept


def test_a_busy_server_is_asked_again_when_it_says(waits, replying):
    busy = {"error": "busy"}
    replies = [(429, {"Retry-After": "3"}, busy), None, (503, {}, busy), (429, {"Retry-After": "9999"}, busy), GOOD]
    client, left = replying(*replies)
    assert client.reward("Q07", ["Ice."]).tolist() == [0.5]
    assert left == []
    assert waits == [3.0, 0.2, 0.4, 30.0]


def test_a_restart_of_a_minute_is_waited_for(waits, replying):
    client, left = replying(*[None] * 16, GOOD)
    assert client.reward("Q07", ["Ice."]).tolist() == [0.5]
    assert left == []
    assert waits[:8] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert 50 < sum(waits) < 60
    with pytest.raises(ServingError, match=r"cannot be reached.*\(retried for 60 s\)"):
        client.reward("Q07", ["Ice."])


def test_rewards_of_a_server_with_another_signature_are_an_error(replying):
    former, present = "v:1|profile:paper|metric:score", "v:1|profile:leaderboard|metric:score|shape:a"
    replies = [(200, {}, {"rewards": [0.5], "signature": signature}) for signature in (former, present, present)]
    client, _ = replying(*replies, n_answers=1)
    sentence = "first reply: profile paper became leaderboard, shape none became a; restart it with its former suite"
    with pytest.raises(ServingError, match=sentence):
        client.reward("Q07", ["Ice.", "Ice."])
    with pytest.raises(ServingError, match=sentence):  # a worker that the client is sent to expects the same
        pickle.loads(pickle.dumps(client)).reward("Q07", ["Ice."])


@pytest.mark.parametrize(
    ("replies", "sentence"),
    [
        ([(429, {}, {"error": "too\nbusy"})] * 3, r"too\\nbusy"),
        ([(500, {}, [])], "status 500"),
        ([None] * 3, "cannot be reached: Server disconnected"),
        *(
            ([(200, {}, reply)], "the reply is not from a reward server")
            for reply in ([], {}, {"rewards": 3, "signature": "s"}, {"rewards": [], "signature": "s"})
        ),
    ],
)
def test_the_client_gives_up_with_one_sentence(waits, replying, replies, sentence):
    client, left = replying(*replies, retry_seconds=0.2)
    with pytest.raises(ServingError, match=sentence):
        client.reward("Q07", ["Ice."])
    assert left == []
    assert waits == pytest.approx([0.1] * (len(replies) - 1))


def test_a_password_in_the_address_is_the_token_and_no_token_is_shown(server, scorer):
    with RewardClient(server.url, token="wrong-token-0123456789") as client:
        with pytest.raises(ServingError, match=r"Authorization: expected 'Bearer TOKEN'") as error:
            client.reward("Q07", ["Ice."])
        assert "wrong-token" not in str(error.value) + repr(client)
    host = server.url.removeprefix("http://")
    with RewardClient(f"http://trainer:{TOKEN}@{host}", retry_seconds=0) as client:
        assert client.reward("Q07", ["Ice."]).tolist() == scorer.reward("Q07", ["Ice."]).tolist()
        assert TOKEN not in repr(client) + client.url
        with pickle.loads(pickle.dumps(client)) as again:
            assert again.reward("Q07", ["Ice."]).tolist() == scorer.reward("Q07", ["Ice."]).tolist()
    with pytest.raises(ServingError) as error, RewardClient(f"http://x:{TOKEN}@127.0.0.1:1", retry_seconds=0) as client:
        client.reward("Q07", ["Ice."])
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        *(
            ({"url": url}, "url: expected an address such as http")
            for url in ("http://[::1", "127.0.0.1:80", "http://127.0.0.1:99999")
        ),
        *(({"retry_seconds": seconds}, "expected at least 0 and 1") for seconds in (float("nan"), -1)),
        ({"n_answers": 0}, "expected at least 0 and 1"),
    ],
)
def test_arguments_of_the_client_are_checked(options, sentence):
    with pytest.raises(ServingError, match=sentence):
        RewardClient(**{"url": "http://127.0.0.1:8000", **options})


@pytest.mark.slow
def test_the_documented_client_runs(monkeypatch, capsys):
    with serving("--suite", "mini") as running:
        example = documented_example("RewardClient(").replace("http://127.0.0.1:8000", running.url)
        exec(example, names := {})
        names["client"].close()
    assert capsys.readouterr().out.startswith("[0.3533 ")


# ---- Shaped rewards and references in the rows, over HTTP and for OpenRLHF


SHAPE = """
[[shape]]
part = "copying"
run = 10
from_share = 0.5

[[shape]]
part = "overlong"
soft = 20
hard = 40
unit = "tokens"

[[shape]]
part = "unfinished"
"""
LATTICE = "Ice is less dense than water, because its molecules form an open lattice."
ANSWERS = [LATTICE, LATTICE, LATTICE, f"{LATTICE} {LATTICE}"] * 5
KNOWN = {
    "prompts": ["Why?", LATTICE, "Why?", "Why?"] * 5,
    "finished": [True, True, False, True] * 5,
    "n_tokens": [15, 15, 15, 30] * 5,
}


@pytest.fixture(scope="module")
def shape(tmp_path_factory):
    path = tmp_path_factory.mktemp("shape") / "shape.toml"
    path.write_text(SHAPE, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_server_shapes_rewards_and_the_client_passes_what_they_need(shape):
    reward = Reward("mini", shape)
    expected = reward.details("Q07", ANSWERS, **KNOWN)
    assert expected["reward"][:4].tolist() == [expected["score"][0], 0, 0, expected["score"][3] / 2]
    with serving("--suite", "mini", "--shape", shape) as running, RewardClient(running.url, n_answers=3) as client:
        assert client.signature() == reward.signature
        assert client.reward("Q07", ANSWERS, **KNOWN).tolist() == expected["reward"].tolist()
        table = client.score(["Q07"] * 20, ANSWERS, **KNOWN)
        assert tuple(table) == expected.columns
        assert all(np.array_equal(table[name], expected[name]) for name in table)
        arrays = {name: np.array(values) for name, values in KNOWN.items()}
        assert client.reward("Q07", ANSWERS, **arrays).tolist() == expected["reward"].tolist()
        for known in ({"prompts": "Why?"}, {"n_tokens": 5}):
            with pytest.raises(TrialsError, match="expected a list with one value for each answer, not one"):
                client.reward("Q07", ANSWERS, **known)
        with pytest.raises(TrialsError, match="prompts are missing; the part copying needs them"):
            client.reward("Q07", ANSWERS)
        with pytest.raises(TrialsError, match="2 finished and 20 answers; expected equal numbers"):
            client.reward("Q07", ANSWERS, **{**KNOWN, "finished": [True] * 2})
        refused = HTTP.post(f"{running.url}/reward", json={"questions": ["Q07"], "answers": [LATTICE]})
        assert refused.status_code == 400
        assert "prompts are missing" in refused.json()["error"]


@pytest.mark.slow
def test_a_server_with_a_metric_of_references_needs_no_suite():
    references = [["Ice is lighter.", "It floats."], ["Salt sinks."], ["a"]] * 3
    answers = ["Ice is light.", "Salt.", ""] * 3
    expected = Reward(ReferenceScorer("chrf"), "recommended").details(None, answers, references=references)
    options = ("--metric", "chrf", "--shape", "recommended")
    with serving(*options) as running, RewardClient(running.url, n_answers=4) as client:
        assert "rewards answers by chrf; signature" in running.line
        assert client.signature() == expected.signature
        assert client.reward(None, answers, references=references).tolist() == expected["reward"].tolist()
        assert client.score(None, answers, references=references)["score"].tolist() == expected["score"].tolist()
        with pytest.raises(TrialsError, match="references: expected a list of references for each answer, got None"):
            client.reward("Q07", answers)


@pytest.mark.slow
@pytest.mark.parametrize(("more", "profile"), [((), "normalised"), (("--profile", "paper"), "paper")])
def test_a_server_has_the_profile_of_the_shape_unless_it_has_another(more, profile):
    with serving("--suite", "mini", "--shape", "recommended", *more) as running, RewardClient(running.url) as client:
        assert client.signature() == Reward(Scorer("mini", profile=profile), "recommended").signature


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ('"finished": [1]', r"finished\[0\]: expected a truth value, not a number"),
        ('"finished": true', "finished: expected a list of truth values, not a truth value"),
        ('"n_tokens": [true]', r"n_tokens\[0\]: expected an integer, not a truth value"),
        ('"n_tokens": [1.5]', r"n_tokens\[0\]: expected an integer, not a number"),
        ('"prompts": "p"', "prompts: expected a list of texts, not a text"),
        ('"prompts": ["p"], "prompts": ["q"]', "the body: the key .* appears twice"),
        ('"finished": [true], "finished": [true]', "the body: the key .* appears twice"),
        ('"references": [["a"]]', "unknown key 'references'; expected 'questions', 'answers'; optional: 'prompts'"),
    ],
)
def test_a_faulty_column_is_one_sentence(more, sentence):
    body = b'{"questions": "Q07", "answers": ["Ice."], ' + more.encode() + b"}"
    with pytest.raises((Refusal, TrialsError), match=sentence):
        adapters(CompletionReward(Reward("mini")))["/reward"].read(body)


@pytest.mark.parametrize(
    ("references", "sentence"),
    [
        ('["a"]', r"references\[0\]: expected a list of texts, not a text"),
        ('[["a"], [1]]', r"references\[1\]\[0\]: expected a text, not a number"),
        ('[["a", "\\"b"]], "references": [["a"]]', "the body: the key .* appears twice"),
    ],
)
def test_faulty_references_are_one_sentence(references, sentence):
    body = f'{{"answers": ["Ice."], "references": {references}}}'.encode()
    with pytest.raises((Refusal, TrialsError), match=sentence):
        adapters(CompletionReward(Reward(ReferenceScorer("chrf"))))["/reward"].read(body)


def test_answers_that_are_no_list_are_one_sentence():
    for answers in (None, "Ice."):
        with pytest.raises(TrialsError, match="answers: expected a list with one value for each answer, not one "):
            RewardClient("http://127.0.0.1:9").reward("Q07", answers)


def test_the_function_for_openrlhf_has_the_shape_of_the_environment(monkeypatch):
    for name, value in ((openrlhf.SUITE, "mini"), ("PFGEN_FAST_SHAPE", "recommended")):
        monkeypatch.setenv(name, value)
    queries = [f"Why? {LATTICE}</s>", f"Why? {LATTICE} {LATTICE}</s>", f"Why? {LATTICE}"]
    actual = openrlhf.reply(queries, ["Why?"] * 3, ["Q07"] * 3)["rewards"]
    expected = Reward("mini", "recommended")(
        "Q07", [LATTICE, f"{LATTICE} {LATTICE}", LATTICE], finished=[True, True, False]
    )
    assert actual.tolist() == expected.tolist()


def test_a_server_that_cannot_start_says_why(call):
    for arguments, sentence in (
        (("--metric", "chrff"), "unknown metric 'chrff'; .*did you mean 'chrf'"),
        (("--metric", "chrf", "--profile", "paper"), "--profile: only scores of a suite have a profile"),
        (("--suite", "mini", "--reduce", "mean"), "--reduce: only a metric of references"),
        (("--suite", "mini", "--metric", "chrf"), "unknown metric 'chrf'; expected one of score"),
        (("--suite", "mini", "--shape", "recomended"), "shape: expected 'recommended' or a file"),
    ):
        code, _, err = call("serve", "--port", "0", *arguments)
        assert code == 2, arguments

        assert re.search(sentence, err), err

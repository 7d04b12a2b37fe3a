"""Shaped rewards and references in the rows, over HTTP, by the client and for OpenRLHF."""

import re

import numpy as np
import pytest
from makers.reward_server import HTTP, serving
from pfgen_fast import ReferenceScorer, Reward, RewardClient, Scorer, TrialsError
from pfgen_fast.integrations import openrlhf
from pfgen_fast.rewards.server.admission import Limits, Refusal
from pfgen_fast.rewards.server.replies import read_batch, scores_of_queries

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
GOOD = "Ice is less dense than water, because its molecules form an open lattice."
ANSWERS = [GOOD, GOOD, GOOD, f"{GOOD} {GOOD}"] * 5
KNOWN = {
    "prompts": ["Why?", GOOD, "Why?", "Why?"] * 5,
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
        refused = HTTP.post(f"{running.url}/reward", json={"questions": ["Q07"], "answers": [GOOD]})
        assert refused.status_code == 400
        assert "prompts are missing" in refused.json()["error"]


@pytest.mark.slow
def test_a_server_with_a_metric_of_references_needs_no_suite():
    references = [["Ice is lighter.", "It floats."], ["Salt sinks."], ["a"]] * 3
    answers = ["Ice is light.", "Salt.", ""] * 3
    expected = Reward(ReferenceScorer("chrf"), "recommended").details(None, answers, references=references)
    with (
        serving("--metric", "chrf", "--shape", "recommended") as running,
        RewardClient(running.url, n_answers=4) as client,
    ):
        assert "rewards answers by chrf; signature" in running.line
        assert client.signature() == expected.signature
        assert client.reward(None, answers, references=references).tolist() == expected["reward"].tolist()
        assert client.score(None, answers, references=references)["score"].tolist() == expected["score"].tolist()
        with pytest.raises(TrialsError, match="references: expected a list of references for each answer, got None"):
            client.reward("Q07", answers)
        reply = HTTP.post(f"{running.url}/get_reward", json={"query": [""], "prompts": [""], "labels": [""]})
        assert (reply.status_code, "use /reward" in reply.json()["error"]) == (400, True)


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
        ('"prompts": ["p"], "prompts": ["q"]', "a key appears twice"),
        ('"finished": [true], "finished": [true]', "a key appears twice"),
        ('"references": [["a"]]', "unknown key 'references'; expected 'questions', 'answers'; optional: 'prompts'"),
    ],
)
def test_a_faulty_column_is_one_sentence(more, sentence):
    body = b'{"questions": "Q07", "answers": ["Ice."], ' + more.encode() + b"}"
    with pytest.raises(Refusal, match=sentence):
        read_batch(body, Limits())


@pytest.mark.parametrize(
    ("references", "sentence"),
    [
        ('["a"]', r"references\[0\]: expected a list of texts, not a text"),
        ('[["a"], [1]]', r"references\[1\]\[0\]: expected a text, not a number"),
        ('[["a", "\\"b"]], "references": [["a"]]', "a key appears twice"),
    ],
)
def test_faulty_references_are_one_sentence(references, sentence):
    body = f'{{"answers": ["Ice."], "references": {references}}}'.encode()
    with pytest.raises(Refusal, match=sentence):
        read_batch(body, Limits(), has_references=True)


def test_queries_of_openrlhf_tell_prompts_and_whether_an_answer_ended(shape):
    reward = Reward("mini", [part for part in Reward("mini", shape).shape if part.name != "overlong"])
    prompt = f"{GOOD} Why?"
    queries = [f"Why? {GOOD}</s>", f"Why? {GOOD}", f"{prompt} {GOOD}</s>", f"Why? <think>{GOOD}</s>"]
    reply = scores_of_queries(reward, queries, ["Why?", "Why?", prompt, "Why?"], ["Q07"] * 4)
    assert reply["rewards"].tolist() == [Reward("mini")("Q07", [GOOD])[0], 0, 0, 0]
    assert reply["extra_logs"]["unfinished"].tolist() == [1, 0, 1, 0]
    assert reply["extra_logs"]["copying"].tolist() == [1, 1, 0, 1]


def test_the_function_for_openrlhf_has_the_shape_of_the_environment(monkeypatch):
    for name, value in ((openrlhf.SUITE, "mini"), (openrlhf.SHAPE, "recommended")):
        monkeypatch.setenv(name, value)
    queries = [f"Why? {GOOD}</s>", f"Why? {GOOD} {GOOD}</s>", f"Why? {GOOD}"]
    found = openrlhf.reply(queries, ["Why?"] * 3, ["Q07"] * 3)["rewards"]
    expected = Reward("mini", "recommended")("Q07", [GOOD, f"{GOOD} {GOOD}", GOOD], finished=[True, True, False])
    assert found.tolist() == expected.tolist()


def test_a_server_that_cannot_start_says_why(call):
    for arguments, sentence in (
        (("--metric", "chrff"), "unknown metric 'chrff'; .*did you mean 'chrf'"),
        (("--metric", "chrf", "--profile", "paper"), "--profile: only scores of a suite have a profile"),
        (("--suite", "mini", "--metric", "chrf"), "unknown metric 'chrf'; expected one of score"),
        (("--suite", "mini", "--shape", "recomended"), "shape: expected 'recommended' or a file"),
    ):
        code, _, err = call("serve", "--port", "0", *arguments)
        assert code == 2, arguments

        assert re.search(sentence, err), err

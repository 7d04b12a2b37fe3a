"""OpenRLHF's protocol: where the answer in a query is, and which question a label names."""

from __future__ import annotations

import pytest
from makers.reward_server import HTTP, serving
from pfgen_fast import Reward, TrialsError
from pfgen_fast.rewards.server.replies import END_TOKENS, scores_of_queries
from pfgen_fast.suite.rules import PARTS

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
    reply = scores_of_queries(Reward(scorer), [query], [prompt], ["Q07"], mode)
    assert reply["rewards"].tolist() == scorer.score("Q07", [answer]).average.tolist()


@pytest.mark.parametrize("token", END_TOKENS)
def test_an_answer_ends_at_every_special_token(scorer, token):
    reply = scores_of_queries(Reward(scorer), [f"{PROMPT} Ice floats.{token} Not ice."], [PROMPT], ["Q07"])
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
        scores_of_queries(Reward(scorer), queries, prompts, labels)


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

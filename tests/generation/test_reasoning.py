"""Which part of a reply is the answer: examples by hand, recorded examples, and what holds for every text."""

import json
import os
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from makers.published import FOLDER
from pfgen_fast.base.errors import EngineError
from pfgen_fast.scoring.reply_text import TAGS, answer_text

VECTORS = FOLDER.parent / "generation" / "reasoning-vectors.json"

_PIECES = [*(tag for pair in TAGS for tag in pair), "<", "think", ">", "/", "A:", "Q:", "\n\n", " ", "It floats.", "水"]
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("text", "answer", "state"),
    [
        ("It floats.", "It floats.", "none"),
        ("<think>Light?</think> It floats.", "It floats.", "closed"),
        ("Light?</think>It floats.", "It floats.", "closed"),
        ("<think>a</think>b</think>It floats.", "It floats.", "closed"),
        ("<think>a[/THINK]b</think>It floats.<think>or", "It floats.", "unfinished"),
        ("<think>Light", "", "unfinished"),
        ("<think>Q: A: no</think>A: It floats.\nQ: And", "It floats.", "closed"),
        ("<THINK>a</THINK> A: It floats.", "It floats.", "none"),
        (
            "<|channel|>analysis<|message|>x<|end|><|start|>a<|channel|>final<|message|>It floats.<|end|>y",
            "It floats.",
            "closed",
        ),
        ("<|channel|>final<|message|>It floats.<|return|>", "It floats.", "none"),
        ("<|channel|>final<|message|>No.<|end|><|channel|>final<|message|>It floats.", "It floats.", "none"),
        ("<|channel|>analysis<|message|>x", "", "unfinished"),
    ],
)
def test_the_answer_follows_the_last_closing_tag_and_ends_at_an_opening_one(text, answer, state):
    reply = answer_text(text, stop=["Q:"])
    assert (reply.answer, reply.state) == (answer, state)


@pytest.mark.skipif(not VECTORS.exists() and "PFGEN_BENCH_REQUIRED" not in os.environ, reason="no recorded examples")
def test_recorded_examples_are_equal():
    recorded = json.loads(VECTORS.read_text(encoding="utf-8"))
    replies = [answer_text(item["raw"], mode=item["mode"], stop=item["stop"], keep=item["keep"]) for item in recorded]
    assert len(recorded) >= 53
    assert [(reply.answer, reply.state) for reply in replies] == [(item["answer"], item["state"]) for item in recorded]


def test_tags_of_the_user_are_pairs_of_different_texts_and_are_added():
    reply = answer_text("<a>x</a><think>y</think>It floats.<a>z", tags=[("<a>", "</a>")])
    assert (reply.answer, reply.state) == ("It floats.", "unfinished")
    for pair in (("", "</a>"), ("<a>", ""), ("<a>", "<a>")):
        with pytest.raises(EngineError, match="reasoning tags: expected two different texts"):
            answer_text("x", tags=[pair])


def test_no_tag_survives_in_an_answer():
    states = Counter()

    @examples(400, at_least=50)
    @given(_TEXTS, st.sampled_from(["chat", "completion"]))
    def check(text, mode):
        reply = answer_text(text, mode=mode, stop=["Q:"])
        states[reply.state] += 1
        assert not any(tag in reply.answer for pair in TAGS for tag in pair)
        assert answer_text(reply.answer, mode="completion").answer == reply.answer
        if reply.state == "none":
            assert reply == answer_text(text.strip(), mode=mode, stop=["Q:"], keep=True)

    check()
    assert all(states[state] >= 3 for state in ("none", "closed", "unfinished"))

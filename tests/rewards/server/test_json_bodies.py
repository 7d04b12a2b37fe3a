"""Bodies of JSON: every text arrives as it was, whatever JSON's own characters it has, and no key appears twice."""

from __future__ import annotations

import json
from collections import Counter

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples, share
from pfgen_fast.rewards.server.admission import Limits, Refusal
from pfgen_fast.rewards.server.replies import read_batch

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
        found = read_batch(body, Limits())
        assert found == (questions, answers, {})

    check()
    assert all(count >= share(10, at_least=1) for count in reached.values()), reached


@examples(200)
@given(QUESTIONS, QUESTIONS, ANSWERS, st.booleans())
def test_a_key_that_appears_twice_is_refused(first, second, answers, comes_last):
    again = b',"questions":' + orjson.dumps(second)
    pieces = [b'{"questions":' + orjson.dumps(first), b',"answers":' + orjson.dumps(answers), b"}"]
    pieces.insert(2 if comes_last else 1, again)
    with pytest.raises(
        Refusal, match=r"^a key appears twice; expected each key once: .questions., .answers.; optional"
    ):
        read_batch(b"".join(pieces), Limits())

"""The OpenAI protocol: whatever a reply holds, it is an answer or one sentence."""

from __future__ import annotations

import contextlib
import json
from dataclasses import astuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pfgen_fast.errors import EngineError
from pfgen_fast.generation.engines import Sampling, open_engine
from pfgen_fast.generation.engines.server import _Reply
from pfgen_fast.generation.openai_protocol import Details, GeminiForm, NoAnswer, RequestForm

FORM = RequestForm("m", "qa", Sampling())
LAST_OF_SEVERAL = GeminiForm("m", "qa", Sampling(), multi_choice=True)
KEYS = st.sampled_from(["choices", "message", "content", "text", "type", "reasoning", "error", "detail", "code", ""])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["thinking", "text"])
REPLIES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@given(REPLIES, st.booleans())
@example({"choices": ["message"]}, False)
@example({"choices": [{"message": "content"}]}, False)
@example({"choices": [{"message": None, "text": "t"}]}, True)
def test_a_reply_has_an_answer_or_says_why_not(reply, last_of_several):
    try:
        said = (LAST_OF_SEVERAL if last_of_several else FORM).raw_reply(reply).text
    except NoAnswer as problem:
        said = str(problem)
    assert isinstance(said, str)


@given(st.binary(max_size=50) | REPLIES.map(lambda reply: json.dumps(reply).encode()), st.sampled_from([200, 500]))
def test_any_bytes_are_an_answer_or_one_line(content, status):
    engine = open_engine("openai", model="m", mode="qa", sampling=Sampling(), base_url="http://localhost/v1")
    assert "\n" not in engine._message_in(content)
    with contextlib.suppress(EngineError):
        engine._read(_Reply(status, "", content))
    assert "\n" not in engine.trouble


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"choices": [{"message": {"content": "a"}}]}, "a"),
        ({"choices": [{"text": "a"}]}, "a"),
        ({"choices": [{"message": {"content": "a"}, "text": "b"}]}, "a"),
        ({"choices": [{"text": ""}]}, ""),
    ],
)
def test_the_answer_is_the_content_of_the_message_or_the_text(reply, expected):
    assert FORM.raw_reply(reply).text == expected


@given(REPLIES)
@example({"choices": [None], "model": {"a": 1}, "system_fingerprint": ""})
def test_whatever_a_reply_holds_its_details_are_short_names(reply):
    for name in astuple(FORM.details_in(reply)):
        assert name is None or (0 < len(name) <= 200 * 10 and name.isprintable())


def test_details_are_the_finish_reason_the_model_and_its_fingerprint():
    reply = {"model": "judge-2024\n", "system_fingerprint": "fp", "choices": [{"finish_reason": "length"}]}
    assert FORM.details_in(reply) == Details("length", "judge-2024\\n", "fp")
    assert FORM.details_in(reply).version == "judge-2024\\n fp"
    assert FORM.details_in({"model": "m" * 201, "choices": []}) == Details()
    assert Details().version is None

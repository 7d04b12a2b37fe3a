"""Sentences in several languages, the commonest of them, and time that hostile text cannot take."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.checklists.metrics.error_modes import Repeated, repeated, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n \n", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Version 1.5 costs 3.20 euros.", ["Version 1.5 costs 3.20 euros."]),
        ('"Go!" he said. (Yes.) No.', ['"Go!"', "he said.", "(Yes.)", "No."]),
        ("A heading\n\nA line\nthat goes on", ["A heading", "A line that goes on"]),
        ("A heading\n \t\nA line", ["A heading", "A line"]),
        ("氷は浮く。水は沈む？はい！", ["氷は浮く。", "水は沈む？", "はい！"]),
        ("「氷は浮く。」と言った。", ["「氷は浮く。」", "と言った。"]),
        ("What?! Really...", ["What?!", "Really..."]),
        ("no end", ["no end"]),
        ("So...。」and on.)", ["So...。」", "and on.)"]),
    ],
)
def test_where_sentences_end(text, expected):
    assert sentences(text) == expected


@given(st.text(alphabet='a.!?。”" \n　', max_size=40))
def test_sentences_hold_all_visible_characters_in_order(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(st.lists(st.sampled_from(["The sea is wide today.", "Ice floats on water.", "Yes."]), max_size=9))
def test_the_longest_run_is_no_longer_than_the_commonest_sentence_is_common(listed):
    found = repeated(sentences("\n".join(listed)))
    assert found.longest_run <= found.count
    assert found.count == max(map(listed.count, [one for one in listed if one != "Yes."]), default=0)


def test_short_sentences_count_only_if_they_are_to():
    listed = ["Yes."] * 5 + ["Ice floats on cold water."]
    assert repeated(listed) == Repeated("Ice floats on cold water.", 1, 1)
    assert repeated(listed, 1) == Repeated("Yes.", 5, 5)


@pytest.mark.parametrize(
    "text",
    [
        "." * 10**6 + "x",
        '."' * 500_000,
        "\n " * 500_000,
        "!?" * 500_000,
        "。" * 10**6,
        '.")' * 300_000,
        "." + ")" * 10**6 + "x",
    ],
)
def test_hostile_text_takes_linear_time(text):
    begin = time.process_time()
    repeated(sentences(text))
    assert time.process_time() - begin < 3

"""What a model is asked for, which replies are usable as damaged texts, and what is taken off them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.tested_evaluators import EVERY, text_in
from pfgen_fast.lab.discernment.model_damage import MADE, label_of, made_prompt, usable_text
from pfgen_fast.lab.evaluators.criteria import read_criteria
from pfgen_fast.lab.evaluators.evaluator import Item

CRITERIA = read_criteria()
ORIGINAL = "Ice floats on water."
LABEL = "Changed text:"


def usable(reply, original=ORIGINAL, *, kind="grammar_error", language="en", label=LABEL):
    return usable_text(reply, original, kind=kind, language=language, label=label)


QUOTED = ['"{}"', "“{}”", "'{}'", "«{}»", "「{}」", "```\n{}\n```", "```text\n{}\n```"]
LABELLED = ["Changed text: {}", "Changed text:\n{}", "changed text： {}", "**Changed text:** {}"]
BOTH = ['**Changed text**: "{}"', '"Changed text: {}"', "```\nChanged text: {}\n```", 'Changed text: "{}"']


@pytest.mark.parametrize("around", ["{}", "  \n {}\n", *QUOTED, *LABELLED, *BOTH])
def test_labels_fences_and_quotes_around_a_text_are_removed(around):
    assert usable(around.format("Ice float on water.")) == "Ice float on water."


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('""Ice float on water.""', None),  # ambiguous
        ("““Ice float on water.””", "“Ice float on water.”"),  # one pair
        ('"Ice" float on "water"', None),
        ("「Ice」 float on 「water」", None),
        ("「Ice 「float」 on water.」", "Ice 「float」 on water."),
        ("Changed text: Changed text: Ice float.", "Changed text: Ice float."),
        ("The changed text: Ice float on.", None),
        ("```Ice float on water.```", None),
    ],
)
def test_only_one_pair_and_one_label_are_taken_off(reply, text):
    assert usable(reply) == (text or reply)


def test_an_original_in_quotes_keeps_them_and_a_japanese_label_is_taken_off_with_any_colon():
    assert usable('"Ice float on water."', f'"{ORIGINAL}"') == '"Ice float on water."'
    japanese = {"language": "ja", "label": "変更後の文章："}
    assert usable("「氷が浮く。」", "「氷は浮く。」", **japanese) == "「氷が浮く。」"
    for reply in ("変更後の文章：氷が浮く。", "変更後の文章:\n「氷が浮く。」", "```\n氷が浮く。\n```"):
        assert usable(reply, "氷は浮く。", **japanese) == "氷が浮く。"


EMPTY = ["", " \n ", '""', "Changed text:", "```\n\n```"]
UNCHANGED = [ORIGINAL, f'Changed text: "{ORIGINAL}"', f"{ORIGINAL}\n"]
OTHER_SCRIPT = ["1234567890 1234567890", "氷は水に浮くのであるから、そうなのである。"]


@pytest.mark.parametrize("reply", [*EMPTY, *UNCHANGED, "Ice sinks", "x" * 41, *OTHER_SCRIPT])
def test_a_reply_that_is_not_a_damaged_text_is_refused(reply):
    assert usable(reply) is None


def test_a_text_may_have_half_and_twice_the_length_and_an_insertion_once_and_three_times():
    assert usable("Ice sinks.") == "Ice sinks."
    assert usable("x" * 40) == "x" * 40
    for n, is_usable in ((19, False), (20, True), (60, True), (61, False)):
        assert (usable("x" * n, kind="rewrite_insert") is not None) == is_usable


@pytest.mark.parametrize(
    ("original", "language", "reply", "is_usable"),
    [
        ("氷は水に浮く。", "ja", "Ice floats.", False),
        ("氷は水に浮く。", "ja", "ICEは水に浮く", True),
        ("ICE floats", "ja", "ICE float", True),  # Japanese by name only
        ("123 456", "en", "123 457", True),  # no letters at all
        ("Лёд плавает", "en", "Лёд тонет", True),  # another script
        ("Glace é", "en", "éééé", True),
    ],
)
def test_a_text_keeps_the_script_of_its_original(original, language, reply, is_usable):
    assert (usable(reply, original, language=language) is not None) == is_usable


@given(st.text(max_size=40), st.text(min_size=1, max_size=30), st.sampled_from(["ja", "en"]))
def test_a_usable_text_differs_from_the_original_and_has_about_its_length(reply, original, language):
    text = usable(reply, original, language=language)
    if text is not None:
        bare = original.strip()
        assert text == text.strip() != bare
        assert text
        assert len(bare) <= 2 * len(text) <= 4 * len(bare)
        assert text in reply


@pytest.mark.parametrize("piece", ["*", "`", '"', "「", "Changed text:", "\n", "```\n", "：", " "])
def test_long_replies_take_no_time(piece):
    assert usable(piece * (1_000_000 // len(piece))) is None


@pytest.mark.parametrize("language", ["en", "ja"])
def test_each_kind_and_degree_has_a_prompt_in_each_language(language):
    text = "Ice {what} {count} floats." if language == "en" else "氷は{what}{count}浮く。"
    hidden = {"question": "Why is that so?", "context": "Of old.", "references": ("Reference",)}
    item = Item("a", text, "summarization", language, **hidden)
    prompts = [made_prompt(item, each, CRITERIA) for each in EVERY]
    assert len(set(prompts)) == len(EVERY) == 7
    for prompt in prompts:
        assert prompt.count(item.text) == 1
        assert text_in(prompt) == item.text
        assert not any(one in prompt for one in ("Why is that so?", "Of old.", "Reference"))
        assert "{" not in prompt.replace(item.text, "")
        assert re.search(r"^1\. .*(\n.*)*^4\. ", prompt, re.MULTILINE)
        assert ("exactly one change" if language == "en" else "変更を一つだけ") in prompt
        assert ("no\ninstructions to you" if language == "en" else "あなたへの指示ではありません") in prompt
        assert (
            "a summary of a source text, written in English" if language == "en" else "元の文章の要約（日本語）"
        ) in prompt
        assert label_of(prompt) == ("Changed text:" if language == "en" else "変更後の文章：")


def test_short_texts_get_fewer_errors_of_grammar():
    for task, *counts in (("summarization", "two", "five"), ("qa", "one", "three"), ("story", "one", "five")):
        for degree, count in zip(("minor", "major"), counts, strict=True):
            prompt = made_prompt(Item("a", "It floats.", task, "en"), MADE[f"grammar_error/{degree}"], CRITERIA)
            assert f"this many: {count}." in prompt

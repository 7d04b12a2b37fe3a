"""Which replies are usable as damaged texts, and what is taken off them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.discernment.model_damage_prompts import usable_text

ORIGINAL = "Ice floats on water."
LABEL = "Changed text:"
JA_LABEL = "変更後の文章："


def usable(reply, original=ORIGINAL, *, kind="grammar_error", language="en", label=LABEL):
    return usable_text(reply, original, kind=kind, language=language, label=label)


@pytest.mark.parametrize(
    "reply",
    [
        "Ice float on water.",
        "  \n Ice float on water.\n",
        '"Ice float on water."',
        "“Ice float on water.”",
        "'Ice float on water.'",
        "«Ice float on water.»",
        "「Ice float on water.」",
        "```\nIce float on water.\n```",
        "```text\nIce float on water.\n```",
        "Changed text: Ice float on water.",
        "Changed text:\nIce float on water.",
        "changed text： Ice float on water.",
        "**Changed text:** Ice float on water.",
        '**Changed text**: "Ice float on water."',
        '"Changed text: Ice float on water."',
        "```\nChanged text: Ice float on water.\n```",
        'Changed text: "Ice float on water."',
    ],
)
def test_what_a_model_puts_around_a_text_is_taken_off(reply):
    assert usable(reply) == "Ice float on water."


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('""Ice float on water.""', '""Ice float on water.""'),  # ambiguous
        ("““Ice float on water.””", "“Ice float on water.”"),  # one pair
        ('"Ice" float on "water"', '"Ice" float on "water"'),
        ("「Ice」 float on 「water」", "「Ice」 float on 「water」"),
        ("「Ice 「float」 on water.」", "Ice 「float」 on water."),
        ("Changed text: Changed text: Ice float.", "Changed text: Ice float."),
        ("The changed text: Ice float on.", "The changed text: Ice float on."),
        ("```Ice float on water.```", "```Ice float on water.```"),
    ],
)
def test_only_one_pair_and_one_label_are_taken_off(reply, text):
    assert usable(reply) == text


def test_an_original_in_quotes_keeps_them():
    assert usable('"Ice float on water."', f'"{ORIGINAL}"') == '"Ice float on water."'
    assert usable("「氷が浮く。」", "「氷は浮く。」", language="ja", label=JA_LABEL) == "「氷が浮く。」"


def test_a_japanese_label_is_taken_off_with_any_colon():
    for reply in ("変更後の文章：氷が浮く。", "変更後の文章:\n「氷が浮く。」", "```\n氷が浮く。\n```"):
        assert usable(reply, "氷は浮く。", language="ja", label=JA_LABEL) == "氷が浮く。"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n ",
        '""',
        "Changed text:",
        "```\n\n```",
        ORIGINAL,
        f'Changed text: "{ORIGINAL}"',
        f"{ORIGINAL}\n",
        "Ice sinks",  # 9 of 20
        "Ice floats on water. " * 2 + "!",
        "1234567890 1234567890",
        "氷は水に浮くのであるから、そうなのである。",
    ],
)
def test_what_is_no_damaged_text_is_refused(reply):
    assert usable(reply) is None


def test_half_and_twice_the_length_are_still_usable():
    assert usable("Ice sinks.") == "Ice sinks."
    assert usable("x" * 40) == "x" * 40
    assert usable("x" * 41) is None


def test_an_insertion_is_longer_than_the_original_and_up_to_three_times():
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
def test_what_is_usable_differs_from_the_original_and_has_its_length(reply, original, language):
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

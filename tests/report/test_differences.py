from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.lab.experiments import Comparison, Pair, PairGroup
from pfgen_fast.lab.experiments.finding import N_SHOWN, marked

TEXTS = st.text(alphabet="ab\u0301\u3099氷、\u200d\ud800\x00", max_size=60)


def joined(pieces):
    return "".join(piece.text for piece in pieces)


def changed(pieces):
    return [piece.text for piece in pieces if piece.is_changed]


@given(TEXTS, TEXTS)
def test_the_pieces_make_up_the_texts_and_the_unchanged_ones_are_the_same(before, after):
    first, second = marked(before, after)
    assert (joined(first), joined(second)) == (before, after)
    kept = [[piece.text for piece in pieces if not piece.is_changed] for pieces in (first, second)]
    assert kept[0] == kept[1]
    assert all(piece.text for piece in (*first, *second))
    assert not any(unicodedata.category(piece.text[0]).startswith("M") for piece in (*first[1:], *second[1:]))


def test_of_long_texts_the_part_around_the_first_change_is_shown():
    before = "x" * 5000 + "ice" + "y" * 5000
    first, second = marked(before, before.replace("ice", "snow"))
    assert re.fullmatch("…x+icey+…", joined(first))
    assert (changed(first), changed(second)) == (["ice"], ["snow"])
    assert len(joined(second)) <= N_SHOWN + 2
    first, second = marked("ab", "ab" + "c" * 1000)  # only one text goes on
    assert (joined(first), changed(second)[-1]) == ("ab", "…")


@pytest.mark.parametrize("unit", ["、", "a.", "」", "ab" * 7 + "c"])
def test_hostile_texts_of_a_megabyte_take_no_time(unit):
    text = unit * (1_000_000 // len(unit))
    start = time.perf_counter()
    marked(text, text[::-1] + unit)
    assert time.perf_counter() - start < 2


def test_markdown_shows_the_first_pair_of_each_group_in_one_text():
    pairs = tuple(Pair(title, *marked("Ice *floats*.", "Ice `flots`, too.")) for title in ("<b>one</b>", "two"))
    text = Comparison("Before & after", (PairGroup("typos", pairs),)).to_markdown()
    assert "## Before &#38; after" in text
    assert "**typos**: &#60;b&#62;one&#60;/b&#62;" in text
    assert "Ice {+`+}[-*-]flo[-a-]ts{+`, too+}[-*-]." in text or "Ice [-*-]{+`+}flo[-a-]ts[-*-]{+`, too+}." in text
    assert "two" not in text

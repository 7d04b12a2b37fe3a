"""The edit distance, held to rapidfuzz and to the table that everybody knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.discernment.model_damage import edit_distance

WORDS = st.text("ab氷\ud800", max_size=12)


def by_table(one, other):
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        above, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (left != right))
    return row[-1]


@given(WORDS, WORDS)
def test_it_is_that_of_the_table(one, other):
    assert edit_distance(one, other) == edit_distance(other, one) == by_table(one, other)


@given(st.text(max_size=300), st.text(max_size=300), st.integers(0, 300))
def test_long_texts_have_the_distance_of_rapidfuzz(one, other, cut):
    distance = pytest.importorskip("rapidfuzz.distance").Levenshtein.distance
    for left, right in ((one, other), (one, one[:cut] + other + one[cut:])):
        assert edit_distance(left, right) == distance(left, right)


def test_long_texts_take_no_time():
    assert edit_distance("ab" * 10_000, "ba" * 10_000) == 2
    assert edit_distance("a" * 5_000, "b" * 5_000) == 5_000

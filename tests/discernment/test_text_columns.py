"""Columns of texts are compared row by row, by their code points."""

from __future__ import annotations

import pyarrow
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.evaluators.evaluator import text_column

TEXTS = st.none() | st.text("aé氷😀", max_size=3)
ROWS = st.lists(st.tuples(TEXTS, TEXTS))


@given(st.lists(TEXTS), st.lists(st.text("aé氷😀", min_size=1, max_size=2)))
def test_texts_that_contain_a_part_are_counted_in_any_encoding(texts, parts):
    expected = sum(text is not None and any(part in text for part in parts) for text in texts)
    for column in (text_column(texts), text_column(pyarrow.array(texts, pyarrow.string()))):
        assert column.n_with_any(parts) == expected


@given(ROWS)
def test_columns_differ_as_their_texts_do_in_any_encoding(rows):
    own, others = [one for one, _ in rows], [other for _, other in rows]
    expected = [one is not None and one != other for one, other in rows]
    for column in (text_column(others), text_column(pyarrow.array(others, pyarrow.string()))):
        assert text_column(own).differs_from(column).tolist() == expected

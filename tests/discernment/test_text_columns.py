"""Columns of texts are compared row by row, by their code points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.evaluators.evaluator import text_column

ROWS = st.lists(st.tuples(st.none() | st.text(max_size=3), st.none() | st.text(max_size=3)))


@given(ROWS)
def test_columns_differ_as_their_texts_do(rows):
    own, others = [one for one, _ in rows], [other for _, other in rows]
    expected = [one is not None and one != other for one, other in rows]
    assert text_column(own).differs_from(text_column(others)).tolist() == expected


def test_the_encoding_of_a_column_makes_no_difference():
    pyarrow = pytest.importorskip("pyarrow")
    texts = ["a", "é", "氷", "😀", "", None]
    arrow = text_column(pyarrow.array(texts, pyarrow.string()))
    assert not arrow.differs_from(text_column(texts)).any()
    assert arrow.differs_from(text_column(["b", "è", "水", "😃", "x", "y"])).tolist() == [True] * 5 + [False]
    with pytest.raises(ValueError, match="1 texts and 6 to compare with"):
        text_column(["a"]).differs_from(arrow)

"""The function `perturb`: what may be given to it, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast import DiscernmentError
from pfgen_fast.discernment import perturb

TEXTS = ["The ice floats on water.", "Ann has 3 cats."]


class Text(str):
    """A text of another class."""

    __slots__ = ()


@pytest.mark.parametrize("texts", [tuple(TEXTS), iter(TEXTS), np.array(TEXTS), list(map(Text, TEXTS))])
def test_texts_may_be_any_sequence_of_texts(texts):
    found = perturb(texts, "char_delete", permille=100)
    assert found == perturb(TEXTS, "char_delete", permille=100)
    assert {type(text) for text in found} == {str}


def test_whole_numbers_may_be_those_of_numpy():
    assert perturb(TEXTS, "char_typo", permille=np.int64(70), seed=np.int64(3)) == perturb(
        TEXTS, "char_typo", permille=70, seed=3
    )
    assert perturb(TEXTS, "word_drop", k=np.int32(2)) == perturb(TEXTS, "word_drop", k=2)


def test_a_language_may_be_that_of_all_texts_or_of_each():
    alone = [*perturb(TEXTS[:1], "word_repeat", k=1, language="ja"), *perturb(TEXTS[1:], "word_repeat", k=1)]
    assert perturb(TEXTS, "word_repeat", k=1, language=["ja", None]) == alone


def test_whole_texts_may_be_replaced_with_the_one_degree_that_there_is():
    assert perturb(TEXTS, "answer_swap", permille=1000) == perturb(TEXTS, "random_ending") == TEXTS[::-1]
    assert perturb(TEXTS, "answer_swap", questions=["Q1", "Q1"]) == [None, None]
    assert perturb(TEXTS, "answer_swap", donors=["It rained.", *TEXTS[:1] * 2])[0] == "It rained."


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("char_delet", {"k": 1}, "unknown kind 'char_delet'; expected one of char_delete, "),
        ("paraphrase", {}, "kind 'paraphrase' is made by a language model; expected one by rule: char_delete, "),
        ("char_delete", {"permille": 1001}, "char_delete: permille 1001: expected a whole number from 1 to 1000"),
        ("char_delete", {"permille": 30.5}, "char_delete: permille 30.5: expected a whole number from 1 to 1000"),
    ],
)
def test_what_is_wrong_is_named(kind, options, message):
    with pytest.raises(DiscernmentError) as caught:
        perturb(TEXTS, kind, **options)
    assert str(caught.value).startswith(message)
    assert str(caught.value).count(" char_delete,") <= 1

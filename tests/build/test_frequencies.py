"""Counts of n-grams among many answers: by hand, and against straightforward counting."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import strategies
from makers.effort import examples
from pfgen_fast import TrialsError
from pfgen_fast.build.selection import document_frequencies, find_rare_ngrams
from makers import plain_rules

COLUMNS = st.lists(strategies.texts(), max_size=12)
ORDERS = st.one_of(st.integers(1, 8), st.sampled_from([13, 20, 21, 22, 40, 1000]))


def grams(answer: str, order: int) -> list[str]:
    return [answer[i : i + order] for i in range(len(answer) - order + 1)]


@examples(200)
@given(COLUMNS, ORDERS, st.integers(1, 4), st.integers(1, 3))
def test_rare_ngrams_are_those_that_plain_counting_finds(answers, order, below, threads):
    counts = Counter(gram for answer in answers for gram in grams(answer, order))
    rare = {gram for gram, count in counts.items() if count < below}
    first = [next((i for i, gram in enumerate(grams(answer, order)) if gram in rare), -1) for answer in answers]
    found = find_rare_ngrams(answers, order=order, below=below, threads=threads)
    assert found.first.tolist() == first
    assert (found.n_rare, found.n_distinct) == (len(rare), len(counts))


@examples(200)
@given(COLUMNS, st.one_of(st.integers(1, 5), st.sampled_from([10, 13, 64])), st.integers(1, 3), st.integers(1, 3))
def test_document_frequencies_are_those_that_plain_counting_finds(answers, max_order, least, threads):
    counts = plain_rules.frequencies(plain_rules.ngrams(answer, max_order) for answer in answers)
    found = document_frequencies(answers, max_order=max_order, least=least, threads=threads)
    assert list(found.items()) == [(ngram, n) for ngram, n in sorted(counts.items()) if n >= least]


@pytest.mark.slow
@pytest.mark.parametrize("n_symbols", [2, 3, 4, 4095, 4096, 65_536])
@pytest.mark.parametrize("order", [5, 16, 33, 64])
def test_alphabets_of_any_size_are_counted_exactly(n_symbols, order):
    """From the smallest alphabet to one whose 5-grams do not fit into a machine word."""
    every = "".join(map(chr, range(0x10000, 0x10000 + n_symbols)))
    text = (every * order)[: order + 7]
    answers = [every, every, text, text, text[:-1] + (every[0] if text[-1] != every[0] else every[-1])]
    found = find_rare_ngrams(answers, order=order)
    counts = Counter(gram for answer in answers for gram in grams(answer, order))
    assert (found.n_rare, found.n_distinct) == (sum(n == 1 for n in counts.values()), len(counts))


@pytest.mark.parametrize(
    ("option", "value"),
    [*product(["order", "below", "threads"], [0, -1, 2**31]), *product(["order"], [True, 2.0, "2"])],
)
def test_an_option_that_is_out_of_range_is_named(option, value):
    with pytest.raises(ValueError, match=f"{option}: expected .*1 to .*, not {value!r}"):
        find_rare_ngrams(["abcde"], **{option: value})


def test_an_answer_that_is_not_a_text_is_named():
    for count in (find_rare_ngrams, document_frequencies):
        with pytest.raises(TrialsError, match=r"^answers\[1\]: expected a str, not NoneType$"):
            count(["a", None])

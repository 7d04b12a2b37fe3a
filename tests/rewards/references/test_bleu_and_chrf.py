"""BLEU and chrF: the columns and the scores of corpora equal sacrebleu's bit for bit."""

import sys
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import ReferenceScorer
from rewards.references.reference_tokenizers import LIKELY
from sacrebleu.metrics import BLEU, CHRF

WORDS = st.sampled_from([*"abcd水", "the", "Ice", "floats.", "(on)", "氷が", "浮く。", "\ud800", "𠮷", "1.5", "x-1"])
TEXTS = st.lists(WORDS | WORDS | LIKELY, max_size=14).map(" ".join) | st.lists(LIKELY, max_size=12).map("".join)
LONG = st.integers(20, 60).flatmap(lambda n: st.text("ab cd", min_size=n, max_size=4 * n))

# Settings of ours, and of sacrebleu's BLEU and CHRF.
BLEU_SETTINGS = {
    "default": ({}, {}),
    "no smoothing": ({"smooth": "none"}, {"smooth_method": "none"}),
    "floor": ({"smooth": "floor"}, {"smooth_method": "floor"}),
    "floor 0.5": ({"smooth": "floor", "smooth_value": 0.5}, {"smooth_method": "floor", "smooth_value": 0.5}),
    "add-k": ({"smooth": "add-k"}, {"smooth_method": "add-k"}),
    "add-k 0.3": ({"smooth": "add-k", "smooth_value": 0.3}, {"smooth_method": "add-k", "smooth_value": 0.3}),
    "all orders": ({"effective_order": False}, {"effective_order": False}),
    "lower case": ({"lowercase": True}, {"lowercase": True}),
    "two orders": ({"max_order": 2}, {"max_ngram_order": 2}),
    "eight orders": ({"max_order": 8}, {"max_ngram_order": 8}),
    "Chinese": ({"tokenize": "zh"}, {"tokenize": "zh"}),
}
TOKENIZED = {name: ({"tokenize": name}, {"tokenize": name}) for name in ("char", "intl", "none")}
NIGHTLY = [pytest.param(name, marks=pytest.mark.nightly) for name in TOKENIZED]
CHRF_SETTINGS = {
    "default": ({}, {}),
    "beta 3": ({"beta": 3}, {"beta": 3}),
    "white space": ({"whitespace": True}, {"whitespace": True}),
    "smoothed": ({"eps_smoothing": True}, {"eps_smoothing": True}),
    "lower case": ({"lowercase": True}, {"lowercase": True}),
    "two orders": ({"char_order": 2}, {"char_order": 2}),
    "nine orders": ({"char_order": 9}, {"char_order": 9}),
}


@st.composite
def batches(draw):
    """Answers with references; answers share words with their references, or even equal one."""
    rows = []
    for references in draw(st.lists(st.lists(TEXTS | LONG, min_size=1, max_size=4), min_size=1, max_size=4)):
        rows.append((draw(TEXTS | LONG | st.sampled_from(references)), references))
    return [answer for answer, _ in rows], [references for _, references in rows]


OF_ALL_LENGTHS = ["", "ab cd " * 16, "ab cd " * 30], [["a"], ["ab " * 30], ["ab cd " * 40]]
"""Answers that few drawn batches have."""


def assert_equal(actual, expected):
    """Python 3.12 adds up floats with less rounding."""
    if sys.version_info < (3, 12):
        assert actual == expected
    else:
        np.testing.assert_allclose(actual, expected, rtol=1e-13)


def by_columns(references):
    """References as sacrebleu takes them for a corpus: the first of each row, the second of each row, ..."""
    n = max(map(len, references))
    return [[row[i] if i < len(row) else None for row in references] for i in range(n)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*BLEU_SETTINGS, *NIGHTLY])
def test_bleu_equals_that_of_sacrebleu(name):
    own, library_settings = (BLEU_SETTINGS | TOKENIZED)[name]
    scorer = ReferenceScorer("bleu", threads=1, **own)
    sentences = BLEU(**{"effective_order": True} | library_settings)
    corpora = BLEU(**library_settings | {"effective_order": False})
    reached = Counter()

    @examples(150, at_least=37)
    @example(OF_ALL_LENGTHS)
    @given(batches())
    def compare(batch):
        answers, references = batch
        scores = scorer.score(answers, references)
        expected = [sentences.sentence_score(answer, list(part)).score for answer, part in zip(*batch, strict=True)]
        assert_equal(scores.bleu.tolist(), expected)
        assert_equal(scores.corpus("bleu"), corpora.corpus_score(answers, by_columns(references)).score)
        for answer, references_of_row, score in zip(answers, references, expected, strict=True):
            reached["empty"] += not answer
            reached["empty reference"] += "" in references_of_row
            reached["perfect"] += score > 99.9
            reached["partial"] += 0 < score < 90
            reached["long"] += len(answer) > 128

    compare()
    assert min(reached[kind] for kind in ("empty", "empty reference", "perfect", "partial", "long")) > 0, reached


@pytest.mark.slow
@pytest.mark.parametrize("metric", [pytest.param("chrf", marks=pytest.mark.nightly), "chrf++"])
@pytest.mark.parametrize("name", CHRF_SETTINGS)
def test_chrf_equals_that_of_sacrebleu(name, metric):
    own, library_settings = CHRF_SETTINGS[name]
    scorer = ReferenceScorer(metric, threads=1, **own)
    library = CHRF(word_order=2 if metric == "chrf++" else 0, **library_settings)
    lengths = set()

    @examples(200)
    @example(OF_ALL_LENGTHS)
    @given(batches())
    def compare(batch):
        answers, references = batch
        scores = scorer.score(answers, references)
        assert scores[metric].tolist() == [library.sentence_score(*row).score for row in zip(*batch, strict=True)]
        assert scores.corpus(metric) == library.corpus_score(answers, by_columns(references)).score
        lengths.update(map(len, answers))

    compare()
    assert 0 in lengths
    assert any(64 < n <= 128 for n in lengths)
    assert max(lengths) > 128


SCORED = ("bleu", "corpus_bleu", "chrf")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metrics", [order for n in (1, 2, 3) for order in permutations(SCORED, n)], ids="-".join)
def test_metrics_that_are_asked_for_together_equal_those_of_sacrebleu(metrics):
    answers = ["Ice floats on water.", "It is less dense than cold water.", "a"]
    references = [["Ice floats on the water.", "Ice floats."], ["It is less dense than water."], ["b"]]
    scores = ReferenceScorer(metrics).score(answers, references)
    libraries = {"bleu": BLEU(effective_order=True), "chrf": CHRF()}
    for metric in libraries.keys() & set(metrics):
        assert_equal(
            scores[metric].tolist(),
            [libraries[metric].sentence_score(*row).score for row in zip(answers, references, strict=True)],
        )
    if {"bleu", "corpus_bleu"} & set(metrics):
        expected = BLEU().corpus_score(answers, by_columns(references)).score
        assert expected > 50
        assert_equal([scores.corpus("bleu"), scores.corpus_bleu], [expected] * 2)


def test_chrf_and_chrf_with_words_may_prefer_different_references():
    """Both are found in one pass, but each has its own best reference, whose counts a corpus adds up."""
    answers, references = ["ab cd ef gh ij kl mn"], [["abcdefghijklmn", "ab cd ef gh ij kl mm"]]
    both = ReferenceScorer(["chrf", "chrf++"]).score(answers, references)
    for metric in ("chrf", "chrf++"):
        alone = ReferenceScorer(metric).score(answers, references)
        assert alone[metric] == both[metric]
        np.testing.assert_array_equal(alone.counts(metric), both.counts(metric))
    assert both.counts("chrf")[0, :18].tolist() != both.counts("chrf++")[0, :18].tolist()

"""All pairs of hypotheses and references: `matrix` and `mbr` equal the scores of each pair alone, bit for bit."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import ReferenceScorer, TrialsError
from rewards.references.test_bleu_and_chrf import LONG, OF_ALL_LENGTHS, TEXTS
from rewards.references.test_reference_scorer import ALL

METRICS = [name for name in (*ALL, "rouge_2") if not name.startswith(("rep", "distinct", "corpus"))]
SETTINGS = {
    "default": {},
    "few orders": {"char_order": 1, "max_order": 1, "tokenize": "char"},
    "many orders": {"char_order": 9, "max_order": 8, "whitespace": True, "scale": "unit"},
    "smoothed": {"eps_smoothing": True, "lowercase": True, "reduce": "mean", "tokenize": str.split},
}


def of_each_pair(scorer, hypotheses, references):
    """The scores of the pairs as rows, one matrix for each column."""
    pairs = [(hypothesis, [reference]) for hypothesis in hypotheses for reference in references]
    scores = scorer.score(*map(list, zip(*pairs, strict=True)))
    return {name: scores[name].reshape(len(hypotheses), len(references)) for name in scores.columns}


def assert_equal_matrices(actual, expected):
    assert actual.keys() == expected.keys()
    for name, matrix in expected.items():
        np.testing.assert_array_equal(actual[name], matrix, err_msg=name)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_matrix_equals_the_scores_of_each_pair(name):
    single, several = (ReferenceScorer(METRICS, threads=n, **SETTINGS[name]) for n in (1, 3))
    lists = st.lists(TEXTS | LONG, min_size=1, max_size=5)
    reached = Counter()

    @examples(40)
    @example(OF_ALL_LENGTHS[0], ["", *OF_ALL_LENGTHS[0], "aaaa aaaa aaa"])
    @given(lists, lists)
    def compare(hypotheses, references):
        expected = of_each_pair(single, hypotheses, references)
        assert_equal_matrices(single.matrix(hypotheses, references), expected)
        assert_equal_matrices(several.matrix(hypotheses), of_each_pair(single, hypotheses, hypotheses))
        chrf = expected["chrf"] / (1 if name == "many orders" else 100)
        reached.update(partial=((chrf > 0) & (chrf < 0.9)).any(), perfect=(chrf == 1).any(), empty="" in references)

    compare()
    assert min(reached[kind] for kind in ("partial", "perfect", "empty")) > 0, reached


def test_more_references_than_a_block_and_more_hypotheses_than_a_task():
    """chrF takes 64 references at a time, with 256 hypotheses."""
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("abc "), size=rng.integers(0, 30))) for _ in range(330)]
    single, several = (ReferenceScorer(["chrf", "chrf++"], threads=threads) for threads in (1, 3))
    for references in (texts[:64], texts[:65], texts[-150:]):
        expected = of_each_pair(single, texts, references)
        assert_equal_matrices(several.matrix(texts, references), expected)
    utility = single.mbr(texts, references)
    np.testing.assert_array_equal(utility["chrf"], expected["chrf"].mean(axis=1))
    np.testing.assert_array_equal(single.mbr(texts)["chrf++"], several.matrix(texts)["chrf++"].mean(axis=1))


@pytest.mark.slow
def test_texts_that_are_too_long_for_sets_of_ngrams_have_the_same_scores():
    texts = ["a" * 530_000 + "bc", "a" * 530_000 + "b"]
    scorer = ReferenceScorer("chrf", char_order=16)
    assert_equal_matrices(scorer.matrix(texts), of_each_pair(scorer, texts, texts))


def test_no_texts_have_empty_matrices_and_no_utility():
    scorer = ReferenceScorer(["chrf", "rouge_l"])
    assert scorer.matrix([], ["a", "b"])["chrf"].shape == (0, 2)
    assert scorer.matrix(["a"], [])["rouge_l_recall"].shape == (1, 0)
    for texts, what in ((([],), "hypotheses"), ((["a"], []), "references")):
        with pytest.raises(ValueError, match=f"^{what}: expected at least one text$"):
            scorer.mbr(*texts)


@pytest.mark.parametrize("metric", ["rep_4", "corpus_bleu", "fluency"])
def test_metrics_without_pairs_are_refused(metric):
    message = f"metric '{metric}': expected a metric that compares an answer with one reference"
    with pytest.raises(ValueError, match=f"^{message}$"):
        ReferenceScorer(["chrf", metric]).matrix(["a"])


NO_TEXTS = {
    "a null": ((["a", None], ["a"]), "hypotheses[1]: expected a str, not NoneType"),
    "a number": ((["a"], ["b", 2]), "references[1]: expected a str, not int"),
    "too long": ((["a", "b" * 2**21], ["a"]), "hypotheses[1]: a text of more than 1048576 code points"),
    "too long references": ((["a"], ["b" * 2**21]), "references[0]: a text of more than 1048576 code points"),
    "a text": (("ab", ["a"]), "hypotheses: expected "),
    "lines": (
        (["a\n" * 40_000],),
        "hypotheses[0]: 40000 lines, and 40000 lines in a reference; rouge_lsum needs fewer",
    ),
}


@pytest.mark.parametrize("name", NO_TEXTS)
def test_invalid_hypotheses_and_references(name):
    texts, message = NO_TEXTS[name]
    with pytest.raises(TrialsError, match=f"^{re.escape(message)}"):
        ReferenceScorer(["chrf", "rouge_lsum"], tokenize="char").matrix(*texts)

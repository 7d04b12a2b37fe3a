"""ROUGE, token F1 and exact match: the columns equal rouge_score and SQuAD's evaluation script bit for bit."""

import random
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import ReferenceScorer
from rewards.references.reference_tokenizers import LIKELY, TOKENIZERS, squad_tokens

LIBRARY_NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_4": "rouge4"}
LIBRARY_NAMES |= {"rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}
METRICS = (*LIBRARY_NAMES, "token_f1", "exact_match")


class LibraryTokenizer:
    """A tokenizer as rouge_score takes it."""

    def __init__(self, name):
        self.tokenize = TOKENIZERS[name]


@cache
def library(tokenizer):
    from rouge_score.rouge_scorer import RougeScorer  # its imports take seconds, which collection need not wait for

    return RougeScorer([*LIBRARY_NAMES.values()], tokenizer=LibraryTokenizer(tokenizer))


def squad_f1(reference, answer):
    """`compute_f1` of SQuAD 2.0's evaluation script, of tokens."""
    n_same = sum((Counter(reference) & Counter(answer)).values())
    if not reference or not answer:
        return float(reference == answer)
    if n_same == 0:
        return 0.0
    precision, recall = n_same / len(answer), n_same / len(reference)
    return (2 * precision * recall) / (precision + recall)


def expected(answer, references, tokenizer=None):
    scores = library(tokenizer or "rouge").score_multi(references, answer)
    row = [value for name in LIBRARY_NAMES.values() for value in np.take(scores[name], [2, 0, 1])]
    tokens = TOKENIZERS[tokenizer] if tokenizer else squad_tokens
    pairs = [(tokens(reference), tokens(answer)) for reference in references]
    return [*row, max(squad_f1(*pair) for pair in pairs), max(float(a == b) for a, b in pairs)]


def found(answers, references, tokenizer=None, metrics=METRICS):
    scores = ReferenceScorer(metrics, tokenize=tokenizer, threads=1).score(answers, references)
    return np.stack([scores[name] for name in scores.columns], axis=1).tolist()


WORDS = st.sampled_from([*"abcd", "the", "cat", "sat", "on", "mat", "Cat,", "氷", "が\u3000浮く", "。", "1.5", "don't"])
SENTENCES = st.lists(WORDS | WORDS | LIKELY, max_size=12).map(" ".join)
TEXTS = st.lists(SENTENCES, max_size=4).map("\n".join)
LONG = st.lists(st.sampled_from("abcdefgh"), min_size=65, max_size=80).map(" ".join)


@st.composite
def rows(draw):
    references = draw(st.lists(TEXTS | TEXTS | LONG, min_size=1, max_size=3))
    reordered = st.permutations(references[0].split("\n")).map("\n".join)
    return draw(TEXTS | reordered | LONG), references


@pytest.mark.slow
@pytest.mark.parametrize(
    "tokenizer",
    [None, "char", *(pytest.param(name, marks=pytest.mark.nightly) for name in TOKENIZERS if name != "char")],
)
def test_columns_equal_those_of_the_libraries(tokenizer):
    reached = Counter()

    @examples(400)
    @given(st.lists(rows(), max_size=3))
    def compare(batch):
        answers, references = [row[0] for row in batch], [row[1] for row in batch]
        by_libraries = [expected(*row, tokenizer) for row in batch]
        assert found(answers, references, tokenizer) == by_libraries
        for (answer, of_row), values in zip(batch, by_libraries, strict=True):
            *_, rouge_l, lsum = values[0:-2:3]
            reached["an empty text"] += not all([answer, *of_row])
            reached["no match"] += rouge_l == 0
            reached["other sentences"] += lsum > rouge_l
            reached["a long LCS"] += len(answer.split()) > 64 and rouge_l > 0
            reached["4-grams"] += 0 < values[6] < 1

    compare()
    assert min(reached.values()) > 0, reached


def test_rows_of_many_and_of_long_references_equal_the_library():
    texts = [" ".join(f"w{i * j % 17}" for j in range(1, 30)) for i in range(100)]
    assert found(texts[:3], [texts[3:], texts[50:], texts[:1]]) == [
        expected(texts[0], texts[3:]),
        expected(texts[1], texts[50:]),
        expected(texts[2], texts[:1]),
    ]
    longer = [" ".join(f"w{i * j % 13}" for j in range(1, 200)) for i in (1, 2, 5)]
    assert found(longer[:1], [longer[1:]]) == [expected(longer[0], longer[1:])]


def test_lines_of_which_a_part_of_the_table_is_kept_equal_those_of_which_all_is():
    """2,500 tokens of the reference are 40 blocks; with 5,000 tokens of the answer, 26 of them are kept at a time."""
    rng = random.Random(3)
    reference, answer = (" ".join(rng.choices("abcdefgh", k=n)) for n in (2_500, 5_000))
    scores = [found([f"{answer}{rest}"], [[reference]], metrics=["rouge_l", "rouge_lsum"])[0] for rest in ("", "\nx")]
    assert scores[1][5] == scores[0][2] == scores[1][2]  # recall: the second line adds nothing


def test_the_first_of_equally_good_references_counts():
    """A reference with the same F may have other shares."""
    answer, references = "a b c d", ["a b", "a b x y z c d e"]
    row = found([answer], [references], metrics=["rouge_1"])[0]
    assert row == [2 / 3, 0.5, 1.0]
    assert found([answer], [references[::-1]], metrics=["rouge_1"])[0] == [2 / 3, 1.0, 0.5]


def test_a_sentence_counts_each_token_of_the_answer_once():
    """ROUGE-Lsum unites the subsequences of all sentences, but a token of the answer matches once."""
    row = found(["a b\nc"], [["a\na\nc b"]], metrics=["rouge_lsum"])[0]
    assert row == [6 / 7, 1.0, 0.75]


def test_a_function_as_tokenizer_gives_what_its_library_tokenizer_gives():
    answers, references = ["氷 a1, a 水\nab", ""], [["氷 a2\nab 水", "a"], ["x"]]
    assert found(answers, references, TOKENIZERS["char"]) == found(answers, references, "char")

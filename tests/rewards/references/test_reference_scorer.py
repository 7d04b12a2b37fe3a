"""The scorer: containers, settings, rows that share lists, threads, own tokenizers, tables of scores."""

import copy
import pickle
import random
import re
from dataclasses import replace
from statistics import median

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import Question, ReferenceScorer, Suite, TrialsError
from pfgen_fast.oracle import Oracle
from pfgen_fast.rewards.references.metrics import METRICS, NGRAM_METRICS
from pfgen_fast.suite.rules import Lengths
from pfgen_fast.suite.units import PatternTokenizer

ALL = [*(name for name in METRICS if name not in NGRAM_METRICS), "rouge_3", "rep_2", "distinct_1"]
ANSWERS = [
    "Ice floats.", "", "氷は水に浮きます。", "x" * 300, "It is less dense than water 𠮷.", "Ice floats.\nIt melts.",
]  # fmt: skip
REFERENCES = [["Ice floats on water.", "Ice floats."], [""], ["氷は浮く。", "水"], ["x" * 200], ["𠮷"], ["It melts."]]
LISTS = pyarrow.array(REFERENCES)

CONTAINERS = {
    "tuples": lambda: tuple(map(tuple, REFERENCES)),
    "generator": lambda: (references for references in REFERENCES),
    "numpy objects": lambda: np.array([*REFERENCES, None], dtype=object)[:-1],
    "numpy arrays": lambda: [np.array(references) for references in REFERENCES],
    "pandas": lambda: pandas.Series(REFERENCES),
    "pandas arrow": lambda: pandas.Series(REFERENCES, dtype=pandas.ArrowDtype(LISTS.type)),
    "polars": lambda: polars.Series(REFERENCES),
    "polars slice": lambda: polars.Series([["skipped", "too"], *REFERENCES, []]).slice(1, len(REFERENCES)),
    "pyarrow": lambda: LISTS,
    "pyarrow large": lambda: LISTS.cast(pyarrow.large_list(pyarrow.large_string())),
    "pyarrow views": lambda: LISTS.cast(pyarrow.list_(pyarrow.string_view())),
    "pyarrow slice": lambda: pyarrow.array([["skipped"], None, *REFERENCES, ["skipped"]])[2:-1],
    "pyarrow dictionary": lambda: LISTS.cast(pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))),
    "pyarrow chunks": lambda: pyarrow.chunked_array([LISTS[:1], LISTS[1:1], LISTS[1:]]),
    "pyarrow table": lambda: pyarrow.table({"references": LISTS}),
    "duckdb": lambda: duckdb.sql("SELECT unnest($lists) AS r", params={"lists": REFERENCES}),
}


def values(scores):
    return {name: scores[name].tolist() for name in scores.columns}


def assert_same(actual, expected):
    assert actual.columns == expected.columns
    for name in expected.columns:
        np.testing.assert_array_equal(actual[name], expected[name])
    assert actual.corpus_bleu == expected.corpus_bleu
    assert actual.corpus("chrf++") == expected.corpus("chrf++")


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_container_of_references(container):
    scorer = ReferenceScorer(ALL)
    assert_same(scorer.score(ANSWERS, CONTAINERS[container]()), scorer.score(ANSWERS, REFERENCES))


def test_what_the_columns_hold():
    scores = ReferenceScorer(["exact_match", "token_f1", "rep_2", "distinct_2", "rouge_1"]).score(
        ["The ice floats!", "abab", "a"], [["ice floats"], ["ab ab", "abab"], ["b"]]
    )
    assert scores.exact_match.tolist() == [1, 1, 0]
    assert scores.token_f1.tolist() == [1, 1, 0]
    assert scores.rep_2.tolist()[1:2] == [1 / 2]  # "ab" of "ab" and "ba" occurs again
    assert scores.distinct_2.tolist()[1:2] == [2 / 3]
    assert np.isnan(scores.rep_2[2])  # no n-gram
    assert scores.rouge_1_precision[0] == 2 / 3
    assert scores.rouge_1_recall[0] == 1


@st.composite
def grouped(draw):
    """Rows of a few groups with one list each, equal or the same object, in any order."""
    texts = st.text("ab cé水\n.", max_size=90) | st.sampled_from(["ab" * 40, "", "a b"])
    groups = draw(st.lists(st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(texts, st.sampled_from(groups), st.booleans()), min_size=1, max_size=80))
    return [(answer, list(references) if is_copy else references) for answer, references, is_copy in rows]


@examples(150)
@given(grouped(), st.randoms(use_true_random=False))
def test_rows_are_scored_separately(rows, rng):
    single, several = (ReferenceScorer(ALL, threads=threads) for threads in (1, 3))
    expected = [values(single.score([answer], [references])) for answer, references in rows]
    order = rng.sample(range(len(rows)), len(rows))
    actual = several.score([rows[i][0] for i in order], [rows[i][1] for i in order])
    for place, i in enumerate(order):
        for name, (value,) in expected[i].items():
            np.testing.assert_array_equal(actual[name][place], value)


def test_the_mean_is_that_of_the_scores_with_each_reference_alone():
    rng = random.Random(5)
    texts = ["".join(rng.choices("ab c水\n", k=rng.randrange(150))) for _ in range(60)]
    references = [[*rng.sample(texts, 5), answer][-n:] for answer, n in zip(texts, [1, 2, 5, 6] * 15, strict=True)]
    best, mean = (ReferenceScorer(ALL, reduce=reduce) for reduce in ("best", "mean"))
    actual, of_best = mean.score(texts, references), best.score(texts, references)
    for row, (answer, row_references) in enumerate(zip(texts, references, strict=True)):
        single = [best.score([answer], [[reference]]) for reference in row_references]
        for name in actual.columns:
            total = 0.0
            for scores in single:
                total += scores[name][0]
            is_alone = name.startswith(("rep", "distinct"))
            np.testing.assert_array_equal(actual[name][row], scores[name][0] if is_alone else total / len(single))
    assert (actual.chrf < of_best.chrf).mean() > 0.5
    assert actual.corpus_bleu == of_best.corpus_bleu
    assert actual.corpus("chrf++") == of_best.corpus("chrf++")
    mixed = ReferenceScorer(["bleu", "corpus_bleu", "rep_2", "fluency"], reduce="mean").signature
    assert [name.split("(")[0] for name in mixed.split("|") if "refs:mean" in name] == ["bleu"]


def test_references_that_are_not_kept_give_the_same():
    """A list of more than 4096 references is read again for each answer, so that memory is bounded."""
    rng = random.Random(4)
    references = ["".join(rng.choices("abc ", k=rng.randrange(20))) for _ in range(5000)]
    answers = ["abc cab", "cc", "abc abc bca"]
    result = ReferenceScorer(ALL).score(answers, [references] * 3)
    parts = [ReferenceScorer(ALL).score(answers, [references[i : i + 2500]] * 3) for i in (0, 2500)]
    for name in ("chrf", "chrf++", "rouge_1", "rouge_lsum", "token_f1"):
        np.testing.assert_array_equal(result[name], np.maximum(parts[0][name], parts[1][name]))


def test_a_function_as_tokenizer_is_called_once_for_each_text():
    texts = []

    def tokenize(text):
        texts.append(text)
        return [(word, len(word)) for word in text.split()]  # any hashable values

    metrics = ["bleu", "rouge_2", "rouge_l", "rouge_lsum", "token_f1", "exact_match", "distinct_2", "chrf"]
    answers = ["Ice floats.\nIt melts.", "Ice floats.\nIt melts."]
    references = [["It melts.\n\nIce sinks."], ["Ice floats.\nIt melts."]]
    result = ReferenceScorer(metrics, tokenize=tokenize).score(answers, references)
    assert sorted(texts) == sorted({*answers, references[0][0], "Ice floats.", "It melts.", "Ice sinks."})
    assert_equal_but_names(result, ReferenceScorer(metrics, tokenize="none").score(answers, references))
    lowered = ReferenceScorer("bleu", tokenize=str.split, lowercase=True).score(["ICE FLOATS"], [["ice floats"]])
    assert lowered.bleu.round(9) == 100


def assert_equal_but_names(actual, expected):
    assert values(actual) == values(expected)


def test_shares_of_the_answer_need_no_references():
    scorer = ReferenceScorer(["rep_4", "distinct_4"])
    assert not scorer.needs_references
    result = scorer.score(["abcdabcd", "abc"])
    assert result.rep_4.tolist()[0] == 1 / 4
    assert_equal_but_names(result.rows(0, 1), scorer.score(["abcdabcd", "abc"], [["x"], ["y"]]).rows(0, 1))


def test_missing_answers_and_lists_have_no_scores():
    scorer = ReferenceScorer(["bleu", "chrf", "rouge_l"])
    answers, references = ["Ice.", None, "Ice."], [["Ice."], ["Ice."], None]
    for given_lists in (references, pyarrow.array(references), polars.Series(references)):
        scores = scorer.score(answers, given_lists, nulls="null")
        assert scores.chrf.tolist()[0] == 100
        assert np.isnan(scores.chrf[1:]).all()
        assert scores.corpus("chrf") == 100
        assert pyarrow.table(scores)["rouge_l"].to_pylist() == [1, None, None]


def test_a_batch_without_answers_or_without_lists():
    scorer = ReferenceScorer([*ALL, *NGRAM_METRICS])
    empty = scorer.score([], [])
    assert len(empty) == len(list(empty)) == 0
    assert empty.corpus_bleu == empty.corpus("chrf") == 0
    assert repr(empty).startswith("ReferenceScores(0 answers, none scored; ")
    for missing in ([None, None], pyarrow.array([None, None], pyarrow.list_(pyarrow.string()))):
        scores = scorer.score(["Ice.", None], missing, nulls="null")
        assert all(np.isnan(scores[name]).all() for name in scores.columns)
        assert scores.corpus_bleu == 0
        assert repr(scores) == "ReferenceScores(2 answers, none scored; corpus bleu 0.0000; corpus chrf 0.0000; " + (
            "corpus chrf++ 0.0000)"
        )


def test_a_corpus_is_the_sum_of_its_rows():
    scores = ReferenceScorer(["corpus_bleu", "chrf"]).score(ANSWERS, REFERENCES)
    assert scores.columns == ("chrf",)
    assert "6 answers; corpus bleu" in repr(ReferenceScorer("corpus_bleu").score(ANSWERS, REFERENCES))
    assert scores.corpus_bleu == scores.corpus("corpus_bleu")
    sums = [part.counts("bleu").sum(axis=0) for part in (scores.rows(0, 2), scores.rows(2, 6))]
    np.testing.assert_array_equal(sums[0] + sums[1], scores.counts("bleu").sum(axis=0))
    with pytest.raises(ValueError, match="unknown metric of a corpus 'rouge_l'; expected one of bleu, chrf"):
        scores.corpus("rouge_l")


def test_a_table_of_scores():
    scorer = ReferenceScorer(["bleu", "rouge_l"], smooth="floor", tokenize="char")
    scores = scorer.score(ANSWERS, REFERENCES)
    assert repr(scores).startswith("ReferenceScores(6 answers; mean bleu ")
    shares = ReferenceScorer(["rep_2", "rep_5"]).score(["abab", ""])
    assert repr(shares) == "ReferenceScores(2 answers; mean rep_2 0.5000)"
    assert "𠮷" in scores._repr_html_()
    assert scores.signature == scorer.signature
    assert "bleu(tok:char,smooth:floor[0.1],eff:yes,order:4)|rouge_l(tok:char)|case:mixed" in scores.signature
    frame = polars.DataFrame(scores)
    assert frame.columns == list(scores.columns)
    np.testing.assert_array_equal(frame["bleu"].to_numpy(), scores.bleu)
    for same in (pickle.loads(pickle.dumps(scores)), copy.copy(scores), scores.rows(0, 6)):
        assert_equal_but_names(same, scores)
        assert same.corpus("bleu") == scores.corpus("bleu")
    assert list(scores)[2] == {name: scores[name][2] for name in scores.columns}


def test_a_scorer_is_sent_as_its_settings():
    scorer = ReferenceScorer(ALL, smooth="add-k", threads=2)
    scorer.score(["a"], [["a"]])
    content = pickle.dumps(scorer)
    assert len(content) < 600
    assert pickle.loads(content) == scorer
    assert pickle.loads(content).signature == scorer.signature


NGRAM_SETTINGS = {
    "characters": ({}, None, Lengths()),
    "words of fitting lengths": ({"unit": "words", "lengths": "references"}, PatternTokenizer("words"), None),
}


@pytest.mark.parametrize("setting", NGRAM_SETTINGS)
@pytest.mark.parametrize("metrics", [["fluency"], ["chrf", "truthfulness", "fluency"]])
def test_fluency_and_truthfulness_are_those_of_a_suite_made_of_the_references(metrics, setting):
    settings, tokenizer, lengths = NGRAM_SETTINGS[setting]
    rng = random.Random(7)
    words = ["Ice ", "floats ", "on ", "water ", "because ", "it ", "is ", "light", ".", "氷は", "浮く。"]
    sizes = (1, 2, 30) if metrics == ["fluency"] else (100, 101, 102)
    lists = [["".join(rng.choices(words, k=8)) for _ in range(size)] for size in sizes]
    answers = ["Ice floats on water.", "x" * 160, None, "氷は浮く。", "", "It floats.", "on ice " * 40, lists[1][0]]
    references = [lists[0], lists[1], lists[0], lists[2], lists[1], None, lists[2], lists[1]]
    scorer = ReferenceScorer(metrics, **settings)
    for _ in range(2):  # compiled, then kept
        actual = scorer.score(answers, references, nulls="null")
        assert actual.columns == tuple(metrics)
        for row, (answer, row_references) in enumerate(zip(answers, references, strict=True)):
            figures = {name: actual[name][row] for name in metrics if name != "chrf"}
            if answer is None or row_references is None:
                assert np.isnan(list(figures.values())).all()
                continue
            question = Question("Q", "?", {"A": tuple(row_references)}, tokenizer=tokenizer)
            fitting = Lengths.fitting(median(map(question.n_units, row_references)))
            question = replace(question, lengths=lengths or fitting)
            expected = Oracle(Suite("own", (question,))).score_one("Q", answer)
            assert figures == {name: expected[name]["A"] for name in figures}


def test_references_without_any_unit_have_no_fluency_and_few_no_truthfulness():
    references = [["", ""], [" "], ["Ice floats."]]
    in_words = ReferenceScorer("fluency", unit="words").score(["Ice floats.", "", "Ice floats."], references)
    assert in_words.fluency.tolist() == [0, 0, 1]
    assert ReferenceScorer("fluency").score(["Ice"], [[""]]).fluency.tolist() == [0]
    with pytest.raises(TrialsError, match=r"^references\[1\]: truthfulness needs at least 100 references, got 99$"):
        ReferenceScorer(["truthfulness", "fluency"]).score(["a", "b"], [["a"] * 100, ["a"] * 99])
    signature = ReferenceScorer(["fluency", "chrf"], unit="words", lengths="references").signature
    assert "fluency(profile:leaderboard,unit:words,lengths:references)|chrf(nc:6" in signature


# ---- What is no answer, no list of references or no setting


NONE, EXPECTED_LIST = "expected a list of references for each answer", "expected a list of references"

WRONG_LISTS = {
    "none": (None, f"references: {NONE}, got None"),
    "one text": ("a", f"references: {NONE}, got one str"),
    "texts": (["a", "b"], f"references[0]: {EXPECTED_LIST}, got one str"),
    "a number": (3, f"references: {NONE}, got one int"),
    "too few": ([["a"]], f"references: 1 list for 2 answers; {NONE}"),
    "a null": ([["a"], None], f"references[1]: {EXPECTED_LIST}, got a null"),
    "a nan": ([["a"], float("nan")], f"references[1]: {EXPECTED_LIST}, got a null"),
    "a number in the place of a list": ([["a"], 7], f"references[1]: {EXPECTED_LIST}, got one int"),
    "an empty list": ([["a"], []], "references[1]: expected at least one reference, got an empty list"),
    "a null in a list": ([["a"], ["b", None]], "references[1]: reference 1: expected a str, not NoneType"),
    "bytes": ([["a"], [b"b"]], "references[1]: reference 0: expected a str, not bytes"),
    "numbers of NumPy": (np.zeros((2, 3)), "references[0]: reference 0: expected a str, not float"),
    "too long": ([["a"], ["b", "c" * 2**21]], "references[1]: reference 1: a text of more than 1048576 code points"),
    "arrow texts": (pyarrow.array(["a", "b"]), "references: expected an Arrow column of lists of strings, not of"),
    "arrow numbers": (pyarrow.array([[1], [2]]), "references: expected an Arrow column of strings, not of format 'l'"),
    "arrow null": (pyarrow.array([["a"], None]), f"references[1]: {EXPECTED_LIST}, got a null"),
    "arrow empty": (pyarrow.array([["a"], []]), "references[1]: expected at least one reference, got an empty list"),
    "arrow null in a list": (pyarrow.array([["a"], [None]]), "references[1]: reference 0: a null; expected a text"),
    "arrow too few": (pyarrow.array([["a"]]), f"references: 1 list for 2 answers; {NONE}"),
}


@pytest.mark.parametrize("name", WRONG_LISTS)
def test_invalid_references(name):
    references, message = WRONG_LISTS[name]
    with pytest.raises(TrialsError, match=f"^{re.escape(message)}") as caught:
        ReferenceScorer("chrf").score(["a", "b"], references)
    assert caught.value.column == "references"
    row = re.match(r"references\[(\d+)\]", message)
    assert caught.value.row == (int(row[1]) if row else None)


def test_answers_texts_and_metrics_that_are_none_are_refused():
    invalid = pyarrow.Array.from_buffers(pyarrow.string(), 2, [None, *pyarrow.array(["a", "é"]).buffers()[1:]])
    buffers = [None, invalid.buffers()[1], pyarrow.py_buffer(b"a\xff\xff")]
    broken = pyarrow.Array.from_buffers(pyarrow.string(), 2, buffers)
    lists = pyarrow.ListArray.from_arrays([0, 1, 2], broken)
    with pytest.raises(TrialsError, match=r"^references\[1\]: reference 0: invalid UTF-8 at byte 0$"):
        ReferenceScorer("chrf").score(["a", "b"], lists)
    with pytest.raises(TrialsError, match=r"^answers\[1\]: invalid UTF-8 at byte 0$"):
        ReferenceScorer("chrf").score(broken, [["a"]] * 2)
    with pytest.raises(TrialsError, match=r"^answers\[1\]: expected a str, not NoneType$"):
        ReferenceScorer("chrf").score(["a", None], [["a"]] * 2)
    with pytest.raises(TrialsError, match=r"^answers\[0\]: a text of more than 1048576 code points$"):
        ReferenceScorer("chrf").score(["a" * 10_000_000], [["a"]])
    with pytest.raises(TrialsError, match=r"expected the tokenizer to return a list of tokens, got 1$"):
        ReferenceScorer("bleu", tokenize=len).score(["a"], [["a"]])
    for metrics in (None, [None]):
        with pytest.raises(TypeError, match=r"^metrics: expected names of metrics, not NoneType$"):
            ReferenceScorer(metrics)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a" * 100_000 + "\nb", "a line of 100000 tokens, and one of 100000 tokens in a reference; .* shorter lines"),
        ("a\n" * 40_000, "40000 lines, and 40000 lines in a reference; rouge_lsum needs fewer lines"),
    ],
)
def test_lines_that_are_too_long_or_too_many_for_rouge_lsum(text, problem):
    with pytest.raises(TrialsError, match=rf"^answers\[1\]: {problem}$"):
        ReferenceScorer("rouge_lsum", tokenize="char").score(["a", text], [["a"], ["b", text]])


def test_lone_surrogates_are_code_points():
    scores = ReferenceScorer(["chrf", "exact_match"]).score(["\ud800a", "\udfff"], [["\ud800a"], ["\ud800"]])
    assert scores.chrf.tolist() == [100, 0]
    assert scores.exact_match.tolist() == [1, 0]


SETTINGS = {
    "an unknown metric": ({"metrics": "belu"}, "unknown metric 'belu'; expected one of bleu, .*; did you mean 'bleu'?"),
    "no metric": ({"metrics": []}, "metrics: expected the name of at least one metric"),
    "a long n-gram": ({"metrics": "rouge_17"}, "metric 'rouge_17': expected n-grams of 1 to 16 tokens"),
    "a padded number": ({"metrics": "rep_04"}, "metric 'rep_04': expected n-grams of 1 to 16 tokens"),
    "an unknown tokenizer": ({"tokenize": "13b"}, "unknown tokenizer '13b'; .*; did you mean '13a'?"),
    "an unknown smoothing": ({"smooth": "expo"}, "smooth: expected 'exp', 'floor', 'add-k' or 'none', not 'expo'"),
    "a negative value": ({"smooth_value": -1}, "smooth_value: expected a number from 0 to 1e[+]100, not -1"),
    "a text as a value": ({"smooth_value": "1"}, "smooth_value: expected a number from 0 to 1e[+]100, not '1'"),
    "no beta": ({"beta": float("nan")}, "beta: expected a number from 0 to 1e[+]100, not nan"),
    "a large beta": ({"beta": 1e155}, "beta: expected a number from 0 to 1e[+]100, not 1e[+]155"),
    "no order": ({"max_order": 0}, "max_order: expected 1 to 16, not 0"),
    "half an order": ({"char_order": 2.5}, "char_order: expected 1 to 16, not 2.5"),
    "too many threads": ({"threads": 0}, "threads: expected 1 to 1024, not 0"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_invalid_settings(name):
    settings, message = SETTINGS[name]
    with pytest.raises(ValueError, match=f"^{message.replace('?', '[?]')}$"):
        ReferenceScorer(**{"metrics": "bleu"} | settings)

"""Invalid input: one sentence that names the place."""

import re

import numpy as np
import pyarrow
import pytest
from pfgen_fast import ReferenceScorer, TrialsError

NONE, LISTS = "expected a list of references for each answer", "expected a list of references"

REFERENCES = {
    "none": (None, f"references: {NONE}, got None"),
    "one text": ("a", f"references: {NONE}, got one str"),
    "texts": (["a", "b"], f"references[0]: {LISTS}, got one str"),
    "a number": (3, f"references: {NONE}, got one int"),
    "too few": ([["a"]], f"references: 1 list for 2 answers; {NONE}"),
    "a null": ([["a"], None], f"references[1]: {LISTS}, got a null"),
    "a nan": ([["a"], float("nan")], f"references[1]: {LISTS}, got a null"),
    "a number in the place of a list": ([["a"], 7], f"references[1]: {LISTS}, got one int"),
    "an empty list": ([["a"], []], "references[1]: expected at least one reference, got an empty list"),
    "a null in a list": ([["a"], ["b", None]], "references[1]: reference 1: expected a str, not NoneType"),
    "bytes": ([["a"], [b"b"]], "references[1]: reference 0: expected a str, not bytes"),
    "numbers of NumPy": (np.zeros((2, 3)), "references[0]: reference 0: expected a str, not float"),
    "too long": (
        [["a"], ["b", "c" * 2_000_000]],
        "references[1]: reference 1: a text of more than 1048576 code points",
    ),
    "arrow texts": (pyarrow.array(["a", "b"]), "references: expected an Arrow column of lists of strings, not of"),
    "arrow numbers": (pyarrow.array([[1], [2]]), "references: expected an Arrow column of strings, not of format 'l'"),
    "arrow null": (pyarrow.array([["a"], None]), f"references[1]: {LISTS}, got a null"),
    "arrow empty": (pyarrow.array([["a"], []]), "references[1]: expected at least one reference, got an empty list"),
    "arrow null in a list": (pyarrow.array([["a"], [None]]), "references[1]: reference 0: a null; expected a text"),
    "arrow too few": (pyarrow.array([["a"]]), f"references: 1 list for 2 answers; {NONE}"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_invalid_references(name):
    references, message = REFERENCES[name]
    with pytest.raises(TrialsError, match=f"^{re.escape(message)}") as caught:
        ReferenceScorer("chrf").score(["a", "b"], references)
    assert caught.value.column == "references"
    row = re.match(r"references\[(\d+)\]", message)
    assert caught.value.row == (int(row[1]) if row else None)


def test_invalid_utf_8_in_arrow():
    invalid = pyarrow.Array.from_buffers(pyarrow.string(), 2, [None, *pyarrow.array(["a", "é"]).buffers()[1:]])
    broken = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, [None, invalid.buffers()[1], pyarrow.py_buffer(b"a\xff\xff")]
    )
    lists = pyarrow.ListArray.from_arrays([0, 1, 2], broken)
    with pytest.raises(TrialsError, match=r"^references\[1\]: reference 0: invalid UTF-8 at byte 0$"):
        ReferenceScorer("chrf").score(["a", "b"], lists)
    with pytest.raises(TrialsError, match=r"^answers\[1\]: invalid UTF-8 at byte 0$"):
        ReferenceScorer("chrf").score(broken, [["a"]] * 2)


def test_invalid_answers():
    with pytest.raises(TrialsError, match=r"^answers\[1\]: expected a str, not NoneType$"):
        ReferenceScorer("chrf").score(["a", None], [["a"]] * 2)
    with pytest.raises(TrialsError, match=r"^answers\[0\]: a text of more than 1048576 code points$"):
        ReferenceScorer("chrf").score(["a" * 10_000_000], [["a"]])
    with pytest.raises(TrialsError, match=r"expected the tokenizer to return a list of tokens, got 1$"):
        ReferenceScorer("bleu", tokenize=len).score(["a"], [["a"]])


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
    "an unknown smoothing": (
        {"smooth": "exponential"},
        "smooth: expected 'exp', 'floor', 'add-k' or 'none', not 'exponential'",
    ),
    "a negative value": ({"smooth_value": -1}, "smooth_value: expected a number from 0 to 1e[+]100, not -1"),
    "a text as a value": ({"smooth_value": "1"}, "smooth_value: expected a number from 0 to 1e[+]100, not '1'"),
    "no beta": ({"beta": float("nan")}, "beta: expected a number from 0 to 1e[+]100, not nan"),
    "a large beta": ({"beta": 1e155}, "beta: expected a number from 0 to 1e[+]100, not 1e[+]155"),
    "no order": ({"max_order": 0}, "max_order: expected 1 to 16, not 0"),
    "half an order": ({"char_order": 2.5}, "char_order: expected 1 to 16, not 2.5"),
    "too many threads": ({"threads": 0}, "threads: expected 1 to 1024, not 0"),
}


def test_metrics_that_are_no_names():
    for metrics in (None, [None]):
        with pytest.raises(TypeError, match=r"^metrics: expected names of metrics, not NoneType$"):
            ReferenceScorer(metrics)


@pytest.mark.parametrize("name", SETTINGS)
def test_invalid_settings(name):
    settings, message = SETTINGS[name]
    with pytest.raises(ValueError, match=f"^{message.replace('?', '[?]')}$"):
        ReferenceScorer(**{"metrics": "bleu"} | settings)

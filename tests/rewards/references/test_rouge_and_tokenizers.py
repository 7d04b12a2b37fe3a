"""ROUGE, token F1 and exact match: the columns equal rouge_score and SQuAD's evaluation script bit for bit."""

import random
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from unicodedata import category

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from makers.documented import tool
from makers.effort import examples
from pfgen_fast import ReferenceScorer, _core
from pfgen_fast.scoring import normalisation
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


def rouge(answers, references, tokenizer=None, metrics=METRICS):
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
        assert rouge(answers, references, tokenizer) == by_libraries
        for (answer, row_references), values in zip(batch, by_libraries, strict=True):
            *_, rouge_l, lsum = values[0:-2:3]
            reached["an empty text"] += not all([answer, *row_references])
            reached["no match"] += rouge_l == 0
            reached["other sentences"] += lsum > rouge_l
            reached["a long LCS"] += len(answer.split()) > 64 and rouge_l > 0
            reached["4-grams"] += 0 < values[6] < 1

    compare()
    assert min(reached.values()) > 0, reached


def test_rows_of_many_and_of_long_references_equal_the_library():
    texts = [" ".join(f"w{i * j % 17}" for j in range(1, 30)) for i in range(100)]
    references = [texts[3:], texts[50:], texts[:1]]
    assert rouge(texts[:3], references) == list(map(expected, texts, references))
    longer = [" ".join(f"w{i * j % 13}" for j in range(1, 200)) for i in (1, 2, 5)]
    assert rouge(longer[:1], [longer[1:]]) == [expected(longer[0], longer[1:])]


def test_lines_of_which_a_part_of_the_table_is_kept_equal_those_of_which_all_is():
    """2,500 tokens of the reference are 40 blocks; with 5,000 tokens of the answer, 26 of them are kept at a time."""
    rng = random.Random(3)
    reference, answer = (" ".join(rng.choices("abcdefgh", k=n)) for n in (2_500, 5_000))
    scores = [rouge([f"{answer}{rest}"], [[reference]], metrics=["rouge_l", "rouge_lsum"])[0] for rest in ("", "\nx")]
    assert scores[1][5] == scores[0][2] == scores[1][2]  # recall: the second line adds nothing


def test_the_first_of_equal_references_counts_and_each_token_of_the_answer_once():
    """A reference with the same F may have other shares."""
    answer, references = "a b c d", ["a b", "a b x y z c d e"]
    row = rouge([answer], [references], metrics=["rouge_1"])[0]
    assert row == [2 / 3, 0.5, 1.0]
    assert rouge([answer], [references[::-1]], metrics=["rouge_1"])[0] == [2 / 3, 1.0, 0.5]
    # ROUGE-Lsum unites the subsequences of all sentences, but a token of the answer matches once.
    row = rouge(["a b\nc"], [["a\na\nc b"]], metrics=["rouge_lsum"])[0]
    assert row == [6 / 7, 1.0, 0.75]


def test_a_function_as_tokenizer_gives_what_its_library_tokenizer_gives():
    answers, references = ["氷 a1, a 水\nab", ""], [["氷 a2\nab 水", "a"], ["x"]]
    assert rouge(answers, references, TOKENIZERS["char"]) == rouge(answers, references, "char")


CHANGED = "\u1734"
"""A code point that became a spacing mark in Unicode 14.0, which the rule of the final sigma does not skip."""


def is_stable(code_point: str) -> bool:
    """Whether a code point is what it was in Unicode 13.0, or was and is unassigned."""
    return code_point != CHANGED and (normalisation.category(code_point) != "Cn" or category(code_point) == "Cn")


CODE_POINTS = st.characters().filter(is_stable)
"""Any such code point, also unassigned ones, lone surrogates and NUL."""


def core_tokens(name, text):
    return _core.tokens(list(TOKENIZERS).index(name), text)


@pytest.mark.parametrize(("name", "text", "tokens"), [
    ("none", " a  b\u3000c\x1fd ", ["a", "b", "c", "d"]),
    ("char", "氷 a1", ["氷", "a", "1"]),
    ("13a", "It's 3.5, or .5; 1,000-fold", ["It's", "3.5", ",", "or", ".", "5", ";", "1,000", "-", "fold"]),
    ("13a", "(a-b).", ["(", "a-b", ")", "."]),
    ("13a", "wo-\nrd &amp;lt;<skipped>\n&quot;5.", ["word", "<", '"', "5", "."]),
    ("13a", "a..5 a...5", ["a", ".", ".5", "a", ".", ".", ".", "5"]),
    ("intl", "3.5 5. a·b €5 x.", ["3.5", "5", ".", "a", "·", "b", "€", "5", "x", "."]),
    ("intl", "a 5.", ["a", "5."]),
    ("intl", ".5", [".5"]),
    ("intl", " .5", [".", "5"]),
    ("zh", " .5氷は-5，a\u2001→b", [".5", "氷", "は-5", "，", "a", "→", "b"]),
    ("rouge", "Don't STOP\u212a, \u0130z é9", ["don", "t", "stopk", "i", "z", "9"]),
    ("squad", "The U.S. is an (a) o'the l’a", ["us", "is", "othe", "l’"]),
    ("squad", "A. An! THE", []),
])  # fmt: skip
def test_each_tokenizer_separates_what_its_rules_say(name, text, tokens):
    assert TOKENIZERS[name](text) == tokens
    assert core_tokens(name, text) == tokens


@pytest.mark.parametrize(
    ("text", "lowered"),
    [("ΑΣ", "ας"), ("ΑΣ'Β", "ασ'β"), ("Α'Σ.", "α'ς."), ("Σ", "σ"), ("İΣ", "i\u0307ς"), ("ǅẞŸ\u212aＡ", "ǆßÿkａ")],
)
def test_lower_case_follows_the_rules_of_unicode(text, lowered):
    assert text.lower() == lowered
    assert _core.lower(text) == lowered


TOKENIZED = st.lists(LIKELY | LIKELY | LIKELY | CODE_POINTS, max_size=16).map("".join)
CASES = {
    "entity": re.compile("&(quot|amp|lt|gt);"), "entity made by an entity": re.compile("&amp;(quot|lt|gt);"),
    "word joined over lines": re.compile("\\w-\n"), "skipped": re.compile("<skipped>"),
    "mark between digits": re.compile(r"[0-9][.,][0-9]"), "marks in sequence": re.compile(r"\w[.,]{2,}[0-9]"),
    "mark first": re.compile(r"^[.,][0-9]"), "mark last": re.compile(r"[0-9][.,]$"),
    "dash behind a digit": re.compile(r"[0-9]-."), "wide characters": re.compile("[あ５、。]"),
    "final sigma": re.compile("[aATHEhe]Σ"), "article": re.compile(r"\b(a|an|the)\b", re.IGNORECASE),
}  # fmt: skip


def is_stable_for_intl(character):
    """`regex` knows the newest code points, and a part of them is unassigned for Python."""
    return category(character) != "Cn" or regex.match(r"\p{Cn}", character) is not None


@pytest.mark.slow
def test_the_tokens_of_any_text_are_those_of_the_libraries():
    reached = Counter()

    @examples(6000, at_least=750)
    @given(TOKENIZED)
    def compare(text):
        reached.update(name for name, pattern in CASES.items() if pattern.search(text))
        reached.update(["checked by intl"] if all(map(is_stable_for_intl, text)) else [])
        for name, oracle in TOKENIZERS.items():
            if name != "intl" or all(map(is_stable_for_intl, text)):
                assert core_tokens(name, text) == oracle(text), name
        assert _core.lower(text) == text.lower()

    compare()
    assert min(reached[name] for name in (*CASES, "checked by intl")) > 0, reached


@pytest.mark.slow
@pytest.mark.parametrize("step", [64, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_code_point_has_its_place_in_each_tokenizer(step):
    code_points = map(chr, (*range(0, 0x3400, max(step // 16, 1)), *range(0x3400, 0x110000, 8 * step)))
    for character in filter(is_stable, code_points):
        text = f"a{character}.5 x{character}b. {character}AΣ{character} Σ{character}A A{character}Σ"
        for name, oracle in TOKENIZERS.items():
            if name != "intl" or is_stable_for_intl(character):
                assert core_tokens(name, text) == oracle(text), (name, hex(ord(character)))
        assert _core.lower(text) == text.lower(), hex(ord(character))


@pytest.mark.slow
def test_tokens_of_a_long_text_take_linear_time():
    for text in ("Σ'" * 500_000, "&amp;" * 200_000, "İ" * 500_000, "." * 1_000_000, "<skipped>" * 100_000):
        for name in TOKENIZERS:
            core_tokens(name, text)
        _core.lower(text)


@pytest.mark.parametrize("step", [32, pytest.param(1, marks=pytest.mark.slow)])
def test_the_table_of_code_points_says_what_python_says(step):
    """Of all code points that are assigned in Unicode 13.0; Python 3.10 can make the whole table again."""
    maker = tool("make_unicode_table")
    listed = re.findall(r"\{([\d,\s]+)\}", maker.TABLE.read_text())
    numbers, *blocks = (list(map(int, re.findall(r"\d+", values))) for values in listed)
    traits = [value for number in numbers for value in blocks[number]]
    assert len(traits) == maker.N_CODE_POINTS
    # Behind the last plane of kanji there is little, and that in large blocks.
    for code_point in (*range(0x3400), *range(0x3400, 0x32000, step), *range(0x32000, maker.N_CODE_POINTS, 32 * step)):
        is_assigned = normalisation.category(chr(code_point)) != "Cn"
        if chr(code_point) != CHANGED:
            assert traits[code_point] == maker.traits(code_point, is_assigned), hex(code_point)
    if maker.unicodedata.unidata_version == "13.0.0" and step == 1:
        subprocess.run([sys.executable, maker.__file__, "--check"], check=True)

"""The tokenizers of the core give the tokens of sacrebleu, of rouge_score and of SQuAD's rules."""

import re
import subprocess
import sys
from collections import Counter
from unicodedata import category

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from makers.documented import tool
from makers.effort import examples
from pfgen_fast import _core
from pfgen_fast.scoring import normalisation
from rewards.references.reference_tokenizers import LIKELY, TOKENIZERS

CHANGED = "\u1734"
"""A code point that became a spacing mark in Unicode 14.0, which the rule of the final sigma does not skip."""


def is_stable(code_point: str) -> bool:
    """Whether a code point is what it was in Unicode 13.0, or was and is unassigned."""
    return code_point != CHANGED and (normalisation.category(code_point) != "Cn" or category(code_point) == "Cn")


CODE_POINTS = st.characters().filter(is_stable)
"""Any such code point, also unassigned ones, lone surrogates and NUL."""


def core_tokens(name, text):
    return _core.tokens(list(TOKENIZERS).index(name), text)


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
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
    ],
)  # fmt: skip
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


TEXTS = st.lists(LIKELY | LIKELY | LIKELY | CODE_POINTS, max_size=16).map("".join)
CASES = {
    "entity": re.compile("&(quot|amp|lt|gt);"),
    "entity made by an entity": re.compile("&amp;(quot|lt|gt);"),
    "word joined over lines": re.compile("\\w-\n"),
    "skipped": re.compile("<skipped>"),
    "mark between digits": re.compile(r"[0-9][.,][0-9]"),
    "marks in sequence": re.compile(r"\w[.,]{2,}[0-9]"),
    "mark first": re.compile(r"^[.,][0-9]"),
    "mark last": re.compile(r"[0-9][.,]$"),
    "dash behind a digit": re.compile(r"[0-9]-."),
    "wide characters": re.compile("[あ５、。]"),
    "final sigma": re.compile("[aATHEhe]Σ"),
    "article": re.compile(r"\b(a|an|the)\b", re.IGNORECASE),
}


def is_stable_for_intl(character):
    """`regex` knows the newest code points, and a part of them is unassigned for Python."""
    return category(character) != "Cn" or regex.match(r"\p{Cn}", character) is not None


@pytest.mark.slow
def test_the_tokens_of_any_text_are_those_of_the_libraries():
    reached = Counter()

    @examples(6000, at_least=750)
    @given(TEXTS)
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

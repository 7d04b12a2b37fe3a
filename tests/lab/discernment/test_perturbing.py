"""Damage to columns of texts: what is asked for, what comes back, and what holds for every text."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast.base.errors import DiscernmentError, TrialsError
from pfgen_fast.lab.discernment.damage import RULES, damaged_texts
from pfgen_fast.lab.discernment.damage.sites import Donors
from pfgen_fast.lab.discernment.damage.text_reading import LANGUAGES, TextReading, is_blank
from pfgen_fast.lab.discernment.kinds import ALIASES, KINDS, Impossible, Perturbation
from pfgen_fast.lab.discernment.perturbing import perturb
from pfgen_fast.lab.evaluators.evaluator import text_column

TEXTS = ["氷は水に浮く。水より軽いからだ。", "Ice floats on water. It is lighter, as ice has air in it.", "。"]
ANSWERS = ["Ice floats.", "Ice is light.", "The sun rises."]
INVALID = pa.array([b"\xe3\x81"], pa.binary()).cast(pa.string(), safe=False)


class Text(str):
    """A text of another class."""

    __slots__ = ()


def test_texts_come_back_in_their_order_with_none_where_it_is_impossible():
    assert perturb([*TEXTS, "", " \n"], "newline") == [TEXTS[0] + "\n", TEXTS[1] + "\n", "。\n", None, None]
    assert perturb(TEXTS, "char_repeat", k=1)[2] is None
    assert perturb([], "loop", permille=200) == []
    for kind in ("punctuation", "answer_swap"):  # without degrees
        assert perturb(TEXTS, kind, permille=200) == perturb(TEXTS, kind, k=1) == perturb(TEXTS, kind)


@pytest.mark.parametrize(
    "sequence_of",
    [tuple, iter, np.array, lambda texts: list(map(Text, texts)), lambda texts: pa.chunked_array([texts])],
)
def test_texts_may_be_any_sequence_of_texts(sequence_of):
    result = perturb(sequence_of(TEXTS), "char_delete", permille=100)
    assert result == perturb(TEXTS, "char_delete", permille=100)
    assert {type(text) for text in result} == {str, type(None)}
    inserted = partial(perturb, TEXTS, "sentence_insert", permille=1000, language="en")
    assert inserted(donors=sequence_of(TEXTS[:2])) == inserted(donors=TEXTS[:2])


def test_whole_numbers_may_be_those_of_numpy_and_seeds_have_64_bits():
    typos = partial(perturb, TEXTS, "char_typo")
    assert typos(permille=np.int64(500), seed=np.int64(3)) == typos(permille=500, seed=3)
    assert perturb(TEXTS, "word_drop", k=np.int32(2)) == perturb(TEXTS, "word_drop", k=2)
    assert typos(permille=500, seed=-1) == typos(permille=500, seed=2**64 - 1)
    assert typos(permille=500, seed=2**64) == typos(permille=500)
    with pytest.raises(TypeError):
        perturb(TEXTS, "loop", k=1, seed=0.5)


def test_without_a_language_the_text_decides():
    by_text = perturb(TEXTS, "punctuation")
    assert by_text == perturb(TEXTS, "punctuation", language=["ja", "en", None])
    assert by_text[0] == "氷は水に浮く．水より軽いからだ．"
    assert perturb(TEXTS, "punctuation", language="en") == [None] * 3
    assert perturb(["Ice。", "ー。", "ｱ。", "々。", "한。"], "punctuation") == [None, "ー．", "ｱ．", "々．", None]


def test_an_answer_takes_nothing_from_answers_to_its_question_and_donors_given_are_a_pool_for_all():
    questions = ["ice", "ice", "sun"]
    assert perturb(ANSWERS, "answer_swap", questions=questions)[:2] == ["The sun rises."] * 2
    assert perturb(ANSWERS, "answer_swap", questions=["ice"] * 3) == [None] * 3
    assert set(perturb(ANSWERS, "answer_swap", questions=["ice", None, None])) <= set(ANSWERS)
    assert None not in perturb(ANSWERS, "random_ending")
    swapped = [None, *ANSWERS[:1] * 2]
    assert perturb(ANSWERS, "answer_swap", donors=ANSWERS[:1] * 2) == swapped
    assert perturb(ANSWERS, "answer_swap", donors=ANSWERS[:1], questions=questions) == swapped
    assert perturb(ANSWERS, "answer_swap", donors=[]) == [None] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "char_delet", "k": 1}, "unknown kind 'char_delet'; expected one of char_delete, "),
        ({"kind": "paraphrase"}, "kind 'paraphrase' is made by a language model; expected a kind made by rules: "),
        ({"kind": "loop", "k": 0}, "loop: k 0: expected a whole number from 1 to 1000000$"),
        ({"kind": "newline", "permille": 1001}, "newline: permille 1001: expected a whole number from 1 to 1000$"),
        ({"kind": "newline", "language": "jp"}, "unknown language 'jp'; expected 'ja' or 'en'$"),
        ({"kind": "newline", "language": ["ja"]}, "languages: 1 entries for 3 texts; expected one for each"),
    ],
)
def test_an_impossible_request_is_one_sentence(options, message):
    with pytest.raises(DiscernmentError, match=f"^{message}"):
        perturb(TEXTS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"texts": "Ice"}, "texts: expected a sequence of str, not one str"),
        ({"texts": ["Ice", 3]}, r"texts\[1\]: expected a str, not int"),
        ({"texts": ["Ice", None]}, r"texts\[1\]: expected a str, not NoneType"),
        ({"texts": INVALID}, r"texts\[0\]: invalid UTF-8"),
        ({"kind": "answer_swap", "donors": [3]}, r"donors\[0\]: expected a str, not int"),
        ({"kind": "wrong_ending", "alternatives": [3]}, r"alternatives\[0\]: expected a str, not int"),
    ],
)
def test_a_value_that_is_not_a_text_is_named(options, message):
    with pytest.raises(TrialsError, match=message):
        perturb(**{"texts": TEXTS[:1], "kind": "newline", **options})


# Columns of texts are compared row by row, by their code points

COLUMN = st.none() | st.text("aé氷😀", max_size=3)


@given(st.lists(COLUMN), st.lists(st.text("aé氷😀", min_size=1, max_size=2)))
def test_texts_that_contain_a_part_are_counted_in_any_encoding(texts, parts):
    expected = sum(text is not None and any(part in text for part in parts) for text in texts)
    for column in (text_column(texts), text_column(pa.array(texts, pa.string()))):
        assert column.n_with_any(parts) == expected


@given(st.lists(st.tuples(COLUMN, COLUMN)))
def test_columns_differ_as_their_texts_do_in_any_encoding(rows):
    own, others = [item for item, _ in rows], [other for _, other in rows]
    expected = [first is not None and first != other for first, other in rows]
    for column in (text_column(others), text_column(pa.array(others, pa.string()))):
        assert text_column(own).differs_from(column).tolist() == expected


# ---- What holds for every text, kind and degree

SHORTER = ("char_delete", "word_delete", "word_drop", "truncate", "sentence_delete")
"""Kinds by which a higher degree leaves a part of what a lower one left."""
LONGER = ("char_repeat", "word_repeat", "sentence_repeat", "sentence_insert", "loop")
"""Kinds by which a higher degree adds to what a lower one added."""
REPLACED = ("char_swap", "number_change")
"""Kinds that keep the length of texts whose characters are single code points."""
GROWING = (*SHORTER, *LONGER, *REPLACED)
MOVED = (*SHORTER, *LONGER, "char_swap", "word_swap", "sentence_reorder", "newline")
"""Kinds whose results consist of characters of the text and its donors, and of white space."""

SIGNS = "、。．！？!?.,;:」』）)]”’\"'“‘「『（([{・ー-_… \u3000\t\n\r\x1c\x85\u2028"
RARE = "\u0301\u3099\u0903\u200c\u200d\u200d\ufe0f\U0001f3fd\x00\ud800\ufeff👩✌ſıİKẞΣǅŉАя0９٣²½Ⅷ〇一𝟘"
WORDS = {
    "ja": "氷 山 水が 温度は 富士山と 末永 アイス ヨーグルト ｱｲｽ 々 𠮷 ABC １９９８ は が を には です。 "
    "である。 できます、 ではありません。 できない されません しない」 ので こと。",
    "en": "ice Mars NASA I'm A Mars's O’Hara 1998 rock-'n'-roll cafe\u0301 İS is a The on With he She they that "
    "Does e.g. Dr. J. etc. \"No.\" (two) cannot Can won't don’t was may not did ain't have to nothing.",
}


def texts(language: str) -> st.SearchStrategy[str]:
    """Texts of words, signs and rare code points; some joined by the spaces of English."""
    words = st.sampled_from(WORDS[language].split())
    piece = st.one_of(words, words, words, st.sampled_from(SIGNS), st.sampled_from(RARE), st.characters())
    return st.lists(piece, max_size=20).map(("" if language == "ja" else " ").join)


@dataclass(frozen=True)
class Case:
    """What `damaged_texts` is called with."""

    text: str
    kind: str
    degrees: tuple[Perturbation, ...]
    seed: int
    language: str
    donors: tuple[str, ...]
    alternative: str

    def outcomes(self) -> list[str | Impossible]:
        return damaged_texts(**vars(self) | {"donors": Donors(self.donors)})


@st.composite
def cases(draw: st.DrawFn, kinds: tuple[str, ...] = (*RULES, *ALIASES)) -> list[Case]:
    """A text, damaged by each of the kinds: drawing it takes much longer than damaging it."""
    language = draw(st.sampled_from(LANGUAGES))
    text = draw(texts(language))
    donors = tuple(draw(st.lists(texts(language) | st.just(text), max_size=4)))
    amounts = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=3)), draw(st.lists(st.integers(1, 6)))
    degrees = [*({"permille": amount} for amount in amounts[0]), *({"k": amount} for amount in amounts[1])]
    rest = draw(st.integers(0, (1 << 64) - 1)), language, donors, draw(st.sampled_from([text, " \n", "x。"]))
    return [Case(text, kind, tuple(degrees_of(kind, degrees)), *rest) for kind in kinds]


def degrees_of(kind: str, degrees: list[dict[str, int]]) -> list[Perturbation]:
    has_degrees = KINDS[ALIASES.get(kind, kind)].has_degrees
    return [Perturbation(kind, **degree) for degree in degrees] if has_degrees else [Perturbation(kind)]


def characters(text: str) -> list[str]:
    reading = TextReading(text, "ja")
    return [reading.of(part) for part in reading.characters]


def test_every_kind_that_a_rule_makes_has_a_rule():
    assert list(RULES) == [kind.name for kind in KINDS.values() if kind.method == "rule"]


@pytest.mark.slow
@given(cases())
def test_a_damaged_text_differs_and_has_something(cases):
    for case in cases:
        for outcome in case.outcomes():
            if isinstance(outcome, str):
                assert (outcome != case.text) is (case.kind != "identity")
                assert not is_blank(outcome)


@given(cases(), st.randoms(use_true_random=True))
def test_neither_other_degrees_nor_the_order_of_donors_matter(cases, shuffler):
    for case in cases:
        donors = tuple(shuffler.sample(case.donors * 2, 2 * len(case.donors)))
        for degree, outcome in zip(case.degrees, case.outcomes(), strict=True):
            assert replace(case, degrees=(degree,), donors=donors).outcomes() == [outcome]


@pytest.mark.hypothesis
@examples(320)
@given(cases(MOVED))
def test_no_character_is_split(cases):
    text, donors = cases[0].text, cases[0].donors
    for donor in (text, *donors):  # beside another text, its last or first character may be one with it
        assume(not donor.endswith("\u200d") and characters("a" + donor)[0] == "a")
    whole = {" ", "\n", *characters(text)}.union(*map(characters, donors))
    for case in cases:
        for outcome in case.outcomes():
            assert isinstance(outcome, Impossible) or set(characters(outcome)) <= whole


@pytest.mark.hypothesis
@examples(160)
@given(cases(GROWING), st.lists(st.integers(1, 1000), min_size=2, max_size=5))
def test_a_higher_degree_includes_the_damage_of_a_lower_degree(cases, permilles):
    for case in cases:
        degrees = tuple(Perturbation(case.kind, permille=permille) for permille in sorted(permilles))
        result = replace(case, degrees=degrees).outcomes()
        for lower, higher in pairwise(text for text in result if isinstance(text, str)):
            if case.kind in SHORTER:
                assert is_part(higher, lower)
            elif case.kind in LONGER:
                assert is_part(lower, higher)
            elif len(characters(case.text)) == len(case.text):
                assert changed(case.text, lower) <= changed(case.text, higher)


def is_part(part: str, whole: str) -> bool:
    """Whether one text is left of another if code points are taken away."""
    rest = iter(whole)
    return all(code_point in rest for code_point in part)


def changed(text: str, other: str) -> set[int]:
    return {i for i, (item, other_letter) in enumerate(zip(text, other, strict=True)) if item != other_letter}


@pytest.mark.nightly
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", ["、", "a.", "」", "\u0301", ". \n", "Mr. ", "Ab's "])
def test_time_is_linear_in_the_length_of_a_text(unit, language):
    """In the square of it, the text would take hours."""
    text = unit * (20_000 // len(unit))
    for kind in RULES:
        donors = Donors([text + "。 X."])
        damaged_texts(text, kind, [Perturbation(kind, permille=300)], language=language, donors=donors, alternative="x")

"""What holds for every text, kind and degree."""

from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast.lab.discernment.damage import RULES, perturbed
from pfgen_fast.lab.discernment.damage.sites import Donors
from pfgen_fast.lab.discernment.damage.text_reading import LANGUAGES, TextReading, is_blank
from pfgen_fast.lab.discernment.discernment_plan import Perturbation
from pfgen_fast.lab.discernment.kinds import ALIASES, KINDS, Impossible

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
    """What `perturbed` is called with."""

    text: str
    kind: str
    degrees: tuple[Perturbation, ...]
    seed: int
    language: str
    donors: tuple[str, ...]
    alternative: str

    def outcomes(self) -> list[str | Impossible]:
        return perturbed(**vars(self) | {"donors": Donors(self.donors)})


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
        perturbed(text, kind, [Perturbation(kind, permille=300)], language=language, donors=donors, alternative="x")

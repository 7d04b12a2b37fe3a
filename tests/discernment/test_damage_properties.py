"""What holds for every text, kind and degree."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise, takewhile

import pytest
from hypothesis import Phase, assume, given, seed, settings
from hypothesis import strategies as st
from makers import texts as drawn
from makers.effort import examples
from pfgen_fast.discernment.damage import RULES, perturbed
from pfgen_fast.discernment.damage.donors import Donors
from pfgen_fast.discernment.damage.text_reading import LANGUAGES, is_blank
from pfgen_fast.discernment.kinds import KINDS, Impossible
from pfgen_fast.discernment.plan import Perturbation

MOVED = ("char_swap", "char_repeat", "char_delete", "truncate", "loop", "word_delete", "word_drop", "word_swap")
MOVED += ("word_repeat", "sentence_reorder", "sentence_delete", "sentence_repeat", "sentence_insert", "newline")
"""Kinds whose results consist of characters of the text and its donors, and of white space."""

SHORTER = ("char_delete", "word_delete", "word_drop", "truncate", "sentence_delete")
"""Kinds by which a higher degree leaves a part of what a lower one left."""
LONGER = ("char_repeat", "word_repeat", "sentence_repeat", "sentence_insert", "loop")
"""Kinds by which a higher degree adds to what a lower one added."""
REPLACED = ("char_swap", "number_change")
"""Kinds that keep the length of texts whose characters are single code points."""
GROWING = (*SHORTER, *LONGER, *REPLACED)


def characters(text):
    return drawn.parts(text, "ja", "characters")


def test_every_kind_that_a_rule_makes_has_a_rule():
    assert list(RULES) == [kind.name for kind in KINDS.values() if kind.method == "rule"]


@pytest.mark.nightly
def test_the_drawn_texts_reach_every_outcome():
    outcomes: Counter[tuple[str, str]] = Counter()

    def count(cases):
        for case in cases:
            outcomes.update((case.kind, "possible" if isinstance(of, str) else of.name) for of in case.outcomes())

    for number in range(20):  # each begins with other texts
        drawing = settings(max_examples=40, database=None, phases=[Phase.generate])
        seed(number)(drawing(given(drawn.cases())(count)))()
    assert {kind for kind in drawn.ALL_KINDS if outcomes[kind, "possible"] < 3} == set()
    assert {reason for _, reason in outcomes} == {"possible", *(reason.name for reason in Impossible)}


@given(drawn.cases())
def test_a_damaged_text_differs_and_has_something(cases):
    for case in cases:
        for found in case.outcomes():
            if isinstance(found, str):
                assert (found != case.text) is (case.kind != "identity")
                assert not is_blank(found)


@given(drawn.cases(), st.randoms(use_true_random=True))
def test_neither_other_degrees_nor_the_order_of_donors_matter(cases, shuffler):
    for case in cases:
        donors = tuple(shuffler.sample(case.donors * 2, 2 * len(case.donors)))
        for degree, found in zip(case.degrees, case.outcomes(), strict=True):
            assert replace(case, degrees=(degree,), donors=donors).outcomes() == [found]


@pytest.mark.hypothesis
def test_no_character_is_split():
    n_possible: Counter[str] = Counter()

    @examples(320)
    @given(drawn.cases(MOVED))
    def check(cases):
        text, donors = cases[0].text, cases[0].donors
        for each in (text, *donors):  # beside another text, its last or first character may be one with it
            assume(not each.endswith("\u200d") and characters("a" + each)[0] == "a")
        whole = {" ", "\n", *characters(text)}.union(*map(characters, donors))
        for case in cases:
            for found in case.outcomes():
                if isinstance(found, str):
                    n_possible[case.kind] += 1
                    assert set(characters(found)) <= whole

    check()
    assert {kind for kind in MOVED if n_possible[kind] < 5} == set()


@pytest.mark.hypothesis
def test_a_higher_degree_includes_the_damage_of_a_lower_degree():
    n_pairs: Counter[str] = Counter()

    @examples(160)
    @given(drawn.cases(GROWING), st.lists(drawn.permilles(), min_size=2, max_size=5))
    def check(cases, permilles):
        for case in cases:
            degrees = tuple(Perturbation(case.kind, permille=permille) for permille in sorted(permilles))
            found = replace(case, degrees=degrees).outcomes()
            for lower, higher in pairwise(text for text in found if isinstance(text, str)):
                n_pairs[case.kind] += 1
                if case.kind in SHORTER:
                    assert is_part(higher, lower)
                elif case.kind in LONGER:
                    assert is_part(lower, higher)
                elif len(characters(case.text)) == len(case.text):
                    assert changed(case.text, lower) <= changed(case.text, higher)

    check()
    assert {kind for kind in GROWING if n_pairs[kind] < 5} == set()


def is_part(part: str, whole: str) -> bool:
    """Whether one text is left of another if code points are taken away."""
    rest = iter(whole)
    return all(code_point in rest for code_point in part)


def changed(text: str, other: str) -> set[int]:
    return {i for i, (one, of_other) in enumerate(zip(text, other, strict=True)) if one != of_other}


TEXTS = {
    "ja": "氷は水に浮く。空が青い日は3回ある。火は熱いです。山で夜を過ごす。犬と猫がいる。雨が7月に降ります。",
    "en": "Ice is on a lake. He was in Oslo at 9. She can ski. It has to rain. They do not swim, but 7 dogs are there.",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["char_typo", "number_change", "function_word", "negate"])
def test_each_further_site_changes_one_place(kind, language):
    """If a higher degree took other sites than a lower degree, more places would change."""
    degrees = [Perturbation(kind, k=k) for k in range(1, 20)]
    for number in range(20):
        found = [TEXTS[language], *perturbed(TEXTS[language], kind, degrees, seed=number, language=language)]
        steps = [pair for pair in pairwise(found) if len(set(pair)) == 2]
        assert len(steps) > 1
        assert all(length_of_change(*pair) <= len("ではありません") for pair in steps)


def length_of_change(one: str, other: str) -> int:
    """The number of code points between the common beginning and the common end of two texts."""
    start = n_in_common(one, other)
    end = n_in_common(one[start:][::-1], other[start:][::-1])
    return max(len(one), len(other)) - start - end


def n_in_common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


@pytest.mark.nightly
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", ["、", "a.", "」", "\u0301", ". \n", "Mr. ", "Ab's "])
def test_time_is_linear_in_the_length_of_a_text(unit, language):
    """In the square of it, the text would take hours."""
    text = unit * (20_000 // len(unit))
    for kind in RULES:
        donors = Donors([text + "。 X."])
        perturbed(text, kind, [Perturbation(kind, permille=300)], language=language, donors=donors, alternative="x")

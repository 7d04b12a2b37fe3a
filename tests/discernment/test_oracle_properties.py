"""What holds for every text, kind and degree, and how often the drawn texts reach the rare cases."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, takewhile

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from makers import texts as drawn
from pfgen_fast.discernment.kinds import ALIASES, KINDS, Impossible
from pfgen_fast.discernment.oracle import RULES, perturbed
from pfgen_fast.discernment.oracle.texts import LANGUAGES, characters, is_blank
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


def test_every_kind_that_a_rule_makes_has_a_rule():
    assert list(RULES) == [kind.name for kind in KINDS.values() if kind.method == "rule"]


def test_the_drawn_texts_reach_the_rare_cases_and_every_outcome():
    reached: Counter[str] = Counter()
    outcomes: Counter[tuple[str, str]] = Counter()

    def count(case):
        reached.update(drawn.rare_cases(case.text, case.language))
        outcomes.update((case.kind, "possible" if isinstance(of, str) else of.name) for of in case.by_oracle())

    all_kinds = [*RULES, *ALIASES]
    for number, kind in enumerate(all_kinds):
        drawing = settings(max_examples=60, database=None, phases=[Phase.generate])
        seed(number)(drawing(given(drawn.cases(kind))(count)))()
    assert {name for name in drawn.RARE_CASES if reached[name] < 5} == set()
    assert {kind for kind in all_kinds if outcomes[kind, "possible"] < 3} == set()
    assert {reason for _, reason in outcomes} == {"possible", *(reason.name for reason in Impossible)}


@given(drawn.cases())
def test_a_damaged_text_differs_and_has_something(case):
    for found in case.by_oracle():
        if isinstance(found, str):
            assert (found != case.text) is (case.kind != "identity")
            assert not is_blank(found)


@given(drawn.cases(), st.randoms(use_true_random=False))
def test_neither_the_order_of_degrees_nor_of_donors_matters(case, shuffler):
    degrees = shuffler.sample(case.degrees, len(case.degrees))
    donors = shuffler.sample(case.donors * 2, 2 * len(case.donors))
    again = drawn.Case(case.text, case.kind, tuple(degrees), case.seed, case.language, tuple(donors), case.alternative)
    first = dict(zip(case.degrees, case.by_oracle(), strict=True))
    assert dict(zip(degrees, again.by_oracle(), strict=True)) == first


@given(drawn.cases())
def test_a_degree_alone_gives_what_it_gives_among_others(case):
    for degree, found in zip(case.degrees, case.by_oracle(), strict=True):
        alone = drawn.Case(case.text, case.kind, (degree,), case.seed, case.language, case.donors, case.alternative)
        assert alone.by_oracle() == [found]


@pytest.mark.parametrize("kind", MOVED)
def test_no_character_is_split(kind):
    n_possible = 0

    @given(drawn.cases(kind))
    def check(case):
        nonlocal n_possible
        if any(text.endswith("\u200d") or characters("a" + text)[0] != "a" for text in (case.text, *case.donors)):
            return  # beside another text, its last or first character may be one with it
        whole = {" ", "\n", *characters(case.text)}.union(*map(characters, case.donors))
        for found in case.by_oracle():
            if isinstance(found, str):
                n_possible += 1
                assert set(characters(found)) <= whole

    check()
    assert n_possible > 10


@pytest.mark.parametrize("kind", [*SHORTER, *LONGER, *REPLACED])
def test_a_higher_degree_damages_what_a_lower_one_does_and_more(kind):
    n_pairs = 0

    @given(drawn.cases(kind), st.lists(drawn.permilles(), min_size=2, max_size=5))
    def check(case, permilles):
        nonlocal n_pairs
        degrees = [Perturbation(kind, permille=permille) for permille in sorted(permilles)]
        found = perturbed(case.text, kind, degrees, seed=case.seed, language=case.language, donors=case.donors)
        steps = [case.text, *(text for text in found if isinstance(text, str))]
        for lower, higher in pairwise(steps[1:]):
            n_pairs += 1
            if kind in SHORTER:
                assert is_part(higher, lower)
            elif kind in LONGER:
                assert is_part(lower, higher)
            elif len(characters(case.text)) == len(case.text):
                assert changed(case.text, lower) <= changed(case.text, higher)

    check()
    assert n_pairs > 10


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
    """Were the sites of the lower degree not among those of the higher, more places would change."""
    degrees = [Perturbation(kind, k=k) for k in range(1, 20)]
    for number in range(20):
        found = [TEXTS[language], *perturbed(TEXTS[language], kind, degrees, seed=number, language=language)]
        steps = [pair for pair in pairwise(found) if len(set(pair)) == 2]
        assert len(steps) > 1
        assert all(length_of_change(*pair) <= len("ではありません") for pair in steps)


def length_of_change(one: str, other: str) -> int:
    """How many code points there are between what two texts have in common at their beginnings and ends."""
    start = n_in_common(one, other)
    end = n_in_common(one[start:][::-1], other[start:][::-1])
    return max(len(one), len(other)) - start - end


def n_in_common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", ["、", "a.", "」", "\u0301", ". \n", "Mr. ", "Ab's "])
def test_time_is_linear_in_the_length_of_a_text(unit, language):
    """In the square of it, the text would take hours."""
    text = unit * (20_000 // len(unit))
    for kind in RULES:
        donors = [text + "。 X."] if KINDS[kind].needs == "donors" else []
        perturbed(text, kind, [Perturbation(kind, permille=300)], language=language, donors=donors, alternative="x")

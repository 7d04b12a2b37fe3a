"""The core damages texts as the oracle does: the same code points, and the same reasons where it cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import texts as drawn
from makers.effort import examples
from makers.unicode_13 import is_stable
from pfgen_fast.discernment.kinds import KINDS, Impossible
from pfgen_fast.discernment.oracle.texts import LANGUAGES, language_of
from pfgen_fast.discernment.perturbing import Donors, Perturbed, perturbed_columns
from pfgen_fast.discernment.plan import perturbation

DONATED = [kind.name for kind in KINDS.values() if kind.method == "rule" and kind.needs == "donors"]

Outcomes = list[list["str | Impossible"]]
"""By text, what each degree makes of it."""


def by_core(found: Sequence[Perturbed]) -> Outcomes:
    columns = []
    for perturbed_texts in found:
        texts, reasons = perturbed_texts.texts.tolist(), perturbed_texts.impossible.tolist()
        assert [text is None for text in texts] == [reason > 0 for reason in reasons]
        columns.append(
            [Impossible(reason) if text is None else text for text, reason in zip(texts, reasons, strict=True)]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def core_of(case: drawn.Case) -> list[str | Impossible]:
    found = perturbed_columns(
        [case.text],
        case.kind,
        case.degrees,
        seed=case.seed,
        languages=case.language,
        donors=Donors(case.donors),
        alternatives=[case.alternative],
    )
    (outcomes,) = by_core(found)
    return outcomes


@examples(400)
@given(drawn.cases())
def test_every_kind_damages_every_text_as_the_oracle_does(cases):
    assert {case.kind: core_of(case) for case in cases} == {case.kind: case.by_oracle() for case in cases}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_damages_the_rare_cases_as_the_oracle_does(language):
    degrees_of = drawn.degrees_by_kind([(1, None), (300, None), (1000, None), (None, 2)])
    n_possible: Counter[str] = Counter()
    for seed, text in enumerate(drawn.RARE_TEXTS):
        for kind in drawn.ALL_KINDS:
            case = drawn.Case(text, kind, degrees_of(kind), seed, language, drawn.RARE_TEXTS, drawn.RARE_TEXTS[-1])
            expected = case.by_oracle()
            assert core_of(case) == expected, case
            n_possible[kind] += sum(isinstance(outcome, str) for outcome in expected)
    assert {kind for kind in drawn.ALL_KINDS if not n_possible[kind]} == ({"width"} if language == "en" else set())


@given(st.data(), st.integers(1, 3))
def test_a_batch_gives_the_same_texts_as_single_calls(data, threads):
    languages = data.draw(st.lists(st.one_of(st.none(), drawn.languages()), min_size=1, max_size=6))
    texts = [data.draw(drawn.texts(language or "ja", 3)) for language in languages]
    alternatives = [data.draw(st.one_of(st.none(), drawn.texts("en", 1))) for _ in texts]
    degrees_of, seed = data.draw(drawn.degrees()), data.draw(drawn.seeds())
    pool = data.draw(drawn.donors(texts[0], languages[0] or "ja"))
    for kind in drawn.ALL_KINDS:
        found = perturbed_columns(
            texts,
            kind,
            degrees_of(kind),
            seed=seed,
            languages=languages,
            donors=Donors(pool),
            alternatives=alternatives,
            threads=threads,
        )
        expected = [
            drawn.Case(text, kind, degrees_of(kind), seed, language or language_of(text), pool, alternative).by_oracle()
            for text, language, alternative in zip(texts, languages, alternatives, strict=True)
        ]
        assert by_core(found) == expected, kind


@pytest.mark.hypothesis
def test_a_collection_takes_parts_from_answers_to_other_questions():
    """The core keeps one list of candidates for all texts; the oracle makes one for each."""
    n_possible: Counter[str] = Counter()

    @given(st.data(), drawn.languages())
    def check(data, language):
        texts = [data.draw(drawn.texts(language, 3)) for _ in range(data.draw(st.integers(1, 7)))]
        texts += data.draw(st.lists(st.sampled_from(texts), max_size=3))
        groups = [data.draw(st.sampled_from(["Q1", "Q2", "Q3", None])) for _ in texts]
        degrees_of, seed = data.draw(drawn.degrees()), data.draw(drawn.seeds())
        for kind in DONATED:
            degrees, donors = degrees_of(kind), Donors(texts, groups)
            found = perturbed_columns(texts, kind, degrees, seed=seed, languages=language, donors=donors)
            expected = [
                drawn.Case(text, kind, degrees, seed, language, others(texts, groups, row)).by_oracle()
                for row, text in enumerate(texts)
            ]
            assert by_core(found) == expected, kind
            n_possible[kind] += sum(isinstance(outcome, str) for outcomes in expected for outcome in outcomes)

    check()
    assert {kind for kind in DONATED if n_possible[kind] < 5} == set()


def others(texts: list[str], groups: list[str | None], row: int) -> tuple[str, ...]:
    """The texts of other groups; one without a group is a group of its own."""
    return tuple(
        text
        for other, text in enumerate(texts)
        if (groups[other] != groups[row] if groups[row] is not None else other != row)
    )


@cache
def all_code_points() -> list[str]:
    numbers = [*range(0x20000), *range(0x20000, 0x110000, 64), *range(0xE0000, 0xE0200)]
    return [chr(number) for number in numbers if is_stable(chr(number))]


@cache
def changes_of_properties() -> list[str]:
    """The code points whose properties differ from the properties of the code point before."""
    alike = groupby(all_code_points(), lambda one: (category(one), one.isalnum(), one.isspace(), language_of(one)))
    return [next(group) for _, group in alike]


@pytest.mark.parametrize("chosen", [changes_of_properties, pytest.param(all_code_points, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("kind", "language", "around"),
    [
        ("char_repeat", "en", "a{}b"),  # letters and digits, and what joins another
        ("word_repeat", "ja", "水{}いー水"),  # the classes
        ("punctuation", "en", "a{}'"),  # white space
        ("term_swap", "en", " a {}ı"),  # capitals
        ("char_typo", "ja", "{}"),  # what has a neighbour or a partner
    ],
)
def test_every_code_point_is_read_as_the_oracle_reads_it(kind, language, around, chosen):
    code_points = chosen()
    for start in range(0, len(code_points), 1 << 14):
        text = "".join(around.format(code_point) for code_point in code_points[start : start + (1 << 14)])
        degree = perturbation(kind, permille=1000 if KINDS[kind].has_degrees else None)
        case = drawn.Case(text, kind, (degree,), start, language, donors=("It is Oslo.",))
        assert core_of(case) == case.by_oracle()

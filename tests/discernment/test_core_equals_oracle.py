"""The core damages texts as the oracle does: the same code points, and the same reasons where it cannot."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers import texts as drawn
from makers.unicode_13 import is_stable
from pfgen_fast.discernment.kinds import ALIASES, KINDS, Impossible
from pfgen_fast.discernment.oracle import RULES, perturbed
from pfgen_fast.discernment.oracle.texts import language_of
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
        donors=Donors.pool(case.donors),
        alternatives=[case.alternative],
    )
    (outcomes,) = by_core(found)
    return outcomes


@pytest.mark.parametrize("kind", [*RULES, *ALIASES])
def test_every_kind_damages_every_text_as_the_oracle_does(kind):
    n_possible = 0

    @settings(max_examples=300)
    @given(drawn.cases(kind))
    def check(case):
        nonlocal n_possible
        expected = case.by_oracle()
        assert core_of(case) == expected
        n_possible += sum(isinstance(outcome, str) for outcome in expected)

    check()
    assert n_possible > 10


@given(st.data(), drawn.kinds(), st.integers(1, 3))
def test_a_batch_gives_what_its_texts_give_alone(data, kind, threads):
    languages = data.draw(st.lists(st.one_of(st.none(), drawn.languages()), min_size=1, max_size=6))
    texts = [data.draw(drawn.texts(language or "ja", 3)) for language in languages]
    alternatives = [data.draw(st.one_of(st.none(), drawn.texts("en", 1))) for _ in texts]
    degrees, seed = data.draw(drawn.degrees(kind)), data.draw(drawn.seeds())
    pool = data.draw(drawn.donors(texts[0], languages[0] or "ja"))
    found = perturbed_columns(
        texts,
        kind,
        degrees,
        seed=seed,
        languages=languages,
        donors=Donors.pool(pool),
        alternatives=alternatives,
        threads=threads,
    )
    expected = [
        perturbed(
            text, kind, degrees, seed=seed, language=language or language_of(text), donors=pool, alternative=alternative
        )
        for text, language, alternative in zip(texts, languages, alternatives, strict=True)
    ]
    assert by_core(found) == expected


@pytest.mark.parametrize("kind", DONATED)
def test_a_collection_gives_what_the_texts_of_other_questions_give(kind):
    """The core keeps one list of candidates for all texts; the oracle makes one for each."""
    n_possible = 0

    @given(st.data(), drawn.languages())
    def check(data, language):
        nonlocal n_possible
        texts = [data.draw(drawn.texts(language, 3)) for _ in range(data.draw(st.integers(1, 7)))]
        texts += data.draw(st.lists(st.sampled_from(texts), max_size=3))
        groups = [data.draw(st.sampled_from(["Q1", "Q2", "Q3", None])) for _ in texts]
        degrees, seed = data.draw(drawn.degrees(kind)), data.draw(drawn.seeds())
        rows = data.draw(st.permutations(range(len(texts))))[: data.draw(st.integers(1, len(texts)))]
        found = perturbed_columns(
            [texts[row] for row in rows],
            kind,
            degrees,
            seed=seed,
            languages=language,
            donors=Donors(texts, groups),
            rows=rows,
        )
        expected = [
            perturbed(texts[row], kind, degrees, seed=seed, language=language, donors=others(texts, groups, row))
            for row in rows
        ]
        assert by_core(found) == expected
        n_possible += sum(isinstance(outcome, str) for outcomes in expected for outcome in outcomes)

    check()
    assert n_possible > 10


def others(texts: list[str], groups: list[str | None], row: int) -> list[str]:
    """The texts of other groups; one without a group is a group of its own."""
    return [
        text
        for other, text in enumerate(texts)
        if (groups[other] != groups[row] if groups[row] is not None else other != row)
    ]


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
def test_every_code_point_is_read_as_the_oracle_reads_it(kind, language, around):
    numbers = [*range(0x20000), *range(0x20000, 0x110000, 64), *range(0xE0000, 0xE0200)]
    code_points = [chr(number) for number in numbers if is_stable(chr(number))]
    for start in range(0, len(code_points), 1 << 14):
        text = "".join(around.format(code_point) for code_point in code_points[start : start + (1 << 14)])
        degree = perturbation(kind, permille=1000 if KINDS[kind].has_degrees else None)
        case = drawn.Case(text, kind, (degree,), start, language, donors=("It is Oslo.",))
        assert core_of(case) == case.by_oracle()

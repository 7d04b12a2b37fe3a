"""The native sampler: against the rules in plain Python, and general properties of samplers."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import plain_rules, strategies
from makers.effort import examples
from pfgen_fast import NgramSampler, Question, Suite, SuiteError, TrialsError

SEEDS = st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1), st.just(2**64 - 1))
TEMPERATURES = st.one_of(st.sampled_from([0, 0.001, 0.3, 0.7, 1, 1.0, 1.3, 2, 1000]), st.floats(0.001, 1000))
OPTIONS = st.fixed_dictionaries(
    {
        "order": st.one_of(st.integers(1, 12), st.sampled_from([17, 40, 300])),
        "temperature": TEMPERATURES,
        "top_p": st.one_of(st.just(1.0), st.sampled_from([0.5, 0.9, 0.98]), st.floats(0, 1, exclude_min=True)),
        "top_k": st.one_of(st.none(), st.integers(1, 6)),
        "max_code_points": st.one_of(st.just(300), st.integers(1, 30)),
    }
)


def by_the_rules(question, seeds, **options):
    """The answers that the rules give, from all sets of a question."""
    every_answer = [answer for answers in question.answers.values() for answer in answers]
    rules = plain_rules.Sampler(question.question, every_answer, **options)
    return [rules.sample(seed) for seed in seeds]


@pytest.mark.slow
@examples(150)
@given(st.data())
def test_the_core_draws_the_answers_of_the_rules(data):
    suite, options = data.draw(strategies.suites()), data.draw(OPTIONS)
    seeds = data.draw(st.lists(SEEDS, min_size=1, max_size=5))
    sampler = NgramSampler(suite, threads=1, **options)
    for question in suite:
        assert sampler.sample(question.question_id, seeds) == by_the_rules(question, seeds, **options)


@given(OPTIONS)
def test_threads_change_nothing(mini, options):
    seeds = range(300)
    single, four = (NgramSampler(mini, threads=threads, **options).sample("Q05", seeds) for threads in (1, 4))
    assert single == four


def test_many_answers_come_in_the_order_of_their_seeds(mini):
    sampler = NgramSampler(mini)
    many = sampler.sample("Q04", np.arange(70_000))
    for seed in (0, 127, 128, 32_767, 32_768, 65_536, 69_999):
        assert sampler.sample("Q04", [seed]) == [many[seed]]
    assert sampler.sample("Q04", range(999, -1, -1)) == many[999::-1]


def test_sets_are_those_that_are_named(mini):
    only_b = set(NgramSampler(mini, order=400, sets=["B"]).sample("Q01", range(2000)))
    assert only_b == set(mini["Q01"].answers["B"])
    both = NgramSampler(mini, sets=["B", "A", "B"]).sample("Q01", range(50))
    assert both == NgramSampler(mini).sample("Q01", range(50))


POSITIVE = "expected a whole number from 1 to 2147483647"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        *(({"order": value}, f"order: {POSITIVE}, not {value}") for value in (0, 2.0)),
        *(({"top_k": value}, f"top_k: {POSITIVE}, not {value}") for value in (0, True)),
        ({"max_code_points": -1}, f"max_code_points: {POSITIVE}, not -1"),
        *(
            ({"temperature": value}, f"temperature: expected 0, or 0.001 to 1000, not {value!r}")
            for value in (-1, 1e-9, math.nan, "hot")
        ),
        *(({"top_p": value}, f"top_p: expected a number above 0 and up to 1, not {value}") for value in (0, math.nan)),
        ({"threads": 0}, "threads: expected 1 to 1024, not 0"),
        ({"sets": []}, "sets: expected a list of names of reference sets, not []"),
        ({"sets": "A"}, "sets: expected a list of names of reference sets, not 'A'"),
        ({"sets": ["A", "Z"]}, "suite mini: no set 'Z'; there are 'A', 'B'"),
    ],
)
def test_a_bad_option_is_named(mini, options, problem):
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        NgramSampler(mini, **options)


@pytest.mark.parametrize("seeds", [[0, -1], [0, 2**64], [0, 1.5], [0, "1"], np.array([5, -3])])
def test_a_bad_seed_is_named(mini, seeds):
    expected = f"expected a whole number from 0 to 18446744073709551615, not {seeds[1]!r}"
    with pytest.raises(ValueError, match=f"^seeds: {re.escape(expected)}$"):
        NgramSampler(mini).sample("Q01", seeds)


def test_an_unknown_question_one_without_the_sets_and_an_invalid_answer_are_named():
    questions = (Question("Q1", "one?", {"P": ("a",)}), Question("Q2", "two?", {"S": ("b",), "T": ("c",)}))
    sampler = NgramSampler(Suite("made", questions, "0" * 40), sets=["P"])
    with pytest.raises(TrialsError, match=r"^unknown question 'Q3' in suite made; nearest: 'Q2', 'Q1'\Z"):
        sampler.sample("Q3", [0])
    with pytest.raises(SuiteError, match=r"^suite made, question Q2: none of the sets 'P'; there are 'S', 'T'\Z"):
        sampler.sample("Q2", [0])
    with pytest.raises(SuiteError, match="expected a string, not int"):
        NgramSampler(Suite("made", (Question("Q", "why?", {"P": ("a", 5)}),), "0" * 40))

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from makers.effort import examples
from makers.strategies import suites
from pfgen_fast import ExperimentError, Suite
from pfgen_fast.experiments.sensitivity import COLUMNS, VariantScorer
from pfgen_fast.oracle import Oracle, compensated_sum
from pfgen_fast.scoring.index import index_of
from pfgen_fast.suite.rules import Constants


def expected(oracle, question, answer):
    scores = oracle.score_one(question, answer)
    sums = [compensated_sum(scores[part].values()) for part in ("fluency", "truthfulness")]
    return [*sums, scores["helpfulness"], scores["average"]]


def answers_of(suite):
    for index, question in enumerate(suite):
        first, second, *_ = next(iter(question.answers.values()))
        for text in (first, second[:40], first + second + first, "^" + first + "$", first[:3], first[:1], ""):
            yield index, text


@st.composite
def constants(draw):
    first, target = draw(st.integers(1, 10)), draw(st.integers(1, 40))
    threshold = draw(st.sampled_from([0.001, 0.005, 0.3, 1.0]))
    return Constants(first, draw(st.integers(first, 10)), threshold, target, target + draw(st.integers(1, 40)))


@pytest.mark.hypothesis
def test_random_suites_and_constants_score_as_the_oracle():
    seen: Counter[str] = Counter()

    @examples(60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(st.data())
    def holds(data):
        suite = data.draw(suites())
        varied = data.draw(st.lists(constants(), min_size=1, max_size=4))
        try:
            scorer = VariantScorer(suite, varied, threads=1)
        except ExperimentError:
            seen["n-grams longer than all references"] += 1
            return
        seen["scored"] += 1
        references = [text for question in suite for texts in question.answers.values() for text in texts]
        answer = data.draw(st.sampled_from(references)) + data.draw(st.text("ab^$。、", max_size=60))
        found = scorer.score(range(len(suite)), [answer] * len(suite))
        for number, each in enumerate(varied):
            oracle = Oracle(suite, constants=each)
            for row, question in enumerate(suite):
                assert found[number, :, row].tolist() == expected(oracle, question.question_id, answer)

    holds()
    assert seen["scored"] > seen.total() / 4, seen


def test_the_usual_constants_are_those_of_the_scorer(mini, scorer):
    indices, answers = zip(*answers_of(mini), strict=True)
    variants = VariantScorer(mini, [Constants(last_order=5), Constants()], threads=2)
    for index, indexed in enumerate(index_of(mini, "leaderboard", 2)):
        assert variants.baselines(index)[1] == indexed.baselines
    found = variants.score(indices, list(answers))
    table = scorer.score([mini.questions[index].question for index in indices], list(answers))
    for part, values in zip(COLUMNS, found[1], strict=True):
        assert values.tolist() == table[part].tolist()


def test_neither_threads_nor_batches_change_a_score(mini):
    varied = [Constants(last_order=1), Constants(first_order=4, last_order=7), Constants(threshold=0.5), Constants()]
    varied += [Constants(target_length=1, limit=200), Constants(target_length=149), Constants(target_length=5, limit=7)]
    indices, answers = (list(column) * 40 for column in zip(*answers_of(mini), strict=True))
    whole = VariantScorer(mini, varied, threads=3).score(indices, answers)
    one = VariantScorer(mini, varied, threads=1)
    parts = [one.score(indices[i : i + 700], answers[i : i + 700]) for i in range(0, len(indices), 700)]
    assert np.array_equal(whole, np.concatenate(parts, axis=2))


RANGES = {"first_order": (0, 11), "last_order": (0, 11), "target_length": (0, 150), "limit": (100, 1001)}
WRONG = [*((name, value) for name, values in RANGES.items() for value in values), ("threshold", 0.0)]


@pytest.mark.parametrize(("name", "value"), [*WRONG, ("threshold", float("nan"))])
def test_constants_out_of_their_range_are_refused(name, value):
    with pytest.raises(ValueError, match="expected"):
        Constants(**{name: value})


def test_orders_that_no_reference_reaches_are_named(make_suite):
    suite = Suite.load(make_suite({"answers": {"P": ["abc", "abd"]}}))
    with pytest.raises(ExperimentError, match=r"question Q01: with Constants\(first_order=4.*no answer of the set 'P'"):
        VariantScorer(suite, [Constants(), Constants(first_order=4)])

"""The published runs: recorded scores are reproduced exactly, and core and oracle agree on every answer."""

from functools import cache

import pytest
from makers import published
from pfgen_fast import Scorer
from pfgen_fast.oracle import Oracle, average

pytestmark = published.needs_published_runs

QUESTION_NUMBERS = range(50)


@cache
def scorer(profile, float_sum):
    return Scorer(published.suite(), profile=profile, float_sum=float_sum)


def test_the_suite_is_the_recorded_one():
    assert {run.result()["metadata_hash"] for run in published.runs()} == {published.suite().metadata_hash}
    assert len(published.suite()) == len(QUESTION_NUMBERS)


# Each question takes some ten seconds, so a change is checked with a part of them (`make parity PARITY=part`).
STEP_OF_PART = {"leaderboard": 10, "paper": 25, "normalised": 50}
CASES = [
    pytest.param(number, profile, marks=[pytest.mark.rare] if number % step else [])
    for number in QUESTION_NUMBERS
    for profile, step in STEP_OF_PART.items()
]


@pytest.mark.parity
@pytest.mark.parametrize(("number", "profile"), CASES)
def test_core_and_oracle_agree_on_every_answer(number, profile):
    question = published.suite().questions[number]
    answers = published.answers_by_question()[question.question]
    oracle = Oracle(published.suite(), profile=profile)
    scores = {answer: oracle.score_one(question.question_id, answer) for answer in answers}
    for float_sum in ("compensated", "naive"):
        table = scorer(profile, float_sum).score(question.question_id, answers)
        for row, answer in enumerate(answers):
            expected = {**scores[answer], "average": average(scores[answer], float_sum)}
            assert repr(table.details(row)) == repr(expected)
            if profile == "leaderboard":
                recorded = samples_of(question.question_id, float_sum).get(answer, expected)
                assert repr(recorded) == repr(expected)


@cache
def samples_of(question_id, float_sum):
    """The recorded scores of the runs with this float sum, by answer."""
    return {
        sample["answer"]: sample["scores"]
        for run in published.runs()
        if run.float_sum == float_sum
        for sample in run.result()["questions"][question_id]["samples"]
    }


@pytest.mark.parity
def test_all_answers_were_compared():
    answers = published.answers_by_question()
    assert {question.question for question in published.suite()} == set(answers)
    assert sum(map(len, answers.values())) == 57_100

"""The comparison of two runs: what it says with few questions, with missing ones, and with many trials."""

from __future__ import annotations

import json

import numpy as np
import pytest
from makers.runs import make_run
from pfgen_fast import Scorer, TrialsError
from pfgen_fast.runs.comparison import compare
from pfgen_fast.runs.trials import find_runs


@pytest.fixture
def run_of(tmp_path):
    """Makes a run of these questions, whose answers are reference answers cut to a length."""

    def make(name, questions, length=60, n_trials=2, first=0):
        lines = [
            json.dumps({"question": question.question, "answer": question.answers["A"][first + k][: length + 7 * k]})
            for k in range(n_trials)
            for question in questions
        ]
        return find_runs([make_run(tmp_path / name, lines)])[0]

    return make


def test_one_question_gives_neither_interval_nor_p_value_nor_verdict(run_of, mini, scorer):
    found = compare(run_of("a", mini.questions[:1], 40), run_of("b", mini.questions[:1], 80), scorer)
    score = found.metrics[0]
    assert score.difference != 0
    assert (score.low, score.high, score.p_value, score.n_questions, score.differs) == (None, None, None, 1, None)
    assert found.verdict.startswith("no verdict from 1 question, at least 6 are needed: A - B is -0.")


def test_five_questions_have_an_interval_and_no_verdict(run_of, mini, scorer):
    found = compare(run_of("a", mini.questions[:5], 30), run_of("b", mini.questions[:5], 90), scorer)
    assert found.metrics[0].low < found.metrics[0].high
    assert found.metrics[0].differs is None
    assert "no verdict from 5 questions" in found.verdict


def test_questions_without_an_answer_are_left_out_and_counted(run_of, mini, scorer):
    found = compare(run_of("a", mini.questions[:7], 30), run_of("b", mini.questions[1:], 90), scorer)
    assert found.left_out == "2 of 8 questions are left out, without an answer: 1 in run A and 1 in run B."
    assert {row.n_questions for row in found.metrics} == {6} == {len(found.questions)}
    assert "over 6 questions" in found.verdict
    assert compare(run_of("c", mini, 30), run_of("d", mini, 90), scorer).left_out == ""


def test_runs_of_different_questions_cannot_be_compared(run_of, mini, scorer):
    with pytest.raises(TrialsError, match="no question in common"):
        compare(run_of("a", mini.questions[:2]), run_of("b", mini.questions[2:]), scorer)


def test_the_test_is_that_of_scipy_on_the_means_of_questions(run_of, mini, scorer):
    from scipy import stats

    a, b = run_of("a", mini, 50, n_trials=3), run_of("b", mini, 50, n_trials=5, first=20)
    found = compare(a, b, scorer)
    differences = np.array([question.difference for question in found.questions])
    expected = stats.ttest_1samp(differences, 0)
    score = found.metrics[0]
    assert (score.difference, score.p_value) == (
        pytest.approx(differences.mean()),
        pytest.approx(expected.pvalue),
    )
    assert (score.low, score.high) == pytest.approx(tuple(expected.confidence_interval()), rel=1e-3)


def test_every_trial_twice_changes_nothing(run_of, mini, tmp_path):
    """The trials of a question count through their mean alone; drawing them again would narrow the interval."""
    a, b = run_of("a", mini, 50), run_of("b", mini, 60, first=20)
    twice = []
    for name, run in (("a", a), ("b", b)):
        lines = (run.folder / "trials.jsonl").read_text("utf-8").splitlines()
        twice.append(find_runs([make_run(tmp_path / "twice" / name, lines + lines)])[0])
    scorer = Scorer(mini)
    once, again = compare(a, b, scorer).metrics[0], compare(*twice, scorer).metrics[0]
    assert (once.low, once.p_value) == (pytest.approx(again.low), pytest.approx(again.p_value))

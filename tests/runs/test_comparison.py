"""Comparison of two runs, and of several with a baseline: few questions, missing ones, figures and verdicts."""

import json
from dataclasses import replace

import numpy as np
import pytest
from makers.runs import make_run
from pfgen_fast import TrialsError
from pfgen_fast.runs.run_comparison import compare, compare_runs, scores_of
from pfgen_fast.runs.statistics.paired_randomization import against_baseline
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.rules import AVERAGE_FIRST


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


def test_questions_without_an_answer_are_left_out_and_counted(run_of, mini, scorer):
    result = compare(run_of("a", mini.questions[:7], 30), run_of("b", mini.questions[1:], 90), scorer)
    assert result.left_out == "2 of 8 questions are left out, without an answer: 1 in run A and 1 in run B."
    assert {row.n_questions for row in result.metrics} == {6} == {len(result.questions)}
    assert "over 6 questions" in result.verdict
    assert compare(run_of("c", mini, 30), run_of("d", mini, 90), scorer).left_out == ""
    with pytest.raises(TrialsError, match="no question in common"):
        compare(run_of("e", mini.questions[:2]), run_of("f", mini.questions[2:]), scorer)


def test_means_have_their_difference_if_questions_have_unequal_numbers_of_trials(run_of, mini, scorer):
    fewer = run_of("a", mini, 30)
    fewer.trials_path.write_text("\n".join(fewer.trials_path.read_text("utf-8").splitlines()[:-4]), "utf-8")
    for row in compare(fewer, run_of("b", mini, 90), scorer, metrics=AVERAGE_FIRST).metrics:
        assert row.a - row.b == pytest.approx(row.difference, abs=1e-4)


@pytest.fixture(scope="module")
def runs(varied):
    return find_runs([varied])


def values_of(run, scorer):
    """The score of each question, computed in another way: one answer after the other."""
    trials = [json.loads(line) for line in (run.folder / "trials.jsonl").read_text("utf-8").splitlines()]
    by_name = {question.question: [] for question in scorer.suite}
    for trial in trials:
        by_name[trial["question"]].append(scorer.score([trial["question"]], [trial["answer"]]).average[0])
    return [round(float(np.mean(scores)), 5) for scores in by_name.values()]


def swapped(runs, scorer):
    return compare_runs(runs, scorer, metrics=["average"], swapping=True)


def test_the_figures_are_those_of_the_scores_of_questions(runs, scorer):
    actual = swapped([runs[2], *runs[:2]], scorer)
    values = [values_of(run, scorer) for run in (runs[2], *runs[:2])]
    expected = against_baseline(values[0], values[1:])
    for row, expected_row, own, run in zip(actual.metrics, expected, values[1:], runs[:2], strict=True):
        assert (row.model_b, row.n_questions) == (str(run.folder), 8)
        assert (row.difference, row.b) == (
            pytest.approx(expected_row.difference),
            pytest.approx(np.mean(own), abs=7e-5),
        )
        assert (row.p_value, row.p_corrected, row.differs) == (
            expected_row.p_value,
            expected_row.p_corrected,
            expected_row.differs,
        )


def test_questions_that_one_run_lacks_are_left_out_for_all(runs, scorer, mini, tmp_path):
    lines = (runs[1].folder / "trials.jsonl").read_text("utf-8").splitlines()
    fewer = [line for line in lines if json.loads(line)["question"] != mini.questions[0].question]
    result = swapped([runs[0], *find_runs([make_run(tmp_path / "fewer", fewer)]), runs[2]], scorer)
    assert [row.n_questions for row in result.metrics] == [7, 7]
    assert result.left_out == "1 of 8 questions left out, for which a run has no answer."
    few = [line for line in lines if json.loads(line)["question"] == mini.questions[0].question]
    item = swapped([runs[0], *find_runs([make_run(tmp_path / "few", few)])], scorer)
    assert item.verdict.startswith("no verdict: 1 question, at least 6 are needed; A - B is ")
    with pytest.raises(TrialsError, match="no question in common"):
        swapped(find_runs([tmp_path]), scorer)


def test_the_method_names_the_ways_to_swap(runs, scorer):
    several = swapped(runs[:3], scorer)
    assert several.method == (
        "paired approximate randomization, all 256 ways to swap 8 questions; "
        "p-values and intervals are corrected by Holm for the 2 comparisons of each metric"
    )
    itself = swapped([runs[0], runs[0]], scorer)
    assert itself.verdict.startswith("not distinguished: A - B is +0.0000, the same on all 8 questions")
    assert itself.method == "paired approximate randomization, all 256 ways to swap 8 questions"


def test_a_verdict_that_the_ways_to_swap_cannot_give_is_not_given(runs, scorer):
    all_ways = swapped([runs[0], *runs[1:3] * 4], scorer)
    assert all_ways.verdict == "no verdict: 8 questions are too few to compare 8 runs by swapping"
    assert swapped([runs[0], *runs[1:2] * 51], scorer).n_draws == 10_200


def test_runs_are_item_scores_with_trials_and_categories(runs, scorer):
    table = replace(scores_of(runs[:3], scorer).table, models=("a", "b", "c"))
    assert table.items == tuple(question.question_id for question in scorer.suite)
    assert table.subjects == tuple(question.category or None for question in scorer.suite)
    assert table.of("b", "average").tolist() == values_of(runs[1], scorer)
    trials = [json.loads(line) for line in (runs[1].folder / "trials.jsonl").read_text("utf-8").splitlines()]
    for at, question in enumerate(scorer.suite):
        answers = [trial["answer"] for trial in trials if trial["question"] == question.question]
        scored = scorer.score([question.question] * len(answers), answers)
        assert table.n_trials["average"][1, at] == len(answers)
        for metric in ("average", "fluency", "helpfulness"):
            assert table.variances[metric][1, at] == pytest.approx(np.var(scored[metric], ddof=1))
    as_runs, as_table = compare(runs[0], runs[1], scorer), compare(table, models=["a", "b"])
    for first, other in zip(as_runs.metrics, as_table.metrics, strict=True):
        assert (first.difference, first.low, first.p_value) == (other.difference, other.low, other.p_value)
        assert first.a == pytest.approx(other.a, abs=0.05 if first.metric == "length" else 6e-5)  # as in result.json


def test_many_runs_are_compared_with_the_first(runs, scorer):
    result = compare_runs(runs[:4], scorer, metrics=["average", "length"])
    assert (result.n_pairs, len(result.metrics)) == (3, 6)
    alone = compare(runs[0], runs[2], scorer)
    row, same = result.metrics[1], alone.metrics[0]
    assert (row.a, row.b, row.difference, row.p_value) == (same.a, same.b, same.difference, same.p_value)
    assert row.p_corrected >= same.p_value
    assert "of 3 runs, A is better than" in result.verdict

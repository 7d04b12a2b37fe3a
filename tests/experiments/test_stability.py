from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from makers.runs import make_varied_runs
from pfgen_fast import ExperimentError, Suite
from pfgen_fast.experiments import score_runs
from pfgen_fast.experiments.cut_references import REFERENCE_ANSWERS, Agreement, CutReferences, RunPairs, cut_suite
from pfgen_fast.experiments.stability import (
    Fewer,
    leave_one_out,
    scores_of_trials,
    smallest_with_same_ranking,
    stability,
)
from pfgen_fast.statistics.correlation import kendall
from pfgen_fast.suite.units import PatternTokenizer


@pytest.fixture(scope="module")
def cut():
    return CutReferences((50, 5), n_draws=2, threads=2)


@pytest.fixture
def three(tmp_path, mini):
    return make_varied_runs(tmp_path, mini, n_runs=3, n_trials=1)


@pytest.fixture(scope="module")
def scored(varied, mini, cut):
    return score_runs([varied], suite=mini, threads=2, on_batch=cut)


def test_places_without_a_question_are_those_of_the_other_questions(scored):
    without = leave_one_out(scored)
    for left_out in range(without.shape[1]):
        others = np.delete(scored.question_scores["score"], left_out, axis=1).mean(axis=1)
        assert without[:, left_out].tolist() == (1 + (others[None, :] > others[:, None]).sum(axis=1)).tolist()


@pytest.mark.parametrize("tokenizer", [None, PatternTokenizer("words")])
def test_fewer_reference_answers_are_scored_as_a_suite_that_has_no_more(three, mini, tokenizer):
    questions = tuple(replace(question, tokenizer=tokenizer or question.tokenizer) for question in mini)
    suite, cut = Suite("in units", questions, mini.metadata_hash), CutReferences((50,), n_draws=1)
    scored = score_runs([three], suite=suite, on_batch=cut)
    ((size, halves),) = cut.scores[1]
    assert size == 50
    for scores, part in zip(halves, cut_suite(suite, 50, np.random.default_rng((0, 50, 0))), strict=True):
        assert scores == pytest.approx(score_runs([three], suite=part).means["score"], abs=1e-5)
        rest = iter(suite["Q01"].answers["A"])
        assert all(answer in rest for answer in part["Q01"].answers["A"])  # in file order
    assert stability(scored, cut, n_draws=2).tables[-1].name == "fewer"


def test_two_parts_have_no_reference_answer_in_common(mini):
    answers = tuple(f"answer {number}" for number in range(9))
    suite = Suite("nine", tuple(replace(q, answers={"A": answers, "B": answers[:1]}) for q in mini))
    for size, expected in ((3, 3), (4, 4), (7, 4)):  # nine are halved where twice seven are drawn
        for one, other in zip(*cut_suite(suite, size, np.random.default_rng(0)), strict=True):
            parts = set(one.answers["A"]), set(other.answers["A"])
            assert (*map(len, parts), parts[0] & parts[1]) == (expected, expected, set())
            assert one.answers["B"] == other.answers["B"] == answers[:1]


def test_more_reference_answers_than_there_are_cannot_be_drawn(three, mini):
    with pytest.raises(ExperimentError, match="1000 reference answers: expected at most 110, half of"):
        score_runs([three], suite=mini, on_batch=CutReferences((50, 1000)))
    usual = CutReferences(n_draws=1)
    score_runs([three], suite=mini, on_batch=usual)
    assert {size for size, _ in usual.scores[1]} < set(REFERENCE_ANSWERS)


def test_sets_without_enough_answers_to_draw_from_are_counted(three, mini):
    first = mini.questions[0]
    short = replace(first, answers={"A": first.answers["A"][:30], "B": first.answers["B"][:20]})
    suite = Suite("short", (short, *mini.questions[1:]))
    cut = CutReferences((20, 10), n_draws=1)
    finding = stability(score_runs([three], suite=suite, on_batch=cut), cut, n_draws=2)
    assert finding.notes[0] == (
        "2 of 16 reference sets have fewer than 40 answers and are halved if twice 20 are drawn; "
        "the smallest set has 20"
    )


def test_the_smallest_number_is_that_from_which_on_all_are_enough():
    for smallest, *means in ((2, 1.0, 0.97, 0.96, 0.5), (3, 1.0, 0.97, 0.5, 0.99), (None, 0.95, 1.0, 1.0, 1.0)):
        draws = [Agreement(mean, 0, None, None, 0) for mean in means]
        steps = [Fewer("trials", 4 - number, 9, (draw,)) for number, draw in enumerate(draws)]
        assert smallest_with_same_ranking(steps) == smallest


def test_runs_without_two_trials_are_left_out_and_those_with_few_are_halved(tmp_path, mini):
    make_varied_runs(tmp_path, mini, n_runs=4, n_trials=1)
    finding = stability(score_runs([tmp_path], suite=mini), n_draws=2)
    assert {row[0] for row in finding.tables[-1].rows} == {"questions"}
    assert finding.notes == ("fewer than three runs have two trials, so trials cannot be compared",)
    make_varied_runs(tmp_path / "more", mini, n_runs=3, n_trials=4)
    make_varied_runs(tmp_path / "few", mini, n_runs=2, n_trials=3)
    finding = stability(score_runs([tmp_path], suite=mini), n_draws=5)
    trials = [row for row in finding.tables[-1].rows if row[0] == "trials"]
    assert [row[1] for row in trials] == [2, 1]
    assert all(row[3] > 0.5 for row in trials)
    assert finding.notes == (
        "4 runs of a single trial are left out of the rows on trials",
        "2 runs have fewer than 4 trials; their trials are halved if needed",
    )


def test_agreement_counts_pairs_by_hand():
    questions = np.array([[-1.0, 0.0, 1.0]]) * 0.45 + np.array([[0.0], [1.0], [2.0], [9.0]])
    pairs = RunPairs.of(questions)
    assert pairs.within == pytest.approx(4.302653 * 0.45 / 3**0.5, rel=1e-4)
    assert pairs.first[pairs.is_close].tolist() == [0, 1]
    assert pairs.second[pairs.is_close].tolist() == [1, 2]
    usual = questions.mean(axis=1)
    found = pairs.agreement((usual + 1, np.array([2.0, 1.0, 3.0, 9.0])), usual)
    assert found.kendall == pytest.approx((5 - 1) / 6)
    assert found.swapped == pytest.approx(1 / 6)
    assert (found.of_close, found.close_swapped) == (0.0, 0.5)  # one of two
    assert found.shift == pytest.approx((4 + 3) / 8)  # all by one, and 2, 0, 1 and 0
    one, other = np.array([[1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 0.0]])  # with ties
    assert pairs.agreement((one, other), one).kendall == pytest.approx(kendall(one, other))
    pairs = RunPairs.of(questions[:, :1])  # without an interval of scores no pairs are close
    assert (pairs.within, pairs.agreement((one, other), one).close_swapped) == (None, None)


def test_the_lowest_draws_are_told_of_twenty_draws_or_more_and_fewer_references_shift_the_scores(scored, cut):
    found = {n: stability(scored, cut, n_draws=n).tables[1].rows for n in (19, 20)}
    for n, rows in found.items():
        assert {row[4] is None for row in rows if row[0] == "questions"} == {n < 20}
    shifts = {row[1]: row[-1] for row in found[19] if "reference" in row[0]}
    expected = np.mean([np.mean(halves) for size, halves in cut.scores[1] if size == 5]) - cut.scores[0].mean()
    assert shifts[5] == pytest.approx(expected)
    assert abs(shifts[5]) > abs(shifts[50])


def test_a_trial_is_one_answer_to_each_question_in_any_order_of_the_file(scored, mini):
    by_run = scores_of_trials(scored, np.random.default_rng(0))
    assert len(by_run) == len(scored.names)
    for run, trials in enumerate(by_run):
        assert len(trials) == 3
        assert trials.mean() == pytest.approx(scored.answer_scores["score"][scored.run_numbers == run].mean())
    again, other = (scores_of_trials(scored, np.random.default_rng(seed)) for seed in (0, 1))
    assert by_run[0].tolist() == again[0].tolist() != other[0].tolist()


def test_drawn_answers_are_compared_with_all_references_and_counted(varied, mini):
    cut = CutReferences((50,), n_draws=1, trials=2, seed=3)
    scored = score_runs([varied], suite=mini, on_batch=cut)
    finding = stability(scored, cut, n_draws=2)
    assert finding.notes[0].startswith("96 of 144 answers were scored with fewer reference answers: 2 to each question")
    assert cut.scores[0].tolist() != pytest.approx(
        scored.means["score"].tolist(), abs=1e-4
    )  # of two thirds of the answers
    (row,) = [row for row in finding.tables[-1].rows if row[0] == "reference answers per set"]
    assert row[3] == pytest.approx(kendall(*cut.scores[1][0][1]))

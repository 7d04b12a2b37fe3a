from __future__ import annotations

import numpy as np
import pytest
from makers.runs import make_varied_runs
from pfgen_fast.lab.experiments import score_runs
from pfgen_fast.lab.experiments.stability import (
    Agreement,
    Fewer,
    RunPairs,
    leave_one_out,
    scores_of_trials,
    smallest_with_same_ranking,
    stability,
)
from pfgen_fast.lab.statistics.correlation import kendall


def test_places_without_a_question_are_those_of_the_other_questions(scored):
    without = leave_one_out(scored)
    for left_out in range(without.shape[1]):
        others = np.delete(scored.question_scores["score"], left_out, axis=1).mean(axis=1)
        assert without[:, left_out].tolist() == (1 + (others[None, :] > others[:, None]).sum(axis=1)).tolist()


def test_the_smallest_number_is_that_from_which_on_all_are_enough():
    for smallest, *means in ((2, 1.0, 0.97, 0.96, 0.5), (3, 1.0, 0.97, 0.5, 0.99), (None, 0.95, 1.0, 1.0, 1.0)):
        draws = [Agreement(mean, 0, 0, 0) for mean in means]
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
    found = pairs.agreement(questions.mean(axis=1), np.array([2.0, 1.0, 3.0, 9.0]))
    assert found.kendall == pytest.approx((5 - 1) / 6)
    assert found.swapped == pytest.approx(1 / 6)
    assert (found.close, found.close_swapped) == (0.0, 0.5)  # one of two
    one, other = np.array([[1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 0.0]])  # with ties
    assert pairs.agreement(one, other).kendall == pytest.approx(kendall(one, other))
    pairs = RunPairs.of(questions[:, :1])  # without an interval of scores no pairs are close
    assert (pairs.within, np.isnan(pairs.agreement(one, other).close_swapped)) == (None, True)


def test_the_lowest_draws_are_told_of_twenty_draws_or_more(scored):
    found = {n: stability(scored, n_draws=n).tables[1].rows for n in (19, 20)}
    for n, rows in found.items():
        assert {row[4] is None for row in rows if row[0] == "questions"} == {n < 20}


def test_a_trial_is_one_answer_to_each_question_in_any_order_of_the_file(scored, mini):
    by_run = scores_of_trials(scored, np.random.default_rng(0))
    assert len(by_run) == len(scored.names)
    for run, trials in enumerate(by_run):
        assert len(trials) == 3
        assert trials.mean() == pytest.approx(scored.answer_scores["score"][scored.run_numbers == run].mean())
    again, other = (scores_of_trials(scored, np.random.default_rng(seed)) for seed in (0, 1))
    assert by_run[0].tolist() == again[0].tolist() != other[0].tolist()

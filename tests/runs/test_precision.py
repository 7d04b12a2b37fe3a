"""The precision of scores: the interval, its coverage, and the number of trials that a precision takes."""

from __future__ import annotations

import pytest
from pfgen_fast.generation.engines import open_engine
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.setting import Setting
from pfgen_fast.runs.precision import TrialScores, least_trials
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import RunFolder
from pfgen_fast.suite.rules import SCORES

ngram = Setting("ngram/order-5")


def make_run(suite, output, trials):
    engine = open_engine("ngram", suite=suite, model=ngram.model, mode=ngram.mode)
    return generate(suite, engine, ngram, trials=trials, output=output).run


def test_values_are_those_of_the_result_and_a_packed_file_gives_the_same_interval(mini, scorer, tmp_path):
    run = make_run(mini, tmp_path, 12)
    of_trials = scores = TrialScores.of(run, scorer)
    (outcome,) = RunScorer(suite=mini).score([run])
    expected = {metric: outcome.summary.scores.total(metric) for metric in SCORES if metric != "score"}
    expected["score"] = outcome.summary.score
    assert scores.n_trials == 12
    assert {metric: scores.interval(metric).value for metric in SCORES} == pytest.approx(expected, abs=1e-4)
    for path in run.folder.glob("trial_*.jsonl"):
        path.unlink()
    packed = TrialScores.of(RunFolder(run.folder, None), scorer)
    assert packed.interval().half_width == pytest.approx(of_trials.interval().half_width, rel=1e-9)


def test_the_trials_that_an_interval_takes_are_the_fewest_that_do(mini, scorer, tmp_path):
    scores = TrialScores.of(make_run(mini, tmp_path, 30), scorer)
    known = scores.interval().half_width
    assert scores.trials_for(known) == 30
    assert scores.trials_for(known * 0.999) == 31
    assert scores.trials_for(1.0) == least_trials(8)
    # A tenth of the width takes a hundred times the trials, or slightly fewer, because the quantile decreases.
    assert 2900 <= scores.trials_for(known / 10) <= 3000


def test_few_answers_have_no_interval(mini, scorer, tmp_path):
    one = TrialScores.of(make_run(mini, tmp_path, 1), scorer)
    assert (one.interval().half_width, one.trials_for(0.01)) == (None, None)
    scores = TrialScores.of(make_run(mini, tmp_path, 9), scorer)
    assert (scores.interval().half_width, scores.interval().n_trials) == (None, 9)
    assert scores.trials_for(0.01) > 20


def test_many_questions_need_few_trials_for_an_interval():
    assert [least_trials(n) for n in (1, 3, 8, 10, 50, 1000)] == [10, 10, 10, 10, 2, 2]

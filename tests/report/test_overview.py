from __future__ import annotations

import numpy as np
import pytest
from makers.reported import made_result, reported_run, unlike_runs
from pfgen_fast.report import ReportRun
from pfgen_fast.report.overview import overview_of, tied_ranks
from pfgen_fast.report.safe_runs import by_score, check_run
from pfgen_fast.runs.result import parse_result
from pfgen_fast.statistics.mean_interval import mean_interval


def overview(suite, *runs):
    return overview_of(by_score(check_run(run, suite) for run in runs), suite)


def test_the_interval_is_that_of_the_mean_over_the_questions_if_they_have_several_scores(mini):
    shown = overview(mini, *unlike_runs(mini))["runs"][1]
    expected = mean_interval(shown["questions"])
    assert (shown["low"], shown["high"]) == (expected.low, expected.high)
    assert shown["low"] < shown["score"] < shown["high"]
    (shown,) = overview(mini, reported_run(mini))["runs"]
    assert (shown["low"], shown["high"]) == (None, None)


def test_tied_ranks_are_those_of_all_groups_of_a_run():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(5, 40))
    scores = (np.array([[9.0], [5.0], [0.5], [0.25], [0.0]]) + noise).tolist()
    assert tied_ranks([None, 1, 2, 3, 4], scores) == [None, (1, 1), (2, 4), (2, 4), (2, 4)]
    # With too few questions no run is tied.
    assert tied_ranks([1, 2], [[0.5] * 5, [0.4] * 5]) == [None, None]
    assert tied_ranks([None], [[0.5]]) == [None]


def test_a_run_that_is_not_ranked_changes_no_group(mini):
    ranked = overview(mini, *unlike_runs(mini)[1:])["runs"]
    with_system = overview(mini, *unlike_runs(mini))["runs"]
    assert [run["tied"] for run in with_system] == [None, *(run["tied"] for run in ranked)]


@pytest.mark.parametrize(
    ("fluency", "helpfulness", "counts"), [(0.7, 0.3, 1), (0.69, 0.3, 0), (0.7, 0.31, 0), (2.0, 0.0, 1)]
)
def test_fluent_but_not_helpful_has_two_bounds(mini, fluency, helpfulness, counts):
    made = made_result(mini)
    (sample,) = made["questions"]["Q01"]["samples"]
    scores = {**sample["scores"], "fluency": {"A": fluency}, "helpfulness": helpfulness}
    made["questions"]["Q01"]["samples"] = [{**sample, "scores": scores}]
    (shown,) = overview(mini, ReportRun("a", None, parse_result(made, "a")))["runs"]
    assert shown["unhelpful"] == counts


def test_missing_and_too_long_answers_are_counted_by_run(mini):
    runs = overview(mini, *unlike_runs(mini))["runs"]
    assert [(run["missing"], run["too_long"], run["unhelpful"]) for run in runs[2:4]] == [(8, 0, 0), (0, 8, 8)]
    assert {run["samples"] for run in runs} == {8}

"""Intervals from draws of tasks: Student's on the scale of the figure, and the cases that have none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, clustered_rate, interval_of_draws

NAN = math.nan


def test_the_interval_of_a_mean_is_students_with_few_tasks_too():
    values = np.array([3.0, 4.0, 9.0])
    draws = bootstrap_counts(3, 20_000) @ values / 3
    expected = mean_interval(values)
    ends = interval_of_draws(expected.mean, draws, 3, scale="linear")
    assert ends == pytest.approx((expected.low, expected.high), abs=0.15)
    assert interval_of_draws(expected.mean, draws, 3, scale="linear", bounds=(0, 10)) == (0, 10)


def test_tasks_of_each_stratum_cost_a_degree_of_freedom():
    values = np.array([0.0, 2.0, 10.0, 14.0])
    draws = np.hstack([bootstrap_counts(2, 20_000, seed=seed) for seed in (1, 2)]) @ values / 4
    half = 4.302653 * math.sqrt((2 + 8) / 2 / 4)  # two degrees of freedom, and the mean variance within the strata
    assert interval_of_draws(6.5, draws, 4, 2, scale="linear") == pytest.approx((6.5 - half, 6.5 + half), abs=0.1)


def test_other_scales_stay_inside_their_range_and_are_about_linear_for_a_small_spread():
    draws = 0.5 + 0.01 * np.random.default_rng(0).standard_normal(1000)
    linear = interval_of_draws(0.5, draws, 30, scale="linear")
    for scale in ("fisher", "logarithm", "share"):
        assert interval_of_draws(0.5, draws, 30, scale=scale) == pytest.approx(linear, abs=2e-3)
    wide = np.array([0.0, 1.0] * 50)
    low, high = interval_of_draws(0.5, wide, 3)
    assert -1 < low < 0.5 < high <= 1
    assert 0 < interval_of_draws(0.5, wide, 3, scale="logarithm")[0] < 0.5
    assert interval_of_draws(0.5, wide, 3, scale="share") == pytest.approx((0, 1), abs=0.06)


def test_a_share_at_a_limit_has_the_interval_of_as_many_tasks():
    expected = clustered_rate([1.0] * 20, range(20))[1:]
    assert interval_of_draws(1.0, np.ones(9), 20, scale="share") == expected
    assert interval_of_draws(1.0, np.linspace(0.9, 1, 9), 20, scale="share") == expected


@pytest.mark.parametrize(
    ("value", "draws", "n_tasks", "n_parts"),
    [
        (0.5, [0.4, 0.6], 3, 3),  # one task in each part
        (0.5, [], 9, 1),
        (0.5, [0.4], 9, 1),
        (0.5, [0.4, 0.6] * 9 + [NAN], 9, 1),  # undefined in 5 % of the draws
        (0.5, [0.5, 0.5], 9, 1),
        (1.0, [0.9, 1.0], 9, 1),
    ],
)
def test_without_spread_or_with_too_few_tasks_there_is_no_interval(value, draws, n_tasks, n_parts):
    assert interval_of_draws(value, np.array(draws), n_tasks, n_parts) == (None, None)


def test_a_few_undefined_draws_are_left_out():
    draws = np.array([0.4, 0.6] * 50 + [NAN])
    assert interval_of_draws(0.5, draws, 9) == interval_of_draws(0.5, draws[:-1], 9)

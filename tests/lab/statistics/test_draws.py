"""Figures of items drawn again: the draws, intervals from them, and win rates without the share of length."""

import math

import numpy as np
import pytest
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.lab.statistics.intervals_of_draws import (
    bootstrap_counts,
    clustered_rate,
    interval_of_draws,
    resampled_means,
    subsample_counts,
)
from pfgen_fast.lab.statistics.least_squares import FEWEST_CLUSTERS, win_rates

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


# ---- Items drawn again


def test_means_of_draws_leave_out_what_is_missing():
    values = [[1.0, 2.0, math.nan], [math.nan] * 3]
    result = resampled_means(values, np.array([[1, 3, 5], [0, 0, 1]]))
    assert result[0, 0] == 7 / 4
    assert np.isnan([result[0, 1], *result[1]]).all()


def test_a_bootstrap_draws_as_many_as_there_are_and_evenly():
    counts = bootstrap_counts(50, 2000, seed=3)
    assert (counts.sum(axis=1) == 50).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(50), abs=0.12)  # of 2,000 draws; four standard errors are 0.09
    assert counts.var() == pytest.approx(1, abs=0.05)
    assert not np.array_equal(counts, bootstrap_counts(50, 2000, seed=4))


def test_the_draws_never_change_and_fewer_draws_are_the_first_ones():
    assert bootstrap_counts(6, 2).tolist() == [[2, 1, 0, 1, 1, 1], [1, 0, 0, 2, 2, 1]]
    assert subsample_counts(6, 3, 2).tolist() == [[1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1]]
    assert np.array_equal(bootstrap_counts(9, 100)[:7], bootstrap_counts(9, 7))
    assert np.array_equal(subsample_counts(9, 4, 100)[:7], subsample_counts(9, 4, 7))


def test_groups_are_drawn_whole():
    groups = ["a", "b", "a", "c", "b"]
    counts = bootstrap_counts(5, 200, groups=groups)
    assert np.array_equal(counts[:, 0], counts[:, 2])
    assert np.array_equal(counts[:, 1], counts[:, 4])
    assert (counts[:, [0, 1, 3]].sum(axis=1) == 3).all()


def test_a_subsample_has_each_item_at_most_once_and_all_alike():
    counts = subsample_counts(30, 10, 3000)
    assert set(np.unique(counts).tolist()) == {0, 1}
    assert (counts.sum(axis=1) == 10).all()
    assert counts.mean(axis=0) == pytest.approx(np.full(30, 1 / 3), abs=0.04)


# ---- Win rates without the share that length alone explains


N_TASKS = 400


def simulated(bias, seed=0, strengths=(0.5, 0.5, 0.35), lengths=(0.8, -0.4, 0.0), n_tasks=N_TASKS):
    """Wins of models that differ in strength and in length, where judges prefer longer answers by `bias`."""
    generator = np.random.default_rng(seed)
    pairs, clusters = np.repeat(np.arange(len(strengths)), n_tasks), np.tile(np.arange(n_tasks), len(strengths))
    x = np.asarray(lengths)[pairs] + generator.normal(0, 0.5, len(pairs))
    chances = np.clip(np.asarray(strengths)[pairs] + bias * x, 0, 1)
    y = (generator.random(len(pairs)) < chances).astype(float)
    return y, x, pairs, len(strengths), clusters, bootstrap_counts(n_tasks, 300)


def test_a_known_length_bias_is_taken_out():
    result = win_rates(*simulated(0.2))
    assert result.rates == pytest.approx([0.66, 0.42, 0.35], abs=0.06)
    assert result.controlled == pytest.approx([0.5, 0.5, 0.35], abs=0.06)
    assert result.slope == pytest.approx(0.2, abs=0.03)
    low, high = np.quantile(result.controlled_draws, [0.025, 0.975], axis=0)
    assert (low < result.controlled).all()
    assert (result.controlled < high).all()


def test_a_draw_is_the_figure_of_the_drawn_tasks():
    y, x, pairs, n_pairs, clusters, counts = simulated(0.2, n_tasks=30)
    x[3] = np.nan
    result = win_rates(y, x, pairs, n_pairs, clusters, counts[:4])
    for draw, row in enumerate(counts[:4]):
        chosen = np.concatenate([np.flatnonzero(clusters == task) for task in np.repeat(np.arange(30), row)])
        again = win_rates(y[chosen], x[chosen], pairs[chosen], n_pairs, clusters[chosen], counts[:0])
        assert result.rate_draws[draw] == pytest.approx(again.rates, rel=1e-9)
        assert result.controlled_draws[draw] == pytest.approx(again.controlled, rel=1e-9)


def test_few_tasks_or_equal_lengths_have_no_length_controlled_rate():
    few = win_rates(*simulated(0.2, n_tasks=FEWEST_CLUSTERS - 1))
    assert np.isnan(few.controlled).all()
    y, x, *rest = simulated(0.2)
    assert np.isnan(win_rates(y, np.zeros_like(x), *rest).controlled).all()
    assert not np.isnan(win_rates(y, np.zeros_like(x), *rest).rates).any()

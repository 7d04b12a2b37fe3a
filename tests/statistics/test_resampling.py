"""Items drawn again, and draws within strata."""

from __future__ import annotations

import math
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.statistics.resampling import (
    bootstrap_counts,
    interval,
    resampled_means,
    subsample_counts,
)
from pfgen_fast.statistics.stratified import Stratum, drawn_means, mean_of_strata

HUNDREDTHS = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)


def test_means_of_draws_leave_out_what_is_missing():
    values = [[1.0, 2.0, math.nan], [math.nan] * 3]
    found = resampled_means(values, np.array([[1, 3, 5], [0, 0, 1]]))
    assert found[0, 0] == 7 / 4
    assert np.isnan([found[0, 1], *found[1]]).all()


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


def test_intervals_of_columns_are_those_of_each():
    draws = np.array([[1.0, math.nan, 3.0], [math.nan, math.nan, 1.0], [2.0, math.nan, 2.0]])
    alone = np.array([interval(column) for column in draws.T])
    assert pytest.approx(alone, nan_ok=True) == np.array(interval(draws)).T
    assert np.isnan(interval(draws)).any(axis=0).tolist() == [False, True, False]
    assert np.isnan(interval(np.empty((0, 2)))).all()


# Strata


@given(st.lists(HUNDREDTHS, min_size=2, max_size=20), st.integers(0, 5))
def test_a_draw_is_the_mean_of_the_items_that_it_draws_the_same_for_all_members_in_any_order(scores, seed):
    (means,), (backwards,) = (
        drawn_means([Stratum.of(members)], 30, seed=seed)
        for members in ([scores, scores[::-1]], [scores[::-1], scores])
    )
    assert backwards == pytest.approx(means[:, ::-1])
    counts = bootstrap_counts(len(scores), 30, seed=seed << 64)
    for of_member, values in zip(means.T, (scores, scores[::-1]), strict=True):
        expected = [math.fsum(map(mul, draw, values)) / len(values) for draw in counts.tolist()]
        assert of_member == pytest.approx(expected, abs=1e-8)


def test_strata_differ_in_their_draws_and_a_longer_run_starts_with_those_of_a_shorter_one():
    values = Stratum.of(np.random.default_rng(0).normal(size=(2, 30)))
    first, second = drawn_means([values] * 2, 2500)
    assert not (first == second).any()
    assert (first[:700] == drawn_means([values], 700)[0]).all()


def test_what_a_member_lacks_is_left_out_of_its_means_only():
    whole = np.random.default_rng(0).integers(0, 100, 20).astype(float)
    gaps = whole.copy()
    gaps[5:] = math.nan
    (means,) = drawn_means([Stratum.of([whole, gaps])], 300)
    (alone,) = drawn_means([Stratum.of([whole])], 300)
    assert means[:, 0] == pytest.approx(alone[:, 0])
    counts = bootstrap_counts(20, 300, seed=0)
    has_any = counts[:, :5].any(axis=1)
    expected = (counts[has_any, :5] @ whole[:5]) / counts[has_any, :5].sum(axis=1)
    assert means[has_any, 1] == pytest.approx(expected)
    assert np.isnan(means[~has_any, 1]).all()
    assert (np.isnan(mean_of_strata([means[:, 0], means[:, 1]])) == ~has_any).all()

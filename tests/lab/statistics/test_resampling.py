"""Items drawn again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, resampled_means, subsample_counts


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

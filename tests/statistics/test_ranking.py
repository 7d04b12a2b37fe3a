"""Ranks, and groups of members that do not differ."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pfgen_fast.statistics.correlation import coefficient, draws_kendall, ranks
from pfgen_fast.statistics.paired import groups_of


@settings(deadline=None)  # the first example imports SciPy
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20))
def test_a_rank_counts_the_better_and_half_of_the_equal_ones(scores):
    expected = [1 + sum(other > score for other in scores) + (scores.count(score) - 1) / 2 for score in scores]
    assert ranks(np.array(scores, dtype=float)).tolist() == expected


def test_where_all_differ_each_is_a_group_and_where_none_does_all_are_one():
    assert groups_of(~np.eye(3, dtype=bool)) == ((0, 0), (1, 1), (2, 2))
    assert groups_of(np.zeros((3, 3), dtype=bool)) == ((0, 2),)


def test_groups_overlap_where_not_told_apart_does_not_carry_over():
    differs = np.zeros((4, 4), dtype=bool)
    differs[0, 2] = differs[0, 3] = differs[1, 3] = True
    assert groups_of(differs | differs.T) == ((0, 1), (1, 2), (2, 3))


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**36 - 1))
def test_a_group_is_as_long_as_can_be_and_none_in_it_differ(n, bits):
    differs = np.zeros((n, n), dtype=bool)
    for number, (i, j) in enumerate(itertools.combinations(range(n), 2)):
        differs[i, j] = differs[j, i] = bits >> number & 1
    groups = groups_of(differs)
    for first, last in groups:
        assert not differs[first : last + 1, first : last + 1].any()
        assert last == n - 1 or differs[first : last + 1, last + 1].any()
    assert {member for first, last in groups for member in range(first, last + 1)} == set(range(n))
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(groups))


def test_tau_of_draws_is_that_of_each_pair_of_columns():
    rng = np.random.default_rng(3)
    usual, draws = rng.integers(0, 6, 12).astype(float), rng.integers(0, 6, (40, 12)).astype(float)
    expected = [coefficient("Kendall", usual, draw) for draw in draws]
    np.testing.assert_allclose(draws_kendall(usual, draws), expected)


def test_a_constant_draw_has_no_tau():
    assert np.isnan(draws_kendall(np.array([1.0, 2.0]), np.array([[3.0, 3.0]]))).all()

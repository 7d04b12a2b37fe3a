"""The bootstrap within strata."""

from __future__ import annotations

import math
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.statistics.resampling import bootstrap_counts
from pfgen_fast.statistics.stratified import Stratum, drawn_means, mean_of_strata

NAN = float("nan")
SCORES = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)


@given(st.lists(SCORES, min_size=2, max_size=20), st.integers(0, 5))
def test_a_draw_is_the_mean_of_the_items_that_it_draws(scores, seed):
    (means,) = drawn_means([Stratum.of([scores])], 30, seed=seed)
    counts = bootstrap_counts(len(scores), 30, seed=seed << 64)
    expected = [math.fsum(map(mul, draw, scores)) / len(scores) for draw in counts.tolist()]
    assert means[:, 0] == pytest.approx(expected, abs=1e-8)


def test_members_share_their_draws():
    """So the difference of two members that differ by a constant is that constant in each draw."""
    one = np.random.default_rng(0).integers(0, 100, 50).astype(float)
    (means,) = drawn_means([Stratum.of([one, one + 3])], 200)
    assert (means[:, 1] - means[:, 0] == 3).all()
    assert np.ptp(means[:, 0]) > 1


def test_strata_differ_in_their_draws_and_a_longer_run_starts_with_those_of_a_shorter_one():
    values = Stratum.of(np.random.default_rng(0).normal(size=(2, 30)))
    first, second = drawn_means([values] * 2, 2500)
    assert not (first == second).any()
    assert (first[:700] == drawn_means([values], 700)[0]).all()


@given(st.permutations(range(6)))
def test_the_order_of_members_changes_no_draw(order):
    values = np.random.default_rng(0).normal(size=(6, 25)) * 100
    (means,), (permuted,) = (drawn_means([Stratum.of(rows)], 50) for rows in (values, values[list(order)]))
    assert (permuted == means[:, list(order)]).all()


def test_what_a_member_lacks_is_left_out_of_its_means_only():
    whole = np.random.default_rng(0).integers(0, 100, 20).astype(float)
    gaps = whole.copy()
    gaps[5:] = NAN
    (means,) = drawn_means([Stratum.of([whole, gaps])], 300)
    (alone,) = drawn_means([Stratum.of([whole])], 300)
    assert (means[:, 0] == alone[:, 0]).all()
    counts = bootstrap_counts(20, 300, seed=0)
    has_any = counts[:, :5].any(axis=1)
    expected = (counts[has_any, :5] @ whole[:5]) / counts[has_any, :5].sum(axis=1)
    assert means[has_any, 1] == pytest.approx(expected)
    assert np.isnan(means[~has_any, 1]).all()


def test_a_draw_without_any_value_has_no_mean():
    (means,) = drawn_means([Stratum.of([[1.0, NAN]])], 400)
    assert 50 < np.isnan(means).sum() < 150
    assert set(means[~np.isnan(means)]) == {1.0}
    assert np.isnan(mean_of_strata([means, np.ones_like(means)])).sum() == np.isnan(means).sum()


def test_several_values_of_an_item_are_drawn_together():
    stratum = Stratum(np.array([[30.0, 5.0]]), np.array([[3.0, 1.0]]))
    (means,) = drawn_means([stratum], 100)
    assert set(means.ravel()) == {10.0, 35 / 4, 5.0}


def test_the_spread_of_the_draws_is_the_standard_error_of_a_mean():
    values = np.random.default_rng(0).normal(size=(1, 400))
    (means,) = drawn_means([Stratum.of(values)], 4000)
    assert means.std() == pytest.approx(values.std() / 20, rel=0.05)

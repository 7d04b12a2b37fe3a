"""Means of strata: the bootstrap within strata, and paired differences."""

from __future__ import annotations

import math
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.statistics import paired
from pfgen_fast.statistics.resampling import bootstrap_counts
from pfgen_fast.statistics.stratified import Stratum, all_pairs, drawn_means, mean_of_strata, paired_difference

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


def test_strata_have_draws_of_their_own():
    values = np.random.default_rng(0).normal(size=(1, 40))
    first, second = drawn_means([Stratum.of(values)] * 2, 100)
    assert not (first == second).any()


def test_whoever_takes_more_draws_gets_the_first_ones_again():
    values = Stratum.of(np.random.default_rng(0).normal(size=(2, 30)))
    few, many = (drawn_means([values], n)[0] for n in (700, 2500))
    assert (many[:700] == few).all()


@given(st.permutations(range(6)))
def test_the_order_of_members_changes_no_draw(order):
    values = np.random.default_rng(0).normal(size=(6, 25)) * 100
    (means,) = drawn_means([Stratum.of(values)], 50)
    (permuted,) = drawn_means([Stratum.of(values[list(order)])], 50)
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


def test_half_of_the_draws_of_any_scores_are_within_the_expected_interval():
    """The bootstrap's spread is that of a mean: s / sqrt(n)."""
    values = np.random.default_rng(0).normal(size=(1, 400))
    (means,) = drawn_means([Stratum.of(values)], 4000)
    assert means.std() == pytest.approx(values.std() / 20, rel=0.05)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=30))
def test_one_stratum_is_the_paired_t_test(pairs):
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    ours, theirs = paired_difference([a], [b]), paired.paired_difference(a, b)
    assert ours.mean == pytest.approx(theirs.mean, abs=1e-9)
    assert ours.n == theirs.n
    if theirs.low is not None and ours.low is not None:
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-6, abs=1e-9)
    assert ours.p_value == pytest.approx(theirs.p_value, rel=1e-6, abs=1e-12)


def test_several_strata_are_welch_and_satterthwaite():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.4, 1, 30), rng.normal(0.1, 3, 12)
    found = paired_difference([first, second], [np.zeros(30), np.zeros(12)])
    expected = stats.ttest_ind(first, -second, equal_var=False)  # the sum of two means is the difference to -second
    assert found.mean == pytest.approx((first.mean() + second.mean()) / 2)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    interval = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low / 2, interval.high / 2), rel=1e-4)


def test_tiny_differences_are_differences():
    found = paired_difference([[1e-100, 3e-100, 2e-100]], [[0.0, 0.0, 0.0]])
    assert found.mean == pytest.approx(2e-100)
    assert 0 < found.p_value < 0.1


def test_only_items_that_both_have_count():
    found = paired_difference([[1.0, 2.0, 9.0, 4.0]], [[0.0, 0.0, NAN, 1.0]])
    assert (found.mean, found.n) == (2.0, 3)
    with pytest.raises(ValueError, match="an item of each stratum that both have"):
        paired_difference([[1.0], [NAN]], [[1.0], [1.0]])


def test_without_spread_there_is_no_interval():
    same = paired_difference([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]])
    assert (same.mean, same.low, same.high, same.p_value) == (0, None, None, 1.0)
    constant = paired_difference([[2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0]])
    assert (constant.mean, constant.low, constant.p_value) == (1.0, None, 2 / 2**3)
    one = paired_difference([[2.0, 3.0], [4.0]], [[1.0, 2.5], [3.0]])
    assert (one.mean, one.low, one.p_value) == (0.875, None, None)


def test_groups_are_the_stretches_that_do_not_differ():
    rng = np.random.default_rng(0)
    strata = [np.array([[9.0], [0.2], [0.1], [0.0]]) + rng.normal(size=(4, n)) for n in (15, 30)]
    found = all_pairs(strata)
    assert found.groups == ((0, 0), (1, 3))
    assert found.differs.tolist() == found.differs.T.tolist()
    assert found.differences == pytest.approx(-found.differences.T, nan_ok=True)
    assert (found.corrected[0, 1:] >= found.p_values[0, 1:]).all()
    assert found.n[0].tolist() == [45] * 4


def test_few_items_give_no_verdict():
    """Even if all of them speak for one member, chance could do the same."""
    strata = [np.array([[5.0, 6.0], [1.0, 1.5]]), np.array([[5.0, 7.0], [1.0, 1.1]])]
    found = all_pairs(strata)
    assert found.groups == ((0, 1),)
    assert np.isnan(found.corrected).all()


def test_members_without_a_common_item_have_no_verdict():
    found = all_pairs([np.array([[1.0, NAN], [NAN, 2.0]])])
    assert found.groups == ((0, 1),)
    assert found.n.tolist() == [[1, 0], [0, 1]]

"""Items in made data whose truth is known: duplicates, dead items, items that favour a group, short lists and stops."""

from __future__ import annotations

import numpy as np
import pytest
from makers.simulated_worlds import answered
from pfgen_fast.statistics.correlation import correlate
from pfgen_fast.statistics.item_subsets import agreement_of_subsets, splits, telling_order
from pfgen_fast.statistics.items import group_differences, item_figures, redundant_pairs
from pfgen_fast.statistics.paired import paired_difference
from pfgen_fast.statistics.sequential import boundary, stopped
from pfgen_fast.statistics.student import p_value_of


@pytest.fixture
def generator():
    return np.random.default_rng(5)


@pytest.fixture
def scores(generator):
    """60 models on 30 items, ten trials each."""
    return answered(generator, generator.standard_normal(60), 30, 10)


def test_discrimination_is_the_correlation_with_the_other_items(scores):
    found = item_figures(scores, np.arange(60))
    for item in range(30):
        rest = np.delete(scores, item, axis=1).mean(axis=1)
        assert found.discrimination[item] == pytest.approx(np.corrcoef(scores[:, item], rest)[0, 1])
    assert (found.low < found.discrimination).all()
    assert (found.discrimination < found.high).all()


def test_the_interval_of_discrimination_is_that_of_correlate_over_clusters(scores):
    clusters = np.arange(60) // 4
    found = item_figures(scores, clusters)
    wanted = correlate(scores[:, 3], np.delete(scores, 3, axis=1).mean(axis=1), clusters=clusters)["Pearson"]
    assert (found.low[3], found.high[3]) == pytest.approx((wanted.low, wanted.high))
    assert np.isnan(item_figures(scores, np.arange(60) // 10).low).all()  # six clusters


def test_the_shares_of_the_items_in_the_differences_between_models_sum_to_one(scores):
    scores[:, 7] = 0.5
    shares = item_figures(scores, np.arange(60)).shares
    assert shares.sum() == pytest.approx(1)
    assert shares[7] == 0
    without = np.delete(scores, 2, axis=1).sum(axis=1)
    assert shares[2] == pytest.approx(1 - np.cov(without, scores.sum(axis=1))[0, 1] / scores.sum(axis=1).var(ddof=1))


@pytest.mark.parametrize("n_trials", [1, 10])
def test_items_that_no_model_or_every_model_solves_are_found(generator, n_trials):
    scores = answered(generator, generator.standard_normal(60), 30, n_trials)
    scores[:, 3], scores[:, 8] = 0.0, 1.0
    found = item_figures(scores, np.arange(60))
    assert np.flatnonzero(found.at_floor).tolist() == [3]
    assert np.flatnonzero(found.at_ceiling).tolist() == [8]
    assert np.flatnonzero(np.isnan(found.discrimination)).tolist() == [3, 8]


def test_planted_duplicates_are_found_and_nothing_else(generator):
    scores = answered(generator, generator.standard_normal(60), 30, 10)
    assert redundant_pairs(scores) == []
    scores[:, 20] = scores[:, 4] + 0.02 * generator.standard_normal(60)
    scores[:, 21] = scores[:, 5]
    (exact, near) = redundant_pairs(scores)
    assert (exact.first, exact.second, near.first, near.second) == (5, 21, 4, 20)
    assert exact.correlation == pytest.approx(1)
    assert exact.beyond_score == pytest.approx(1)
    assert 0.9 < near.correlation < 1


def test_equal_items_are_not_redundant_if_only_the_mean_score_makes_them_alike(generator):
    ability = generator.standard_normal((200, 1))
    assert redundant_pairs(ability + 0.2 * generator.standard_normal((200, 20))) == []


@pytest.mark.parametrize("n_trials", [1, 10])
def test_an_item_that_favours_a_group_is_found_and_a_stronger_group_is_no_reason(generator, n_trials):
    """Group 1 is stronger, and much better on item 6 only."""
    group = np.arange(300) % 3
    ability = generator.standard_normal(300) + (group == 1)
    scores = answered(generator, ability, 30, n_trials)
    scores[:, 6] = answered(generator, ability + 2.5 * (group == 1), 1, n_trials)[:, 0]
    found = group_differences(scores, np.where(group == 2, -1, group))
    assert found.groups == (0, 1)
    assert found.corrected[1].argmin() == 6
    assert found.differences[1, 6] > 0.1
    assert (found.corrected[1] <= 0.05).sum() == 1


def test_groups_that_do_not_differ_have_few_small_p_values(generator):
    p_values = []
    for _ in range(40):
        group = np.arange(120) % 2
        scores = answered(generator, generator.standard_normal(120) + group, 25)
        p_values.append(group_differences(scores, np.where(group == 1, 1, -1)).p_values)
    assert 0.03 < np.nanmean(np.concatenate(p_values) <= 0.05) < 0.07


def test_small_groups_are_left_out(scores):
    group = np.r_[np.zeros(9, dtype=int), np.ones(51, dtype=int)]
    assert group_differences(scores, group).groups == ()


def test_the_telling_order_takes_the_item_that_predicts_the_mean_best(scores):
    order = telling_order(scores)
    assert sorted(order) == list(range(30))
    mean = scores.mean(axis=1)
    alone = [np.corrcoef(column, mean)[0, 1] for column in scores.T]
    assert order[0] == np.argmax(alone)
    pairs = {item: np.corrcoef(scores[:, [order[0], item]].mean(axis=1), mean)[0, 1] for item in order[1:]}
    assert order[1] == max(pairs, key=pairs.get)


def test_dead_items_and_noise_come_last(generator, scores):
    scores[:, 0], scores[:, 9] = 0.3, generator.random(60)
    order = telling_order(scores).tolist()
    assert order[-1] == 0
    assert order.index(9) > 15


def test_models_of_a_cluster_are_never_on_both_sides(generator):
    clusters = generator.integers(0, 25, 200)
    tested = []
    for rest, fold in splits(clusters, generator):
        assert not set(clusters[rest]) & set(clusters[fold])
        assert len(rest) + len(fold) == 200
        tested += fold.tolist()
    assert sorted(tested) == list(range(200))


def test_chosen_items_beat_random_items_where_few_items_tell(generator):
    """Five of 40 items follow the ability, the others are mostly noise; the seed gives the same figures."""
    ability = generator.standard_normal((100, 1))
    scores = ability * np.r_[np.ones(5), np.full(35, 0.1)] + generator.standard_normal((100, 40)) * 0.3
    found, again = (agreement_of_subsets(scores, np.arange(100), n_draws=4) for _ in range(2))
    assert np.array_equal(found.kendalls, again.kendalls)
    at = {int(size): place for place, size in enumerate(found.sizes)}
    assert found.kendalls[at[5]] > 0.75 > found.at_random_high[at[5]]
    assert found.kendalls[at[40]] == found.at_random[at[40]] == 1
    assert found.smallest(0.75) <= 5 < found.smallest(0.75, at_random=True)
    assert found.smallest(1) == 40


def test_a_comparison_stops_at_the_first_item_that_crosses_the_boundary(generator):
    differences = 0.3 + 0.2 * generator.standard_normal(40)
    found = stopped(differences)
    _, ts = boundary(40)
    n = next(n for n in range(6, 41) if abs(differences[:n].mean()) / differences[:n].std(ddof=1) * n**0.5 >= ts[n - 1])
    assert (found.n, found.is_decided) == (n, True)
    assert found.difference == pytest.approx(differences[:n].mean())
    assert stopped(-differences).n == n
    assert stopped(np.insert(differences, 3, np.nan), n_most=40) == found
    assert not stopped(differences[: n - 1], n_most=40).is_decided


def test_the_last_look_is_a_little_stricter_than_the_test_on_all_items():
    deviates, ts = boundary(50)
    assert p_value_of(ts[-1], 49) == pytest.approx(0.025, abs=0.0005)
    assert deviates[-1] == pytest.approx(2.2414, abs=1e-4)
    assert (np.diff(ts[5:]) < 0).all()


def test_five_items_never_decide_and_equal_models_never_differ():
    assert not stopped([0.9, 0.8, 0.9, 0.7, 0.9]).is_decided
    assert not stopped(np.zeros(100)).is_decided
    assert stopped(np.ones(100)).n == 21  # by the sign test: 2**-20 is below the p-value of the boundary
    with pytest.raises(ValueError, match="3 differences: expected 1 to 2"):
        stopped([1, 2, 3], n_most=2)


def test_a_comparison_of_different_models_stops_early(generator):
    """Where a test on all items is sure, half of the items are enough."""
    differences = 0.25 + 0.3 * generator.standard_normal((100, 50))
    assert np.mean([paired_difference(row, 0 * row).differs() for row in differences]) > 0.98
    stops = [stopped(row) for row in differences]
    assert np.mean([stop.is_decided for stop in stops]) > 0.95
    assert 12 < np.mean([stop.n for stop in stops]) < 28

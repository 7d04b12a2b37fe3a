"""Figures of items drawn again, win rates without the share of length, and means from few marks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.effort import examples
from pfgen_fast import prediction_powered_mean
from pfgen_fast.base.mean_interval import MeanInterval, mean_interval, quantile
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, interval_of_draws, resampled_means
from pfgen_fast.lab.statistics.prediction_powered import MIN_MARKS, MarkedStratum, mean_of_strata
from pfgen_fast.runs.trial_intervals import half_width

NAN = math.nan


def test_the_interval_is_students_for_a_small_spread_and_each_stratum_costs_a_degree_of_freedom():
    values = np.array([0.0, 2.0, 10.0, 14.0]) / 1000
    draws = np.hstack([bootstrap_counts(2, 20_000, seed=seed) for seed in (1, 2)]) @ values / 4
    half = 4.302653 * math.sqrt((2 + 8) / 2 / 4) / 1000  # two degrees of freedom, the mean variance within the strata
    assert interval_of_draws(0.0065, draws, 4, 2) == pytest.approx((0.0065 - half, 0.0065 + half), abs=1e-4)
    low, high = interval_of_draws(0.5, np.array([0.0, 1.0] * 50), 3)
    assert -1 < low < 0.5 < high <= 1


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


def test_draws_are_even_and_differ_by_seed():
    counts = bootstrap_counts(50, 2000, seed=3)
    assert (counts.sum(axis=1) == 50).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(50), abs=0.12)  # of 2,000 draws; four standard errors are 0.09
    assert counts.var() == pytest.approx(1, abs=0.05)
    assert not np.array_equal(counts, bootstrap_counts(50, 2000, seed=4))


def test_the_draws_never_change_and_fewer_draws_are_the_first_ones():
    assert bootstrap_counts(6, 2).tolist() == [[2, 1, 0, 1, 1, 1], [1, 0, 0, 2, 2, 1]]
    assert np.array_equal(bootstrap_counts(9, 100)[:7], bootstrap_counts(9, 7))


# ---- Means from few marks and many cheap verdicts: what a useless or perfect judge changes

GENERATOR = np.random.default_rng(5)
TRUTH = GENERATOR.normal(5, 2, 40)
PROXY = TRUTH + GENERATOR.normal(1, 1, 40)
OTHERS = GENERATOR.normal(7, 2.2, 300)
LOW, HIGH = np.sort(np.concatenate([PROXY, OTHERS]))[[25, -26]]  # 3 of 40 marked items are expected beyond each


def test_the_estimate_is_that_of_regression_and_the_weight_its_slope():
    result = prediction_powered_mean(TRUTH.tolist(), PROXY.tolist(), OTHERS.tolist())
    proxy, others = (part.clip(LOW, HIGH) for part in (PROXY, OTHERS))
    slope = np.polyfit(proxy, TRUTH, 1)[0]
    assert (result.weight, result.n, result.n_others) == (pytest.approx(slope), 40, 300)
    every = np.concatenate([proxy, others])
    assert result.mean == pytest.approx(TRUTH.mean() + slope * (every.mean() - proxy.mean()))
    assert result.correlation == pytest.approx(np.corrcoef(TRUTH, proxy)[0, 1])
    rest = ((TRUTH - slope * proxy - (TRUTH - slope * proxy).mean()) ** 2).sum() / 38
    part, whole = rest * (1 / 40 - 1 / 340), TRUTH.var(ddof=1) / 340
    weight_variance = rest / ((proxy - proxy.mean()) ** 2).sum() * (every.mean() - proxy.mean()) ** 2
    assert result.half_width == pytest.approx(quantile(38) * math.sqrt(part + whole + weight_variance), rel=1e-4)
    alone = mean_interval(TRUTH)
    assert (result.alone.low, result.alone.high) == pytest.approx((alone.low, alone.high), rel=1e-12)
    assert result.effective_marks == pytest.approx(40 * (result.alone.half_width / result.half_width) ** 2)
    assert isinstance(result, MeanInterval)


@pytest.mark.parametrize(
    ("proxy", "others"),
    [(PROXY, ()), (np.full(40, 3.0), OTHERS), (-PROXY, -OTHERS), (np.tile([1.0, 2.0], 20), np.tile([1.0, 2.0], 200))],
    ids=["no others", "constant", "contradicts", "noise"],
)
def test_marks_stand_alone_beside_a_judge_that_does_not_help(proxy, others):
    result = prediction_powered_mean(TRUTH, proxy, others)
    assert (result.mean, result.low, result.high) == (result.alone.mean, result.alone.low, result.alone.high)
    assert (result.weight, result.effective_marks) == (0, 40)


def test_few_marks_stand_alone():
    n = MIN_MARKS - 1
    truth, others = np.linspace(-1, 1, n + 1), np.tile([-2.0, 2.0], 200)
    proxy = truth + np.tile([0.2, -0.2], 5)
    assert prediction_powered_mean(truth[:n], proxy[:n], others).weight == 0
    assert prediction_powered_mean(truth, proxy, others).weight > 0
    item = prediction_powered_mean([3], [2], [1, 2])
    assert (item.mean, item.low, item.effective_marks) == (3, None, None)
    same = prediction_powered_mean([0.1] * 12, range(12), [1, 2])
    assert (same.mean, same.low, same.correlation) == (pytest.approx(0.1), None, None)


@given(st.integers(0, 10_000), st.integers(2, 60), st.floats(0, 1), st.floats(-3, 3), st.floats(0.1, 10))
@examples(50)
def test_the_interval_is_never_wider_than_that_of_the_marks_and_the_scale_of_the_judge_does_not_matter(
    seed, n, knows, bias, scale
):
    drawn = np.random.default_rng(seed).normal(size=(2, n + 80))
    truth, proxy = drawn[0], knows * drawn[0] + (1 - knows) * drawn[1]
    result = prediction_powered_mean(truth[:n], proxy[:n], proxy[n:])
    assert result.half_width <= result.alone.half_width
    other = prediction_powered_mean(truth[:n], scale * proxy[:n] + bias, scale * proxy[n:] + bias)
    assert (other.mean, other.half_width) == pytest.approx((result.mean, result.half_width))


def yes_or_no(n_rarer: int, n_different: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Marks, and verdicts that differ from some of the commoner ones."""
    truth = (np.arange(n) >= n_rarer).astype(float)
    proxy = truth.copy()
    proxy[n - n_different :] = 0
    return truth, proxy


@pytest.mark.parametrize(
    ("n_rarer", "n_different", "counts"), [(12, 5, True), (12, 4, False), (4, 9, False), (0, 0, False)]
)
def test_marks_of_yes_and_no_stand_alone_with_few_disagreements_or_rarer_marks(n_rarer, n_different, counts):
    """A judge that agreed with all of 20 marks gave 0.9010 (0.8861 to 0.9159)."""
    truth, proxy = yes_or_no(n_rarer, n_different)
    for low, high in ((0.0, 1.0), (-300.0, 100.0)):
        scaled = [low + (high - low) * part for part in (truth, proxy, np.tile([0.0, 1.0, 1.0], 100))]
        result = mean_of_strata([MarkedStratum(*scaled, (low, high))])
        wilson = mean_interval(truth, binary=True)
        assert (result.alone.low, result.alone.high) == pytest.approx(
            [low + (high - low) * end for end in (wilson.low, wilson.high)]
        )
        assert (result.weight > 0, result.half_width < result.alone.half_width) == (counts, counts)


def test_strata_of_yes_and_no_have_wilsons_interval_too():
    parts = [MarkedStratum(yes_or_no(k, 0)[0], [0] * 40, []) for k in (2, 20)]
    whole = mean_interval(yes_or_no(22, 0, 80)[0], binary=True)
    result = mean_of_strata(parts).alone
    assert (result.mean, result.low, result.high, result.n) == pytest.approx((whole.mean, whole.low, whole.high, 80))
    uneven = mean_of_strata([MarkedStratum([1.0] * n, [0] * n, []) for n in (2, 200)]).alone
    assert 0.5 < uneven.low < mean_interval([1.0] * 202, binary=True).low  # 7.9 marks, not 202


def test_outliers_of_a_judge_have_no_leverage_and_one_that_differs_from_few_marks_is_not_believed():
    """3 % of verdicts far away moved the estimate by their mean, unseen by the marks: coverage 0.47 to 0.86."""
    far, further = (prediction_powered_mean(TRUTH, PROXY, np.append(OTHERS, [at] * 9)) for at in (50.0, 5000.0))
    assert (far.mean, far.half_width, far.weight > 0) == (further.mean, further.half_width, True)
    others = np.tile([TRUTH.min() - 1, TRUTH.max() + 1], 100)  # beyond all marked items, so that none is limited
    for n_different, counts in ((0, False), (3, False), (20, True)):
        proxy = TRUTH - np.where(np.arange(40) < n_different, 1, 0)
        assert (prediction_powered_mean(TRUTH, proxy, others).weight > 0) == counts


def test_strata_count_alike_and_without_a_judge_they_are_those_of_welch():
    parts = [TRUTH[:5], TRUTH[5:25], TRUTH[25:]]
    result = mean_of_strata([MarkedStratum(part, np.zeros(len(part)), [1, 2]) for part in parts])
    assert result.mean == pytest.approx(np.mean([part.mean() for part in parts]))
    assert result.half_width == pytest.approx(half_width(parts), rel=1e-4)
    places = np.split(np.arange(40), [5, 25])
    helped = mean_of_strata(
        [MarkedStratum(TRUTH[at] + k, PROXY[at] - k, OTHERS - k - 1) for k, at in enumerate(places)]
    )
    assert helped.half_width < result.half_width
    assert mean_of_strata([MarkedStratum(TRUTH, PROXY, OTHERS)]) == prediction_powered_mean(TRUTH, PROXY, OTHERS)


@pytest.mark.parametrize(
    ("truth", "proxy", "level", "message"),
    [
        ([], [], 0.95, "a mean needs at least one mark"),
        ([1, 2], [1], 0.95, "2 marks and 1 verdicts on the marked items; expected one for each"),
        ([1, math.nan], [1, 2], 0.95, "a mark or a verdict is not a finite number"),
        ([1e100, 2e100, 5e100], [1, 2, 3], 0.95, "not a finite number up to"),
        ([1, 2], [1, 2], 1, "the level is 1; expected a number between 0 and 1"),
    ],
)
def test_bad_input_is_named(truth, proxy, level, message):
    with pytest.raises(ValueError, match=message):
        prediction_powered_mean(truth, proxy, [1], level)

"""The interval of a mean of means: computed by hand, compared with SciPy, and its coverage of the true mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.statistics import mean_interval
from pfgen_fast.statistics.student import half_width, half_width_of, p_value_of, p_values_of, quantile


@pytest.mark.parametrize("degrees", [1, 1.5, 2, 3, 7.7, 49, 400, 9_999, 10_001, math.inf])
def test_the_quantile_is_that_of_scipy(degrees):
    from scipy import stats

    assert quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=2e-4)


def test_the_interval_is_that_of_scipy_for_one_group():
    from scipy import stats

    values = np.random.default_rng(0).normal(size=12)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert half_width([values]) == pytest.approx((high - low) / 2, rel=1e-4)


def test_variances_and_counts_give_the_interval_of_their_values():
    samples = [np.array([0.1, 0.4, 0.3]), np.array([0.9, 0.7])]
    variances = np.array([sample.var(ddof=1) for sample in samples])
    assert half_width_of(variances, np.array([3, 2])) == half_width(samples)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        # One question: Student's quantile for 1, 2 and 4 degrees of freedom times the standard error.
        ([[0.4, 0.6]], 12.7062 * 0.1),
        ([[0.1, 0.2, 0.3]], 4.30265 * 0.1 / math.sqrt(3)),
        ([[0, 1, 0, 1, 0.5]], 2.77645 * 0.5 / math.sqrt(5)),
        # Two questions with the same variance: the degrees of freedom add up, and the mean halves the errors.
        ([[0.4, 0.6], [0.7, 0.9]], 4.30265 * math.sqrt(2 * 0.01) / 2),
        # A question without variance adds neither degrees of freedom nor error.
        ([[0.4, 0.6], [0.5, 0.5]], 12.7062 * 0.1 / 2),
        ([[0.3, 0.3], [0.5, 0.5]], 0),
        ([[0.3], [0.5]], None),
        ([[0.3, 0.4], [0.5]], None),
    ],
)
def test_the_interval_is_that_of_welch_and_satterthwaite(samples, expected):
    found = half_width([np.array(sample, dtype=float) for sample in samples])
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-5))


@pytest.mark.parametrize(
    ("n_questions", "n_trials"),
    [(1, 3), (8, 2), pytest.param(50, 2, marks=pytest.mark.slow), pytest.param(50, 10, marks=pytest.mark.slow)],
)
def test_the_interval_holds_the_true_score_95_times_of_100(n_questions, n_trials):
    generator = np.random.default_rng(0)
    means = generator.uniform(0, 1, n_questions)
    drawn = means[:, None] + 0.1 * generator.standard_normal((2000, n_questions, n_trials))
    hits = [abs(values.mean() - means.mean()) <= half_width(list(values)) for values in drawn]
    assert 0.935 <= np.mean(hits) <= 0.985


@given(st.lists(st.lists(st.floats(0, 1.5), min_size=2, max_size=6), min_size=1, max_size=6), st.randoms())
def test_the_order_of_trials_and_questions_does_not_matter(samples, random):
    found = half_width([np.array(sample) for sample in samples])
    mixed = [random.sample(sample, len(sample)) for sample in random.sample(samples, len(samples))]
    assert half_width([np.array(sample) for sample in mixed]) == pytest.approx(found, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 49, 500, 10_001])
def test_p_values_are_those_of_scipy(degrees):
    from scipy import stats

    t = np.array([0, 1e-9, 0.1, -1, 2.5, 7, -40, 1e9, math.inf])
    assert p_values_of(t, degrees) == pytest.approx(2 * stats.t.sf(np.abs(t), degrees), rel=1e-9, abs=1e-14)


@given(st.floats(-60, 60), st.floats(0.5, 10_000))
def test_the_p_value_for_any_degrees_is_that_of_scipy(t, degrees):
    from scipy import stats

    assert p_value_of(t, degrees) == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-9, abs=1e-300)


@given(st.floats(-20, 20), st.integers(1, 400))
def test_for_whole_degrees_both_p_values_agree(t, degrees):
    assert p_value_of(t, degrees) == pytest.approx(p_values_of(np.array([t]), degrees)[0], abs=1e-12)


def test_the_p_value_has_limits():
    assert p_value_of(1e-300, 3.5) == 1.0
    assert p_value_of(-1e300, 3.5) == 0.0


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 49, 99, 400, 9_999, 10_001])
def test_the_quantile_without_numpy_is_the_same(degrees):
    assert mean_interval.quantile(degrees) == pytest.approx(quantile(degrees), rel=1e-13, abs=0)

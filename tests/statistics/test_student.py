"""Student's t: quantiles and p-values of SciPy, and the interval of a mean of means by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.statistics import mean_interval
from pfgen_fast.statistics.student import half_width, p_value_of, p_values_of, quantile


@pytest.mark.parametrize("degrees", [1, 1.5, 2, 3, 7.7, 49, 400, 9_999, 10_001, math.inf])
def test_the_quantile_is_that_of_scipy(degrees):
    from scipy import stats

    assert quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=2e-4)
    assert mean_interval.quantile(degrees) == pytest.approx(quantile(degrees), rel=1e-13, abs=0)


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


def test_the_p_value_has_limits():
    assert p_value_of(1e-300, 3.5) == 1.0
    assert p_value_of(-1e300, 3.5) == 0.0

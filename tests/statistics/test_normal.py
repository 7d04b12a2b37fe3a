"""The normal distribution far into its tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.statistics.signed_rank import log_normal_cdf


@given(st.lists(st.floats(-1e8, 1e8), max_size=9))
def test_it_is_that_of_scipy(x):
    from scipy.special import log_ndtr

    assert log_normal_cdf(x) == pytest.approx(log_ndtr(np.array(x)), rel=1e-12, abs=1e-300)


def test_it_is_that_of_scipy_where_the_formula_changes():
    from scipy.special import log_ndtr

    x = np.concatenate([np.linspace(-50, 40, 100_000), -20 + np.linspace(-1e-6, 1e-6, 101), [-1e150, 0.0, 1e150]])
    np.testing.assert_allclose(log_normal_cdf(x), log_ndtr(x), rtol=1e-12, atol=1e-300)


def test_the_middle_is_a_half_and_nothing_is_negative_zero():
    assert log_normal_cdf(0.0) == pytest.approx(math.log(0.5), rel=1e-15)
    assert math.copysign(1, log_normal_cdf(math.inf)) == 1
    assert log_normal_cdf(-math.inf) == -math.inf
    assert np.isnan(log_normal_cdf(math.nan))


def test_the_shape_stays():
    assert log_normal_cdf(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert log_normal_cdf([[1.0, -30.0]]).shape == (1, 2)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.base.errors import ExperimentError
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts
from pfgen_fast.lab.statistics.least_squares import bounded_fit, bounded_fits

LEVELS = [0.0, 0.25, 0.5, 0.75, 1.0]


def random_rows(n_rows: int, n_columns: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.choice(LEVELS, size=(n_rows, n_columns), p=[0.05, 0.1, 0.15, 0.3, 0.4])
    return x, np.rint(x @ rng.uniform(-1, 3, n_columns) + rng.normal(0, 0.7, n_rows))


@given(st.integers(0, 10**6), st.sampled_from([5, 15]), st.integers(1, 7), st.sampled_from([0.0, 0.5, 2.0]))
def test_no_coefficient_can_be_improved(seed: int, n_rows: int, n_columns: int, bound: float) -> None:
    """The conditions of Karush, Kuhn and Tucker, also where the data leave the coefficients open."""
    x, y = random_rows(n_rows, n_columns, seed)
    fit = bounded_fit(x, y, bound=bound)
    gradient = x.T @ (x @ np.array(fit.coefficients) - y)
    for slope, coefficient, at_bound in zip(gradient, fit.coefficients, fit.at_bound, strict=True):
        assert coefficient == bound if at_bound else coefficient > bound
        assert slope > -1e-6 if at_bound else abs(slope) < 1e-6


@given(st.integers(0, 10**6), st.sampled_from([3, 6, 40]))
def test_a_draw_is_the_fit_of_the_drawn_rows(seed: int, n_rows: int) -> None:
    x, y = random_rows(n_rows, 5, seed)
    counts = bootstrap_counts(n_rows, 20, seed=seed)
    for found, times in zip(bounded_fits(x, y, counts, bound=0.5), counts, strict=True):
        fit = bounded_fit(np.repeat(x, times, axis=0), np.repeat(y, times), bound=0.5)
        if fit.rank == 5:
            np.testing.assert_allclose(found, fit.coefficients, atol=1e-9)
            assert (found == 0.5).tolist() == list(fit.at_bound) or np.isclose(found, 0.5, atol=1e-9).any()
        else:
            assert np.isnan(found).all()


def test_what_is_left_open_keeps_the_bound() -> None:
    """The nearest to equal ones would be below the bound: what is known pushes the first column up to 6."""
    fit = bounded_fit([[1, 0, 0], [0, 1, 1]], [6, 1.2], bound=0.5)
    assert fit.coefficients == pytest.approx((6, 0.6, 0.6))
    fit = bounded_fit([[1, 0, 0], [0, 1, 0.5]], [6, 0.75], bound=0.5)
    assert fit.coefficients == pytest.approx((6, 0.5, 0.5))


def test_a_question_that_always_fails_gets_the_mean_of_the_others() -> None:
    fit = bounded_fit([[1, 0], [0.5, 0]], [6, 3], bound=0.5)
    assert (fit.rank, fit.coefficients) == (1, pytest.approx((6, 6)))
    fit = bounded_fit([[0, 0], [0, 0]], [3, 5], bound=0.5)
    assert (fit.rank, fit.coefficients, fit.percent) == (0, (0.5, 0.5), (50, 50))


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([[]], [1]), ([[1]], [1, 2]), ([1, 2], [1, 2]), ([[np.nan]], [1]), ([[1]], [np.inf]), ([[1]], [2000])],
)
def test_what_is_no_regression_is_refused(x: Any, y: Any) -> None:
    with pytest.raises(ExperimentError, match="regression"):
        bounded_fit(x, y)

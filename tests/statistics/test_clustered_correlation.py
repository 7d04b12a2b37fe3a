"""Correlations with draws of whole clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.statistics.correlation import p_value, pearson, resampled_pearson, resampled_spearman, spearman
from pfgen_fast.statistics.resampling import bootstrap_counts

small = st.integers(0, 5)
columns = st.lists(st.tuples(small, small), min_size=3, max_size=30)


@given(columns)
def test_coefficients_are_those_of_scipy(pairs):
    stats = pytest.importorskip("scipy.stats")
    x, y = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    if np.ptp(x) and np.ptp(y):
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
        assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    else:
        assert spearman(x, y) is None
        assert pearson(x, y) is None


def test_a_draw_counts_its_values_as_often_as_they_are_drawn():
    draw = np.random.default_rng(2)
    x, y = draw.integers(0, 9, (2, 40)).astype(float)
    clusters = np.repeat(np.arange(10), 4)
    counts = bootstrap_counts(10, 20, seed=3)
    for row, of_spearman, of_pearson in zip(
        counts,
        resampled_spearman(x, y, clusters, counts),
        resampled_pearson(x, y, clusters, counts),
        strict=True,
    ):
        rows = np.repeat(np.arange(40), row[clusters])
        assert of_spearman == pytest.approx(spearman(x[rows], y[rows]))
        assert of_pearson == pytest.approx(pearson(x[rows], y[rows]))


def test_a_draw_in_which_a_column_is_constant_is_undefined():
    counts = np.array([[2, 0], [1, 1]])
    for resampled in (resampled_spearman, resampled_pearson):
        found = resampled([1.0, 2.0], [2.0, 1.0], np.arange(2), counts)
        assert math.isnan(found[0])
        assert found[1] == -1


def test_a_constant_column_of_broken_decimals_has_no_correlation():
    assert pearson([0.1] * 9, range(9)) is None
    assert spearman([], []) is None


@pytest.mark.parametrize(("rho", "n"), [(0.3, 10), (-0.05, 700), (0.99, 5)])
def test_p_values_are_students(rho, n):
    stats = pytest.importorskip("scipy.stats")
    t = rho * math.sqrt((n - 2) / (1 - rho * rho))
    assert p_value(rho, n) == pytest.approx(2 * stats.t.sf(abs(t), n - 2), abs=1e-12)


def test_the_ends_of_p_values():
    assert p_value(1.0, 5) == 0
    assert p_value(0.0, 5) == 1
    assert p_value(0.5, 2) is None

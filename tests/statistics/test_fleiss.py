"""Fleiss' kappa equals that of statsmodels, and is undefined where it means nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pfgen_fast.statistics.agreement_of_levels import fleiss_kappa


def test_kappa_of_the_example_of_fleiss():
    counts = """
    0 0 0 0 14   0 2 6 4 2   0 0 3 5 6   0 3 9 2 0   2 2 8 1 1
    7 7 0 0 0   3 2 6 3 0   2 5 3 2 2   6 5 2 1 0   0 2 2 3 7"""
    assert fleiss_kappa(np.array(counts.split(), dtype=int).reshape(10, 5)) == pytest.approx(0.20993, abs=5e-6)


@pytest.mark.slow  # importing statsmodels takes longer than all other tests of this folder
@pytest.mark.parametrize("seed", range(20))
def test_kappa_equals_that_of_statsmodels(seed):
    from statsmodels.stats import inter_rater

    generator = np.random.default_rng(seed)
    counts = generator.multinomial(int(generator.integers(2, 12)), [0.2, 0.5, 0.3], size=int(generator.integers(2, 9)))
    expected = inter_rater.fleiss_kappa(counts)
    assert fleiss_kappa(counts) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_full_agreement_is_1_and_splitting_evenly_is_below_0():
    assert fleiss_kappa([[3, 0], [0, 3]]) == 1
    assert fleiss_kappa([[1, 1], [1, 1]]) == -1


@pytest.mark.parametrize("counts", [[], [[]], [[1, 0], [0, 1]], [[2, 0], [0, 3]], [[3, 0], [3, 0]], [[0, 0]]])
def test_kappa_is_undefined_where_it_means_nothing(counts):
    assert math.isnan(fleiss_kappa(counts))

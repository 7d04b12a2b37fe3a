"""Items that find a difference: held to the noncentral t distribution."""

from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast.runs.statistics.paired import needed, paired_difference

A, B = np.random.default_rng(3).normal([[0.1], [0]], 1, (2, 40))
FOUND = paired_difference(A, B)
SPREAD = float((A - B).std(ddof=1))


@pytest.mark.parametrize("difference", [0.05, 0.3, 0.6, 2.0])
def test_the_t_test_has_its_power_with_so_many_items(difference):
    from scipy.stats import nct, t

    n = np.arange(2, 20_000)
    power = nct.sf(t.isf(0.025, n - 1), n - 1, difference / SPREAD * n**0.5)
    expected = max(6, n[power >= 0.8][0])
    assert needed(FOUND, difference).n == needed(FOUND, -difference).n == pytest.approx(expected, rel=0.03, abs=1)


def test_clusters_are_counted_instead_of_items():
    twice = paired_difference(np.repeat(A, 2), np.repeat(B, 2), clusters=np.repeat(range(40), 2).tolist())
    assert needed(twice, 0.3).n == needed(FOUND, 0.3).n > 40

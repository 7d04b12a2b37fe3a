"""The interval of a mean change for two one-sided tests."""

from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast.statistics.equivalence import CONFIDENCE, change_interval
from pfgen_fast.statistics.mean_interval import quantile


def interval(changes, **options):
    low, high = change_interval(np.zeros(len(changes)), -np.array([changes], dtype=float), **{"largest": 1, **options})
    return float(low[0]), float(high[0])


def test_changes_without_skew_have_students_interval():
    half = quantile(5, CONFIDENCE) * np.std([1, 2, 3, 4, 5, 6], ddof=1) / np.sqrt(6)
    assert quantile(5, CONFIDENCE) == pytest.approx(2.015048, abs=1e-5)
    assert interval([1, 2, 3, 4, 5, 6]) == pytest.approx((3.5 - half, 3.5 + half))


def test_scores_that_hardly_ever_change_leave_room_for_rare_changes():
    assert interval([0] * 100) == pytest.approx((-0.02996, 0.02996), abs=3e-4)  # -log(0.05) / 100: the rule of three
    assert interval([0] * 100, largest=4)[1] == pytest.approx(4 * interval([0] * 100)[1])
    assert interval([0] * 100, clusters=np.arange(100) // 2)[1] == pytest.approx(interval([0] * 50)[1])
    assert interval([1] + [0] * 99)[1] == pytest.approx(0.0474, abs=3e-4)


def test_a_few_large_changes_to_one_side_move_the_end_of_that_side():
    low, high = interval([1] * 10 + [0] * 90)
    assert high - 0.1 > 0.1 - low > 0
    assert interval([-1] * 10 + [0] * 90) == pytest.approx((-high, -low))


def test_few_items_or_clusters_have_no_interval():
    assert np.isnan(interval([0, 1, 2, 3, 4])).all()
    assert np.isnan(interval(range(10), clusters=np.arange(10) // 2)).all()
    assert np.isfinite(interval([*range(6), np.nan])).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100, 500])
def test_each_end_covers_the_mean_change_in_about_95_percent_of_samples(n):
    generator = np.random.default_rng(0)
    changes = {
        "normal": (generator.normal(0.1, 1, (4000, n)), 0.1),
        "ratings": (generator.choice([-1.0, 0, 1], (4000, n), p=[0.15, 0.7, 0.15]), 0),
        "skewed": (generator.exponential(0.1, (4000, n)), 0.1),
        **{f"rare {p}": ((generator.random((4000, n)) < p) * 1.0, p) for p in (0.005, 0.02, 0.05, 0.1, 0.2)},
    }
    for name, (of, mean) in changes.items():
        low, high = change_interval(np.zeros(n), -of, largest=1)
        assert min((low <= mean).mean(), (mean <= high).mean()) > 0.91, name

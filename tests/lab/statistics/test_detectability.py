"""From which damage on it is noticed, with how many items, and whether more damage costs more."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.lab.statistics.detectability import (
    change_interval,
    is_noticed,
    monotonicity,
    n80,
    noticed_from,
    noticed_from_with,
)
from pfgen_fast.lab.statistics.signed_rank import signed_rank


@given(st.lists(st.booleans(), max_size=6))
def test_noticed_from_there_on_means_at_all_higher_degrees(noticed):
    expected = next((degree for degree in range(len(noticed)) if all(noticed[degree:])), len(noticed))
    assert noticed_from(noticed) == expected


def test_few_differences_are_never_noticed():
    few, enough = signed_rank(np.arange(1, 5), np.zeros(4)), signed_rank(np.arange(1, 6), np.zeros(5))
    assert few.d > 1
    assert not is_noticed(few.d, few.n)
    assert is_noticed(enough.d, enough.n)


def test_damage_that_a_hundred_items_show_and_twenty_do_not():
    generator = np.random.default_rng(0)
    original = generator.random(100)
    damaged = original - np.array([[0.15], [1.0]]) + generator.normal(0, 0.5, (2, 100))
    assert noticed_from_with(100, original, damaged) == 0
    assert noticed_from_with(20, original, damaged) == 1


def test_damage_without_effect_has_no_degree_and_too_few_items_say_nothing():
    original = np.arange(50.0)
    assert noticed_from_with(20, original, [original, original + 1]) == 2
    assert noticed_from_with(20, original, [original, original - 1]) == 1
    assert noticed_from_with(51, original, [original - 1]) is None
    assert noticed_from_with(20, original, np.empty((0, 50))) is None


def test_items_without_a_score_are_drawn_and_left_out():
    original = np.arange(30.0)
    damaged = np.stack([original - 1, original - 1])
    damaged[0, :26] = np.nan
    assert noticed_from_with(30, original, damaged) == 1  # four differences are too few
    damaged[0, 25] = 0.0
    assert noticed_from_with(30, original, damaged) == 0
    assert noticed_from_with(20, original, damaged) == 1


def test_so_many_items_are_needed():
    assert n80(1.0, 100, 100) == 9
    assert n80(0.3275, 100, 100) == 77
    assert n80(0.3275, 10, 100) == 770
    assert n80(1.0, 3, 100) == 300
    assert [n80(value, 10, 10) for value in (0.0, -0.5, math.nan)] == [None, None, None]
    assert n80(math.nan, 0, 10) is None
    assert isinstance(n80(np.float64(0.5), np.int64(3), np.int64(10)), int)


DEGREES = st.integers(0, 3).flatmap(
    lambda n: st.lists(
        st.tuples(
            st.lists(st.integers(1, 5) | st.just(math.nan), min_size=n + 1, max_size=n + 1),
            st.lists(st.booleans(), min_size=n, max_size=n),
        ),
        min_size=1,
        max_size=6,
    )
)


@given(DEGREES)
def test_falls_less_rises_are_counted_over_pairs_of_texts_that_differ(items):
    signs = []
    for scores, differs in items:
        if not any(math.isnan(score) for score in scores):
            pairs = itertools.combinations(range(len(scores)), 2)
            signs += [np.sign(scores[a] - scores[b]) for a, b in pairs if any(differs[a:b])]
    expected = sum(signs) / len(signs) if signs else math.nan
    scores = np.array([scores for scores, _ in items], dtype=float).T
    differs = np.array([differs for _, differs in items], dtype=bool).T
    actual = monotonicity(scores[0], scores[1:], differs)
    assert actual == pytest.approx(expected, nan_ok=True)


# The interval of a mean change


def interval(changes, **options):
    low, high = change_interval(np.array([changes], dtype=float), **{"largest": 1, "confidence": 0.9, **options})
    return float(low[0]), float(high[0])


def test_changes_without_skew_have_students_interval():
    half = 2.015048 * np.std([1, 2, 3, 4, 5, 6], ddof=1) / np.sqrt(6)
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

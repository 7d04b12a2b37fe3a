"""Agreement of raters against worked examples and other packages, and raters who differ from the others."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.documented import tool
from makers.published import needs_hellobench, vectors
from pfgen_fast.lab.statistics.correlation import pearson, spearman
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, clustered_rate, interval_of_draws
from pfgen_fast.lab.statistics.raters import (
    against_others,
    alpha,
    correlated,
    fleiss,
    fleiss_kappa,
    krippendorff_alpha,
    mean_of,
    same_levels,
    tables_of,
)

NAN = math.nan
LEVELS = (0.0, 0.1, 0.5, 0.75, 1.0)

rated = tool("simulation.raters").rated


def of_two(first, second, levels):
    """The share of equal levels and quadratic kappa of two raters."""
    pair = [np.searchsorted(levels, column) for column in (first, second)]
    tables = tables_of(pair, np.zeros(len(first), dtype=np.int64), 1, len(levels))
    return [float(same_level[0]) for same_level in same_levels(tables, levels)]


@needs_hellobench
def test_the_published_example_is_reproduced():
    case = vectors("agreement")
    result = dict(
        zip(("same", "kappa_quadratic"), of_two(case["a"], case["b"], (0.0, 0.25, 0.5, 0.75, 1.0)), strict=True)
    )
    result |= {name: part(case["a"], case["b"]) for name, part in (("pearson", pearson), ("spearman", spearman))}
    assert result == pytest.approx({name: case[name] for name in result}, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (LEVELS, LEVELS, (1, 1)),
        ([0, 0, 1, 1], [1, 1, 0, 0], (0, -1)),
        # Where a rater gives one level only, kappa is undefined.
        ([1, 1], [0, 1], (0.5, NAN)),
        ([0, 1], [0.5, 0.5], (0, NAN)),
        ([], [], (NAN, NAN)),
    ],
)
def test_agreement_of_two_by_hand(first, second, expected):
    assert of_two(first, second, LEVELS) == pytest.approx(expected, nan_ok=True)


@given(st.lists(st.tuples(st.sampled_from(LEVELS), st.sampled_from(LEVELS)), min_size=1, max_size=40))
def test_quadratic_kappa_is_that_of_its_definition(pairs):
    first, second = zip(*pairs, strict=True)
    same, kappa = of_two(first, second, LEVELS)
    chance = list(itertools.product(first, second))
    assert same == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    if len(set(first)) > 1 and len(set(second)) > 1:
        apart = [sum((a - b) ** 2 for a, b in some) / len(some) for some in (pairs, chance)]
        assert kappa == pytest.approx(1 - apart[0] / apart[1])


def counts_of(n, draws=200, seed=0):
    return bootstrap_counts(n, draws, seed=seed)


def test_alpha_of_the_worked_example_of_krippendorff():
    """Four observers of twelve units, with missing values: 0.849 on the interval scale (Krippendorff 2011)."""
    lines = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    result = alpha(np.array(lines), np.arange(12), counts_of(12))
    assert result.value == pytest.approx(0.849, abs=5e-4)
    low, high = interval_of_draws(result.value, result.draws, 12)
    assert low < result.value < high
    assert low < np.nanquantile(result.draws, 0.025)  # percentiles of the draws are narrower


def test_a_figure_of_a_draw_is_that_of_the_drawn_units():
    values = rated(np.random.default_rng(0), n_raters=4, n_units=30, missing=0.3)
    clusters = np.repeat(np.arange(10), 3)
    counts = counts_of(10, 5)
    levels = np.where(np.isnan(values), -1, np.clip(np.rint(np.nan_to_num(values) / 2), 0, 4))
    votes = np.stack([(levels == level).sum(axis=0) for level in range(5)]).astype(float)
    alpha_value, kappa_value = alpha(values, clusters, counts), fleiss(votes, clusters, counts)
    pair = correlated(values[0], values[1], clusters, counts)
    for draw, row in enumerate(counts):
        units = np.repeat(np.arange(30), np.repeat(row, 3))
        alone, none = np.arange(len(units)), counts_of(len(units), 0)
        assert alpha_value.draws[draw] == pytest.approx(alpha(values[:, units], alone, none).value, rel=1e-9)
        assert kappa_value.draws[draw] == pytest.approx(fleiss(votes[:, units], alone, none).value, rel=1e-9)
        again = correlated(values[0][units], values[1][units], alone, none)
        assert pair.pearson.draws[draw] == pytest.approx(again.pearson.value, rel=1e-9)
        assert pair.spearman.draws[draw] == pytest.approx(again.spearman.value, rel=1e-9)


def test_units_of_one_rater_and_constant_ratings_have_no_agreement():
    nothing = np.array([[1, NAN, 2], [NAN, 3, NAN]])
    assert math.isnan(alpha(nothing, np.arange(3), counts_of(3)).value)
    assert math.isnan(alpha(np.full((2, 3), 0.1), np.arange(3), counts_of(3)).value)
    assert math.isnan(correlated(nothing[0], nothing[1], np.arange(3), counts_of(3)).pearson.value)
    assert math.isnan(mean_of([]).value)


def named(values, counts):
    result = against_others(values, np.arange(values.shape[1]), counts)
    return [item.is_shifted for item in result], [item.is_unlike for item in result]


def test_a_strict_and_a_careless_rater_are_named_and_nobody_else():
    generator, counts = np.random.default_rng(1), counts_of(80, 500)
    usual = rated(generator, n_raters=5, n_units=80, strictness=0)
    assert named(usual, counts) == ([False] * 5, [False] * 5)
    strict = usual.copy()
    strict[3] -= 1.5
    assert named(strict, counts) == ([False, False, False, True, False], [False] * 5)
    careless = usual.copy()
    careless[0] = generator.permutation(careless[0])
    assert named(careless, counts) == ([False] * 5, [True] + [False] * 4)
    flat = usual.copy()
    flat[2] = 6
    assert named(flat, counts) == ([False] * 5, [False, False, True, False, False])
    assert named(np.full((3, 80), 6.0), counts) == ([False] * 3, [False] * 3)
    assert named(careless[:2], counts) == ([False] * 2, [False] * 2)  # of two, nobody can say which differs


@pytest.mark.parametrize(("n_true", "n"), [(0, 20), (20, 20), (19, 20), (1, 1)])
def test_a_rate_has_an_interval_inside_0_and_1_even_if_all_agree(n_true, n):
    share, low, high = clustered_rate([True] * n_true + [False] * (n - n_true), range(n))
    assert share == n_true / n
    assert 0 <= low <= share <= high <= 1
    assert high - low > 0.01


@pytest.mark.parametrize("ratings", [[[1, 1], [1, 1]], [[1, NAN], [NAN, 0]], [[]], [[0.1, 0.1, 0.1]] * 3])
def test_alpha_is_empty_where_nothing_varies_or_nothing_is_shared(ratings):
    assert krippendorff_alpha(ratings) is None


def test_fleiss_kappa_of_the_example_of_fleiss():
    counts = """
    0 0 0 0 14   0 2 6 4 2   0 0 3 5 6   0 3 9 2 0   2 2 8 1 1
    7 7 0 0 0   3 2 6 3 0   2 5 3 2 2   6 5 2 1 0   0 2 2 3 7"""
    assert fleiss_kappa(np.array(counts.split(), dtype=int).reshape(10, 5)) == pytest.approx(0.20993, abs=5e-6)
    assert (fleiss_kappa([[3, 0], [0, 3]]), fleiss_kappa([[1, 1], [1, 1]])) == (1, -1)


@pytest.mark.parametrize("counts", [[], [[]], [[1, 0], [0, 1]], [[3, 0], [3, 0]], [[0, 0]]])
def test_fleiss_kappa_is_undefined_where_it_means_nothing(counts):
    assert math.isnan(fleiss_kappa(counts))

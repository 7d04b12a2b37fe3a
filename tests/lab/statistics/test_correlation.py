"""Correlations, and the agreement of raters, by hand, by definitions and by SciPy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers.documented import tool
from makers.published import needs_hellobench, vectors
from pfgen_fast import ExperimentError
from pfgen_fast.lab.statistics.correlation import (
    COEFFICIENTS,
    check_columns,
    coefficient,
    correlate,
    few_values,
    kendall,
    p_value,
    pearson,
    resampled_pearson,
    resampled_spearman,
    spearman,
)
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts, clustered_rate, interval_of_draws
from pfgen_fast.lab.statistics.raters import (
    alpha,
    correlated,
    fleiss,
    fleiss_kappa,
    krippendorff_alpha,
    mean_of,
    same_levels,
)


@st.composite
def columns(draw):
    """Two columns that are not constant, with many ties."""
    n = draw(st.integers(3, 12))
    column = st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(lambda values: len(set(values)) > 1)
    return tuple(np.array(draw(column), dtype=float) for _ in range(2))


@settings(deadline=None)  # the first example imports SciPy
@given(columns())
def test_coefficients_are_those_of_scipy(both):
    from scipy import stats

    x, y = both
    expected = [float(f(x, y).statistic) for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]
    assert [coefficient(name, x, y) for name in COEFFICIENTS] == pytest.approx(expected, abs=1e-12)
    assert kendall(x, y) == coefficient("Kendall", x, y)
    assert [pearson(x, y), spearman(x, y)] == pytest.approx(expected[:2], abs=1e-12)


@pytest.mark.parametrize("constant", [(np.ones(4), np.arange(4.0)), (np.arange(4.0), np.ones(4))])
def test_a_constant_column_correlates_with_nothing(constant):
    assert kendall(*constant) is None
    for name in COEFFICIENTS:
        with pytest.raises(ExperimentError, match="a constant column has no correlation"):
            coefficient(name, *constant)
    with pytest.raises(ExperimentError, match="a constant column has no correlation"):
        correlate(*constant)


def test_columns_that_are_short_or_constant_have_no_correlation():
    check_columns({"a": np.array([1.0, 1.0, 2.0])}, "runs")
    with pytest.raises(ExperimentError, match=r"^2 runs: a correlation needs at least 3$"):
        check_columns({"a": np.array([1.0, 2.0])}, "runs")
    with pytest.raises(ExperimentError, match=r"^b is 0\.5 for all 3 models: a constant column has no correlation"):
        check_columns({"a": np.array([1.0, 2.0, 3.0]), "b": np.full(3, 0.5)}, "models")
    assert pearson([0.1] * 9, range(9)) is None
    assert spearman([], []) is None


@settings(deadline=None)
@given(columns(), st.data())
def test_a_resample_has_the_coefficients_of_the_rows_that_it_draws(both, data):
    x, y = both
    cluster_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x))))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any))
    rows = np.repeat(np.arange(len(x)), np.array(counts)[cluster_of])
    varies = len(rows) > 0 and np.ptp(x[rows]) > 0 and np.ptp(y[rows]) > 0
    for name, part in (("Pearson", resampled_pearson), ("Spearman", resampled_spearman)):
        expected = coefficient(name, x[rows], y[rows]) if varies else math.nan
        actual = part(x, y, cluster_of, np.array([counts, counts]))
        assert actual == pytest.approx([expected, expected], abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("clusters", [np.arange(40), np.arange(40) % 13])
def test_intervals_are_those_of_the_jackknife_counted_cluster_by_cluster(clusters):
    from scipy import stats

    generator = np.random.default_rng(0)
    x = generator.integers(0, 9, 40).astype(float)
    y = x + generator.normal(0, 4, 40).round()
    result, n = correlate(x, y, clusters=clusters), clusters.max() + 1
    for name in COEFFICIENTS:
        kept = (clusters != cluster for cluster in range(n))
        without = np.arctanh([coefficient(name, x[rows], y[rows]) for rows in kept])
        error = math.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
        half = stats.t.ppf(0.975, n - 2) * error
        ends = np.tanh(np.arctanh(coefficient(name, x, y)) + np.array([-half, half]))
        assert (result[name].low, result[name].high) == pytest.approx(ends, abs=1e-5)


def test_few_values_and_a_column_that_varies_in_one_cluster_have_no_interval():
    x = np.arange(20.0)
    y = x**2 % 11
    assert correlate(x[:9], y[:9])["Pearson"].low is None
    assert correlate(x[:10], y[:10])["Pearson"].low is not None
    assert correlate(x, y, clusters=np.arange(20) % 9)["Kendall"].low is None
    assert few_values(10, "runs") == []
    assert few_values(3, "runs")[0].startswith("the correlations are of only 3 runs, so they have no intervals")
    x = np.r_[np.zeros(9), 1.0]
    result = correlate(x, np.arange(10.0))
    assert all((value.low, value.high) == (None, None) for value in result.values())
    assert str(result["Pearson"]) == "0.5222"


def test_p_values_are_students_and_two_values_have_a_kendall_correlation():
    assert p_value(0.6319, 10) == pytest.approx(0.05, abs=1e-4)  # of the tables for eight degrees of freedom
    assert [p_value(1.0, 4), p_value(0.0, 9), p_value(0.3, 2)] == [1 / 12, 1, None]
    assert kendall([1, 2], [3, 4]) == -kendall([1, 2], [4, 3]) == 1


# ---- Agreement of raters

NAN = math.nan
RATED_LEVELS = (0.0, 0.1, 0.5, 0.75, 1.0)

rated = tool("simulation.raters").rated


def of_two(first, second, levels):
    """The share of equal levels and quadratic kappa of two raters."""
    return list(same_levels(*(np.searchsorted(levels, column) for column in (first, second)), levels))


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
        (RATED_LEVELS, RATED_LEVELS, (1, 1)),
        ([0, 0, 1, 1], [1, 1, 0, 0], (0, -1)),
        # Where a rater gives one level only, kappa is undefined.
        ([1, 1], [0, 1], (0.5, None)),
        ([0, 1], [0.5, 0.5], (0, None)),
        ([], [], (None, None)),
    ],
)
def test_agreement_of_two_by_hand(first, second, expected):
    assert of_two(first, second, RATED_LEVELS) == pytest.approx(list(expected))


@given(st.lists(st.tuples(st.sampled_from(RATED_LEVELS), st.sampled_from(RATED_LEVELS)), min_size=1, max_size=40))
def test_quadratic_kappa_is_that_of_its_definition(pairs):
    first, second = zip(*pairs, strict=True)
    same, kappa = of_two(first, second, RATED_LEVELS)
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

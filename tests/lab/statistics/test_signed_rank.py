"""The signed-rank test by fractions and by hand, and the interval of a mean change."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.statistics.discernment_scores import change_interval, is_noticed
from pfgen_fast.lab.statistics.signed_rank import MAX_EXACT, signed_rank

COLUMNS = ("n_pairs", "n_zero", "n", "r_plus", "r_minus", "tie_term", "mean", "variance", "z", "log_p", "p", "d")
COLUMNS += ("reverse_d", "ceiling_d", "rank_biserial", "exact_p", "exact_d")
COLUMNS += ("share_lower", "share_equal", "share_higher", "mean_drop")

RATINGS = st.tuples(st.integers(1, 5), st.integers(1, 5))
SCORES = st.tuples(st.floats(0, 1), st.floats(0, 1))
MISSING = st.sampled_from([(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (1.0, -math.inf)])
PAIRS = (
    st.lists(RATINGS, max_size=12) | st.lists(SCORES, max_size=12) | st.lists(RATINGS | SCORES | MISSING, max_size=12)
)
ZEROS = st.sampled_from(["drop", "pratt"])


def test_differences_are_on_a_grid():
    from_decimals = signed_rank([4.0, 3.6, 2.8], [3.8, 3.4, 2.6])
    assert (from_decimals.tie_term, from_decimals.r_plus) == (24, 6)
    beyond_floats = signed_rank([1.7e308, 1.0], [-1.7e308, 1.0])
    assert (beyond_floats.n, beyond_floats.r_plus, beyond_floats.n_zero) == (1, 1.0, 1)
    assert signed_rank([1.0, 2.0], [1.0 - 2**-40, 1.0]).n == 1
    assert signed_rank([1.0, 2.0], [1.0 - 2**-38, 1.0]).n == 2
    assert signed_rank([1.0, 2.0], [1.0 - 2**-40, 2.0]).mean_drop == 0


@pytest.mark.parametrize("zeros", ["drop", "pratt"])
@pytest.mark.parametrize("n", [0, 3])
def test_where_nothing_differs_p_is_1(zeros, n):
    result = signed_rank(np.ones(n), np.ones(n), zeros=zeros)
    assert (result.n, result.log_p, result.p, result.d, result.exact_p, result.exact_d) == (0, 0, 1, 0, 1, 0)
    assert (result.reverse_d, result.ceiling_d) == (0, 0)
    assert all(math.isnan(value) for value in (result.z, result.mean, result.variance, result.rank_biserial))
    assert math.isnan(result.mean_drop) == math.isnan(result.share_lower) == (n == 0)


def test_above_the_limit_there_is_no_exact_value():
    n = MAX_EXACT + 1
    result = signed_rank(np.stack([np.arange(n) + 1.0] * 2), np.stack([np.zeros(n), np.eye(n)[0]]))
    assert math.isnan(result.exact_p[0])
    assert (result.n[1], result.exact_d[1]) == (MAX_EXACT, pytest.approx(MAX_EXACT * math.log(2, 20)))


def test_the_approximation_holds_where_p_is_no_float():
    result = signed_rank(np.arange(1, 20_001), np.zeros(20_000))
    assert result.p == 0
    assert result.d == result.ceiling_d
    z_squared = 1.5 * 20_000 * 20_001 / 40_001
    log_p = -z_squared / 2 - math.log(math.sqrt(2 * math.pi * z_squared))
    assert result.log_p == pytest.approx(log_p + math.log1p(-1 / z_squared), rel=1e-11)


@pytest.mark.parametrize(
    ("x", "y", "zeros", "message"),
    [
        ([1.0, 2.0], [1.0], "drop", r"shapes \(2,\) and \(1,\): expected two vectors or two matrices"),
        (1.0, 1.0, "drop", r"shapes \(\) and \(\)"),
        (np.zeros((1, 1, 1)), np.zeros((1, 1, 1)), "drop", "expected two vectors"),
        ([1.0], [2.0], "keep", "zeros 'keep': expected one of drop, pratt"),
        (["good", "bad"], [1.0, 2.0], "drop", "scores: expected vectors or matrices of numbers"),
    ],
)
def test_what_cannot_be_tested_is_said(x, y, zeros, message):
    with pytest.raises(DiscernmentError, match=message):
        signed_rank(x, y, zeros=zeros)


@given(PAIRS, ZEROS)
def test_figures_are_those_of_whole_numbers_and_fractions(pairs, zeros):
    actual = signed_rank(*columns(pairs), zeros=zeros)
    expected = in_fractions(pairs, zeros)
    for name, value in expected.items():
        assert getattr(actual, name) == float(value), name
    drops = [x - y for x, y in pairs if math.isfinite(x) and math.isfinite(y)]
    assert not drops or actual.mean_drop == pytest.approx(math.fsum(drops) / len(drops), abs=1e-11)
    if actual.n:
        assert actual.z == pytest.approx(float(expected["r_plus"] - expected["mean"]) / math.sqrt(expected["variance"]))
        assert actual.exact_p == pytest.approx(exact_by_counting(pairs, zeros), rel=1e-13)
        assert actual.exact_d == pytest.approx(-math.log(actual.exact_p, 20), rel=1e-12, abs=1e-15)


@given(PAIRS.filter(bool), ZEROS)
def test_clusters_of_one_pair_change_nothing(pairs, zeros):
    result = signed_rank(*columns(pairs), zeros=zeros, clusters=np.arange(len(pairs)))
    assert figures(result) == pytest.approx(figures(signed_rank(*columns(pairs), zeros=zeros)), rel=1e-13, nan_ok=True)
    assert result.units == result.n


def test_the_sums_of_the_ranks_of_clusters_are_tested():
    result = signed_rank([4.0, 3.0, -1.0, 2.0], np.zeros(4), clusters=[0, 0, 1, 1])  # sums of ranks 7 and 1
    assert (result.n, result.units, result.r_plus, result.variance) == (4, 2, 9, (7**2 + 1) / 4)
    assert (result.z, result.exact_p) == (pytest.approx(8 / 50**0.5), 0.25)
    assert result.ceiling_d == signed_rank([4.0, 3.0, 1.0, 2.0], np.zeros(4), clusters=[0, 0, 1, 1]).d


@given(PAIRS.filter(bool), ZEROS, st.randoms(use_true_random=False))
def test_order_and_missing_pairs_change_nothing(pairs, zeros, random):
    result = figures(signed_rank(*columns(pairs), zeros=zeros))
    mixed = [*pairs, (math.nan, 5.0), (2.0, math.nan)]
    random.shuffle(mixed)
    assert figures(signed_rank(*columns(mixed), zeros=zeros)) == pytest.approx(result, rel=1e-14, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("zeros", ["drop", "pratt"])
@pytest.mark.parametrize(("cells", "items"), [(3, 0), (0, 4), (1000, 60), (2, 40_000)])
def test_a_cell_of_a_matrix_is_tested_as_alone(cells, items, zeros):
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 9, (2, cells, items)) / 9
    x[generator.random(x.shape) < 0.2] = np.nan
    result = signed_rank(x, y, zeros=zeros)
    assert result.d.shape == (cells,)
    for cell in range(0, cells, 97):
        alone = figures(signed_rank(x[cell], y[cell], zeros=zeros))
        assert [getattr(result, name)[cell] for name in COLUMNS] == pytest.approx(alone, rel=1e-12, nan_ok=True)


def columns(pairs):
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def figures(result):
    return [getattr(result, name) for name in COLUMNS]


def ranked(pairs, zeros):
    """The differences of the pairs on the grid, and those other than zero with their ranks."""
    there = [(x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y)]
    largest = max((max(abs(x), abs(y)) for x, y in there), default=0.0)
    exponent = math.frexp(largest)[1]
    g = [round(Fraction(x - y) * Fraction(2) ** (40 - exponent)) if largest else 0 for x, y in there]
    rated = [abs(value) for value in g if value or zeros == "pratt"]
    rank = {size: Fraction(2 * sum(other < size for other in rated) + rated.count(size) + 1, 2) for size in set(rated)}
    return g, [(value, rank[abs(value)]) for value in g if value]


def in_fractions(pairs, zeros):
    """The figures by their definitions: each rank counts or does not count with probability one half."""
    g, with_ranks = ranked(pairs, zeros)
    ranks = [rank for _, rank in with_ranks]
    by_name = {
        "n_pairs": len(g),
        "n_zero": g.count(0),
        "n": len(ranks),
        "r_plus": sum(rank for value, rank in with_ranks if value > 0),
        "r_minus": sum(rank for value, rank in with_ranks if value < 0),
        "tie_term": sum(n**3 - n for n in Counter(abs(value) for value, _ in with_ranks).values()),
    }
    if g:
        signs = Counter(-1 if value < 0 else int(value > 0) for value in g)
        by_name |= {
            f"share_{part}": Fraction(signs[sign], len(g))
            for part, sign in (("lower", 1), ("equal", 0), ("higher", -1))
        }
    if ranks:
        by_name |= {"mean": sum(ranks) / 2, "variance": sum(rank * rank for rank in ranks) / 4}
    return by_name


def exact_by_counting(pairs, zeros):
    _, with_ranks = ranked(pairs, zeros)
    r_plus = sum(rank for value, rank in with_ranks if value > 0)
    patterns = itertools.product([0, 1], repeat=len(with_ranks))
    sums = [sum(rank for (_, rank), counts in zip(with_ranks, pattern, strict=True) if counts) for pattern in patterns]
    return sum(total >= r_plus for total in sums) / len(sums)


def test_few_differences_are_never_noticed():
    few, enough = signed_rank(np.arange(1, 5), np.zeros(4)), signed_rank(np.arange(1, 6), np.zeros(5))
    assert few.d > 1
    assert not is_noticed(few.d, few.n)
    assert is_noticed(enough.d, enough.n)


# The interval of a mean change


def interval(changes, **options):
    low, high = change_interval(np.array([changes], dtype=float), **{"largest": 1, **options})
    return float(low[0]), float(high[0])


def test_changes_without_skew_have_students_interval_and_those_of_few_items_none():
    half = 2.570582 * np.std([1, 2, 3, 4, 5, 6], ddof=1) / np.sqrt(6)
    assert interval([1, 2, 3, 4, 5, 6]) == pytest.approx((3.5 - half, 3.5 + half))
    assert np.isnan(interval([0, 1, 2, 3, 4])).all()
    assert np.isnan(interval(range(10), clusters=np.arange(10) // 2)).all()
    assert np.isfinite(interval([*range(6), np.nan])).all()


def test_rare_changes_and_large_ones_to_one_side_widen_the_interval():
    assert interval([0] * 100) == pytest.approx((-0.03689, 0.03689), abs=3e-4)  # -log(0.025) / 100
    assert interval([0] * 100, largest=4)[1] == pytest.approx(4 * interval([0] * 100)[1])
    assert interval([0] * 100, clusters=np.arange(100) // 2)[1] == pytest.approx(interval([0] * 50)[1])
    assert interval([1] + [0] * 99)[1] == pytest.approx(0.0557, abs=3e-4)
    low, high = interval([1] * 10 + [0] * 90)
    assert high - 0.1 > 0.1 - low > 0
    assert interval([-1] * 10 + [0] * 90) == pytest.approx((-high, -low))

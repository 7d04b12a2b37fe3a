"""Student's t; means over questions, paired differences, corrections and ranks."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.base.mean_interval import mean_interval, quantile
from pfgen_fast.runs.statistics.paired_tests import MIN_QUESTIONS, all_pairs, needed, paired_difference, tango_interval
from pfgen_fast.runs.statistics.verdicts import corrected, decided, holm_levels, rank_ranges
from pfgen_fast.runs.trial_intervals import half_width

NAN = math.nan


# Student's t


@pytest.mark.parametrize("degrees", [1, 1.5, 2, 3, 7.7, 49, 400, 9_999, 10_001, math.inf])
def test_the_quantile_is_that_of_scipy(degrees):
    from scipy import stats

    assert quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=2e-4)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        # One question: Student's quantile for 1, 2 and 4 degrees of freedom times the standard error.
        ([[0.4, 0.6]], 12.7062 * 0.1),
        ([[0.1, 0.2, 0.3]], 4.30265 * 0.1 / math.sqrt(3)),
        ([[0, 1, 0, 1, 0.5]], 2.77645 * 0.5 / math.sqrt(5)),
        # Two questions with the same variance: the degrees of freedom add up, and the mean halves the errors.
        ([[0.4, 0.6], [0.7, 0.9]], 4.30265 * math.sqrt(2 * 0.01) / 2),
        # A question without variance adds neither degrees of freedom nor error.
        ([[0.4, 0.6], [0.5, 0.5]], 12.7062 * 0.1 / 2),
        ([[0.3, 0.3], [0.5, 0.5]], 0),
        ([[0.3], [0.5]], None),
        ([[0.3, 0.4], [0.5]], None),
    ],
)
def test_the_interval_is_that_of_welch_and_satterthwaite(samples, expected):
    actual = half_width([np.array(sample, dtype=float) for sample in samples])
    assert actual == (None if expected is None else pytest.approx(expected, rel=1e-5))


@pytest.mark.parametrize("n", [2, 3, 7, 8, 50, 51, 500])
def test_a_paired_difference_is_that_of_scipy(n):
    from scipy import stats

    a, b = np.random.default_rng(n).normal([[0.1], [0]], 0.3, (2, n))
    actual, expected = paired_difference(a, b), stats.ttest_rel(a, b)
    assert actual.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert (actual.low, actual.high) == pytest.approx(tuple(expected.confidence_interval()), rel=1e-3)
    assert (actual.mean, actual.n) == (pytest.approx((a - b).mean()), n)
    mean = mean_interval(a - b)
    assert (mean.mean, mean.low, mean.high) == pytest.approx((actual.mean, actual.low, actual.high), rel=1e-3)


def test_questions_that_one_run_lacks_are_left_out_and_one_question_has_no_interval():
    result = paired_difference([0.1, NAN, 0.5, 0.9], [0.2, 0.3, 0.4, NAN])
    assert result == paired_difference([0.1, 0.5], [0.2, 0.4])
    assert (result.n, mean_interval([NAN, 0.1, 0.3])) == (2, mean_interval([0.1, 0.3]))
    result = paired_difference([0.5], [0.3])
    assert (result.mean, result.low, result.high, result.p_value, result.n) == (pytest.approx(0.2), None, None, None, 1)
    assert decided([result])[0].differs is None
    item = mean_interval([0.5])
    assert (item.mean, item.low, item.high, item.n) == (0.5, None, None, 1)
    with pytest.raises(ValueError, match="at least one question"):
        mean_interval([NAN])
    with pytest.raises(ValueError, match="both runs have"):
        paired_difference([NAN, 0.1], [0.1, NAN])


@pytest.mark.parametrize(("n", "differs"), [(2, None), (MIN_QUESTIONS - 1, None), (MIN_QUESTIONS, True)])
def test_few_questions_give_no_verdict_however_clear_they_are(n, differs):
    a = np.linspace(0.8, 0.9, n)
    result = paired_difference(a, 2 * a - 1.5)
    assert result.p_value < 0.05
    assert decided([result])[0].differs is differs


def test_differences_without_spread_have_the_p_value_of_a_sign_test_and_tiny_ones_have_one_too():
    b = np.random.default_rng(0).uniform(size=8)
    constant, none = paired_difference(b + 0.1, b), paired_difference(b, b)
    assert (constant.p_value, constant.low, constant.high) == (pytest.approx(2 / 2**8), None, None)
    assert decided([constant])[0].differs
    assert (none.mean, none.p_value, none.low) == (0, 1, None)
    assert mean_interval([0.3] * 50).low is None
    assert decided([none])[0].differs is False
    assert paired_difference([0.0, 0.0], [0.0, 5e-324]).p_value == paired_difference([0.0, 5e-324], [0.0, 0.0]).p_value
    assert all_pairs([[0.0] * 6, [0.0] * 5 + [1e-200]]).p_values[0, 1] > 0.05
    assert 0 < paired_difference([1e-100, 3e-100, 2e-100], [0.0] * 3).p_value < 0.1
    assert all_pairs([[0.1 + 0.2] * 8, [0.3] * 8]).p_values[0, 1] == 1  # a difference by rounding


def _scores(n_runs: int, n_questions: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    scores = np.sort(generator.uniform(size=n_runs))[::-1, None] + 0.3 * generator.normal(size=(n_runs, n_questions))
    scores[generator.uniform(size=scores.shape) < 0.1] = NAN
    return scores


def test_every_pair_is_compared_as_two_runs_alone_are():
    scores = _scores(7, 20)
    scores[3] = scores[2]  # no difference
    scores[5] = scores[4] + 0.25  # the same difference
    result = all_pairs(scores)
    for a, b in itertools.permutations(range(7), 2):
        alone = paired_difference(scores[a], scores[b])
        assert result.differences[a, b] == pytest.approx(alone.mean, abs=1e-15)
        assert result.p_values[a, b] == pytest.approx(alone.p_value, abs=1e-15)
        assert result.n_units[a, b] == alone.n
    assert (result.p_values[2, 3], result.p_values[4, 5]) == (1, 2.0 ** (1 - result.n_units[4, 5]))


@pytest.mark.parametrize("strata", [[[[0.1, NAN], [NAN, 0.2]]], [[[0.1, 0.2], [0.3, 0.4]], [[0.1, NAN], [NAN, 0.2]]]])
def test_runs_without_a_common_question_in_each_stratum_are_not_compared(strata):
    result = all_pairs(*strata)
    assert np.isnan([result.differences[0, 1], result.p_values[0, 1]]).all()
    assert (result.n_units[0, 1], rank_ranges(*strata)) == (0, [None, None])


def test_several_strata_are_welch_and_satterthwaite():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.4, 1, 30), rng.normal(0.1, 3, 12)
    actual = all_pairs(*(np.stack([values, np.zeros_like(values)]) for values in (first, second)))
    expected = stats.ttest_ind(first, -second, equal_var=False)  # the sum of two means is the difference to -second
    assert actual.differences[0, 1] == pytest.approx((first.mean() + second.mean()) / 2)
    assert actual.p_values[0, 1] == pytest.approx(expected.pvalue, rel=1e-9)
    assert actual.n_units[0, 1] == 42


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]], 1),
        ([[2.0, 3.0, 4.0], [2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0]], 2 / 2**5),
        ([[2.0, 3.0], [4.0]], [[1.0, 2.5], [3.0]], NAN),  # one question in a stratum
    ],
)
def test_strata_without_spread_have_the_p_value_of_a_sign_test(a, b, p):
    assert all_pairs(*map(np.stack, zip(a, b, strict=True))).p_values[0, 1] == pytest.approx(p, nan_ok=True)


def test_holm_multiplies_by_how_many_are_left():
    p = [0.01, 0.04, 0.035, 0.005]
    assert corrected(p) == pytest.approx([0.03, 0.07, 0.07, 0.02])
    assert corrected([0.7, 0.6]).tolist() == [1, 1]


CLUSTERS = [number // 3 if number < 12 else number for number in range(20)]


def test_clusters_of_other_sizes_have_the_variance_and_degrees_of_bell_and_mccaffrey():
    """From matrices, for independent values: the variance is unbiased, the degrees are Satterthwaite's."""
    stats = pytest.importorskip("scipy.stats")
    a, b = np.random.default_rng(4).normal([[0.3], [0]], 1, (2, 20))
    members = (np.array(CLUSTERS)[:, None] == sorted(set(CLUSTERS))).astype(float)
    sums_of = members.T @ (np.eye(20) - 1 / 20)  # from differences to sums of residuals
    weights = np.diag(1 / (1 - members.sum(axis=0) / 20))
    form = sums_of.T @ weights @ sums_of / 20**2
    assert np.trace(form) == pytest.approx(1 / 20)  # unbiased
    variance, degrees = (a - b) @ form @ (a - b), np.trace(form) ** 2 / np.trace(form @ form)
    result = paired_difference(a, b, clusters=CLUSTERS)
    assert result.degrees == pytest.approx(degrees)
    t = (a - b).mean() / variance**0.5
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-9)
    assert result.high - result.mean == pytest.approx(stats.t.ppf(0.975, degrees) * variance**0.5, rel=1e-4)
    assert mean_interval(a - b, CLUSTERS).high == pytest.approx(result.high, rel=1e-4)
    assert all_pairs([a, b], clusters=CLUSTERS).p_values[0, 1] == result.p_value


def test_few_clusters_give_no_verdict():
    a, b = np.random.default_rng(4).normal([[9], [0]], 1, (2, 20))
    for n_clusters, differs in ((1, None), (5, None), (6, True)):
        clusters = [number % n_clusters for number in range(20)]
        result, pairs = paired_difference(a, b, clusters=clusters), all_pairs([a, b], clusters=clusters)
        assert (decided([result])[0].differs, result.n, result.n_clusters) == (differs, 20, n_clusters)
        assert (result.low is None, result.p_value is None) == (n_clusters == 1, n_clusters == 1)
        assert rank_ranges([a, b], clusters=clusters) == ([(1, 1), (2, 2)] if differs else [None, None])
        assert pairs.n_units[0, 1] == n_clusters


def test_a_shift_is_tested_as_a_difference_of_shifted_scores():
    a, b = np.random.default_rng(4).normal([[0.3], [0]], 1, (2, 20))
    for clusters in (None, CLUSTERS):
        result, moved = (paired_difference(*pair, clusters=clusters) for pair in ((a, b), (a - 0.2, b)))
        shifted = paired_difference(a, b, clusters=clusters, shift=0.2)
        assert shifted.p_value == pytest.approx(moved.p_value, rel=1e-9)
        assert (shifted.low, shifted.mean) == (result.low, result.mean)
    assert paired_difference([0.5] * 8, [0.3] * 8, shift=0.2).p_value == 1


# Scores of 0 and 1


@pytest.mark.parametrize(
    ("a_only", "b_only", "n", "alpha", "expected"),
    [
        (1, 7, 21, 0.05, (-0.517, -0.026)),  # Fagerland, Lydersen and Laake 2014, with data of Bentur and others
        (6, 16, 161, 0.05, (-0.1240, -0.0054)),  # the same authors, with data of Cavo and others
        (28, 25, 618, 0.10, (-0.0148, 0.0247)),  # R's PropCIs
        (0, 0, 50, 0.05, (-3.8415 / 53.8415, 3.8415 / 53.8415)),
        (50, 0, 50, 0.05, (46.1585 / 53.8415, 1)),
    ],
)
def test_tangos_interval_is_that_of_published_examples(a_only, b_only, n, alpha, expected):
    low, high = tango_interval(a_only, b_only, n, alpha)
    assert (low, high) == pytest.approx(expected, abs=5e-4 if n == 21 else 5e-5)
    reverse = tango_interval(b_only, a_only, n, alpha)
    assert reverse == pytest.approx((-high, -low), abs=1e-9)


def binary(a_only, b_only, n):
    a, b = np.zeros((2, n))
    a[:a_only] = b[a_only : a_only + b_only] = 1
    return a, b


@pytest.mark.parametrize(("a_only", "b_only", "n"), [(0, 0, 6), (0, 5, 50), (6, 0, 6), (3, 9, 40), (20, 45, 400)])
def test_the_score_test_rejects_exactly_the_shifts_outside_its_interval(a_only, b_only, n):
    a, b = binary(a_only, b_only, n)
    alone = paired_difference(a, b, binary=True)
    assert (alone.test, alone.mean, alone.low < alone.mean + 1e-9) == ("Tango", pytest.approx((a - b).mean()), True)
    for end, outwards in ((alone.low, -1), (alone.high, 1)):
        if abs(end) < 1:
            p = [paired_difference(a, b, shift=end + step * outwards, binary=True).p_value for step in (-1e-6, 1e-6)]
            assert p[0] > 0.05 > p[1]
    assert all_pairs([a, b], binary=True).p_values[0, 1] == alone.p_value
    with pytest.raises(ValueError, match="no clusters"):
        paired_difference(a, b, clusters=range(n), binary=True)


def test_a_mean_of_0_and_1_has_wilsons_interval():
    stats = pytest.importorskip("scipy.stats")
    for n_solved in (0, 1, 25, 49, 50):
        expected = stats.binomtest(n_solved, 50).proportion_ci(method="wilson")
        actual = mean_interval([1.0] * n_solved + [0.0] * (50 - n_solved), binary=True)
        assert (actual.low, actual.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert mean_interval([1.0] * 49 + [0.0], binary=True).shown() == "0.8950 to 0.9965"
    assert (mean_interval([0.0, 1.0], binary=True).shown()[0], mean_interval([0.5]).shown()) == ("±", "–")


@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.3]))
def test_a_p_value_is_below_its_level_exactly_if_holm_finds_it_significant(p_values, alpha):
    levels = holm_levels(p_values, alpha)
    assert (np.array(p_values) <= levels).tolist() == (corrected(p_values) <= alpha).tolist()
    assert alpha / len(p_values) <= levels.min() <= levels.max() <= alpha


@given(st.integers(0, 10_000), st.booleans())
def test_a_verdict_and_its_interval_never_disagree(seed, is_binary):
    rng = np.random.default_rng(seed)
    scores = rng.normal(np.linspace(0.5, 0.8, 4)[:, None], 0.5, (4, int(rng.integers(6, 60))))
    rows = (scores > 0.5).astype(float) if is_binary else scores
    pairs = [paired_difference(rows[a], rows[b], binary=is_binary) for a, b in itertools.combinations(range(4), 2)]
    for pair, part in zip(pairs, decided(pairs), strict=True):
        assert part.differs == (not part.low <= 0 <= part.high)
        assert (part.p_corrected >= part.p_value, part.low <= pair.low, part.high >= pair.high) == (True, True, True)
        word = "not distinguished" if not part.differs else f"A is {'better' if part.difference > 0 else 'worse'} by"
        low, high = (f"{end:+.{part.digits}f}" for end in (part.low, part.high))
        assert part.sentence().startswith(word)
        assert f"95 % interval of A - B (Holm, 6 comparisons) {low} to {high} over " in part.sentence()
        assert part.digits == 4 or float(low) * float(high)  # the ends that are shown exclude 0 if the pair differs
        assert part.digits == 4 or is_binary


def test_a_rank_range_counts_better_and_worse_runs_of_its_own_family():
    rng = np.random.default_rng(2)
    scores = rng.normal([[0.9], [0.51], [0.5], [0.1]], 0.1, (4, 30))
    assert rank_ranges(scores) == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert rank_ranges(-scores, higher_is_better=False) == rank_ranges(scores)
    own = [paired_difference(scores[1], scores[other]) for other in (0, 2, 3)]
    differs = [part.differs for part in decided(own)]
    assert differs == [True, False, True]
    scores[3, 5:] = NAN
    assert rank_ranges(scores)[3] is None


# ---- Items that find a difference: held to the noncentral t distribution


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


def test_a_tiny_difference_needs_more_items_than_any_set_has():
    assert needed(FOUND, 1e-300).n is None


def test_clusters_are_counted_instead_of_items():
    twice = paired_difference(np.repeat(A, 2), np.repeat(B, 2), clusters=np.repeat(range(40), 2).tolist())
    assert needed(twice, 0.3).n == needed(FOUND, 0.3).n > 40

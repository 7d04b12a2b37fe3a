"""P-values combined over metrics, averages over perturbations, and whether two evaluators discern the same damage."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.published import discernment_vectors as vectors
from makers.published import needs_discernment_data
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.statistics.discernment_scores import (
    DiscernmentScores,
    RankIntervals,
    average,
    calibrated,
    combine,
    combined_scores,
    interval_of_sum,
    level_weights,
    rank_intervals,
)
from pfgen_fast.lab.statistics.signed_rank import discernment_score, signed_rank

LOG_P = st.lists(st.floats(-5000, 0), min_size=1, max_size=5)


def test_a_metric_without_weight_is_out_and_an_undefined_one_makes_the_combination_undefined():
    assert combine([-math.inf, math.log(0.3)], weights=[0, 10]) == pytest.approx(math.log(0.3))
    assert combine([-math.inf, math.log(0.3)], weights=[1, 10]) == combine([-math.inf, 0.0]) == -math.inf
    for weights in (None, [1, 1], [0, 1]):
        assert math.isnan(combine([math.nan, -3.0], weights=weights))
    assert np.isnan(combine([[math.nan, -3.0], [-3.0, -3.0]])).tolist() == [True, False]
    without_weights = combine([[-1.0, -3.0], [-1.0, -3.0]], weights=[[1, 0], [math.nan, math.nan]])
    assert without_weights == pytest.approx([-1, math.nan], nan_ok=True)


@given(LOG_P, st.lists(st.floats(0, 1e300), min_size=5, max_size=5).filter(lambda weights: weights[0] > 0))
def test_a_combination_lies_between_the_smallest_and_the_largest_and_rows_are_combined_as_alone(log_p, weights):
    weighted = {"weights": weights[: len(log_p)]}
    for options in ({}, weighted):
        result, rows = combine(log_p, **options), np.array([log_p, [0.0] * len(log_p)])
        assert combine(np.stack([rows, rows]), **options)[1] == pytest.approx([result, 0], rel=1e-12, abs=1e-15)
        assert min(log_p) - 1e-9 <= result <= max(log_p) + 1e-9
    assert combine(log_p, **weighted, printed=True) == combine(log_p, **weighted)
    assert combine(log_p, printed=True) == pytest.approx(min(0, combine(log_p) - math.log(len(log_p))), rel=1e-12)


@pytest.mark.parametrize(
    ("log_p", "weights", "message"),
    [
        ([], None, "no p-values to combine"),
        (-1.0, None, "no p-values to combine"),
        ([0.05, -1.0], None, "log p of 0.05: expected a number of at most 0"),
        ([-1.0, -1.0], [-1, 2], r"weights \[-1.0, 2.0\]: expected finite numbers of at least 0"),
        ([-1.0, -1.0], [math.inf, 2], "expected finite numbers"),
        ([-1.0, -1.0], [math.nan, 2], "expected finite numbers"),
        ([-1.0, -1.0], [0, 0], "all weights are 0"),
        ([-1.0, -1.0], [1, 1, 1], r"weights of the shape \(3,\) for p-values of the shape \(2,\)"),
    ],
)
def test_what_cannot_be_combined_is_said(log_p, weights, message):
    with pytest.raises(DiscernmentError, match=message):
        combine(log_p, weights=weights)


def test_a_score_is_a_logarithm_to_the_base_of_a_twentieth_and_calibration_never_exceeds_1():
    assert calibrated(-5.0, 1) == -5
    assert calibrated(-5.0, 2) == pytest.approx(-5 + math.log(2))
    assert calibrated(-5.0, 4) == pytest.approx(-5 + math.log(math.e * math.log(4)))
    assert calibrated(np.array([-0.1, math.nan]), 3)[0] == 0
    assert discernment_score(math.log(0.05)) == 1
    assert discernment_score(np.array([0.0, -math.inf])).tolist() == [0, math.inf]
    assert math.copysign(1, discernment_score(0.0)) == 1


def test_levels_weigh_the_same_and_without_a_defined_score_there_is_no_average():
    d = [2.0, 6.0, None, 1.0, 5.0, 0.5, math.nan, 13.6, -1.0]
    levels = ["character"] * 3 + ["word"] * 3 + ["negation", "sentence", "control"]
    assert average(d, levels) == (pytest.approx((4 + 6.5 / 3 + 13.6) / 3), 0.5)
    with pytest.raises(DiscernmentError, match="2 discernment scores for 1 levels: expected one for each"):
        average([1.0, 2.0], ["word"])
    for scores, levels in (([], []), ([1.0], ["control"]), ([None], ["word"])):
        assert all(math.isnan(value) for value in average(scores, levels))


# Two evaluators


def test_the_difference_of_two_evaluators_is_paired():
    """Two evaluators that move together differ surely by less than either is sure of."""
    generator = np.random.default_rng(0)
    levels, codes = ["character", "character", "word"], np.arange(60)
    x = generator.random((3, 60))
    y = x - generator.normal(0.1, 0.3, x.shape)
    first, second = (scores_of(x, y - shift, codes) for shift in (0.0, 0.001))
    weights = level_weights(first.d, levels)
    both = DiscernmentScores(*(np.concatenate(parts, axis=-1) for parts in zip(first, second, strict=True)))
    low, high = interval_of_sum(np.concatenate([weights, -weights]), both)
    alone = interval_of_sum(weights, first)
    assert low <= average(first.d, levels)[0] - average(second.d, levels)[0] <= high < 0
    assert high - low < 0.2 * (alone[1] - alone[0])
    assert interval_of_sum(0 * weights, first) == (None, None)


def test_several_answers_to_a_question_widen_the_interval_and_lower_d():
    x = np.repeat(np.random.default_rng(0).normal(0.4, 1, (1, 20)), 5, axis=1)
    alone, together = (scores_of(x, 0 * x, codes) for codes in (np.arange(100), np.arange(100) // 5))
    assert together.d < 0.5 * alone.d
    assert together.low < alone.low
    assert together.d == pytest.approx(signed_rank(x[:, ::5], 0 * x[:, ::5]).d, rel=0.01)
    even = scores_of(np.array([[1.0, -1.0] * 6]), np.zeros((1, 12)), np.arange(12) // 2)  # all sums of ranks are 0
    assert (even.d, even.low, even.high) == (0, 0, 0)


def scores_of(x, y, codes):
    tested = signed_rank(x, y, clusters=codes)
    cells = RankIntervals(*(part[:, None] for part in rank_intervals(x, y, tested, codes)))
    return combined_scores(tested.log_p[:, None], cells)


# The worked examples, to 1e-12


def vectors_of(what):
    listed = [vector for vector in vectors()["vectors"] if vector["what"] == what]
    assert listed
    return listed


def combined(log_p, votes):
    """All forms of the combination of some p-values, by their names in the examples."""
    plain = combine(log_p)
    forms = {"": plain, "printed_": combine(log_p, printed=True), "weighted_": combine(log_p, weights=votes)}
    by_name = {"calibrated_d": discernment_score(calibrated(plain, len(log_p)))}
    for form, value in forms.items():
        by_name |= {f"{form}log_p": value, f"{form}p": math.exp(value), f"{form}d": discernment_score(value)}
    return by_name


def is_as_expected(actual, expected):
    if expected is None:
        return math.isnan(actual)
    if isinstance(expected, str):  # a fraction is met exactly
        return actual == float(Fraction(expected))
    return actual == pytest.approx(expected, rel=1e-12, abs=1e-12)


@needs_discernment_data
def test_signed_ranks():
    for vector in (*vectors_of("wilcoxon"), *vectors_of("wilcoxon_range")):
        n = vector["input"].get("n", 0)
        arguments = {"original": range(1, n + 1), "perturbed": [0] * n, **vector["input"]}
        sign = 1 if arguments.get("higher_is_better", True) else -1
        scores = (sign * np.array(arguments[name], dtype=float) for name in ("original", "perturbed"))
        actual = signed_rank(*scores, zeros=arguments.get("zeros", "drop"))
        assert not n or math.isnan(actual.exact_p)
        for name, expected in vector["expected"].items():
            if name != "exact_log_p":  # the logarithm that `exact_d` is made of
                assert is_as_expected(getattr(actual, name), expected), (vector["id"], name)


@needs_discernment_data
def test_combinations():
    for vector in vectors_of("combine"):
        arguments, expected = vector["input"], vector["expected"]
        log_p = arguments.get("log_p") or np.log(arguments["p"])
        actual = combined(log_p, arguments["votes"])
        assert expected.keys() == actual.keys() - {"printed_p"} | {"weights"}
        for name in expected.keys() & actual.keys():
            assert is_as_expected(actual[name], expected[name]), (vector["id"], name)
        by_fractions = combine(log_p, weights=[float(Fraction(weight)) for weight in expected["weights"]])
        assert is_as_expected(by_fractions, expected["weighted_log_p"])


@needs_discernment_data
def test_averages():
    for vector in vectors_of("average"):
        cells, expected = vector["input"]["cells"], vector["expected"]
        actual = average([cell["d"] for cell in cells], [cell["level"] for cell in cells])
        assert is_as_expected(actual[0], expected["average"])
        assert is_as_expected(actual[1], expected["minimum"])

"""Whether two evaluators discern the same damage."""

from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast import DiscernmentError
from pfgen_fast.statistics.discernment_scores import averages
from pfgen_fast.statistics.evaluator_agreement import agreement
from pfgen_fast.statistics.resampling import bootstrap_counts, interval, resampled
from pfgen_fast.statistics.signed_rank import signed_rank

NAN = float("nan")


def test_only_what_is_defined_for_both_counts_and_no_control():
    levels = ["word", "word", "sentence", "word", "control"]
    found = agreement([3.0, 5.0, 1.0, NAN, 9.0], [2.0, 1.0, 0.5, 7.0, 0.0], levels)
    assert found.difference == pytest.approx((4 + 1) / 2 - (1.5 + 0.5) / 2)
    assert found.n_perturbations == 3
    assert found.tau == pytest.approx(1 / 3)
    assert (found.low, found.high) == (None, None)


def test_the_interval_is_of_the_same_draws():
    """Two evaluators that move together differ surely by less than either is sure of."""
    generator = np.random.default_rng(0)
    levels = ["character", "character", "word"]
    x = generator.random((3, 60))
    y = x - generator.normal(0.1, 0.3, x.shape)
    counts = bootstrap_counts(60, 400)
    first, second = resampled(x, y, counts).d, resampled(x, y - 0.001, counts).d
    d = signed_rank(x, y).d, signed_rank(x, y - 0.001).d
    found = agreement(*d, levels, first_draws=first, second_draws=second)
    alone = interval(averages(first, levels).average)
    assert found.low <= found.difference <= found.high < 0
    assert found.high - found.low < 0.2 * (alone[1] - alone[0])


def test_the_same_evaluator_does_not_differ():
    d, draws = [1.0, 2.0], np.array([[1.0, 3.0], [0.5, 2.0]])
    found = agreement(d, d, ["word", "word"], first_draws=draws, second_draws=draws)
    assert (found.difference, found.low, found.high, found.tau) == (0, 0, 0, 1)
    constant = agreement([0.0, 0.0], d, ["word", "word"])
    assert (constant.tau, constant.difference) == (None, -1.5)
    without = agreement(d, d, ["word", "word"], first_draws=draws[:0], second_draws=draws[:0])
    assert (without.low, without.high) == (None, None)


@pytest.mark.parametrize(
    ("first", "second", "draws", "message"),
    [
        ([1.0], [1.0, 2.0], None, "scores of 1 and 2 perturbations for 2 levels: expected one for each"),
        ([NAN, 1.0], [1.0, NAN], None, "no perturbation is defined for both evaluators"),
        (
            [1.0, 1.0],
            [1.0, 2.0],
            np.ones((3, 1)),
            r"draws of the shapes \(3, 1\) and \(3, 1\): expected the same draws",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(first, second, draws, message):
    with pytest.raises(DiscernmentError, match=message):
        agreement(first, second, ["word", "word"], first_draws=draws, second_draws=draws)

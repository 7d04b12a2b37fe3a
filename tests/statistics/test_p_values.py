"""P-values: corrected, and combined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast import ExperimentError
from pfgen_fast.statistics.paired import combined, corrected

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_multiplies_by_how_many_are_left_and_bh_by_how_many_over_rank():
    p = [0.01, 0.04, 0.03, 0.005]
    assert corrected(p, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected(p, "bh") == pytest.approx([0.02, 0.04, 0.04, 0.02])


@pytest.mark.slow  # importing statsmodels takes longer than all other tests of this file
@given(P_VALUES)
def test_corrections_are_those_of_statsmodels(p):
    from statsmodels.stats.multitest import multipletests

    assert corrected(p, "holm") == pytest.approx(multipletests(p, method="holm")[1])
    assert corrected(p, "bh") == pytest.approx(multipletests(p, method="fdr_bh")[1])


@given(P_VALUES)
def test_a_correction_keeps_the_order_and_lowers_nothing(p):
    holm, bh = corrected(p, "holm"), corrected(p, "bh")
    assert (np.array(p) <= bh + 1e-12).all()
    assert (bh <= holm + 1e-12).all()
    assert (holm <= 1).all()
    for found in (holm, bh):
        assert (np.diff(found[np.argsort(p, kind="stable")]) >= -1e-12).all()


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        # -2 * log(0.1 * 0.2) is chi-squared with 4 degrees of freedom: its tail is (1 + x / 2) * exp(-x / 2).
        ("fisher", 0.02 * (1 - math.log(0.02))),
        ("tippett", 1 - 0.9**2),
        ("stouffer", 0.0666),  # (1.2816 + 0.8416) / sqrt(2) = 1.5013 standard deviations
    ],
)
def test_two_p_values_combined_by_hand(method, expected):
    assert combined([0.1, 0.2], method) == pytest.approx(expected, abs=5e-5)


@given(st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_p_values_changes_nothing_and_one_alone_stays(p, random):
    for method in ("fisher", "stouffer", "pearson", "tippett"):
        found = combined(p, method)
        assert 0 <= found <= 1
        assert combined(random.sample(p, len(p)), method) == pytest.approx(found)
        assert combined(p[:1], method) == pytest.approx(p[0])


@pytest.mark.parametrize("function", [lambda p: corrected(p, "bh"), combined])
def test_what_are_no_p_values_is_said(function):
    with pytest.raises(ExperimentError, match="no p-values"):
        function([])
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(ExperimentError, match="expected a number from 0 to 1"):
            function([0.5, wrong])


def test_p_values_that_contradict_each_other_have_no_combination():
    with pytest.raises(ExperimentError, match="'stouffer' cannot combine"):
        combined([0.0, 1.0], "stouffer")

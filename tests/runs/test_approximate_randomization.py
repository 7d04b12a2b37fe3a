"""Runs against a baseline by paired approximate randomization: counts by hand, SciPy, and the effect of families."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pfgen_fast.base.errors import ExperimentError
from pfgen_fast.runs.statistics import approximate_randomization
from pfgen_fast.runs.statistics.approximate_randomization import against_baseline
from pfgen_fast.runs.statistics.verdicts import corrected

SCORES = np.random.default_rng(5).normal(0.6, 0.2, (4, 12))
BASELINE, RUNS = SCORES[0], SCORES[1:] + np.array([[0.15], [0.0], [-0.3]])
_values = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=8, max_size=8)


def test_the_ways_to_swap_few_questions_are_counted_by_hand():
    """Of five questions that differ, all speak for the run: 2 of 32 ways to swap them are as far."""
    (result,) = against_baseline([0.4, 0.7, 0.4, 0.8, 0.3, 0.6], [[0.5, 0.7, 0.6, 0.9, 0.4, 0.8]])
    assert result.p_value == 2 / 32
    # 0.3 + 0.2 - 0.1 = 0.4 is reached by +++, ++-, and these with all signs turned: 4 of 8 ways.
    (result,) = against_baseline([0, 0, 0], [[0.3, 0.2, -0.1]])
    assert result.p_value == 4 / 8
    # Sums of three clusters: 0.4, 0.3 and -0.1; 4 of 8 ways to swap them reach 0.6.
    (result,) = against_baseline([0] * 5, [[0.3, 0.1, 0.3, -0.3, 0.2]], clusters="aabcc")
    assert result.p_value == 4 / 8


@pytest.mark.parametrize("run", range(3))
def test_randomization_is_that_of_scipy(run):
    from scipy import stats

    expected = stats.permutation_test(
        (RUNS[run], BASELINE),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    exact, drawn = (against_baseline(BASELINE, RUNS, n_draws=n)[run].p_value for n in (2**12, 2**12 - 1))
    assert exact == pytest.approx(expected.pvalue, abs=1e-12)
    assert drawn == pytest.approx(exact, abs=0.025)


@pytest.mark.parametrize("n_draws", [None, 999])
@pytest.mark.parametrize("clusters", [None, [0, 0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 7]])
def test_the_interval_has_the_differences_that_randomization_does_not_reject(clusters, n_draws):
    result = against_baseline(BASELINE, RUNS, clusters=clusters, n_draws=n_draws)
    by_holm = corrected([row.p_value for row in result]).tolist()
    assert [row.p_corrected for row in result] == by_holm
    assert [row.differs for row in result] == [value <= 0.05 for value in by_holm]
    assert [row.differs for row in result] == [not row.low <= 0 <= row.high for row in result]
    for run in RUNS:
        (alone,) = against_baseline(BASELINE, [run], clusters=clusters, n_draws=n_draws)
        for end, outwards in ((alone.low, -1e-6), (alone.high, 1e-6)):
            inside, outside = (
                against_baseline(BASELINE - end - step, [run], clusters=clusters, n_draws=n_draws)[0].p_value
                for step in (-outwards, outwards)
            )
            assert outside <= 0.05 < inside


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(_values, min_size=3, max_size=3))
def test_the_order_of_runs_changes_nothing_and_of_a_pair_only_the_sign(rows):
    baseline, *runs = rows
    result = against_baseline(baseline, runs, n_draws=199)
    assert against_baseline(baseline, runs[::-1], n_draws=199) == result[::-1]
    (alone,), (back,) = (against_baseline(a, [b], n_draws=199) for a, b in ((baseline, runs[0]), (runs[0], baseline)))
    assert (back.difference, back.p_value) == (-alone.difference, alone.p_value)
    assert back.low is None or (back.low, back.high) == (-alone.high, -alone.low)


def test_identical_runs_do_not_differ_and_a_constant_difference_has_no_interval():
    same, other = against_baseline(BASELINE, [BASELINE, BASELINE + 0.1])
    assert (same.difference, same.low, same.p_value, same.p_corrected, same.differs) == (0.0, None, 1.0, 1.0, False)
    assert (other.low, other.p_value) == (None, 2 / 2**12)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_few_questions_or_clusters_give_no_verdict(n):
    (result,) = against_baseline(np.zeros(n), [np.arange(1.0, n + 1)])
    assert (result.differs is None) == (result.p_corrected is None) == (n < 6)
    assert (result.p_value is None) == (n == 1)
    (result,) = against_baseline(BASELINE, RUNS[2:], clusters=[number % n for number in range(12)])
    assert (result.differs is None) == (n < 6)


@pytest.mark.parametrize("n_runs", [51, pytest.param(515, marks=pytest.mark.nightly)])
def test_a_clear_difference_is_noticed_in_a_family_of_any_size(n_runs):
    noise = np.random.default_rng(2).normal(0, 0.1, (n_runs, 20))
    noise[::2] += 0.5
    result = against_baseline(np.full(20, 0.4), noise + 0.4)
    assert result[0].p_value <= 1 / 10_000
    differ = [row.differs for row in result]
    assert all(differ[::2])
    assert sum(differ[1::2]) <= 1


@pytest.mark.parametrize(
    ("n_questions", "n_runs", "has_verdict"), [(6, 1, True), (6, 2, False), (7, 3, True), (7, 4, False)]
)
def test_too_few_ways_to_swap_for_the_family_give_no_verdict(n_questions, n_runs, has_verdict):
    result = against_baseline(np.zeros(n_questions), np.ones((n_runs, n_questions)))
    assert {row.differs for row in result} == {True if has_verdict else None}
    assert result[0].p_value == 2 / 2**n_questions


def test_many_draws_come_in_blocks_and_follow_from_the_seed(monkeypatch):
    result = against_baseline(BASELINE, RUNS, n_draws=999, seed=3)
    assert against_baseline(BASELINE, RUNS, n_draws=999, seed=4) != result
    monkeypatch.setattr(approximate_randomization, "_AT_ONCE", 12 * 100)
    assert against_baseline(BASELINE, RUNS, n_draws=999, seed=3) == result


@pytest.mark.parametrize(
    ("baseline", "runs", "message"),
    [
        ([], [[]], "expected a row for each run"),
        ([0.5], [], "at least one of both"),
        ([0.5, 0.6], [[0.5]], r"shape \(1, 1\) against a baseline of \(2,\)"),
        ([0.5, np.nan], [[0.5, 0.6]], "a value is missing"),
    ],
)
def test_invalid_values_are_refused(baseline, runs, message):
    with pytest.raises(ExperimentError, match=message):
        against_baseline(baseline, runs)

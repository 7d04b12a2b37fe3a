"""Runs against a baseline: held to direct resampling, to all possible draws, and to SciPy; order changes nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pfgen_fast.errors import ExperimentError
from pfgen_fast.statistics.paired import corrected
from pfgen_fast.statistics.paired_resampling import against_baseline, default_draws, draws_needed

SCORES = np.random.default_rng(5).normal(0.6, 0.2, (4, 12))
BASELINE, RUNS = SCORES[0], SCORES[1:] + np.array([[0.15], [0.0], [-0.3]])
_N = 8
_values = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=_N, max_size=_N)


def students_t(values):
    """The amount of t of each row around the mean of the values that rows are drawn from."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.abs(values.mean(axis=-1)) / (values.std(axis=-1, ddof=1) / values.shape[-1] ** 0.5)


@pytest.mark.parametrize("run", range(3))
def test_the_bootstrap_is_that_of_direct_resampling(run):
    """Other random numbers, another formula: the same figures but for the luck of 40,000 draws."""
    differences = RUNS[run] - BASELINE
    rows = np.random.default_rng(99).integers(12, size=(40_000, 12))
    t = students_t((differences - differences.mean())[rows])
    half = np.quantile(t, 0.95) * differences.std(ddof=1) / 12**0.5
    p = float(np.mean(t >= students_t(differences)))
    found = against_baseline(BASELINE, RUNS, n_draws=40_000)[run]
    assert found.mean == pytest.approx(differences.mean(), rel=1e-12)
    assert found.p_value == pytest.approx(p, abs=0.012)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.04)
    assert (found.high + found.low) / 2 == pytest.approx(found.mean)


def test_the_bootstrap_of_four_questions_is_that_of_all_256_draws():
    differences = np.array([0.1, 0.2, -0.1, 0.5])
    draws = np.array(list(itertools.product(range(4), repeat=4)))
    t = students_t((differences - differences.mean())[draws])
    t[[len(set(draw)) == 1 for draw in draws.tolist()]] = np.inf  # without spread
    exact = np.mean(t >= students_t(differences))
    assert exact == pytest.approx(80 / 256, abs=0.2)  # neither 0 nor 1, or the next line says nothing
    (found,) = against_baseline(np.zeros(4), [differences], n_draws=100_000)
    assert found.p_value == pytest.approx(exact, abs=0.006)


def test_randomization_of_few_questions_is_counted_by_hand():
    """Of five questions that differ, all speak for the run: 2 of 32 ways to swap them are as far."""
    (found,) = against_baseline([0.4, 0.7, 0.4, 0.8, 0.3, 0.6], [[0.5, 0.7, 0.6, 0.9, 0.4, 0.8]], test="randomization")
    assert (found.p_value, found.low, found.high) == (2 / 32, None, None)
    # 0.3 + 0.2 - 0.1 = 0.4 is reached by +++, ++-, and these with all signs turned: 4 of 8 ways.
    (found,) = against_baseline([0, 0, 0], [[0.3, 0.2, -0.1]], test="randomization")
    assert found.p_value == 4 / 8


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
    exact, drawn = (
        against_baseline(BASELINE, RUNS, test="randomization", n_draws=n)[run].p_value for n in (2**12, 2**12 - 1)
    )
    assert exact == pytest.approx(expected.pvalue, abs=1e-12)
    assert drawn == pytest.approx(exact, abs=0.025)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_the_corrected_p_values_are_those_of_holm_over_all_runs(test):
    found = against_baseline(BASELINE, RUNS, test=test)
    by_holm = corrected([one.p_value for one in found], "holm").tolist()
    assert [one.corrected for one in found] == by_holm
    assert [one.differs() for one in found] == [value <= 0.05 for value in by_holm]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(_values, min_size=3, max_size=4), order=st.permutations(range(2)))
def test_the_order_of_runs_changes_no_bit(test, rows, order):
    baseline, *runs = rows
    runs = runs[:2]
    found = against_baseline(baseline, runs, test=test, n_draws=199)
    assert against_baseline(baseline, [runs[at] for at in order], test=test, n_draws=199) == [found[at] for at in order]
    for run, of_run in zip(runs, found, strict=True):
        (alone,) = against_baseline(baseline, [run], test=test, n_draws=199)
        assert replace(alone, corrected=None) == replace(of_run, corrected=None)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@settings(max_examples=25, deadline=None)
@given(a=_values, b=_values)
def test_swapping_run_and_baseline_turns_the_sign_and_nothing_else(test, a, b):
    (one,) = against_baseline(a, [b], test=test, n_draws=199)
    (other,) = against_baseline(b, [a], test=test, n_draws=199)
    assert (one.mean, one.p_value, one.corrected) == (-other.mean, other.p_value, other.corrected)
    assert one.low is None or (one.low, one.high) == (-other.high, -other.low)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_identical_runs_do_not_differ_and_a_constant_difference_is_judged_by_its_sign(test):
    same, other = against_baseline(BASELINE, [BASELINE, BASELINE + 0.1], test=test)
    assert (same.mean, same.low, same.p_value, same.corrected, same.differs()) == (0.0, None, 1.0, 1.0, False)
    assert (other.low, other.p_value) == (None, 2 / 2**12)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_few_questions_give_no_verdict(n):
    (found,) = against_baseline(np.zeros(n), [np.arange(1.0, n + 1)])
    assert (found.differs() is None) == (found.corrected is None) == (n < 6)
    assert (found.p_value is None) == (n == 1)


@pytest.mark.parametrize("n_runs", [51, pytest.param(515, marks=pytest.mark.slow)])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_clear_difference_is_found_in_a_family_of_any_size(test, n_runs):
    noise = np.random.default_rng(2).normal(0, 0.1, (n_runs, 20))
    noise[::2] += 0.5
    found = against_baseline(np.full(20, 0.4), noise + 0.4, test=test)
    assert found[0].p_value <= 1 / 10_000
    differ = [one.differs() for one in found]
    assert all(differ[::2])
    assert sum(differ[1::2]) <= 1
    alone = against_baseline(np.full(20, 0.4), noise[-1:] + 0.4, test=test, n_draws=default_draws(n_runs))
    assert (found[-1].low, found[-1].p_value) == (alone[0].low, alone[0].p_value)  # however many runs at once


@pytest.mark.parametrize("n_runs", [1, 7, 60])
def test_too_few_draws_for_the_family_give_no_verdict(n_runs):
    runs = np.random.default_rng(3).normal(9, 0.1, (n_runs, 20))
    needed = draws_needed(n_runs)
    for n_draws in (needed - 1, needed):
        found = against_baseline(np.zeros(20), runs, test="randomization", n_draws=n_draws)
        assert {one.differs() for one in found} == {True if n_draws == needed else None}


@pytest.mark.parametrize(
    ("n_questions", "n_runs", "has_verdict"), [(6, 1, True), (6, 2, False), (7, 3, True), (7, 4, False)]
)
def test_too_few_ways_to_swap_for_the_family_give_no_verdict(n_questions, n_runs, has_verdict):
    found = against_baseline(np.zeros(n_questions), np.ones((n_runs, n_questions)), test="randomization")
    assert {one.differs() for one in found} == {True if has_verdict else None}
    assert found[0].p_value == 2 / 2**n_questions


def test_a_verdict_of_one_run_is_whether_its_interval_holds_zero():
    n_differ = 0
    for seed in range(60):
        a, b = np.random.default_rng(seed).normal([[0.3], [0]], 0.4, (2, 15))
        (found,) = against_baseline(a, [b], n_draws=199)
        assert found.differs() == (not found.low <= 0 <= found.high)
        n_differ += found.differs()
    assert 10 < n_differ < 50


def test_many_draws_come_in_blocks_and_a_seed_gives_the_same_on_every_machine(monkeypatch):
    from pfgen_fast.statistics import paired_resampling

    a = [0.41, 0.72, 0.43, 0.86, 0.35, 0.64, 0.57, 0.68]  # literals: no version of NumPy makes others
    b = [0.52, 0.71, 0.64, 0.95, 0.46, 0.87, 0.58, 0.61]
    (of_literals,) = against_baseline(a, [b], n_draws=999, seed=3)
    ends = of_literals.low.hex(), of_literals.high.hex()
    assert (of_literals.p_value, *ends) == (0.058, "-0x1.1e02dd1c88aa0p-8", "0x1.65190cab73a17p-3")
    (of_literals,) = against_baseline(a * 2, [b * 2], n_draws=999, seed=3, test="randomization")
    assert of_literals.p_value == 0.006
    found = against_baseline(BASELINE, RUNS, n_draws=999, seed=3)
    assert against_baseline(BASELINE, RUNS, n_draws=999, seed=4) != found
    monkeypatch.setattr(paired_resampling, "_DRAWN_AT_ONCE", 12 * 100)
    (one, *_) = against_baseline(BASELINE, RUNS, n_draws=999, seed=3)
    assert one.p_value == pytest.approx(found[0].p_value, abs=0.07)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [[]]), "expected a row for each run"),
        (([0.5], []), "at least one of both"),
        (([0.5, 0.6], [[0.5]]), r"shape \(1, 1\) against a baseline of \(2,\)"),
        (([0.5, np.nan], [[0.5, 0.6]]), "a value is missing"),
        ((BASELINE, RUNS, {"n_draws": 10**9}), "n_draws 1000000000: expected"),
        ((BASELINE, RUNS, {"seed": -1}), "seed -1: expected"),
        ((BASELINE, RUNS, {"test": "coin"}), "test 'coin': expected"),
    ],
)
def test_invalid_values_and_options_are_refused(arguments, message):
    baseline, runs, options = (*arguments, {})[:3]
    with pytest.raises(ExperimentError, match=message):
        against_baseline(baseline, runs, **options)


UNEQUAL = [0, 0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 7]


def test_the_bootstrap_of_clusters_is_that_of_direct_resampling_of_clusters():
    rng, differences = np.random.default_rng(99), RUNS[0] - BASELINE
    parts = [differences[np.equal(UNEQUAL, cluster)] for cluster in range(8)]

    def t_of(drawn):
        values = np.concatenate(drawn)
        sums = np.array([(part - values.mean()).sum() for part in drawn])
        return values.mean(), (8 / 7 * (sums**2).sum()) ** 0.5 / len(values)

    mean, error = t_of(parts)
    drawn = [t_of([parts[at] for at in row]) for row in rng.integers(8, size=(4000, 8))]
    t = np.array([abs(m - mean) / e if e > 1e-9 else np.inf for m, e in drawn])
    (found,) = against_baseline(BASELINE, RUNS[:1], clusters=UNEQUAL, n_draws=4000)
    assert found.mean == pytest.approx(mean)
    assert found.p_value == pytest.approx(np.mean(t >= abs(mean) / error), abs=0.03)
    assert (found.high - found.low) / 2 == pytest.approx(np.quantile(t, 0.95) * error, rel=0.1)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_questions_that_are_their_own_clusters_change_nothing_and_few_clusters_give_no_verdict(test):
    found = against_baseline(BASELINE, RUNS, test=test, n_draws=999)
    alone = against_baseline(BASELINE, RUNS, test=test, n_draws=999, clusters=range(12))
    assert [one.p_value for one in alone] == [one.p_value for one in found]
    assert [one.low for one in alone] == pytest.approx([one.low for one in found])
    few = against_baseline(BASELINE, RUNS, test=test, clusters=[number % 5 for number in range(12)])
    assert {one.differs() for one in few} == {None}


def test_randomization_swaps_whole_clusters():
    """Sums of three clusters: 0.4, 0.3 and -0.1; 4 of 8 ways to swap them reach 0.6."""
    (found,) = against_baseline([0] * 5, [[0.3, 0.1, 0.3, -0.3, 0.2]], test="randomization", clusters="aabcc")
    assert (found.p_value, found.n) == (4 / 8, 5)

"""Win rates at equal lengths: a known length bias is taken out, and without a bias nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast.statistics.length_control import MIN_CLUSTERS, length_control

N_TASKS = 400
QUALITY = np.array([0.6, 0.0, -0.5])
PAIRS = ((0, 1), (0, 2), (1, 2))


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def made(bias, seed=0, gap=400.0):
    """Outcomes of three players, of which the first one is the longest on average."""
    generator = np.random.default_rng(seed)
    lengths = generator.normal(1000, 300, (N_TASKS, 3)) + gap * np.array([1, 0, -1])
    difference = np.concatenate([lengths[:, a] - lengths[:, b] for a, b in PAIRS])
    pair, task = np.repeat(range(3), N_TASKS), np.tile(range(N_TASKS), 3)
    scale = np.sqrt(np.mean(difference**2))
    odds = np.array([QUALITY[a] - QUALITY[b] for a, b in PAIRS])[pair]
    chance = sigmoid(odds + bias * np.tanh(difference / scale))
    return (generator.uniform(size=len(pair)) < chance).astype(float), difference, pair, task


TRUE = sigmoid(np.array([QUALITY[a] - QUALITY[b] for a, b in PAIRS]))


def raw(outcomes, pair):
    return np.bincount(pair, outcomes) / np.bincount(pair)


def test_a_known_length_bias_is_taken_out():
    outcomes, difference, pair, task = made(1.5)
    found = length_control(outcomes, difference, pair, task)
    assert np.abs(raw(outcomes, pair) - TRUE).max() > 0.1
    assert found.rates[0] == pytest.approx(TRUE, abs=0.06)
    assert (found.rates[1] < TRUE).all()
    assert (found.rates[2] > TRUE).all()
    assert found.slope[1] < 1.5 < found.slope[2]
    assert found.scale == pytest.approx(np.sqrt(np.mean(difference**2)))
    assert found.longer_wins == pytest.approx(sigmoid(found.slope[0] * np.tanh(1)))


def test_without_a_bias_nothing_changes_but_by_chance():
    outcomes, difference, pair, task = made(0.0)
    found = length_control(outcomes, difference, pair, task)
    assert found.slope[1] < 0 < found.slope[2]
    assert (found.rates[1] < raw(outcomes, pair)).all()
    assert (found.rates[2] > raw(outcomes, pair)).all()
    # Each outcome occurs with a difference and its opposite, so the slope is exactly 0.
    twice = [np.concatenate([column, column]) for column in (outcomes, pair, task)]
    same = length_control(twice[0], np.concatenate([difference, -difference]), *twice[1:])
    assert same.slope[0] == pytest.approx(0, abs=1e-9)
    assert same.rates[0] == pytest.approx(raw(outcomes, pair))


def test_the_sides_and_the_unit_do_not_matter():
    outcomes, difference, pair, task = made(1.0)
    found = length_control(outcomes, difference, pair, task)
    swapped = length_control(1 - outcomes, -difference / 7, pair, task)
    assert swapped.slope == pytest.approx(found.slope)
    assert swapped.rates[0] == pytest.approx(1 - found.rates[0])
    assert swapped.rates[1] == pytest.approx(1 - found.rates[2])


def test_a_pair_that_one_side_always_wins_has_no_rate_and_does_not_count():
    outcomes, difference, pair, task = made(1.0)
    always = length_control(np.where(pair == 1, 1.0, outcomes), difference, pair, task)
    assert np.isnan(always.rates[:, 1]).all()
    rest = length_control(*(column[pair != 1] for column in (outcomes, difference, pair, task)))
    assert always.slope == pytest.approx(rest.slope)


def test_data_that_do_not_determine_the_slope_give_nothing():
    outcomes, difference, pair, task = made(1.0)
    few = task < MIN_CLUSTERS - 1
    assert length_control(outcomes[few], difference[few], pair[few], task[few]) is None
    assert length_control(outcomes, np.zeros_like(difference), pair, task) is None
    assert length_control(outcomes, np.array([500.0, 700, 300])[pair], pair, task) is None
    assert length_control((difference > 0).astype(float), difference, np.zeros_like(pair), task) is None
    assert length_control([], [], [], []) is None


@pytest.mark.slow
def test_the_fit_is_that_of_statsmodels():
    import statsmodels.api as sm

    outcomes, difference, pair, task = made(1.0)
    found = length_control(outcomes, difference, pair, task)
    design = np.column_stack([np.tanh(difference / found.scale), np.eye(3)[pair]])
    fit = sm.GLM(outcomes, design, family=sm.families.Binomial()).fit(cov_type="cluster", cov_kwds={"groups": task})
    assert found.slope[0] == pytest.approx(fit.params[0], rel=1e-6)
    assert found.rates[0] == pytest.approx(sigmoid(fit.params[1:]), rel=1e-6)
    half = (found.slope[2] - found.slope[1]) / 2
    assert half / 1.966 == pytest.approx(fit.bse[0], rel=0.01)

"""Win rates without the share that length alone explains."""

from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast.lab.statistics.intervals_of_draws import bootstrap_counts
from pfgen_fast.lab.statistics.least_squares import FEWEST_CLUSTERS, win_rates

N_TASKS = 400


def made(bias, seed=0, strengths=(0.5, 0.5, 0.35), lengths=(0.8, -0.4, 0.0), n_tasks=N_TASKS):
    """Wins of models that differ in strength and in length, where judges prefer longer answers by `bias`."""
    generator = np.random.default_rng(seed)
    pairs, clusters = np.repeat(np.arange(len(strengths)), n_tasks), np.tile(np.arange(n_tasks), len(strengths))
    x = np.asarray(lengths)[pairs] + generator.normal(0, 0.5, len(pairs))
    chances = np.clip(np.asarray(strengths)[pairs] + bias * x, 0, 1)
    y = (generator.random(len(pairs)) < chances).astype(float)
    return y, x, pairs, len(strengths), clusters, bootstrap_counts(n_tasks, 300)


def test_a_known_length_bias_is_taken_out():
    found = win_rates(*made(0.2))
    assert found.rates == pytest.approx([0.66, 0.42, 0.35], abs=0.06)
    assert found.controlled == pytest.approx([0.5, 0.5, 0.35], abs=0.06)
    assert found.slope == pytest.approx(0.2, abs=0.03)
    low, high = np.quantile(found.controlled_draws, [0.025, 0.975], axis=0)
    assert (low < found.controlled).all()
    assert (found.controlled < high).all()


def test_a_draw_is_the_figure_of_the_drawn_tasks():
    y, x, pairs, n_pairs, clusters, counts = made(0.2, n_tasks=30)
    x[3] = np.nan
    found = win_rates(y, x, pairs, n_pairs, clusters, counts[:4])
    for draw, row in enumerate(counts[:4]):
        chosen = np.concatenate([np.flatnonzero(clusters == task) for task in np.repeat(np.arange(30), row)])
        again = win_rates(y[chosen], x[chosen], pairs[chosen], n_pairs, clusters[chosen], counts[:0])
        assert found.rate_draws[draw] == pytest.approx(again.rates, rel=1e-9)
        assert found.controlled_draws[draw] == pytest.approx(again.controlled, rel=1e-9)


def test_few_tasks_or_equal_lengths_have_no_length_controlled_rate():
    few = win_rates(*made(0.2, n_tasks=FEWEST_CLUSTERS - 1))
    assert np.isnan(few.controlled).all()
    y, x, *rest = made(0.2)
    assert np.isnan(win_rates(y, np.zeros_like(x), *rest).controlled).all()
    assert not np.isnan(win_rates(y, np.zeros_like(x), *rest).rates).any()

"""Signed-rank tests, their bootstrap and the exact test, after they are compared with SciPy."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pfgen_fast.statistics.resampling import bootstrap_counts, interval, resampled
from pfgen_fast.statistics.signed_rank import signed_rank

from .agreement import Disagreement
from .table import Bound, Row
from .timing import take_turns

_N_ITEMS, _N_DRAWS = 100, 1000
_N_CELLS = 105 * 4
"""Cells of the usual plan: its perturbations, by the metrics of the n-gram scores."""
_N_TESTS, _N_EXACT = 20_000, 1000
_ROUNDS = 3

Floats = NDArray[np.float64]


def rank_tests() -> list[Row]:
    """Measures all on one thread, as processor time, with scores of which none are equal and with ratings from 1 to 5.

    Raises:
        Disagreement: SciPy finds another p-value.
    """
    rows = []
    for what, make in (("scores", _scores), ("ratings", _ratings)):
        pairs = make(_N_TESTS)
        _compare(*(side[:200] for side in pairs))
        times = take_turns(
            _ROUNDS,
            partial(_test, *pairs),
            partial(_test_exactly, *(side[:_N_EXACT] for side in pairs)),
            partial(_bootstrap, *(side[:_N_CELLS] for side in pairs)),
            clock=time.process_time,
        )
        of_100 = f"{what} of {_N_ITEMS} items"
        bootstrap = f"bootstrap, {_N_DRAWS:,} draws of {_N_CELLS} cells, {of_100}"
        rows += [
            Row(f"signed-rank tests, {of_100}", _N_TESTS / times[0], "tests/s", must=Bound("value", ">=", 50_000)),
            Row(f"exact tests, {of_100}", _N_EXACT / times[1], "tests/s", must=Bound("value", ">=", 1_000)),
            Row(bootstrap, times[2], "s", must=Bound("value", "<=", 10)),
        ]
    return rows


def _scores(n: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(0)
    original = generator.random((n, _N_ITEMS))
    return original, original - generator.normal(0.05, 0.3, original.shape)


def _ratings(n: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(0)
    original, damaged = generator.integers(1, 6, (2, n, _N_ITEMS)).astype(np.float64)
    return original, damaged


def _compare(original: Floats, damaged: Floats) -> None:
    from scipy.stats import wilcoxon

    options: dict[str, Any] = {"alternative": "greater", "method": "approx", "correction": False}
    expected = [wilcoxon(x - y, **options).pvalue for x, y in zip(original, damaged, strict=True)]
    if not np.allclose(signed_rank(original, damaged).p, expected, rtol=1e-11, atol=0):
        raise Disagreement("signed-rank tests: results differ from those of SciPy")


def _test(original: Floats, damaged: Floats) -> object:
    return signed_rank(original, damaged).d


def _test_exactly(original: Floats, damaged: Floats) -> object:
    return signed_rank(original, damaged).exact_d


def _bootstrap(original: Floats, damaged: Floats) -> object:
    drawn = resampled(original, damaged, bootstrap_counts(_N_ITEMS, _N_DRAWS))
    return [interval(figures) for figures in (drawn.d, drawn.mean_drop, drawn.share_lower)]

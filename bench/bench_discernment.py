"""Discernment: signed-rank tests.

What runs on one thread is processor time: the time that passes, without that of other processes.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pfgen_fast.lab.statistics.signed_rank import signed_rank

from .measuring import Disagreement, Measure
from .processes import Work

pytestmark = pytest.mark.benchmark(group="discernment", timer=time.process_time)
_N_ITEMS, _N_TESTS, _N_EXACT = 100, 20_000, 1_000
_N_CELLS = 105 * 4
"""Cells of the usual plan: its perturbations, by the metrics of the n-gram scores."""

Floats = NDArray[np.float64]


def _by_kind(measure: Measure, rounds: int, works: dict[str, Work]) -> list[float]:
    """Times by kind, in turns; the benchmark itself shows the first."""
    (first, work), *others = works.items()
    measure.info["measured"] = first
    return measure.times(rounds, work, dict(others))


@pytest.mark.parametrize("what", ["scores", "ratings"])
def test_rank_tests(measure: Measure, what: str) -> None:
    """Distinct scores, or ratings from 1 to 5; SciPy finds the same p-values."""
    original, lower = _made(what, measure.amount(_N_TESTS, _N_CELLS))
    _compare_with_scipy(original[:200], lower[:200])
    n_exact = measure.amount(_N_EXACT)
    works: dict[str, Work] = {
        "tests": lambda: signed_rank(original, lower).d,
        "exact": lambda: signed_rank(original[:n_exact], lower[:n_exact]).exact_d,
    }
    tests, exact = _by_kind(measure, 3, works)
    named = f"{what} of {_N_ITEMS} items"
    measure.row(f"signed-rank tests, {named}", len(original) / tests, "tests/s")
    measure.row(f"exact tests, {named}", n_exact / exact, "tests/s")


def _made(what: str, n: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(0)
    if what == "scores":
        original = generator.random((n, _N_ITEMS))
        return original, original - generator.normal(0.05, 0.3, original.shape)
    original, lower = generator.integers(1, 6, (2, n, _N_ITEMS)).astype(np.float64)
    return original, lower


def _compare_with_scipy(original: Floats, lower: Floats) -> None:
    from scipy.stats import wilcoxon

    options: dict[str, Any] = {"alternative": "greater", "method": "approx", "correction": False}
    expected = [wilcoxon(x - y, **options).pvalue for x, y in zip(original, lower, strict=True)]
    if not np.allclose(signed_rank(original, lower).p, expected, rtol=1e-11, atol=0):
        raise Disagreement("signed-rank tests: results differ from those of SciPy")

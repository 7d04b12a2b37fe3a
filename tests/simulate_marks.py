"""Claims of `make simulate` about few marks and many verdicts of a cheap judge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from makers.claims import COVERAGE, Claim, holds
from numpy.random import Generator
from pfgen_fast.statistics.prediction_powered import MarkedStratum, PredictionPowered, mean_of_strata

MARKS = "Few marks and many verdicts of a judge: coverage of the interval"
WIDTH = "Few marks and many verdicts of a judge: mean width of the interval, as a share of that of the marks alone"

_SIZES = (200, 100, 147, 77, 123)  # items of areas
_LEVELS = np.linspace(0, 1, 21)  # a weighted sum of verdicts has about this many values


def judged(generator: Generator, n: int, knows: float, bias: float) -> tuple[np.ndarray, np.ndarray]:
    """Marks and verdicts, both from 0 to 1 and often at the end; they correlate by about `knows`."""
    truth, noise = generator.standard_normal((2, n))
    verdict = knows * truth + (1 - knows**2) ** 0.5 * noise + bias
    on_scale = 0.75 + 0.25 * np.stack([truth, verdict])
    return tuple(np.round(np.clip(on_scale, 0, 1) * 20) / 20)


_DRAWN = 2_000_000
_MEAN = float(judged(np.random.default_rng(0), _DRAWN, 0.0, 0.0)[0].mean())


def _one_area(generator: Generator, n: int, knows: float, bias: float) -> PredictionPowered:
    truth, proxy = judged(generator, n + 600, knows, bias)
    return mean_of_strata([MarkedStratum(truth[:n], proxy[:n], proxy[n:])])


def _areas(generator: Generator, n: int, knows: float, bias: float) -> PredictionPowered:
    """Areas of different sizes with marks in proportion, and a judge that likes some areas."""
    strata = []
    for number, size in enumerate(_SIZES):
        marked = round(n * size / sum(_SIZES))
        truth, proxy = judged(generator, size, knows, bias * (number - 2) / 2)
        strata.append(MarkedStratum(truth[:marked] - number / 10, proxy[:marked], proxy[marked:]))
    return mean_of_strata(strata)


def _holds(generator: Generator, n: int, knows: float, bias: float, in_areas: bool) -> bool:
    found = (_areas if in_areas else _one_area)(generator, n, knows, bias)
    return holds(found, _MEAN - (0.2 if in_areas else 0.0))


def _width(generator: Generator, n: int, knows: float, bias: float, in_areas: bool) -> float:
    found = (_areas if in_areas else _one_area)(generator, n, knows, bias)
    return 1.0 if found.half_width is None else found.half_width / found.alone.half_width


def claims_of_marks() -> Iterator[Claim]:
    """Claims about one area and about areas of different sizes."""
    for in_areas in (False, True):
        for n in (20, 50, 200):
            for knows, bias, judge in (
                (0.0, 0.0, "a judge that knows nothing"),
                (0.5, 0.0, "a noisy judge"),
                (0.7, 1.0, "a lenient judge"),
                (0.95, -1.0, "a good but strict judge"),
            ):
                of = f"{n} marks{' in 5 areas of different sizes' if in_areas else ''}, {judge}"
                settings = (n, knows, bias, in_areas)
                yield Claim(MARKS, of, COVERAGE, _holds, settings)
                yield Claim(WIDTH, of, None, _width, settings, 4)

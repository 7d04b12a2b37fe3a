"""Claims of `make simulate` about checklist tables: few marks and many verdicts, and intervals over tasks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from pfgen_fast.lab.statistics.intervals_of_draws import Stratum, half_widths
from pfgen_fast.lab.statistics.prediction_powered import MarkedStratum, PredictionPowered, mean_of_strata

from .claims import COVERAGE, Claim, holds

MARKS = "Few marks and many verdicts of a judge: coverage of the interval"
WIDTH = "Few marks and many verdicts of a judge: mean width of the interval, as a share of that of the marks alone"
TABLES = "Average of a checklist table: coverage of its interval over tasks"
GATES = "Average of a checklist table: the lower end is above the truth, so that a gate passes wrongly"

_SIZES = (200, 100, 147, 77, 123)  # items of areas
_MANY = 2_000_000  # items that give the truth
_JUDGES = {
    "a judge that knows nothing": ("graded", 0.0, 0.0),
    "a noisy judge": ("graded", 0.5, 0.0),
    "a lenient judge": ("graded", 0.7, 1.0),
    "a good but strict judge": ("graded", 0.95, -1.0),
    "a judge with 3 % outliers": ("outliers", 0.7, 10.0),
    "a good judge with 3 % far outliers": ("outliers", 0.9, 50.0),
    "0.9 of the marks are 1, a judge that agrees with 0.9 of them": ("binary", 0.9, 0.9),
    "0.9 of the marks are 1, a judge that agrees with 0.97 of them": ("binary", 0.9, 0.97),
    "0.95 of the marks are 1, a judge that agrees with 0.97 of them": ("binary", 0.95, 0.97),
    "most marks are the highest of 5, a judge that agrees with 0.95 of them": ("levels", 0.8, 0.95),
}


def judged(generator: Generator, n: int, kind: str, first: float, second: float) -> tuple[np.ndarray, ...]:
    """Marks and verdicts of `n` items."""
    if kind in ("binary", "levels"):  # with a share of 1, and of agreement
        rest = (0, 0.25, 0.5, 0.75, 1) if kind == "levels" else (0, 1)
        truth = np.where(generator.random(n) < first, 1.0, generator.choice(rest[:-1], n))
        other = generator.choice(rest, n) if kind == "levels" else 1 - truth
        return truth, np.where(generator.random(n) < second, truth, other)
    truth, noise = generator.standard_normal((2, n))
    verdict = first * truth + (1 - first**2) ** 0.5 * noise
    if kind == "outliers":
        return truth, np.where(generator.random(n) < 0.03, second, verdict)
    on_scale = 0.75 + 0.25 * np.stack([truth, verdict + second])  # from 0 to 1 and often at the end, as weighted sums
    return tuple(np.round(np.clip(on_scale, 0, 1) * 20) / 20)


@lru_cache
def _mean(kind: str, first: float) -> float:
    return float(judged(np.random.default_rng(0), _MANY, kind, first, 0.0)[0].mean())


def _estimate(
    generator: Generator, n: int, in_areas: bool, kind: str, first: float, second: float
) -> PredictionPowered:
    """One area, or areas of different sizes with marks in proportion."""
    strata = []
    for size in _SIZES if in_areas else (n + 600,):
        marked = round(n * size / sum(_SIZES)) if in_areas else n
        truth, proxy = judged(generator, size, kind, first, second)
        strata.append(MarkedStratum(truth[:marked], proxy[:marked], proxy[marked:]))
    return mean_of_strata(strata)


def _holds(generator: Generator, *world: Any) -> bool:
    return holds(_estimate(generator, *world), _mean(*world[2:4]))


def _width(generator: Generator, *world: Any) -> float:
    result = _estimate(generator, *world)
    return 1.0 if result.half_width is None else result.half_width / result.alone.half_width


def _ends(generator: Generator, sizes: tuple[int, ...], *world: Any) -> tuple[float, float]:
    """The ends of the average of areas with so many tasks."""
    areas = [judged(generator, size, *world, 0.0)[0] for size in sizes]
    half = float(half_widths(*map(Stratum.of, areas))[0])
    mean = float(np.mean([area.mean() for area in areas]))
    return mean - half, mean + half


def _table(generator: Generator, sizes: tuple[int, ...], *world: Any) -> bool:
    low, high = _ends(generator, sizes, *world)
    return low <= _mean(*world) <= high


def _gate(generator: Generator, sizes: tuple[int, ...], *world: Any) -> bool:
    return _ends(generator, sizes, *world)[0] > _mean(*world)


def claims_of_marks() -> Iterator[Claim]:
    """Claims about one area and about areas of different sizes."""
    for in_areas in (False, True):
        for n in (20, 50, 200):
            for judge, world in _JUDGES.items():
                what = f"{n} marks{' in 5 areas of different sizes' if in_areas else ''}, {judge}"
                bounds = {"binary": (0.93, 1.0), "levels": None}.get(world[0], COVERAGE)
                yield Claim(MARKS, what, bounds, _holds, (n, in_areas, *world))
                yield Claim(WIDTH, what, None, _width, (n, in_areas, *world), 4)
    for sizes in ((3, 5), (5, 5, 5, 5, 5), (30, 30), _SIZES):
        for words, world in (("", ("outliers", 0.0)), (", scores often at the end", ("graded", 0.0))):
            what = f"{len(sizes)} areas with {', '.join(map(str, sizes))} tasks{words}"
            is_few = bool(words) and sum(sizes) < 60
            yield Claim(TABLES, what, None if is_few else (0.93, 0.98), _table, (sizes, *world))
            yield Claim(GATES, what, None if is_few else (0.0, 0.035), _gate, (sizes, *world))

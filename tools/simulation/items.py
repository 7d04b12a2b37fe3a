"""Claims of `make simulate` about tables of scores: clusters of items, scores of 0 and 1, and power."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.runs.statistics.paired_tests import needed, paired_difference
from pfgen_fast.runs.statistics.verdicts import decided

from .claims import COVERAGE, FALSE_ALARMS, Claim, holds

CLUSTERS = "Items in clusters of unequal sizes: coverage of the interval of a difference"
CLUSTER_ALARMS = "Items in clusters of unequal sizes: false alarms"
BINARY = "Scores of 0 and 1, equally good models: false alarms of Tango's score test"
BINARY_COVERAGE = "Scores of 0 and 1: coverage of the intervals of a mean (Wilson) and of a difference (Tango)"
FAMILIES = "Comparisons corrected by Holm: coverage of each interval"
POWER = "Power: share of differences found with the computed number of items"


def clustered(generator: Generator, n_clusters: int, shared: float) -> tuple[np.ndarray, list[int]]:
    """Differences around 0 in clusters of 1 to 15 items; `shared` is the part of the variance that a cluster has."""
    sizes = np.minimum(generator.geometric(0.3, n_clusters), 15)
    clusters = np.repeat(np.arange(n_clusters), sizes)
    cluster_effects, item_effects = generator.standard_normal(n_clusters), generator.standard_normal(len(clusters))
    return shared**0.5 * cluster_effects[clusters] + (1 - shared) ** 0.5 * item_effects, clusters.tolist()


def _holds_zero(generator: Generator, n_clusters: int, shared: float) -> bool:
    values, clusters = clustered(generator, n_clusters, shared)
    return holds(paired_difference(values, np.zeros_like(values), clusters=clusters), 0)


def _score(generator: Generator, n_clusters: int, shared: float) -> bool:
    return holds(mean_interval(*clustered(generator, n_clusters, shared)), 0)


def _differs(generator: Generator, n_clusters: int, shared: float) -> bool:
    values, clusters = clustered(generator, n_clusters, shared)
    return bool(decided([paired_difference(values, np.zeros_like(values), clusters=clusters)])[0].differs)


def _binary(generator: Generator, n_items: int, a: float, b: float) -> bool:
    solved = generator.uniform(size=(2, n_items)) < generator.beta(a, b, n_items)
    return bool(decided([paired_difference(*solved.astype(float), binary=True)])[0].differs)


def _solved_alone(generator: Generator, n_items: int, better: float, worse: float) -> tuple[np.ndarray, np.ndarray]:
    drawn = generator.choice(3, n_items, p=(1 - better - worse, better, worse))
    return (drawn == 1).astype(float), (drawn == 2).astype(float)


def _holds_binary_difference(generator: Generator, n_items: int, better: float, worse: float) -> bool:
    return holds(paired_difference(*_solved_alone(generator, n_items, better, worse), binary=True), better - worse)


def _holds_share(generator: Generator, n_items: int, share: float) -> bool:
    return holds(mean_interval((generator.uniform(size=n_items) < share).astype(float), binary=True), share)


def _family(generator: Generator, n_models: int, step: float) -> list[bool]:
    """Whether each interval of a family holds the truth: each model is better by `step` than the one before."""
    scores = generator.standard_normal((n_models, 50)) + step * np.arange(n_models)[:, np.newaxis]
    result = decided([paired_difference(scores[0], other) for other in scores[1:]])
    return [holds(part, -step * (number + 1)) for number, part in enumerate(result)]


def _found_with_items(generator: Generator, difference: float) -> bool:
    """Computes the number of items from 400 items, and compares on so many new ones."""
    before = generator.standard_normal(400)
    n = needed(paired_difference(before, np.zeros(400)), difference).n
    now = difference + generator.standard_normal(n)
    return bool(decided([paired_difference(now, np.zeros(n))])[0].differs)


def _found_with_binary_items(generator: Generator, better: float, worse: float) -> bool:
    """Does the same with scores of 0 and 1, and Tango's score test."""
    before = paired_difference(*_solved_alone(generator, 400, better, worse), binary=True)
    now = _solved_alone(generator, needed(before, better - worse).n, better, worse)
    return bool(decided([paired_difference(*now, binary=True)])[0].differs)


def claims_of_items() -> Iterator[Claim]:
    """Claims about clusters, scores of 0 and 1, and power."""
    for n_clusters in (6, 10, 20, 50):
        for shared in (0.0, 0.3, 0.8):
            case = f"{n_clusters} clusters, {shared:g} of the variance is between them"
            bounds = COVERAGE if shared else (0.93, 0.98)
            yield Claim(CLUSTERS, f"t-test: {case}", bounds, _holds_zero, (n_clusters, shared))
            yield Claim(CLUSTER_ALARMS, case, FALSE_ALARMS, _differs, (n_clusters, shared))
        case = f"{n_clusters} clusters, 0.3 of the variance is between them"
        yield Claim(CLUSTERS, f"interval of a score: {case}", COVERAGE, _score, (n_clusters, 0.3))
    for n_items in (10, 50, 500):
        for a, b in ((1, 1), (5, 1), (0.3, 0.3)):
            case = f"{n_items} items, the chance to solve them is beta-distributed ({a:g}, {b:g})"
            yield Claim(BINARY, case, FALSE_ALARMS, _binary, (n_items, a, b))
    for n_items in (10, 20, 50, 200):
        for better, worse in ((0.02, 0.02), (0.1, 0.0), (0.3, 0.1), (0.9, 0.02)):
            case = f"difference, {n_items} items, A alone solves {better:g} and B alone {worse:g} of them"
            yield Claim(BINARY_COVERAGE, case, (0.92, 1.0), _holds_binary_difference, (n_items, better, worse))
        for share in (0.5, 0.9, 0.98):
            case = f"mean, {n_items} items, a model that solves {share:g} of them"
            yield Claim(BINARY_COVERAGE, case, (0.92, 1.0), _holds_share, (n_items, share))
    for n_models in (4, 11):
        for step in (0.0, 0.1, 1.0):
            case = f"{n_models - 1} models against one, each better by {step:g} standard deviations than the one before"
            yield Claim(FAMILIES, case, (0.93, 1.0), _family, (n_models, step), 4)
    for difference in (0.2, 0.5, 1.0):
        case = f"items, a difference of {difference:g} standard deviations"
        yield Claim(POWER, case, (0.78, 0.85), _found_with_items, (difference,), 2)
    for better, worse in ((0.08, 0.03), (0.2, 0.1), (0.25, 0.05), (0.3, 0.02)):
        case = f"scores of 0 and 1, A alone solves {better:g} and B alone {worse:g} of the items"
        yield Claim(POWER, case, (0.76, 0.86), _found_with_binary_items, (better, worse), 2)

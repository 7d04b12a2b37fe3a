"""Short lists of items that keep the order of models: chosen on some models, and tested on other models.

Rows of `scores` are models, columns are items; higher scores are better, and no score is missing. Needs only NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .correlation import Floats, kendall_rows

_N_FOLDS, _FEW_CLUSTERS, _N_FOLDS_OF_FEW = 5, 20, 2
_N_SPLITS = 5  # different splits of the models into folds
_MAX_MODELS_OF_FOLD = 200  # of a fold; more are drawn at random, because pairs of models are compared
_N_SIZES_ONE_BY_ONE, _MAX_SIZES = 20, 40


@dataclass(frozen=True, eq=False)
class SubsetTest:
    """Agreement of the order by some items with the order by all items, on models that did not choose the items."""

    sizes: NDArray[np.int_]  # numbers of items, in ascending order
    kendalls: Floats  # for each size, the mean of Kendall's correlation over folds and splits
    at_random: Floats  # the mean of the same for random items
    at_random_low: Floats  # the 5th percentile of the same for random items
    at_random_high: Floats  # the 95th percentile
    n_pairs: int  # number of pairs of models that were tested, over all splits
    n_folds: int
    n_splits: int

    def smallest(self, target: float, *, at_random: bool = False) -> int:
        """The smallest size from which on the agreement reaches the target; all items agree by 1."""
        enough = (self.at_random if at_random else self.kendalls) >= target
        return int(self.sizes[len(enough) - int(np.argmin(np.r_[enough[::-1], False]))])


def telling_order(scores: Floats) -> NDArray[np.int_]:
    """The items in an order in which the mean of the first items predicts the mean of all items best.

    Each item is the one that raises the correlation of the two means over the models most; of equal items the first is
    taken. Items that do not vary come last.
    """
    deviations = scores - scores.mean(axis=0)
    between = deviations.T @ deviations
    with_all, own = between.sum(axis=1), np.diagonal(between)
    whole = max(float(with_all.sum()), 1e-300)
    varies = own > 1e-12 * own.max(initial=0)
    is_left = np.ones(len(own), dtype=np.bool_)
    with_chosen = np.zeros(len(own))
    covariance = variance = 0.0
    order = np.empty(len(own), dtype=np.int_)
    for place in range(len(own)):
        correlations = (covariance + with_all) / np.sqrt(np.maximum(variance + 2 * with_chosen + own, 1e-300) * whole)
        gains = np.where(varies, correlations.round(12), -2.0)
        item = order[place] = int(np.argmax(np.where(is_left, gains, -3.0)))
        is_left[item] = False
        covariance += with_all[item]
        variance += 2 * with_chosen[item] + own[item]
        with_chosen += between[item]
    return order


def folds(clusters: NDArray[np.int_], generator: np.random.Generator) -> list[NDArray[np.int_]]:
    """The models in parts of about equal size; a cluster of models is in one part."""
    names, sizes = np.unique(clusters, return_counts=True)
    n_folds = _N_FOLDS if len(names) >= _FEW_CLUSTERS else _N_FOLDS_OF_FEW
    shuffled = generator.permutation(len(names))
    members: list[list[int]] = [[] for _ in range(n_folds)]
    n_models = np.zeros(n_folds, dtype=np.int_)
    for cluster in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold = int(np.argmin(n_models))
        members[fold].append(names[cluster])
        n_models[fold] += sizes[cluster]
    return [np.flatnonzero(np.isin(clusters, fold)) for fold in members]


def tried_sizes(n_items: int) -> NDArray[np.int_]:
    """The sizes of lists that are tested: each small size, then sizes in equal ratios, and all items."""
    more = np.geomspace(min(n_items, _N_SIZES_ONE_BY_ONE), n_items, _MAX_SIZES - _N_SIZES_ONE_BY_ONE).round()
    return np.unique(np.r_[np.arange(1, min(n_items, _N_SIZES_ONE_BY_ONE) + 1), more.astype(np.int_)])


def agreement_of_subsets(scores: Floats, clusters: NDArray[np.int_], *, n_draws: int = 20, seed: int = 0) -> SubsetTest:
    """Chooses lists of items on all folds of models but one, and tests them on this fold, against random lists.

    The models are split into folds several times, and random lists are drawn `n_draws` times for each split.
    """
    generator = np.random.default_rng((seed, 3))
    sizes = tried_sizes(scores.shape[1])
    chosen, at_random, n_pairs = [], [], 0
    for _ in range(_N_SPLITS):
        weights, of_split, drawn = [], [], []
        for rest, tested in splits(clusters, generator):
            if len(tested) > _MAX_MODELS_OF_FOLD:
                tested = np.sort(generator.choice(tested, _MAX_MODELS_OF_FOLD, replace=False))
            of_fold = scores[tested]
            weights.append(len(tested) * (len(tested) - 1) // 2)
            of_split.append(_agreement(of_fold, telling_order(scores[rest]), sizes))
            orders = (generator.permutation(scores.shape[1]) for _ in range(n_draws))
            drawn.append([_agreement(of_fold, order, sizes) for order in orders])
        chosen.append(np.average(of_split, axis=0, weights=weights))
        at_random.append(np.average(drawn, axis=0, weights=weights))
        n_pairs += sum(weights)
    of_draws = np.concatenate(at_random)
    low, high = np.percentile(of_draws, (5, 95), axis=0)
    return SubsetTest(
        sizes, np.mean(chosen, axis=0), of_draws.mean(axis=0), low, high, n_pairs, len(weights), _N_SPLITS
    )


def splits(
    clusters: NDArray[np.int_], generator: np.random.Generator
) -> Iterator[tuple[NDArray[np.int_], NDArray[np.int_]]]:
    """For each fold, the models outside it, and its models."""
    for fold in folds(clusters, generator):
        if len(fold) > 1:
            yield np.setdiff1d(np.arange(len(clusters)), fold), fold


def _agreement(scores: Floats, order: NDArray[np.int_], sizes: NDArray[np.int_]) -> Floats:
    """Kendall's correlation of the mean of the first items, for each size, with the mean of all items."""
    means = np.cumsum(scores[:, order], axis=1)[:, sizes - 1] / sizes
    return np.nan_to_num(kendall_rows(means.T, scores.mean(axis=1)))

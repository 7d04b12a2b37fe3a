"""Claims of `make simulate` about single items: differences between groups, and comparisons that stop early."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from makers.claims import FALSE_ALARMS, Claim
from makers.simulated_worlds import answered, solved, two_models
from numpy.random import Generator
from pfgen_fast.statistics.item_subsets import telling_order
from pfgen_fast.statistics.items import group_differences
from pfgen_fast.statistics.paired import paired_difference
from pfgen_fast.statistics.sequential import Stop, stopped

EARLY = "Comparisons that stop at the first item at which two models differ: decisions"
ASKED = "Comparisons that stop at the first item at which two models differ: mean share of the items that were asked"
ON_ITEMS = "Items on which a stronger group of models differs from others with the same score: any false alarm"


def _stop(generator: Generator, order: str, *world: Any) -> tuple[Stop, np.ndarray]:
    """A comparison of two models that may stop early, and the differences of all items."""
    differences, reference = two_models(generator, *world)
    telling = order == "telling"
    places = telling_order(reference) if telling else generator.permutation(len(differences))
    return stopped(differences[places]), differences


def _is_decided(generator: Generator, *world: Any) -> bool:
    return _stop(generator, *world)[0].is_decided


def _is_decided_by_all(generator: Generator, *world: Any) -> bool:
    differences = _stop(generator, *world)[1]
    return bool(paired_difference(differences, np.zeros(len(differences))).differs())


def _share_asked(generator: Generator, *world: Any) -> float:
    found, differences = _stop(generator, *world)
    return found.n / len(differences)


def _is_decided_on_skewed(generator: Generator, n_items: int) -> bool:
    return stopped(generator.exponential(size=n_items) - 1).is_decided


def _group_differs(generator: Generator, n_models: int, n_members: int, n_items: int, n_trials: int) -> bool:
    """A difference of a group on any item, where the group is stronger on all items alike."""
    group = np.where(np.arange(n_models) < n_members, 0, -1)
    scores = answered(generator, generator.standard_normal(n_models) + (group == 0), n_items, n_trials)
    return bool((group_differences(scores, group).corrected <= 0.05).any())


def _relatives_differ(generator: Generator, n_models: int, n_relatives: int, n_items: int) -> bool:
    """A difference of any group of 20 models on any item, where relatives share effects on items but groups do not."""
    slopes, difficulties = generator.lognormal(0, 0.5, n_items), generator.standard_normal(n_items)
    effects = np.repeat(0.5 * generator.standard_normal((n_models // n_relatives, n_items)), n_relatives, axis=0)
    chances = solved(generator.standard_normal((n_models, 1)) + effects, slopes, difficulties)
    groups = np.arange(n_models) // 20
    return bool((group_differences(generator.binomial(10, chances) / 10, groups).corrected <= 0.05).any())


def claims_of_item_analysis() -> Iterator[Claim]:
    """Those on groups of models on items, and on comparisons that may stop after any item."""
    for (n_models, n_members), n_trials in product(((20, 10), (300, 10), (300, 30), (300, 100)), (1, 10)):
        of = f"{n_members} of {n_models} models, 50 items, {n_trials} trial{'s' if n_trials > 1 else ''}"
        yield Claim(ON_ITEMS, of, FALSE_ALARMS, _group_differs, (n_models, n_members, 50, n_trials), 4)
    for n_models, n_items in ((300, 5), (300, 20), (1000, 20), (1000, 50)):
        of = f"{n_models // 3} of {n_models:,} models, {n_items} items, 1 trial"
        yield Claim(ON_ITEMS, of, None, _group_differs, (n_models, n_models // 3, n_items, 1), 4)
    of = "10 groups of 20 equally strong models, 50 items, 10 trials, 5 relatives each have the same effects on items"
    yield Claim(ON_ITEMS, of, None, _relatives_differ, (200, 5, 50), 4)
    for n_items in (8, 20, 50, 200):
        for n_trials, order in product((1, 10), ("telling", "random")):
            of = f"{n_items} items, {n_trials} trial{'s' if n_trials > 1 else ''}, {order} order, equally good models"
            yield Claim(EARLY, of, (0.0, 0.05), _is_decided, (order, n_items, n_trials, 0.0))
    of = "50 items, 10 trials, random order, models differ by item"
    yield Claim(EARLY, of, (0.0, 0.05), _is_decided, ("random", 50, 10, 0.0, 0.5))
    of = "50 items, 100 trials, telling order, one model is better on items of high slope and worse on other items"
    yield Claim(EARLY, of, None, _is_decided, ("telling", 50, 100, 0.0, 0.0, 1.0))
    of = "50 items, 100 trials, random order, one model is better on items of high slope and worse on other items"
    yield Claim(EARLY, of, None, _is_decided, ("random", 50, 100, 0.0, 0.0, 1.0))
    for n_items in (20, 50):
        yield Claim(EARLY, f"{n_items} skewed differences (exponential)", None, _is_decided_on_skewed, (n_items,))
    for apart, order in product((0.25, 0.5, 1.0), ("telling", "random")):
        world = (order, 50, 10, apart)
        of = f"50 items, 10 trials, {order} order, abilities differ by {apart:g}"
        yield Claim(EARLY, of, None, _is_decided, world, 2)
        if order == "random":
            of_all = f"50 items, 10 trials, all items asked, abilities differ by {apart:g}"
            yield Claim(EARLY, of_all, None, _is_decided_by_all, world, 2)
        yield Claim(ASKED, of, (0.3, 0.5) if apart == 1 else None, _share_asked, world, 2)
    yield Claim(
        ASKED, "50 items, 10 trials, random order, equally good models", None, _share_asked, ("random", 50, 10, 0.0), 2
    )

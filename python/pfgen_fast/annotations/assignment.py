"""Which annotator gets which item, and in which order.

Some items are shared, so that agreement can be measured; each of the others has one annotator. Both kinds are spread
evenly over the values of their strata, such as each area and each model. All choices follow from hashes of the seed and
the items, so the same items and options always give the same assignment.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import AnnotationError
from ..files.untrusted_text import counted

Stratum = tuple[str, ...]
"""The area, the category, the model and so on of an item."""


@dataclass(frozen=True)
class Assignment:
    """The items of each annotator, by their numbers."""

    of: Mapping[str, tuple[int, ...]]  # by annotator, in the order of the page
    shared: tuple[int, ...]  # items with several annotators


def assign(
    keys: Sequence[str],
    strata: Sequence[Stratum],
    annotators: Sequence[str],
    *,
    overlap: float,
    raters: int | None = None,
    seed: int = 0,
) -> Assignment:
    """Assigns items to annotators.

    `overlap` is the share of items that `raters` annotators see (all annotators by default). The numbers of items of
    two annotators differ by at most one, and annotators get about the same number of items of each area and model.
    """
    n, n_annotators = len(keys), len(annotators)
    _check(n, n_annotators, overlap, raters)
    raters = n_annotators if raters is None else raters
    ordered = spread(keys, strata, seed)
    n_shared = round(overlap * n) if n_annotators > 1 else 0
    # Shared items are the first of the spread order, so they are spread over strata, too.
    of: dict[str, list[int]] = {name: [] for name in annotators}
    seen: dict[str, Counter[tuple[int, str]]] = {name: Counter() for name in annotators}
    for place, item in enumerate(ordered):
        values = list(enumerate(strata[item]))

        def burden(name: str, values: Sequence[tuple[int, str]] = values, item: int = item) -> tuple[Any, ...]:
            n_alike = sum(seen[name][value] for value in values)
            return len(of[name]), n_alike, _hash(seed, name, "turn", keys[item])

        for name in sorted(annotators, key=burden)[: raters if place < n_shared else 1]:
            of[name].append(item)
            seen[name].update(values)
    orders = {name: sorted(items, key=lambda item: _hash(seed, name, keys[item])) for name, items in of.items()}
    return Assignment({name: tuple(order) for name, order in orders.items()}, tuple(ordered[:n_shared]))


def spread(keys: Sequence[str], strata: Sequence[Stratum], seed: int) -> list[int]:
    """The numbers of all items in random order, so that each beginning has its share of every area, model and so on."""
    of: dict[Stratum, list[int]] = {}
    for item in sorted(range(len(keys)), key=lambda item: _hash(seed, "item", keys[item]), reverse=True):
        of.setdefault(strata[item], []).append(item)
    totals = Counter(value for stratum in strata for value in enumerate(stratum))
    names, numbers = list(of), {value: number for number, value in enumerate(totals)}
    # A shorter stratum is filled up with a value without weight.
    values = np.full((len(names), max(map(len, names), default=0)), len(numbers), dtype=np.intp)
    for row, name in zip(values, names, strict=True):
        row[: len(name)] = [numbers[value] for value in enumerate(name)]
    step = np.array([*(1 / totals[value] for value in numbers), 0.0])
    taken = np.zeros(len(step))  # share of the items of each value that have been taken
    order: list[int] = []
    for _ in keys:
        number = int(taken[values].sum(axis=1).argmin())
        order.append(of[names[number]].pop())
        taken[values[number]] += step[values[number]]
        if not of[names[number]]:
            del of[names[number]], names[number]
            values = np.delete(values, number, axis=0)
    return order


def is_swapped(key: str, annotator: str, seed: int) -> bool:
    """Whether the two answers of a pair are shown in reverse order, which is random by annotator and pair."""
    return _hash(seed, annotator, f"swapped {key}")[0] % 2 == 1


def _check(n: int, n_annotators: int, overlap: float, raters: int | None) -> None:
    if not 0 <= overlap <= 1:
        raise AnnotationError(f"--overlap {overlap:g}: expected a share from 0 to 1, such as 0.2")
    if n_annotators > n:
        raise AnnotationError(
            f"{counted(n_annotators, 'annotator')} for {counted(n, 'item')}: expected at least one item for each "
            "annotator; choose fewer annotators or more answers"
        )
    if raters is not None and not 2 <= raters <= n_annotators:
        raise AnnotationError(f"--raters {raters}: expected at least 2, and at most all annotators ({n_annotators})")


def _hash(*parts: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()

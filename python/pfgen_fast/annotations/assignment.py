"""Which annotator gets which item, and in which order.

Some items are shared, so that agreement can be measured; each of the others has one annotator. Both kinds are spread
evenly over strata, such as areas and models. All choices follow from hashes of the seed and the items, so the same
items and options always give the same assignment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import AnnotationError
from ..files.untrusted_text import counted


@dataclass(frozen=True)
class Assignment:
    """The items of each annotator, by their numbers."""

    of: Mapping[str, tuple[int, ...]]  # by annotator, in the order of the page
    shared: tuple[int, ...]  # items with several annotators


def assign(
    keys: Sequence[str],
    strata: Sequence[Hashable],
    annotators: Sequence[str],
    *,
    overlap: float,
    raters: int | None = None,
    seed: int = 0,
) -> Assignment:
    """Assigns items to annotators.

    `overlap` is the share of items that `raters` annotators see (all annotators by default). Within a stratum, and over
    all items that are not shared, the numbers of items of two annotators differ by at most one.
    """
    n, n_annotators = len(keys), len(annotators)
    raters = n_annotators if raters is None else raters
    _check(n, n_annotators, overlap, raters)
    ordered = spread(keys, strata, seed)
    n_shared = round(overlap * n) if n_annotators > 1 else 0
    # Shared items are the first of the spread order, so they are spread over strata, too.
    shared, others = ordered[:n_shared], ordered[n_shared:]
    of: dict[str, list[int]] = {name: [] for name in annotators}
    for place, item in enumerate(shared):
        for rater in range(raters):
            of[annotators[(place * raters + rater) % n_annotators]].append(item)
    by_stratum: dict[Hashable, list[int]] = {}
    for item in others:
        by_stratum.setdefault(strata[item], []).append(item)
    # The next stratum goes on with the next annotator, so both the strata and their sum are balanced.
    for place, item in enumerate(item for items in by_stratum.values() for item in items):
        of[annotators[place % n_annotators]].append(item)
    orders = {name: sorted(items, key=lambda item: _hash(seed, name, keys[item])) for name, items in of.items()}
    return Assignment({name: tuple(order) for name, order in orders.items()}, tuple(shared))


def spread(keys: Sequence[str], strata: Sequence[Hashable], seed: int) -> list[int]:
    """The numbers of all items in random order, so that each beginning has its share of every stratum."""
    of: dict[Hashable, list[int]] = {}
    for item in sorted(range(len(keys)), key=lambda item: _hash(seed, "item", keys[item])):
        of.setdefault(strata[item], []).append(item)
    # The k-th of m items of a stratum is placed at (k + 1/2) / m; equal places are in the random order.
    placed = [
        ((k + 0.5) / len(items), number, item)
        for number, items in enumerate(of.values())
        for k, item in enumerate(items)
    ]
    return [item for _, _, item in sorted(placed)]


def is_swapped(key: str, annotator: str, seed: int) -> bool:
    """Whether the two answers of a pair are shown in reverse order, which is random by annotator and pair."""
    return _hash(seed, annotator, f"swapped {key}")[0] % 2 == 1


def _check(n: int, n_annotators: int, overlap: float, raters: int) -> None:
    if not 0 <= overlap <= 1:
        raise AnnotationError(f"--overlap {overlap:g}: expected a share from 0 to 1, such as 0.2")
    if n_annotators > n:
        raise AnnotationError(
            f"{counted(n_annotators, 'annotator')} for {counted(n, 'item')}: expected at least one item for each "
            "annotator; choose fewer annotators or more answers"
        )
    if n_annotators > 1 and not 2 <= raters <= n_annotators:
        raise AnnotationError(f"--raters {raters}: expected 2 to {n_annotators}, the number of annotators")


def _hash(*parts: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()

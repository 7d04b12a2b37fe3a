"""Replays comparisons that stop as soon as two models differ, on recorded scores.

The order of the items is chosen on other models than the compared ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..files.untrusted_text import in_one_line, unknown_name
from ..statistics.item_subsets import splits, telling_order
from ..statistics.paired import PairedDifference, paired_difference
from ..statistics.sequential import Stop, stopped
from .finding import Cell, Table
from .item_rows import ItemRows

ORDERS = ("most telling first", "at random")
_N_PAIRS = 1_000  # pairs of models that are compared again, over all folds


@dataclass(frozen=True)
class Replay:
    """A comparison of two models that may stop early, and the comparison on all items."""

    stop: Stop
    whole: PairedDifference

    @property
    def is_decided_by_all(self) -> bool:
        """Whether the models differ on all items."""
        return bool(self.whole.differs())

    @property
    def is_confirmed(self) -> bool:
        """Whether the same model is significantly better on all items."""
        return self.is_decided_by_all and self.whole.mean * self.stop.difference > 0


@dataclass(frozen=True)
class Replays:
    """Replays of many pairs of models with the items in one order."""

    order: str
    replays: tuple[Replay, ...]
    n_items: int

    @property
    def mean_items(self) -> float:
        """The mean number of items that were asked."""
        return float(np.mean([replay.stop.n for replay in self.replays]))

    @property
    def decided(self) -> float:
        """The share of pairs that were decided."""
        return float(np.mean([replay.stop.is_decided for replay in self.replays]))

    @property
    def decided_by_all(self) -> float:
        """The share of pairs that the test on all items decides."""
        return float(np.mean([replay.is_decided_by_all for replay in self.replays]))

    @property
    def unconfirmed(self) -> float:
        """The share of pairs that were decided, while the test on all items does not decide them in the same way."""
        return float(np.mean([replay.stop.is_decided and not replay.is_confirmed for replay in self.replays]))


def replay_pairs(rows: ItemRows, seed: int) -> list[Replays]:
    """Compares pairs of models of one fold, with the items in orders that the other folds or chance determine."""
    generator = np.random.default_rng((seed, 4))
    found: dict[str, list[Replay]] = {order: [] for order in ORDERS}
    for first, second, telling in _pairs(rows, generator):
        differences = rows.scores[first] - rows.scores[second]
        whole = paired_difference(rows.scores[first], rows.scores[second])
        for name, order in zip(ORDERS, (telling, generator.permutation(len(differences))), strict=True):
            found[name].append(Replay(stopped(differences[order]), whole))
    return [Replays(name, tuple(replays), len(rows.items)) for name, replays in found.items() if replays]


def _pairs(rows: ItemRows, generator: np.random.Generator) -> Iterator[tuple[int, int, NDArray[np.int_]]]:
    """Pairs of rows, and the order of items that the rows outside their fold determine."""
    parts = list(splits(rows.clusters.of, generator))
    for rest, fold in parts:
        telling = telling_order(rows.scores[rest])
        first, second = np.triu_indices(len(fold), 1)
        chosen = generator.permutation(len(first))[: max(1, _N_PAIRS // len(parts))]
        for pair in chosen.tolist():
            yield int(fold[first[pair]]), int(fold[second[pair]]), telling


def replay_pair(rows: ItemRows, pair: str) -> tuple[str, Replay]:
    """Compares two models whose names a comma separates; models of their organisations do not choose the order."""
    names = [name.strip() for name in pair.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise ExperimentError(f"pair {in_one_line(pair)!r}: expected the names of two models, separated by a comma")
    for name in names:
        if name not in rows.names:
            raise ExperimentError(unknown_name("model", name, rows.names))
    a, b = map(rows.names.index, names)
    clusters = rows.clusters.of
    rest = np.flatnonzero((clusters != clusters[a]) & (clusters != clusters[b]))
    if not len(rest):
        raise ExperimentError(f"pair {in_one_line(pair)!r}: no other models are left to choose the order of the items")
    order = telling_order(rows.scores[rest])
    differences = (rows.scores[a] - rows.scores[b])[order]
    replay = Replay(stopped(differences), paired_difference(rows.scores[a], rows.scores[b]))
    return _words(names, replay, rows), replay


def _words(names: list[str], replay: Replay, rows: ItemRows) -> str:
    stop, n_items = replay.stop, len(rows.items)
    one, other = (in_one_line(name, 80) for name in (names if stop.difference > 0 else names[::-1]))
    on_all = f"on all items the difference is {rows.sign * replay.whole.mean:+.4f}"
    if not stop.is_decided:
        verdict = ", which a test that looks only once finds significant" if replay.is_decided_by_all else ""
        return f"{one} and {other} cannot be distinguished after all {n_items:,} items: {on_all}{verdict}."
    verdict = "also" if replay.is_confirmed else "not"
    return (
        f"{one} is better than {other} after {stop.n:,} of {n_items:,} items: the difference is "
        f"{rows.sign * stop.difference:+.4f} on these items; {on_all}, which is {verdict} significant."
    )


def table_of(all_replays: list[Replays]) -> Table:
    """The figures of the replays."""
    columns = (
        "order of the items",
        "pairs",
        "mean items asked",
        "of",
        "decided",
        "decided by all items",
        "unconfirmed",
    )
    rows: list[tuple[Cell, ...]] = [
        (
            of.order,
            len(of.replays),
            of.mean_items,
            of.n_items,
            of.decided,
            of.decided_by_all,
            of.unconfirmed,
        )
        for of in all_replays
    ]
    title = "Comparisons of two models that stop when the models differ, as shares of the pairs"
    return Table("stops", title, columns, tuple(rows), n_digits=3)

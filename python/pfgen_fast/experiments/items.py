"""`items`: what does each item of a benchmark say about models, and how many items keep the order of the models?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..files.untrusted_text import counted, few_names, in_one_line
from ..statistics.correlation import MIN_FOR_INTERVAL
from ..statistics.item_subsets import SubsetTest, agreement_of_subsets, telling_order
from ..statistics.items import (
    ALIKE,
    ALIKE_BEYOND_SCORE,
    MAX_ITEMS_OF_PAIRS,
    MIN_ITEMS_OF_GROUPS,
    MIN_OF_GROUP,
    MIN_OF_PAIRS,
    GroupDifferences,
    ItemFigures,
    RedundantPair,
    group_differences,
    item_figures,
    redundant_pairs,
)
from .chart_data import Line, Lines, Points, Scatter
from .finding import Cell, Finding, Picture, Table
from .item_rows import By, ItemRows
from .item_stops import Replays, replay_pair, replay_pairs, table_of

_ALPHA = 0.05
_MAX_ROWS = 1_000  # of tables of pairs and of groups; the strongest ones
_MAX_SHOWN = 500  # items in the readable form of a table
_HARDLY_AGREES = "hardly agrees with the other items"
_WEAK = 0.2  # discrimination below which an item hardly agrees with the others


@dataclass(frozen=True, eq=False)
class ItemAnalysis:
    """The figures of the items of a benchmark, and short lists of its items.

    Properties are computed on first use.
    """

    rows: ItemRows
    by: By = "organisation"  # property of models by which items may differ
    agreement: float = 0.95  # Kendall's correlation with the order of all items that the short list must reach
    keep: int | None = None  # size of the short list; by default it follows from `agreement`
    seed: int = 0
    pair: str | None = None  # two models, separated by a comma, whose comparison is replayed

    def __post_init__(self) -> None:
        if not 0 < self.agreement < 1:
            raise ExperimentError(f"agreement {self.agreement:g}: expected a number between 0 and 1")
        if self.keep is not None and not 0 < self.keep <= self.n_items:
            raise ExperimentError(f"keep {self.keep:,}: expected 1 to {self.n_items:,} items")

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.rows.items)

    @property
    def has_orders(self) -> bool:
        """Whether there are few enough items to compare all pairs of items."""
        return self.n_items <= MAX_ITEMS_OF_PAIRS

    @cached_property
    def figures(self) -> ItemFigures:
        """The figures of each item."""
        return item_figures(self.rows.scores, self.rows.clusters.of)

    @cached_property
    def order(self) -> NDArray[np.int_]:
        """The items, the most telling first; in the order of the source if there are too many."""
        return telling_order(self.rows.scores) if self.has_orders else np.arange(self.n_items)

    @cached_property
    def pairs(self) -> list[RedundantPair]:
        """The redundant pairs."""
        enough = self.has_orders and self.rows.clusters.n >= MIN_OF_PAIRS
        return redundant_pairs(self.rows.scores) if enough else []

    @cached_property
    def test(self) -> SubsetTest | None:
        """The test of short lists; None if there are too few models or too many items."""
        if not self.has_orders or self.rows.clusters.n < MIN_FOR_INTERVAL:
            return None
        return agreement_of_subsets(self.rows.scores, self.rows.clusters.of, seed=self.seed)

    @cached_property
    def replays(self) -> list[Replays]:
        """The replays of comparisons that stop early."""
        return [] if self.test is None or self.rows.has_item_clusters else replay_pairs(self.rows, self.seed)

    @cached_property
    def groups(self) -> tuple[list[str], GroupDifferences] | None:
        """The names of the groups, and their differences on each item; None if not asked for, or with too few items."""
        if self.by == "none" or self.n_items < MIN_ITEMS_OF_GROUPS:
            return None
        of_models, scores = self.rows.one_per_model(self.by)
        names = sorted(set(of_models) - {""})
        numbers = np.array([names.index(name) if name else -1 for name in of_models])
        return names, group_differences(scores, numbers)

    @property
    def n_kept(self) -> int | None:
        """The number of items of the short list; None if there is no test that says it."""
        if self.keep is not None:
            return self.keep if self.has_orders else None
        return None if self.test is None else self.test.smallest(self.agreement)

    @property
    def short_list(self) -> list[str]:
        """The short list, the most telling items first; empty if there is none."""
        return [self.rows.items[item] for item in self.order[: self.n_kept or 0]]

    def list_text(self, n: int | None = None) -> str:
        """The most telling items, one to a line, as `--questions @FILE` reads them; all items by default."""
        what = f"{self.n_items:,} items" if n is None else f"{n:,} of {self.n_items:,} items"
        items = [self.rows.items[item] for item in self.order[:n]]
        return f"# {what}, the most telling item first\n" + "".join(f"{in_one_line(item, 1000)}\n" for item in items)


def items(analysis: ItemAnalysis) -> Finding:
    """Describes what each item says about the models, and how many items keep their order."""
    rows = analysis.rows
    if not np.ptp(rows.scores.mean(axis=1)) > 0:
        raise ExperimentError(f"all {len(rows.names)} models have the same mean score, so items cannot order them")
    tables = [_items_table(analysis)]
    if analysis.pairs:
        tables.append(_pairs_table(analysis))
    if analysis.groups is not None and analysis.groups[1].groups:
        tables.append(_groups_table(analysis, *analysis.groups))
    if analysis.test is not None:
        tables.append(_subset_table(analysis.test))
    if analysis.replays:
        tables.append(table_of(analysis.replays))
    return Finding(
        "items",
        _answer(analysis),
        " ".join(_words(analysis)),
        tuple(tables),
        tuple(_pictures(analysis)),
        (*rows.notes, *_limits(analysis)),
        question="What does each item say about the models, and how many items keep the order of the models?",
        runs=rows.names,
    )


# --- tables


def _items_table(analysis: ItemAnalysis) -> Table:
    of, rows = analysis.figures, analysis.rows
    numbers = zip(
        *(
            map(_number, column)
            for column in (rows.sign * of.means, of.spreads, of.discrimination, of.low, of.high, of.shares)
        ),
        strict=True,
    )
    remarks = _remarks(of)
    found = [(item, *cells, remark) for item, cells, remark in zip(rows.items, numbers, remarks, strict=True)]
    columns = ("item", "mean", "spread", "discrimination", "low", "high", "share of the differences", "remark")
    title = "The items, the most telling items first"
    if analysis.has_orders:
        table = Table(
            "items",
            title,
            ("place", *columns),
            tuple((n + 1, *found[at]) for n, at in enumerate(analysis.order.tolist())),
        )
    else:
        table = Table("items", "The items", columns, tuple(found))
    if len(found) <= _MAX_SHOWN:
        return table
    first = Table(
        "items", f"{table.title} (the first {_MAX_SHOWN} of {len(found):,})", table.columns, table.rows[:_MAX_SHOWN]
    )
    return Table(table.name, table.title, table.columns, table.rows, shown=first)


def _remarks(of: ItemFigures) -> list[str | None]:
    """What makes an item useless, or None."""
    found: list[str | None] = []
    for spread, discrimination, is_low, is_high in zip(
        of.spreads, of.discrimination, of.at_floor, of.at_ceiling, strict=True
    ):
        if is_low or is_high:
            found.append("no model solves it" if is_low else "every model solves it")
        elif spread <= 1e-12:
            found.append("all models have the same score")
        else:
            found.append(_HARDLY_AGREES if discrimination < _WEAK else None)
    return found


def _pairs_table(analysis: ItemAnalysis) -> Table:
    items = analysis.rows.items
    found = [(items[p.first], items[p.second], p.correlation, p.beyond_score) for p in analysis.pairs[:_MAX_ROWS]]
    columns = ("item", "and", "correlation", "given the mean score")
    return Table("redundant", "Pairs of items on which models score alike", columns, tuple(found), n_digits=3)


def _groups_table(analysis: ItemAnalysis, names: list[str], of: GroupDifferences) -> Table:
    places = np.argwhere(of.corrected <= _ALPHA)
    strongest = sorted(places.tolist(), key=lambda at: -abs(of.differences[at[0], at[1]]))[:_MAX_ROWS]
    sign, items = analysis.rows.sign, analysis.rows.items
    rows: list[tuple[Cell, ...]] = []
    for group, item in strongest:
        difference, p, corrected = (
            float(of_all[group, item]) for of_all in (of.differences, of.p_values, of.corrected)
        )
        rows.append((names[of.groups[group]], items[item], sign * difference, p, corrected))
    columns = (analysis.by, "item", "difference", "p-value", "corrected")
    title = f"Items on which models of one {analysis.by} differ from other models with the same mean score"
    return Table("groups", title, columns, tuple(rows))


def _subset_table(test: SubsetTest) -> Table:
    columns = ("items", "Kendall", "of random items", "lowest 5 %", "highest 5 %")
    values = (test.sizes, test.kendalls, test.at_random, test.at_random_low, test.at_random_high)
    rows = tuple(zip(*(column.tolist() for column in values), strict=True))
    title = "Agreement of the order by some items with the order by all items, on models that did not choose the items"
    return Table("subset", title, columns, rows, n_digits=3)


def _number(value: float) -> Cell:
    return None if np.isnan(value) else float(value)


# --- pictures


def _pictures(analysis: ItemAnalysis) -> list[Picture]:
    of, rows, test = analysis.figures, analysis.rows, analysis.test
    known = np.flatnonzero(~np.isnan(of.discrimination))[:_MAX_SHOWN]
    labels = tuple(in_one_line(rows.items[item], 40) for item in known)
    mean = "mean score" if rows.sign > 0 else "mean score (lower is better)"
    points = Points(rows.sign * of.means[known], of.discrimination[known], mean, "discrimination", labels=labels)
    pictures = [Picture("items", "Mean score and discrimination of each item", Scatter((points,)))]
    if test is not None:
        sizes = test.sizes.astype(np.float64)
        lines = (
            Line("chosen", sizes, test.kendalls),
            Line("random (5 % to 95 %)", sizes, test.at_random, test.at_random_low, test.at_random_high),
        )
        title = "Agreement with the order by all items, on models that did not choose the items"
        pictures.append(Picture("subset", title, Lines(lines, "number of items", "Kendall", analysis.agreement)))
    return pictures


# --- words


def _answer(analysis: ItemAnalysis) -> str:
    remarks = [remark for remark in _remarks(analysis.figures) if remark is not None]
    n_weak = remarks.count(_HARDLY_AGREES)
    useless = f"each of the {analysis.n_items:,} items agrees with the other items"
    if remarks:
        useless = (
            f"of {analysis.n_items:,} items, {len(remarks) - n_weak:,} cannot distinguish the models, and {n_weak:,} "
            f"hardly agree with the other items (correlation below {_WEAK:g})"
        )
    test, n = analysis.test, analysis.n_kept
    if test is None or n is None:
        return f"{useless[0].upper()}{useless[1:]}."
    if analysis.keep is not None:
        at = int(np.searchsorted(test.sizes, n))
        kept = f"The {n:,} most telling of {analysis.n_items:,} items"
        size = int(test.sizes[min(at, len(test.sizes) - 1)])
        about = "" if size == n else f" ({size:,} items were tested)"
        order = f"{kept} keep the order of other models by Kendall {test.kendalls[test.sizes == size][0]:.3f}{about}"
    else:
        order = (
            f"{n:,} of {analysis.n_items:,} items keep the order of models that did not choose them (Kendall "
            f"{analysis.agreement:g} or more), and {test.smallest(analysis.agreement, at_random=True):,} random items "
            "do so on average"
        )
    return f"{order}; {useless}."


def _words(analysis: ItemAnalysis) -> list[str]:
    rows, of = analysis.rows, analysis.figures
    words = [
        f"{rows.clusters.counted('models' if rows.names == rows.models else 'runs')} on {analysis.n_items:,} items."
    ]
    known = np.flatnonzero(~np.isnan(of.discrimination))
    if len(known):
        weakest = known[np.argsort(of.discrimination[known], kind="stable")[:3]]
        listed = ", ".join(f"{in_one_line(rows.items[item], 60)} ({of.discrimination[item]:.2f})" for item in weakest)
        words.append(
            f"The median item correlates by {np.median(of.discrimination[known]):.2f} with the mean of the other "
            f"items; the lowest correlations are {listed}."
        )
    for is_there, what in ((of.at_floor, "No model solves"), (of.at_ceiling, "Every model solves")):
        if is_there.any():
            words.append(f"{what} {few_names([rows.items[item] for item in np.flatnonzero(is_there)])}.")
    words += _words_on_pairs(analysis)
    words += _words_on_groups(analysis)
    if analysis.test is not None:
        words.append(
            f"In {analysis.test.n_splits} random splits, each of {analysis.test.n_folds} parts of the models tests "
            f"lists that the other parts chose, on {analysis.test.n_pairs:,} pairs of models in total."
        )
    words += _words_on_stops(analysis)
    if analysis.pair is not None and analysis.has_orders and not rows.has_item_clusters:
        words.append(replay_pair(rows, analysis.pair)[0])
    return words


def _words_on_pairs(analysis: ItemAnalysis) -> list[str]:
    if not analysis.pairs:
        return []
    items, most = analysis.rows.items, analysis.pairs[0]
    return [
        f"{counted(len(analysis.pairs), 'pair')} of items are redundant: their scores correlate by at least {ALIKE:g}, "
        f"and by at least {ALIKE_BEYOND_SCORE:g} for models with the same mean score; the most alike are "
        f"{in_one_line(items[most.first], 60)} and {in_one_line(items[most.second], 60)} ({most.correlation:.3f})."
    ]


def _words_on_groups(analysis: ItemAnalysis) -> list[str]:
    if analysis.groups is None or not analysis.groups[1].groups:
        return []
    names, of = analysis.groups
    differs = of.corrected <= _ALPHA
    by_group = sorted(zip(differs.sum(axis=1).tolist(), of.groups, strict=True), key=lambda pair: (-pair[0], pair[1]))
    largest = ", ".join(f"{in_one_line(names[group], 40)} ({n})" for n, group in by_group[:3] if n)
    return [
        f"{counted(len(of.groups), analysis.by)} with enough models: compared with the other models at the same mean "
        f"score, {int(differs.sum()):,} of {differs.size:,} differences on an item are significant at the level "
        f"{_ALPHA:g} (corrected by Benjamini and Hochberg)" + (f", most of them of {largest}." if largest else ".")
    ]


def _words_on_stops(analysis: ItemAnalysis) -> list[str]:
    if not analysis.replays:
        return []
    telling, at_random = analysis.replays
    return [
        f"Comparisons of {len(telling.replays):,} pairs of models, each stopped as soon as the models differ, would "
        f"have needed {telling.mean_items:.1f} of {telling.n_items:,} items on average with the most telling items "
        f"first, and {at_random.mean_items:.1f} in random order; they decide {telling.decided:.1%} and "
        f"{at_random.decided:.1%} of the pairs, and the test on all items decides {telling.decided_by_all:.1%}."
    ]


def _limits(analysis: ItemAnalysis) -> list[str]:
    rows = analysis.rows
    clusters = rows.clusters
    of = f"{clusters.n:,} {clusters.what('models')}"
    notes = []
    if not analysis.has_orders:
        notes.append(
            f"{analysis.n_items:,} items are too many to compare their pairs (at most {MAX_ITEMS_OF_PAIRS:,}): there "
            "is no order of the items, no short list, no comparison that stops early, and no search for redundant pairs"
        )
    elif clusters.n < MIN_FOR_INTERVAL:
        notes.append(
            f"{of}: short lists and early stops are not tested, and correlations have no intervals, with fewer than "
            f"{MIN_FOR_INTERVAL}"
        )
    elif clusters.n < MIN_OF_PAIRS:
        notes.append(f"{of}: redundant pairs are not searched for with fewer than {MIN_OF_PAIRS}")
    if rows.has_item_clusters:
        notes.append(
            "items are in clusters, so comparisons that stop early are not replayed: they need independent items"
        )
    if analysis.by != "none" and analysis.groups is None:
        notes.append(
            f"{analysis.n_items} items: groups of models are not compared on items with fewer than "
            f"{MIN_ITEMS_OF_GROUPS}, because the mean score then tells too little about a model"
        )
    if analysis.groups is not None:
        names, found = analysis.groups
        if found.groups:
            notes.append(
                f"models of one {analysis.by} count as independent: if they are related, such as fine-tuned models "
                "of one base model, too many differences on items are significant"
            )
        small = [name for number, name in enumerate(names) if number not in found.groups]
        if not names:
            notes.append(f"no {analysis.by} of the models is known, so no groups are compared")
        elif small:
            notes.append(
                f"{len(small):,} of {counted(len(names), analysis.by)} are not compared: expected at least "
                f"{MIN_OF_GROUP} models in a group, and as many outside it"
            )
    return notes

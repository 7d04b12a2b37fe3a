"""The results of a test of an evaluator, as data; `pfgen_fast.report` turns them into text, pictures and files.

A table is a sequence of rows, which are mappings from the names of columns to values. An undefined value is None, never
NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...base.arrays import Bools, Floats
from ..evaluators.evaluator import Metric
from ..statistics.discernment_scores import DiscernmentScores
from .discernment_items import Collection
from .discernment_plan import Plan

TableRow = dict[str, Any]
Rows = tuple[TableRow, ...]
"""The rows of a table, by the names of its columns."""


@dataclass(frozen=True, eq=False)
class Scored:
    """All scores of a test: matrices of metrics × items, for each perturbation in the order of the plan."""

    evaluator: str
    signature: str
    metrics: tuple[Metric, ...]
    collection: Collection
    plan: Plan
    seed: int  # seed of the random choices
    originals: Floats  # metrics × items; NaN if a score is missing
    damaged: Floats  # perturbations × metrics × items; NaN if the damage is impossible or the score is missing
    is_possible: Bools  # perturbations × items
    # perturbations × items: whether the text differs from that of the next lower degree, or from the original; False if
    # impossible
    differs_from_lower: Bools
    # most common reason why each perturbation is impossible for an item; None if it is possible for all items
    reasons: tuple[str | None, ...] = ()
    notes: tuple[str, ...] = ()  # notes of the evaluator for readers, one sentence each
    examples: tuple[Example, ...] = ()  # largest and smallest drop of each cell
    # texts that a model made: by name of the perturbation, in the order of the items' IDs
    model_texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    @property
    def n_texts(self) -> int:
        """The number of damaged texts."""
        return int(self.is_possible.sum())

    @property
    def n_missing(self) -> int:
        """The number of missing scores of originals and damaged texts."""
        is_missing = np.isnan(self.damaged) & self.is_possible[:, None]
        return int(np.isnan(self.originals).sum() + is_missing.sum())


@dataclass(frozen=True)
class Example:
    """An item whose score fell most, or least, in one cell."""

    perturbation: str  # name of the perturbation
    metric: str
    which: str  # `largest` or `smallest` drop of the cell
    item: str  # ID of the item
    original: str
    damaged: str
    original_score: float
    damaged_score: float  # score of the damaged text


@dataclass(frozen=True, eq=False)
class Curve:
    """How the scores of one metric change with the degree of one kind, over the items that have all its degrees."""

    task: str  # task of the items
    kind: str
    metric: str
    permille: Floats  # degrees, beginning with 0 for the originals; 0, 1, 2, ... if degrees are not rates
    names: tuple[str, ...]  # names of the degrees; the first is `original`
    mean: Floats  # mean score at each degree
    mean_low: Floats  # lower end of its 95 % interval; NaN with one question
    mean_high: Floats
    n_items: int  # number of items that have all degrees


@dataclass(frozen=True, eq=False)
class Discernment:
    """How well an evaluator notices graded damage.

    Attributes:
        scored: The scores that everything is computed from.
        signature: Everything that the figures depend on.
        cells: A row for each perturbation and metric, with the columns of `CELL_COLUMNS`.
        perturbations: A row for each perturbation, its metrics combined, with the columns of `PERTURBATION_COLUMNS`.
        summary: Averages and minima, with the columns of `SUMMARY_COLUMNS`.
        profile: A row for each kind and metric, with the columns of `PROFILE_COLUMNS`.
        curves: The curve of each kind with more than one degree, by metric.
        weights: The weights that were used (`assumed`, or the name of a file); None if no weights were used.
        scores: By task and score (such as `d`), the scores of the perturbations with their intervals.
        notes: Notes for readers, one sentence each.
        warnings: Reasons why the figures may mislead, one sentence each.
    """

    scored: Scored
    signature: str
    cells: Rows
    perturbations: Rows
    summary: Rows
    profile: Rows
    curves: tuple[Curve, ...]
    weights: str | None = None
    scores: Mapping[str, Mapping[str, DiscernmentScores]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


CELL_COLUMNS = (
    *("evaluator", "task", "level", "kind", "degree", "permille", "k", "metric"),
    *("n_items", "n_impossible", "n_missing", "n_zero", "n", "share_lower", "share_equal", "share_higher"),
    *("mean_original", "mean_perturbed", "mean_drop", "drop_low", "drop_high", "rank_biserial", "r_plus", "z", "log_p"),
    *("d", "d_low", "d_high", "ceiling_d", "exact_d", "reverse_d", "few", "noticed"),
)
PERTURBATION_COLUMNS = (
    *("evaluator", "task", "level", "kind", "degree", "permille", "k", "method", "n_items", "n_impossible", "reason"),
    *("n_changed", "log_p", "d", "d_low", "d_high", "printed_d", "weighted_d", "calibrated_d", "noticed"),
)
"""`n_changed` is the number of items whose text differs from the text of the next lower degree."""
SUMMARY_COLUMNS = (
    *("evaluator", "task", "score", "scope", "n_perturbations", "n_defined"),
    *("average", "average_low", "average_high", "minimum", "minimum_at"),
)
"""`score` is `d`, `printed_d` or `weighted_d`; `scope` is `all`, `level:word` or `degree:30`."""
COMMON_COLUMNS = (
    *("evaluator", "task", "score", "n_own", "n_common"),
    *("average", "average_low", "average_high", "minimum", "minimum_at"),
)
"""Averages on the perturbations that all compared evaluators have. `score` is `d` or `weighted_d`. `n_own` is the
number of perturbations for which the evaluator has the score, and `n_common` the number of these that all have."""
PROFILE_COLUMNS = ("evaluator", "task", "level", "kind", "metric", "noticed_from", "verdict")
"""`noticed_from` is the name of the lightest degree from which on all degrees are noticed; None if there is none.
`verdict` is `notices`, `needs much`, `rewards`, `not noticed`, or None if no cell is defined."""


def with_columns(names: Iterable[str], rows: Iterable[TableRow]) -> Rows:
    """The rows with some of their columns."""
    return tuple({name: row[name] for name in names} for row in rows)


def number(value: float) -> float | None:
    """A float for a table; None instead of NaN, and 0 instead of -0."""
    return None if math.isnan(value) else float(value) + 0.0


def whole(value: float) -> int | None:
    """A whole number for a table; None instead of NaN or infinity."""
    return int(value) if math.isfinite(value) else None

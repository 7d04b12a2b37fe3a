"""The cells of a test: for each perturbation and metric, how consistently and how far the scores fell.

A cell is undefined if it has too few items or too many missing scores. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..evaluators.evaluator import Floats
from ..statistics.detectability import change_interval, is_noticed, n80
from ..statistics.discernment_scores import FEW
from ..statistics.mean_interval import ROUNDING
from ..statistics.paired import cluster_codes, corrected
from ..statistics.signed_rank import Zeros, signed_rank
from .result import TableRow, number, whole
from .task_scores import Drawn, TaskScores, drawn_from, interval_of

MISSING_AT_MOST = 0.2
"""The share of missing scores above which a cell is undefined."""

SIGNIFICANT = 0.05

_OF_MARGIN = ("drop_low", "drop_high", "missed_at_most")
_COUNTS = ("n_pairs", "n_zero", "n")
_TESTED = (
    *("share_lower", "share_equal", "share_higher", "mean_drop", "rank_biserial", "r_plus", "z", "log_p"),
    *("d", "ceiling_d", "exact_d", "reverse_d"),
)


@dataclass(frozen=True, eq=False)
class TaskCells:
    """The cells of one task; each figure is a matrix of perturbations × metrics."""

    scores: TaskScores
    drawn: Drawn | None  # the cells of bootstrap draws
    figures: Mapping[str, Floats]  # figures by their names in `CELL_COLUMNS`; NaN if undefined
    is_defined: NDArray[np.bool_]  # whether the cell is defined
    has_items: NDArray[np.bool_]  # whether each perturbation is possible for enough items
    margin: float | None = None  # margin in standard deviations of the originals' scores; None for no test of it

    @property
    def few(self) -> NDArray[np.bool_]:
        """Whether the scores of too few items differ for a meaningful test."""
        return self.is_defined & (self.figures["n"] < FEW)

    @property
    def noticed(self) -> NDArray[np.bool_]:
        """Whether the damage is noticed."""
        return self.is_defined & is_noticed(self.figures["d"], self.figures["n"])

    @property
    def rewarded(self) -> NDArray[np.bool_]:
        """Whether the damage is rewarded: scores rise as consistently as they fall for noticed damage."""
        return self.is_defined & is_noticed(self.figures["reverse_d"], self.figures["n"])

    @property
    def missed_at_most(self) -> Floats:
        """How far each mean score may change, in standard deviations of the originals' scores; NaN without a margin."""
        return self.figures.get("missed_at_most", np.full(self.is_defined.shape, np.nan))

    @property
    def equivalent(self) -> NDArray[np.bool_]:
        """Whether the mean score changes by less than the margin, up or down; False without a margin."""
        return self.is_defined & (self.missed_at_most < (self.margin or 0))


def check_margin(margin: float | None) -> None:
    """Raises DiscernmentError unless a margin is a finite number above 0."""
    if margin is not None and not 0 < margin < math.inf:
        raise DiscernmentError(f"margin {margin:g}: expected a number above 0, in standard deviations of the originals")


def cells_of(
    scores: TaskScores, *, zeros: Zeros, min_items: int, draws: int, seed: int, margin: float | None = None
) -> TaskCells:
    """Tests each cell of a task, with all items and in bootstrap draws of them."""
    chunks = [_figures(scores, chunk, zeros) for chunk in scores.chunks()]
    figures = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
    n_items = scores.n_possible[:, None]
    figures["n_missing"] = n_items - figures.pop("n_pairs")
    has_items = n_items >= min_items
    is_defined = has_items & (figures["n_missing"] <= MISSING_AT_MOST * n_items)
    drawn = drawn_from(scores, draws=draws, zeros=zeros, seed=seed) if draws else None
    if drawn is not None:
        figures["d_low"], figures["d_high"] = interval_of(drawn.d, figures["d"])
    if margin is not None:
        figures |= zip(_OF_MARGIN, _changes(scores), strict=True)
    for name, matrix in figures.items():
        if name not in ("n_missing", *_COUNTS):
            figures[name] = np.where(is_defined, matrix, np.nan)
    return TaskCells(scores, drawn, figures, is_defined, has_items[:, 0], margin)


def _changes(scores: TaskScores) -> tuple[Floats, Floats, Floats]:
    """The 90 % interval of each mean drop, and how far the mean may change, in deviations of the originals' scores."""
    known = [original[~np.isnan(original)] for original in scores.originals]
    spread = np.array([of.std(ddof=1) if np.ptp(of) > ROUNDING * np.abs(of).max() else 0.0 for of in known])
    # A rare change may be as large as any change, or as the difference of two originals.
    largest = np.array([np.ptp(of) for of in known])
    for chunk in scores.chunks():
        changes = np.abs(np.nan_to_num(scores.originals - scores.damaged(chunk)))
        largest = np.maximum(largest, changes.max(axis=(0, 2), initial=0))
    codes = cluster_codes(scores.groups) if len(set(scores.groups)) < scores.n_items else None
    found = np.empty((2, len(scores.perturbed), len(scores.metrics)))
    for chunk in scores.chunks():
        damaged = scores.damaged(chunk)
        for j, original in enumerate(scores.originals):
            found[:, chunk, j] = change_interval(original, damaged[:, j], largest=largest[j], clusters=codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_most = np.where(spread > 0, np.abs(found).max(axis=0) / spread, np.nan)
    return found[0], found[1], at_most


def _figures(scores: TaskScores, chunk: slice, zeros: Zeros) -> dict[str, Floats]:
    damaged = scores.damaged(chunk)
    n_perturbations, n_metrics, n_items = damaged.shape
    originals = np.broadcast_to(scores.originals, damaged.shape)
    tested = signed_rank(originals.reshape(-1, n_items), damaged.reshape(-1, n_items), zeros=zeros)
    shape = (n_perturbations, n_metrics)
    found = {name: np.asarray(getattr(tested, name), np.float64).reshape(shape) for name in (*_COUNTS, *_TESTED)}
    columns = (found[name].ravel().tolist() for name in ("rank_biserial", "n", "n_pairs"))
    needed = [n80(effect, int(n), int(n_pairs)) for effect, n, n_pairs in zip(*columns, strict=True)]
    found["n80"] = np.array([np.nan if n is None else n for n in needed]).reshape(shape)
    is_missing = np.isnan(damaged) | np.isnan(originals)
    n_pairs = np.maximum(1, found["n_pairs"])
    for name, values in (("mean_original", originals), ("mean_perturbed", damaged)):
        # + 0.0, because a mean of 0 times -1 is -0.0.
        found[name] = np.where(is_missing, 0.0, values).sum(axis=2) / n_pairs * scores.signs + 0.0
    return found


def cell_rows(evaluator: str, tasks: Sequence[TaskCells]) -> list[TableRow]:
    """The rows of all cells, by task, in the order of the plan."""
    rows = [row for task in tasks for row in _rows_of(evaluator, task)]
    tested = [row for row in rows if row["log_p"] is not None]
    if tested:
        p_values = corrected(np.exp([row["log_p"] for row in tested]), "bh")
        for row, p_value in zip(tested, p_values, strict=True):
            row["significant_bh"] = bool(p_value <= SIGNIFICANT)
    return rows


def _rows_of(evaluator: str, task: TaskCells) -> Iterator[TableRow]:
    verdicts = {"few": task.few, "noticed": task.noticed}
    for i in range(len(task.scores.perturbed)):
        for j, metric in enumerate(task.scores.metrics):
            is_defined = bool(task.is_defined[i, j])
            yield {
                **task.scores.described(evaluator, i),
                "metric": metric.name,
                **dict.fromkeys(("d_low", "d_high", *_OF_MARGIN)),
                **{name: number(matrix[i, j]) for name, matrix in task.figures.items()},
                **{name: whole(task.figures[name][i, j]) for name in ("n_missing", "n_zero", "n", "n80")},
                **{name: bool(matrix[i, j]) if is_defined else None for name, matrix in verdicts.items()},
                "equivalent": bool(task.equivalent[i, j]) if is_defined and task.margin is not None else None,
                "significant_bh": None,
            }


def control_rows(cells: Sequence[TableRow]) -> Iterator[TableRow]:
    """Selects the rows of controls (changes that should not matter) from the rows of all cells."""
    least: dict[tuple[str, str], float] = {}  # smallest mean drop of noticed damage
    for row in cells:
        if row["level"] != "control" and row["noticed"] and row["mean_drop"] > 0:
            key = (row["task"], row["metric"])
            least[key] = min(row["mean_drop"], least.get(key, math.inf))
    for row in cells:
        if row["level"] == "control":
            drop, lightest = row["mean_drop"], least.get((row["task"], row["metric"]))
            yield {**row, "relative_drop": None if drop is None or lightest is None else number(drop / lightest)}


def specificity(cells: Sequence[TableRow]) -> dict[str, float | None]:
    """By metric, the share of the controls that are not noticed, over all tasks; None without controls."""
    quiet: dict[str, list[bool]] = {row["metric"]: [] for row in cells}
    for row in cells:
        if row["level"] == "control" and row["noticed"] is not None:
            quiet[row["metric"]].append(not row["noticed"])
    return {metric: sum(found) / len(found) if found else None for metric, found in quiet.items()}

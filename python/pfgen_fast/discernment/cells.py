"""The cells of a test: for each perturbation and metric, how consistently and how far the scores fell.

A cell is undefined with too few items, or with too many missing scores. Rules: docs/discernment.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats, Metric
from ..statistics.detectability import is_noticed, n80
from ..statistics.discernment_scores import FEW
from ..statistics.paired import corrected
from ..statistics.signed_rank import Zeros, signed_rank
from .plan import Perturbation
from .result import Cell, described, number, whole
from .task_scores import Interval, TaskScores

MISSING_AT_MOST = 0.2
"""The share of missing scores above which a cell is undefined."""

SIGNIFICANT = 0.05

_TESTED = (
    *("share_lower", "share_equal", "share_higher", "mean_drop", "rank_biserial", "r_plus", "z", "log_p"),
    *("d", "ceiling_d", "exact_d", "reverse_d", "n80"),
)
_COUNTED = ("n_pairs", "n_zero", "n")

_FIGURES = ("d", "reverse_d", "mean_drop", "share_lower")


@dataclass(frozen=True, eq=False)
class TaskCells:
    """The cells of one task, each figure as a matrix of perturbations × metrics."""

    task: str
    perturbations: tuple[Perturbation, ...]
    metrics: tuple[Metric, ...]
    n_items: NDArray[np.intp]  # by perturbation, for how many items it is possible
    n_impossible: NDArray[np.intp]  # by perturbation, for how many items it is not
    figures: Mapping[str, Floats]  # figures by their names in `CELL_COLUMNS`; NaN where undefined
    is_defined: NDArray[np.bool_]  # whether there is a test
    lacks_scores: NDArray[np.bool_]  # whether a cell is undefined because too many scores are missing

    @property
    def few(self) -> NDArray[np.bool_]:
        """Whether too few items' scores differ for the test to mean anything."""
        return self.is_defined & (self.figures["n"] < FEW)

    @property
    def noticed(self) -> NDArray[np.bool_]:
        """Whether the damage is noticed."""
        return self.is_defined & is_noticed(self.figures["d"], self.figures["n"])

    @property
    def rewarded(self) -> NDArray[np.bool_]:
        """Whether the damage is rewarded: scores rise as consistently as they fall where damage is noticed."""
        return self.is_defined & is_noticed(self.figures["reverse_d"], self.figures["n"])


def cells_of(scores: TaskScores, *, min_items: int, zeros: Zeros) -> TaskCells:
    """Tests each cell of a task."""
    n_items = scores.is_possible().sum(axis=1)
    chunks = [_figures(scores, chunk, zeros) for chunk in scores.chunks()]
    shape = (len(scores.perturbed), len(scores.metrics))
    names = chunks[0].keys() if chunks else (*_COUNTED, *_TESTED, "mean_original", "mean_perturbed")
    figures = {name: np.concatenate([chunk[name] for chunk in chunks] or [np.empty(shape)]) for name in names}
    figures["n_missing"] = n_items[:, None] - figures["n_pairs"]
    lacks_scores = figures["n_missing"] > MISSING_AT_MOST * n_items[:, None]
    is_defined = ~lacks_scores & (n_items[:, None] >= min_items)
    for name in (*_TESTED, "mean_original", "mean_perturbed"):
        figures[name] = np.where(is_defined, figures[name], np.nan)
    return TaskCells(
        scores.task,
        scores.perturbations,
        scores.metrics,
        n_items,
        scores.n_items - n_items,
        figures,
        is_defined,
        lacks_scores & (n_items[:, None] >= min_items),
    )


def cell_rows(
    evaluator: str, tasks: Sequence[TaskCells], intervals: Sequence[Interval | None]
) -> Iterator[dict[str, Cell]]:
    """The rows of all cells, by task, in the order of the plan."""
    significant = _significant(tasks)
    for task, interval, is_significant in zip(tasks, intervals, significant, strict=True):
        for i, perturbation in enumerate(task.perturbations):
            for j, metric in enumerate(task.metrics):
                yield {
                    **described(evaluator, task.task, perturbation),
                    "metric": metric.name,
                    "n_items": int(task.n_items[i]),
                    "n_impossible": int(task.n_impossible[i]),
                    **{name: int(task.figures[name][i, j]) for name in ("n_missing", "n_zero", "n")},
                    **{name: number(task.figures[name][i, j]) for name in _TESTED if name != "n80"},
                    **{name: number(task.figures[name][i, j]) for name in ("mean_original", "mean_perturbed")},
                    "n80": whole(task.figures["n80"][i, j]),
                    "d_low": None if interval is None else number(interval.low[i, j]),
                    "d_high": None if interval is None else number(interval.high[i, j]),
                    **_verdicts(task, i, j, is_significant),
                }


def _items_needed(found: Mapping[str, Floats]) -> Floats:
    """`n80` of each cell; NaN where no number of items would do."""
    columns = (found[name].ravel().tolist() for name in ("rank_biserial", "n", "n_pairs"))
    needed = [n80(effect, int(n), int(n_pairs)) for effect, n, n_pairs in zip(*columns, strict=True)]
    return np.array([np.nan if n is None else n for n in needed]).reshape(found["n"].shape)


def _verdicts(task: TaskCells, i: int, j: int, is_significant: NDArray[np.bool_]) -> dict[str, Cell]:
    if not task.is_defined[i, j]:
        return dict.fromkeys(("few", "noticed", "significant_bh"))
    named = {"few": task.few, "noticed": task.noticed, "significant_bh": is_significant}
    return {name: bool(matrix[i, j]) for name, matrix in named.items()}


def _significant(tasks: Sequence[TaskCells]) -> list[NDArray[np.bool_]]:
    """By task, whether each cell is significant after the correction for all cells of the evaluator."""
    p_values = np.concatenate([np.exp(task.figures["log_p"][task.is_defined]) for task in tasks])
    is_significant = corrected(p_values, "bh") <= SIGNIFICANT if p_values.size else np.zeros(0, dtype=np.bool_)
    found, begin = [], 0
    for task in tasks:
        matrix = np.zeros(task.is_defined.shape, dtype=np.bool_)
        n = int(task.is_defined.sum())
        matrix[task.is_defined] = is_significant[begin : begin + n]
        found.append(matrix)
        begin += n
    return found


def _figures(scores: TaskScores, chunk: slice, zeros: Zeros) -> dict[str, Floats]:
    damaged = scores.damaged(chunk)
    n_perturbations, n_metrics, n_items = damaged.shape
    originals = np.broadcast_to(scores.originals, damaged.shape)
    tested = signed_rank(originals.reshape(-1, n_items), damaged.reshape(-1, n_items), zeros=zeros)
    shape = (n_perturbations, n_metrics)
    found = {
        name: np.asarray(getattr(tested, name), np.float64).reshape(shape)
        for name in (*_COUNTED, *_TESTED)
        if name != "n80"
    }
    found["n80"] = _items_needed(found)
    is_missing = np.isnan(damaged) | np.isnan(originals)
    n_pairs = np.maximum(1, found["n_pairs"])
    for name, values in (("mean_original", originals), ("mean_perturbed", damaged)):
        # + 0.0: a turned mean of 0 is -0.0.
        found[name] = np.where(is_missing, 0.0, values).sum(axis=2) / n_pairs * scores.signs + 0.0
    return found


def control_rows(
    evaluator: str, tasks: Sequence[TaskCells], intervals: Sequence[Interval | None]
) -> Iterator[dict[str, Cell]]:
    """The rows of controls, changes that should not matter, by task, in the order of the plan."""
    for task, interval in zip(tasks, intervals, strict=True):
        lightest = [_lightest_drop(task, j) for j in range(len(task.metrics))]
        for i, perturbation in enumerate(task.perturbations):
            if not perturbation.is_control:
                continue
            for j, metric in enumerate(task.metrics):
                yield {
                    **described(evaluator, task.task, perturbation),
                    "metric": metric.name,
                    "n_items": int(task.n_items[i]),
                    "n_impossible": int(task.n_impossible[i]),
                    **{name: number(task.figures[name][i, j]) for name in _FIGURES},
                    "d_low": None if interval is None else number(interval.low[i, j]),
                    "d_high": None if interval is None else number(interval.high[i, j]),
                    "relative_drop": number(task.figures["mean_drop"][i, j] / lightest[j]),
                    "noticed": bool(task.noticed[i, j]) if task.is_defined[i, j] else None,
                }


def _lightest_drop(task: TaskCells, metric: int) -> float:
    """The smallest mean drop of any damage that is noticed; NaN if none is."""
    is_damage = np.array([not perturbation.is_control for perturbation in task.perturbations], dtype=np.bool_)
    drops = task.figures["mean_drop"][:, metric]
    drops = drops[is_damage & task.noticed[:, metric] & (drops > 0)]
    return float(drops.min()) if drops.size else float("nan")


def specificity(tasks: Sequence[TaskCells]) -> dict[str, float | None]:
    """By metric, the share of the controls that are not noticed, over all tasks; None if there is no control."""
    n_quiet: dict[str, int] = {}
    n_defined: dict[str, int] = {}
    for task in tasks:
        is_control = np.array([perturbation.is_control for perturbation in task.perturbations], dtype=np.bool_)
        for j, metric in enumerate(task.metrics):
            counted = is_control & task.is_defined[:, j]
            n_defined[metric.name] = n_defined.get(metric.name, 0) + int(counted.sum())
            n_quiet[metric.name] = n_quiet.get(metric.name, 0) + int((counted & ~task.noticed[:, j]).sum())
    return {name: n_quiet[name] / n if n else None for name, n in n_defined.items()}

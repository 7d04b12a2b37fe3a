"""The cells of a test: for each perturbation and metric, how consistently and how far the scores fell.

A cell is undefined if it has too few items or too many missing scores. Rules: docs/discernment_rules.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Bools, Floats
from ...base.errors import DiscernmentError
from ...base.mean_interval import ROUNDING
from ...runs.statistics.paired_tests import of_stratum
from ..evaluators.evaluator import Metric
from ..statistics.detectability import change_interval, is_noticed, monotonicity, n80, noticed_from, noticed_from_with
from ..statistics.discernment_scores import FEW, RankIntervals, rank_intervals
from ..statistics.signed_rank import Zeros, differences_on_grid, discernment_score, signed_rank
from .discernment_plan import Perturbation
from .discernment_result import PROFILE_COLUMNS, Curve, Scored, TableRow, number, whole
from .discernment_scoring import rows_of_tasks

MISSING_AT_MOST = 0.2
"""The share of missing scores above which a cell is undefined."""

SIGNIFICANT = 0.05

UNNOTICED = "none"
"""Stands for the degree from which on damage is noticed, if there is no such degree."""

NUMBERS_OF_ITEMS = (100, 20)
"""The numbers of items for which the profile has the degree from which on damage is noticed."""

_COUNTS = ("n_pairs", "n_zero", "n", "units")
_TESTED = (
    *("share_lower", "share_equal", "share_higher", "mean_drop", "rank_biserial", "r_plus", "z", "log_p"),
    *("d", "ceiling_d", "exact_d", "reverse_d", "inflation"),
)


@dataclass(frozen=True, eq=False)
class TaskCells:
    """The cells of one task; each figure is a matrix of perturbations × metrics."""

    scores: TaskScores
    intervals: RankIntervals  # perturbations × metrics, and × questions
    figures: Mapping[str, Floats]  # figures by their names in `CELL_COLUMNS`; NaN if undefined
    is_defined: NDArray[np.bool_]  # whether the cell is defined
    has_items: NDArray[np.bool_]  # whether each perturbation is possible for enough items
    margin: float | None = None  # margin in standard deviations of the originals' scores; None for no test of it

    @property
    def few(self) -> NDArray[np.bool_]:
        """Whether the scores of too few items differ for a meaningful test."""
        return self.is_defined & (self.figures["units"] < FEW)

    @property
    def noticed(self) -> NDArray[np.bool_]:
        """Whether the damage is noticed."""
        return self.is_defined & is_noticed(self.figures["d"], self.figures["units"])

    @property
    def rewarded(self) -> NDArray[np.bool_]:
        """Whether the damage is rewarded: scores rise as consistently as they fall for noticed damage."""
        return self.is_defined & is_noticed(self.figures["reverse_d"], self.figures["units"])

    @property
    def equivalent(self) -> NDArray[np.bool_]:
        """Whether the mean score changes by less than the margin, up or down; False without a margin."""
        return self.is_defined & (self.figures["missed_at_most"] < (self.margin or 0))


def check_margin(margin: float | None) -> None:
    """Raises DiscernmentError unless a margin is a finite number above 0."""
    if margin is not None and not 0 < margin < math.inf:
        raise DiscernmentError(f"margin {margin:g}: expected a number above 0, in standard deviations of the originals")


def cells_of(scores: TaskScores, *, zeros: Zeros, min_items: int, margin: float | None = None) -> TaskCells:
    """Tests each cell of a task."""
    # A rare change may be as large as any change, or as the difference of two originals.
    largest = np.nanmax(scores.originals, axis=1) - np.nanmin(scores.originals, axis=1)
    for chunk in scores.chunks():
        changes = np.abs(np.nan_to_num(scores.originals - scores.damaged(chunk)))
        largest = np.maximum(largest, changes.max(axis=(0, 2), initial=0))
    chunks, parts = zip(*(_figures(scores, chunk, zeros, largest, margin) for chunk in scores.chunks()), strict=True)
    figures = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
    n_items = scores.n_possible[:, None]
    figures["n_missing"] = n_items - figures.pop("n_pairs")
    has_items = n_items >= min_items
    is_defined = has_items & (figures["n_missing"] <= MISSING_AT_MOST * n_items)
    for name, matrix in figures.items():
        if name not in ("n_missing", *_COUNTS):
            figures[name] = np.where(is_defined, matrix, np.nan)
    intervals = RankIntervals(*map(np.concatenate, zip(*parts, strict=True)))
    return TaskCells(scores, intervals, figures, is_defined, has_items[:, 0], margin)


def _figures(
    scores: TaskScores, chunk: slice, zeros: Zeros, largest: Floats, margin: float | None
) -> tuple[dict[str, Floats], RankIntervals]:
    damaged = scores.damaged(chunk)
    n_perturbations, n_metrics, n_items = damaged.shape
    originals = np.broadcast_to(scores.originals, damaged.shape)
    pairs = originals.reshape(-1, n_items), damaged.reshape(-1, n_items)
    tested = signed_rank(*pairs, zeros=zeros, clusters=scores.codes)
    shape = (n_perturbations, n_metrics)
    figures = {name: np.asarray(getattr(tested, name), np.float64).reshape(shape) for name in (*_COUNTS, *_TESTED)}
    intervals = rank_intervals(*pairs, tested, scores.codes)
    intervals = RankIntervals(*(part.reshape(*shape, *part.shape[1:]) for part in intervals))
    figures["d_low"], figures["d_high"] = map(discernment_score, (intervals.log_p_high, intervals.log_p_low))
    columns = (figures[name].ravel().tolist() for name in ("rank_biserial", "n", "n_pairs", "inflation"))
    needed = [n80(effect, int(n), int(n_pairs), more) for effect, n, n_pairs, more in zip(*columns, strict=True)]
    figures["n80"] = np.array([np.nan if n is None else n for n in needed]).reshape(shape)
    is_missing = np.isnan(damaged) | np.isnan(originals)
    n_pairs = np.maximum(1, figures["n_pairs"])
    for name, values in (("mean_original", originals), ("mean_perturbed", damaged)):
        # + 0.0, because a mean of 0 times -1 is -0.0.
        figures[name] = np.where(is_missing, 0.0, values).sum(axis=2) / n_pairs * scores.signs + 0.0
    figures |= {name: np.full(shape, np.nan) for name in ("drop_low", "drop_high", "missed_at_most")}
    for j, original in enumerate(scores.originals):
        interval = partial(change_interval, original - damaged[:, j], largest=float(largest[j]), clusters=scores.codes)
        figures["drop_low"][:, j], figures["drop_high"][:, j] = interval()
        if margin is not None and np.nanmax(original) - np.nanmin(original) > ROUNDING * np.nanmax(np.abs(original)):
            # Two one-sided tests at the level 0.05.
            figures["missed_at_most"][:, j] = np.abs(interval(confidence=0.9, spread_from=original)).max(axis=0)
    return figures, intervals


def cell_rows(tasks: Sequence[TaskCells]) -> list[TableRow]:
    """The rows of all cells, by task, in the order of the plan."""
    rows = [row for task in tasks for row in _rows_of(task)]
    tested = [row for row in rows if row["log_p"] is not None]
    if tested:
        from scipy.stats import false_discovery_control

        p_values = false_discovery_control(np.exp([row["log_p"] for row in tested]))  # by Benjamini and Hochberg
        for row, p_value in zip(tested, p_values, strict=True):
            row["significant_bh"] = bool(p_value <= SIGNIFICANT)
    return rows


def _rows_of(task: TaskCells) -> Iterator[TableRow]:
    verdicts = {"few": task.few, "noticed": task.noticed}
    for i in range(len(task.scores.perturbations)):
        for j, metric in enumerate(task.scores.metrics):
            is_defined = bool(task.is_defined[i, j])
            yield {
                **task.scores.described(i),
                "metric": metric.name,
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
    return {metric: sum(verdicts) / len(verdicts) if verdicts else None for metric, verdicts in quiet.items()}


_NUMBERS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class TaskScores:
    """The scores of one task, with signs such that higher is better."""

    scored: Scored
    task: str
    rows: NDArray[np.intp]  # indices of the items in the collection
    codes: NDArray[np.int_]  # number of each item's question; items without a question have one each
    places: NDArray[np.intp]  # indices of the metrics that have a score for at least one original of the task

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.rows)

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The perturbations, in the order of the plan."""
        return self.scored.plan.perturbations

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics. Judges have different metrics for each task."""
        return tuple(self.scored.metrics[place] for place in self.places)

    @cached_property
    def signs(self) -> Floats:
        """By metric: 1 if higher is better, or else -1."""
        return np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])

    @cached_property
    def originals(self) -> Floats:
        """Metrics × items: the scores of the originals, negative if lower is better."""
        return self.scored.originals[np.ix_(self.places, self.rows)] * self.signs[:, None]

    @cached_property
    def n_possible(self) -> NDArray[np.intp]:
        """By perturbation, the number of items for which it is possible."""
        return np.asarray(self.scored.is_possible[:, self.rows].sum(axis=1))

    def described(self, number: int) -> TableRow:
        """The columns that describe the perturbation of a row, with its number of items."""
        change, n_items = self.perturbations[number], int(self.n_possible[number])
        return {
            "evaluator": self.scored.evaluator,
            "task": self.task,
            **{name: getattr(change, name) for name in ("level", "kind", "degree", "permille", "k", "method")},
            "n_items": n_items,
            "n_impossible": self.n_items - n_items,
        }

    def damaged(self, numbers: slice | NDArray[np.intp]) -> Floats:
        """Perturbations × metrics × items: the scores of some perturbations, with the signs of `originals`."""
        return self.scored.damaged[numbers][:, self.places][:, :, self.rows] * self.signs[:, None]

    def chunks(self) -> Iterator[slice]:
        """The perturbations in chunks whose scores do not take much memory."""
        size = max(1, _NUMBERS_AT_A_TIME // max(1, len(self.metrics) * self.n_items))
        for begin in range(0, len(self.perturbations), size):
            yield slice(begin, begin + size)


def by_task(scored: Scored) -> Iterator[TaskScores]:
    """Yields the scores of each task; a task is left out if no original of it has a score."""
    items = scored.collection.items
    for task, rows in rows_of_tasks(items).items():
        places = np.flatnonzero(~np.isnan(scored.originals[:, rows]).all(axis=1))
        clusters = [(items[row].question is None, items[row].question or items[row].id) for row in rows]
        numbers = {cluster: number for number, cluster in enumerate(sorted(set(clusters)))}  # in any order of the items
        if places.size:
            yield TaskScores(scored, task, rows, np.array([numbers[cluster] for cluster in clusters]), places)


# --- one kind of damage in all its degrees


def kinds_of(perturbations: Sequence[Perturbation]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Yields the kinds of damage without controls, with the indices of their degrees in ascending order."""
    kinds = dict.fromkeys(change.kind for change in perturbations if not change.is_control)
    for kind in kinds:
        yield kind, np.array([i for i, change in enumerate(perturbations) if change.kind == kind], dtype=np.intp)


def profile_rows(tasks: Sequence[TaskCells], zeros: Zeros) -> Iterator[TableRow]:
    """Yields the rows of the profile: for each task, kind and metric, in the order of the plan."""
    for task in tasks:
        scores = task.scores
        for kind, kind_rows in kinds_of(scores.perturbations):
            for j, metric in enumerate(scores.metrics):
                rows = kind_rows[task.is_defined[kind_rows, j]]
                yield {
                    **dict.fromkeys(PROFILE_COLUMNS),
                    "evaluator": scores.scored.evaluator,
                    "task": scores.task,
                    "level": scores.perturbations[kind_rows[0]].level,
                    "kind": kind,
                    "metric": metric.name,
                    **(_profile(task, rows, j, zeros) if rows.size else {}),
                }


def _profile(task: TaskCells, rows: NDArray[np.intp], metric: int, zeros: Zeros) -> TableRow:
    """The figures of a metric on some degrees of a kind."""
    scores = task.scores
    degrees = [scores.perturbations[row] for row in rows]
    original, damaged = scores.originals[metric], scores.damaged(rows)[:, metric]
    names = (*(change.degree or change.name for change in degrees), UNNOTICED)
    ends = {n: noticed_from_with(n, original, damaged, zeros=zeros, clusters=scores.codes) for n in NUMBERS_OF_ITEMS}
    first = min(int(noticed_from(task.noticed[rows, metric])), len(rows) - 1)
    drop = math.nan
    is_complete, complete = _complete(original, damaged)
    if is_complete.any() and all(change.permille is not None for change in degrees):
        # The slope of a line from the originals.
        rates = np.array([change.permille for change in degrees], dtype=np.float64) / 100
        drop = float((rates * (complete[0] - complete[1:]).mean(axis=1)).sum() / (rates * rates).sum())
    return {
        **{f"detectable_at_{n}": None if end is None else names[end] for n, end in ends.items()},
        "n80": whole(task.figures["n80"][rows[first], metric]),
        "monotonicity": number(monotonicity(original, damaged, scores.scored.differs_from_lower[rows][:, scores.rows])),
        "drop_per_100_permille": number(drop),
        "missed_at_most": number(task.figures["missed_at_most"][rows, metric].max()),
        "verdict": verdict(*(matrix[rows, metric] for matrix in (task.noticed, task.rewarded, task.equivalent))),
    }


def _complete(original: Floats, damaged: Floats) -> tuple[Bools, Floats]:
    """Which items have all scores, and these scores: a row for the originals and for each degree."""
    scores = np.vstack([original, damaged])
    is_complete = np.asarray(np.isfinite(scores).all(axis=0))
    return is_complete, scores[:, is_complete]


def verdict(noticed: NDArray[np.bool_], rewarded: NDArray[np.bool_], equivalent: NDArray[np.bool_]) -> str:
    """The verdict of a metric on a kind of damage; see `PROFILE_COLUMNS`."""
    first = int(noticed_from(noticed))
    # Scores rise at the highest degree, or at another degree if the highest degree is not noticed.
    if rewarded[-1] or (rewarded.any() and first == len(noticed)):
        return "rewards"
    if first == len(noticed):
        return "needs much" if noticed.any() else "blind" if equivalent.all() else "not noticed"
    return "notices" if first < (len(noticed) + 1) // 2 else "needs much"


def curves_of(task: TaskCells) -> Iterator[Curve]:
    """Yields the curve of each kind with several degrees, by metric, unless no item has all degrees.

    Its means have Student's intervals over questions. Degrees that are impossible for all items are left out.
    """
    from scipy.special import stdtrit

    scores = task.scores
    for kind, kind_rows in kinds_of(scores.perturbations):
        rows = kind_rows[scores.n_possible[kind_rows] > 0]
        degrees = [scores.perturbations[row] for row in rows]
        if len(degrees) < 2:
            continue
        rates = [change.permille for change in degrees]
        damaged = scores.damaged(rows)
        for j, metric in enumerate(scores.metrics):
            is_complete, turned = _complete(scores.originals[j], damaged[:, j])
            if not is_complete.any():
                continue
            own = turned * scores.signs[j] + 0.0
            mean, variances, _, units, freedom, _ = of_stratum(np.zeros(own.shape[1]), -own, scores.codes[is_complete])
            half = np.where(variances > 0, stdtrit(freedom, 0.975) * np.sqrt(variances), 0.0)
            half[units < 2] = np.nan
            yield Curve(
                task=scores.task,
                kind=kind,
                metric=metric.name,
                permille=np.array(range(len(rates) + 1) if None in rates else [0, *rates], dtype=np.float64),
                names=("original", *(change.degree or change.name for change in degrees)),
                mean=mean,
                mean_low=mean - half,
                mean_high=mean + half,
                share_lower=(differences_on_grid(np.broadcast_to(turned[0], turned.shape), turned) > 0).mean(axis=1),
                n_items=int(is_complete.sum()),
            )

"""`significance`: which neighbours on a leaderboard really differ, and which runs cannot be distinguished."""

from __future__ import annotations

import string
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..runs.leaderboard import is_system, order_key
from ..statistics.correlation import check_columns
from ..statistics.mean_interval import MeanInterval, mean_interval
from ..statistics.paired import CORRECTIONS, MIN_QUESTIONS, Correction, Pairs, all_pairs
from .chart_data import MAX_ROWS, Intervals
from .finding import Cell, Finding, Picture, Table
from .scored_runs import RunFigures


@dataclass(frozen=True, eq=False)
class Compared:
    """A leaderboard, best run first, and the certainty of its order."""

    order: NDArray[np.int_]  # indices of the runs that have a rank, which yardsticks have not
    means: tuple[MeanInterval, ...]  # means of the runs in this order, with their 95 % intervals over questions
    pairs: Pairs  # all pairs of ranks, one family of comparisons, and the groups that follow. Ranks count from 0

    @property
    def neighbours_differ(self) -> NDArray[np.bool_]:
        """For each run and the next, whether they differ."""
        return np.diagonal(self.pairs.differs, 1)


def significance(scored: RunFigures, *, alpha: float = 0.05, correction: Correction = "bh") -> Finding:
    """Compares every pair of runs by the paired t-test over questions, as `compare` does."""
    if not 0 < alpha < 1:
        raise ExperimentError(f"alpha {alpha:g}: expected a level between 0 and 1")
    check_columns({"score": scored.means["score"]}, "runs")
    if len(scored.suite) < MIN_QUESTIONS:
        raise ExperimentError(f"{len(scored.suite)} questions: a verdict needs at least {MIN_QUESTIONS}")
    compared = compare_all(scored, alpha, correction)
    if len(compared.order) < 2:
        raise ExperimentError(
            "significance needs at least two runs of models; system/... are yardsticks without a rank"
        )
    title = "Scores with 95 % intervals over questions; runs beside the same bar cannot be told apart"
    systems = scored.run_means.rows_of_systems()
    yardsticks = [f"{scored.names[row]} has no rank: a yardstick, not a model" for row in systems]
    return Finding(
        "significance",
        _answer(compared, alpha),
        _words(scored, compared, alpha, correction),
        (_table(scored, compared), _groups_table(scored, compared)),
        (Picture("groups", title, _chart(scored, compared)),),
        (*scored.problems, *yardsticks),
        question="Which neighbours on the leaderboard really differ?",
        runs=scored.names,
    )


def compare_all(scored: RunFigures, alpha: float, correction: Correction) -> Compared:
    """The leaderboard with all pairs compared, and the groups of runs that cannot be distinguished."""
    scores = scored.question_scores["score"]
    sorted_runs = sorted(range(len(scores)), key=lambda run: order_key(float(scored.scores[run]), scored.names[run]))
    order = np.array([run for run in sorted_runs if not is_system(scored.models[run])], dtype=np.int_)
    ranked = scores[order]
    return Compared(
        order=order,
        means=tuple(map(mean_interval, ranked)),
        pairs=all_pairs(ranked, alpha=alpha, correction=correction),
    )


def _letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    above, letter = divmod(number, 26)
    return (_letters(above - 1) if above else "") + string.ascii_lowercase[letter]


def _groups_by_rank(compared: Compared) -> list[list[str]]:
    groups = [(_letters(number), first, last) for number, (first, last) in enumerate(compared.pairs.groups)]
    return [[name for name, first, last in groups if first <= rank <= last] for rank in range(len(compared.order))]


def _table(scored: RunFigures, compared: Compared) -> Table:
    columns = (
        *("place", "run", "score", "low", "high", "questions", "groups"),
        *("ahead of the next by", "p", "corrected p", "differs"),
    )
    pairs = compared.pairs
    rows: list[tuple[Cell, ...]] = []
    for rank, (run, groups) in enumerate(zip(compared.order, _groups_by_rank(compared), strict=True)):
        mean = compared.means[rank]
        head = (rank + 1, scored.names[run], float(scored.scores[run]), mean.low, mean.high, mean.n, " ".join(groups))
        if rank + 1 == len(compared.order):
            rows.append((*head, None, None, None, None))
            continue
        of_next = (float(matrix[rank, rank + 1]) for matrix in (pairs.differences, pairs.p_values, pairs.corrected))
        rows.append((*head, *of_next, "yes" if pairs.differs[rank, rank + 1] else "no"))
    return Table("leaderboard", "The leaderboard: does a run differ from the next?", columns, tuple(rows))


def _groups_table(scored: RunFigures, compared: Compared) -> Table:
    names = [scored.names[run] for run in compared.order]
    rows = tuple(
        (_letters(number), last - first + 1, first + 1, last + 1, names[first], names[last])
        for number, (first, last) in enumerate(compared.pairs.groups)
    )
    columns = ("group", "runs", "from place", "to place", "from", "to")
    return Table("groups", "Groups of runs that cannot be told apart", columns, rows)


def _answer(compared: Compared, alpha: float) -> str:
    differ = compared.neighbours_differ
    return (
        f"Of {len(differ)} pairs of neighbours on the leaderboard, {int(differ.sum())} differ at the level {alpha:g}."
    )


def _words(scored: RunFigures, compared: Compared, alpha: float, correction: Correction) -> str:
    pairs = compared.pairs
    n_runs, n_questions = len(compared.order), len(scored.suite)
    n_pairs = n_runs * (n_runs - 1) // 2
    alike = [
        f"{scored.names[compared.order[rank]]} and {scored.names[compared.order[rank + 1]]}"
        for rank in np.flatnonzero(~compared.neighbours_differ)
    ]
    words = (
        f"Tested by the paired t-test over {n_questions} questions; all {n_pairs:,} pairs of runs are one family, "
        f"corrected after {CORRECTIONS[correction]}, and {int(pairs.differs.sum()) // 2:,} of them differ."
    )
    if alike:
        more = f" and {len(alike) - 5} more" if len(alike) > 5 else ""
        words += f" Not told apart: {'; '.join(alike[:5])}{more}."
    n_together = sum(last > first for first, last in pairs.groups)
    if n_together:
        groups = "group" if n_together == 1 else "groups"
        largest = max(last - first + 1 for first, last in pairs.groups)
        words += f" {n_together} {groups} of two runs or more cannot be told apart; the largest has {largest} runs."
    widths = [mean.high - mean.low for mean in compared.means if mean.low is not None and mean.high is not None]
    if widths:
        words += f" The median 95 % interval of a score is {np.median(widths):.4f} wide."
    return words


def _chart(scored: RunFigures, compared: Compared) -> Intervals:
    n = min(len(compared.order), MAX_ROWS)
    means = compared.means[:n]
    return Intervals(
        names=tuple(scored.labels[run] for run in compared.order[:n]),
        values=np.array([mean.mean for mean in means]),
        low=np.array([mean.mean if mean.low is None else mean.low for mean in means]),
        high=np.array([mean.mean if mean.high is None else mean.high for mean in means]),
        x_label="score",
        groups=tuple((first, min(last, n - 1)) for first, last in compared.pairs.groups if first < n and last > first),
        groups_label="not told apart",
        without_groups="all differ",
        runs=tuple(scored.names[run] for run in compared.order[:n]),
        n_all=len(compared.order),
    )

"""`significance`: which neighbours on a leaderboard really differ, and which runs cannot be distinguished?"""

from __future__ import annotations

import string
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..files.untrusted_text import counted
from ..runs.leaderboard import is_system, order_key
from ..statistics.correlation import check_columns
from ..statistics.mean_interval import MeanInterval, mean_interval
from ..statistics.paired import CORRECTIONS, MIN_QUESTIONS, Correction, Pairs, all_pairs
from .chart_data import MAX_ROWS, Intervals
from .finding import Cell, Finding, Picture, Table
from .scored_runs import RunFigures


@dataclass(frozen=True, eq=False)
class Compared:
    """A leaderboard, best run first, with tests of its order."""

    order: NDArray[np.int_]  # indices of the runs that have a rank; yardsticks have no rank
    means: tuple[MeanInterval, ...]  # means of the runs in this order, with their 95 % intervals over questions
    pairs: Pairs  # all pairs of ranks as one family of tests, and the groups; ranks count from 0

    @property
    def neighbours_differ(self) -> NDArray[np.bool_]:
        """For each run and the next, whether they differ."""
        return np.diagonal(self.pairs.differs, 1)

    @property
    def groups(self) -> list[tuple[str, int, int]]:
        """The letter of each group, and its first and last rank."""
        return [(_letters(number), first, last) for number, (first, last) in enumerate(self.pairs.groups)]


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
            "significance needs at least two runs of models; runs of system/... are yardsticks without a rank"
        )
    title = "Scores with 95 % intervals over questions; runs next to the same bar cannot be distinguished"
    yardsticks = [f"{scored.names[row]} has no rank, because it is a yardstick" for row in scored.rows_of_systems()]
    differ = compared.neighbours_differ
    names = [scored.names[run] for run in compared.order]
    columns = ("group", "runs", "from place", "to place", "from", "to")
    rows = tuple(
        (name, last - first + 1, first + 1, last + 1, names[first], names[last])
        for name, first, last in compared.groups
    )
    return Finding(
        "significance",
        f"Of {len(differ)} pairs of neighbours on the leaderboard, {differ.sum()} differ at the level {alpha:g}.",
        _words(scored, compared, correction),
        (_table(scored, compared), Table("groups", "Groups of runs that cannot be distinguished", columns, rows)),
        (Picture("groups", title, _chart(scored, compared)),),
        (*scored.problems, *yardsticks),
        question="Which neighbours on the leaderboard really differ?",
        runs=scored.names,
    )


def compare_all(scored: RunFigures, alpha: float, correction: Correction) -> Compared:
    """Compares all pairs of the leaderboard, and finds the groups of runs that cannot be distinguished."""
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


def _table(scored: RunFigures, compared: Compared) -> Table:
    columns = (
        *("place", "run", "score", "low", "high", "questions", "groups"),
        *("ahead of the next by", "p", "corrected p", "differs"),
    )
    pairs = compared.pairs
    rows: list[tuple[Cell, ...]] = []
    for rank, (run, mean) in enumerate(zip(compared.order, compared.means, strict=True)):
        groups = " ".join(name for name, first, last in compared.groups if first <= rank <= last)
        ahead: tuple[Cell, ...] = (None, None, None, None)
        if rank + 1 < len(compared.order):
            of_next = (float(matrix[rank, rank + 1]) for matrix in (pairs.differences, pairs.p_values, pairs.corrected))
            ahead = (*of_next, "yes" if pairs.differs[rank, rank + 1] else "no")
        score = float(scored.scores[run])
        rows.append((rank + 1, scored.names[run], score, mean.low, mean.high, mean.n, groups, *ahead))
    return Table("leaderboard", "The leaderboard: does a run differ from the next?", columns, tuple(rows))


def _words(scored: RunFigures, compared: Compared, correction: Correction) -> str:
    pairs = compared.pairs
    n_pairs = len(compared.order) * (len(compared.order) - 1) // 2
    names = [scored.names[run] for run in compared.order]
    alike = [f"{names[rank]} and {names[rank + 1]}" for rank in np.flatnonzero(~compared.neighbours_differ)]
    words = (
        f"Tested by the paired t-test over {len(scored.suite)} questions; all {n_pairs:,} pairs of runs are one "
        f"family, corrected after {CORRECTIONS[correction]}, and {int(pairs.differs.sum()) // 2:,} of them differ."
    )
    if alike:
        more = f" and {len(alike) - 5} more" if len(alike) > 5 else ""
        words += f" Neighbours that do not differ: {'; '.join(alike[:5])}{more}."
    sizes = [last - first + 1 for first, last in pairs.groups if last > first]
    if sizes:
        groups = counted(len(sizes), "group")
        words += f" {groups} of two runs or more cannot be distinguished; the largest has {max(sizes)} runs."
    widths = [mean.high - mean.low for mean in compared.means if mean.low is not None and mean.high is not None]
    if widths:
        words += f" The median 95 % interval of a score is {np.median(widths):.4f} wide."
    return words


def _chart(scored: RunFigures, compared: Compared) -> Intervals:
    shown, means = compared.order[:MAX_ROWS], compared.means[:MAX_ROWS]
    n = len(shown)
    return Intervals(
        tuple(scored.labels[run] for run in shown),
        np.array([mean.mean for mean in means]),
        np.array([mean.mean if mean.low is None else mean.low for mean in means]),
        np.array([mean.mean if mean.high is None else mean.high for mean in means]),
        "score",
        groups=tuple((first, min(last, n - 1)) for first, last in compared.pairs.groups if first < n and last > first),
        groups_label="not told apart",
        without_groups="all differ",
        runs=tuple(scored.names[run] for run in shown),
        n_all=len(compared.order),
    )

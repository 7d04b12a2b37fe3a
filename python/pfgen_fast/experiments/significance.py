"""`significance`: which neighbours on a leaderboard really differ, and which runs cannot be distinguished?"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..files.untrusted_text import counted, in_one_line
from ..item_scores.ranking import compared_models, too_many_pairs
from ..item_scores.table import ItemScores
from ..runs.leaderboard import is_system, order_key
from ..statistics.correlation import check_columns
from ..statistics.mean_interval import MeanInterval, mean_interval
from ..statistics.paired import CORRECTIONS, MIN_QUESTIONS, Correction, Pairs, all_pairs
from .chart_data import MAX_ROWS, Intervals
from .finding import Cell, Finding, Picture, Table
from .scored_runs import RunFigures


@dataclass(frozen=True, eq=False)
class Compared:
    """A leaderboard, the best first, with tests of its order."""

    order: NDArray[np.int_]  # indices of the runs that have a rank; yardsticks have no rank
    names: tuple[str, ...]  # names of the runs in this order
    labels: tuple[str, ...]  # their names in charts
    scores: tuple[float, ...]  # their scores
    means: tuple[MeanInterval, ...]  # their means with the 95 % intervals over questions
    pairs: Pairs  # all pairs of ranks as one family of tests, and the groups; ranks count from 0
    n_questions: int
    nouns: tuple[str, str] = ("runs", "questions")
    test: str = "the paired t-test"
    higher_is_better: bool = True

    @property
    def neighbours_differ(self) -> NDArray[np.bool_]:
        """For each run and the next, whether they differ."""
        return np.diagonal(self.pairs.differs, 1)

    @property
    def groups(self) -> list[tuple[str, int, int]]:
        """The letter of each group, and its first and last rank."""
        return [(_letters(number), first, last) for number, (first, last) in enumerate(self.pairs.groups)]


def significance(
    scored: RunFigures | ItemScores, *, alpha: float = 0.05, correction: Correction = "bh", metric: str | None = None
) -> Finding:
    """Compares every pair of runs, or of models of a table, by paired tests over questions, as `compare` does."""
    if not 0 < alpha < 1:
        raise ExperimentError(f"alpha {alpha:g}: expected a level between 0 and 1")
    if isinstance(scored, ItemScores):
        compared, notes = compare_models(scored, alpha, correction, metric)
        return _finding(compared, alpha, correction, notes)
    check_columns({"score": scored.means["score"]}, "runs")
    if len(scored.suite) < MIN_QUESTIONS:
        raise ExperimentError(f"{len(scored.suite)} questions: a verdict needs at least {MIN_QUESTIONS}")
    compared = compare_all(scored, alpha, correction)
    if len(compared.order) < 2:
        raise ExperimentError(
            "significance needs at least two runs of models; runs of system/... are yardsticks without a rank"
        )
    yardsticks = [f"{scored.names[row]} has no rank, because it is a yardstick" for row in scored.rows_of_systems()]
    return _finding(compared, alpha, correction, (*scored.problems, *yardsticks), runs=scored.names)


def compare_all(scored: RunFigures, alpha: float, correction: Correction) -> Compared:
    """Compares all pairs of the leaderboard, and finds the groups of runs that cannot be distinguished."""
    scores = scored.question_scores["score"]
    sorted_runs = sorted(range(len(scores)), key=lambda run: order_key(float(scored.scores[run]), scored.names[run]))
    order = np.array([run for run in sorted_runs if not is_system(scored.models[run])], dtype=np.int_)
    ranked = scores[order]
    return Compared(
        order=order,
        names=tuple(scored.names[run] for run in order),
        labels=tuple(scored.labels[run] for run in order),
        scores=tuple(float(scored.scores[run]) for run in order),
        means=tuple(map(mean_interval, ranked)),
        pairs=all_pairs(ranked, alpha=alpha, correction=correction),
        n_questions=len(scored.suite),
    )


def compare_models(
    scores: ItemScores, alpha: float, correction: Correction, metric: str | None = None
) -> tuple[Compared, tuple[str, ...]]:
    """Compares all pairs of models of a table on the items that all have; also returns remarks."""
    found = compared_models(scores, metric)
    if len(found.models) < 2:
        raise ExperimentError("significance needs the scores of at least two models")
    if found.n_units < MIN_QUESTIONS:
        raise ExperimentError(f"{found.counted_units}: a verdict needs at least {MIN_QUESTIONS}")
    if problem := too_many_pairs(*found.values.shape):
        raise ExperimentError(problem)
    order = np.array(found.order, dtype=np.int_)
    names, means = tuple(found.models[row] for row in order), tuple(found.means[row] for row in order)
    pairs = all_pairs(
        found.values[order], alpha=alpha, correction=correction, clusters=found.clusters, exact=found.is_exact
    )
    compared = Compared(
        order=order,
        names=names,
        labels=tuple(in_one_line(name, 60) for name in names),
        scores=tuple(mean.mean for mean in means),
        means=means,
        pairs=pairs,
        n_questions=found.values.shape[1],
        nouns=("models", "items"),
        test=found.test,
        higher_is_better=found.higher_is_better,
    )
    return compared, found.notes


def _finding(
    compared: Compared,
    alpha: float,
    correction: Correction,
    notes: Sequence[str],
    *,
    runs: tuple[str, ...] = (),
) -> Finding:
    what, items = compared.nouns
    title = f"Scores with 95 % intervals over {items}; {what} next to the same bar cannot be distinguished"
    differ, names = compared.neighbours_differ, compared.names
    columns = ("group", what, "from place", "to place", "from", "to")
    rows = tuple(
        (name, last - first + 1, first + 1, last + 1, names[first], names[last])
        for name, first, last in compared.groups
    )
    return Finding(
        "significance",
        f"Of {len(differ)} pairs of neighbours on the leaderboard, {differ.sum()} differ at the level {alpha:g}.",
        _words(compared, correction),
        (_table(compared), Table("groups", f"Groups of {what} that cannot be distinguished", columns, rows)),
        (Picture("groups", title, _chart(compared)),),
        tuple(notes),
        question="Which neighbours on the leaderboard really differ?",
        runs=runs,
    )


def _letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    above, letter = divmod(number, 26)
    return (_letters(above - 1) if above else "") + string.ascii_lowercase[letter]


def _table(compared: Compared) -> Table:
    what, items = compared.nouns
    columns = (
        *("place", what[:-1], "score", "low", "high", items, "groups"),
        *("ahead of the next by", "p", "corrected p", "differs"),
    )
    pairs = compared.pairs
    rows: list[tuple[Cell, ...]] = []
    for rank, (run, score, mean) in enumerate(zip(compared.names, compared.scores, compared.means, strict=True)):
        groups = " ".join(name for name, first, last in compared.groups if first <= rank <= last)
        ahead: tuple[Cell, ...] = (None, None, None, None)
        if rank + 1 < len(compared.names):
            of_next = (float(matrix[rank, rank + 1]) for matrix in (pairs.differences, pairs.p_values, pairs.corrected))
            lead, *p_values = of_next
            lead = lead if compared.higher_is_better else -lead
            ahead = (lead, *p_values, "yes" if pairs.differs[rank, rank + 1] else "no")
        rows.append((rank + 1, run, score, mean.low, mean.high, mean.n, groups, *ahead))
    title = f"The leaderboard: does a {what[:-1]} differ from the next?"
    return Table("leaderboard", title, columns, tuple(rows))


def _words(compared: Compared, correction: Correction) -> str:
    pairs, names, (what, items) = compared.pairs, compared.names, compared.nouns
    n_pairs = len(names) * (len(names) - 1) // 2
    alike = [f"{names[rank]} and {names[rank + 1]}" for rank in np.flatnonzero(~compared.neighbours_differ)]
    words = (
        f"Tested by {compared.test} over {compared.n_questions:,} {items}; all {n_pairs:,} pairs of {what} are one "
        f"family, corrected after {CORRECTIONS[correction]}, and {int(pairs.differs.sum()) // 2:,} of them differ."
    )
    if alike:
        more = f" and {len(alike) - 5} more" if len(alike) > 5 else ""
        words += f" Neighbours that do not differ: {'; '.join(alike[:5])}{more}."
    sizes = [last - first + 1 for first, last in pairs.groups if last > first]
    if sizes:
        groups = counted(len(sizes), "group")
        words += f" {groups} of two {what} or more cannot be distinguished; the largest has {max(sizes)} {what}."
    widths = [mean.high - mean.low for mean in compared.means if mean.low is not None and mean.high is not None]
    if widths:
        words += f" The median 95 % interval of a score is {np.median(widths):.4f} wide."
    return words


def _chart(compared: Compared) -> Intervals:
    means = compared.means[:MAX_ROWS]
    n = len(means)
    return Intervals(
        compared.labels[:n],
        np.array([mean.mean for mean in means]),
        np.array([mean.mean if mean.low is None else mean.low for mean in means]),
        np.array([mean.mean if mean.high is None else mean.high for mean in means]),
        "score",
        groups=tuple((first, min(last, n - 1)) for first, last in compared.pairs.groups if first < n and last > first),
        groups_label="not told apart",
        without_groups="all differ",
        runs=compared.names[:n],
        n_all=len(compared.names),
    )

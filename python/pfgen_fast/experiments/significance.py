"""`significance`: which neighbours on a leaderboard really differ, and which runs cannot be distinguished."""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..statistics.bootstrap import paired_means, percentile_interval
from ..statistics.correlation import Floats, check_columns
from ..statistics.p_values import CORRECTIONS, Correction, bootstrap_p_values, corrected, smallest_p_value
from ..statistics.ranking import groups_of
from .charts import MAX_ROWS, Intervals
from .finding import Cell, Finding, Picture, Table
from .scored_runs import ScoredRuns


@dataclass(frozen=True, eq=False)
class Compared:
    """A leaderboard, best run first, and the certainty of its order.

    Attributes:
        order: The indices of the runs.
        scores: The scores of the runs in this order.
        low: Lower ends of their 95 % intervals.
        high: Upper ends.
        p: For each run and the next, the p-value of "there is no difference".
        corrected: The same, corrected for the number of comparisons.
        differs: For each pair of ranks, whether the runs differ, corrected for all pairs.
        groups: First and last rank of the largest groups of runs that cannot be distinguished. Ranks count from 0.
    """

    order: NDArray[np.int_]
    scores: Floats
    low: Floats
    high: Floats
    p: Floats
    corrected: Floats
    differs: NDArray[np.bool_]
    groups: tuple[tuple[int, int], ...]


def significance(
    scored: ScoredRuns,
    *,
    alpha: float = 0.05,
    correction: Correction = "bh",
    n_resamples: int = 10_000,
    seed: int = 0,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Finding:
    """Compares every pair of runs by a paired bootstrap over questions and trials, as `compare` does.

    Args:
        scored: The runs.
        alpha: The level of significance.
        correction: The correction for multiple comparisons: `"holm"` (controls the chance of any false alarm) or `"bh"`
            (controls the share of false alarms).
        n_resamples: Number of bootstrap resamples.
        seed: The seed of the bootstrap.
        on_progress: Called with the number of runs drawn and the total.

    Raises:
        ExperimentError: All runs have the same score, or there are too few resamples for this level.
    """
    if not 0 < alpha < 1:
        raise ExperimentError(f"alpha {alpha:g}: expected a level between 0 and 1")
    check_columns({"score": scored.means["score"]}, "runs")
    _check_draws(len(scored.names), alpha, correction, n_resamples)
    compared = compare_all(scored, alpha, correction, n_resamples, seed, on_progress)
    return Finding(
        "significance",
        _answer(compared, alpha),
        _words(scored, compared, alpha, correction),
        (_table(scored, compared, alpha), _groups_table(scored, compared)),
        (
            Picture(
                "groups",
                "Scores with 95 % intervals; runs beside the same bar cannot be told apart",
                _chart(scored, compared),
            ),
        ),
        scored.problems,
        question="Which neighbours on the leaderboard really differ?",
        runs=scored.names,
    )


def _check_draws(n_runs: int, alpha: float, correction: Correction, n_resamples: int) -> None:
    """Rejects too few resamples to show any difference: Holm multiplies the smallest p by the number of comparisons."""
    smallest = smallest_p_value(n_resamples)
    n_pairs = n_runs * (n_runs - 1) // 2 if correction == "holm" else 1
    if smallest * n_pairs > alpha:
        raise ExperimentError(
            f"{n_resamples:,} draws can give no p-value below {smallest:.2g}, which by {CORRECTIONS[correction]} shows "
            f"no difference among {n_runs} runs: expected at least {int(2 * n_pairs / alpha):,} draws (--resamples)"
        )


def compare_all(
    scored: ScoredRuns,
    alpha: float,
    correction: Correction,
    n_resamples: int,
    seed: int,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Compared:
    """The leaderboard with the p-values of neighbours and the groups of runs that cannot be distinguished."""
    drawn = paired_means(_samples(scored), n_resamples, seed, on_progress)
    scores = scored.question_means(scored.answer_scores["score"]).mean(axis=1)
    order = np.argsort(-scores, kind="stable")
    drawn = drawn[order]
    p = np.ones((len(order), len(order)))
    for rank in range(len(order) - 1):
        p[rank, rank + 1 :] = bootstrap_p_values(drawn[rank] - drawn[rank + 1 :])
    above = np.triu_indices(len(order), 1)
    differs = np.zeros(p.shape, dtype=bool)
    differs[above] = corrected(p[above], correction) <= alpha
    of_neighbours = np.diagonal(p, 1).copy()
    low, high = percentile_interval(drawn)
    return Compared(
        order=order,
        scores=scores[order],
        low=low,
        high=high,
        p=of_neighbours,
        corrected=corrected(of_neighbours, correction),
        differs=differs | differs.T,
        groups=groups_of(differs | differs.T),
    )


def _samples(scored: ScoredRuns) -> list[list[Floats]]:
    """The scores of the answers, by run and question."""
    order = np.argsort(scored.cells, kind="stable")
    cells = np.split(scored.answer_scores["score"][order], np.cumsum(np.bincount(scored.cells))[:-1])
    n_questions = len(scored.suite)
    return [cells[run * n_questions : (run + 1) * n_questions] for run in range(len(scored.names))]


def _letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ...

    Example:
        >>> [_letters(number) for number in (0, 25, 26, 53)]
        ['a', 'z', 'aa', 'bb']
    """
    letters = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        letters = string.ascii_lowercase[letter] + letters
    return letters


def _groups_by_rank(compared: Compared) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in compared.order]
    for number, (first, last) in enumerate(compared.groups):
        for rank in range(first, last + 1):
            found[rank].append(_letters(number))
    return found


def _table(scored: ScoredRuns, compared: Compared, alpha: float) -> Table:
    columns = (
        "place", "run", "score", "low", "high", "groups", "ahead of the next by", "p", "corrected p", "differs"
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for rank, (run, groups) in enumerate(zip(compared.order, _groups_by_rank(compared), strict=True)):
        head = (
            rank + 1,
            scored.names[run],
            *(float(column[rank]) for column in (compared.scores, compared.low, compared.high)),
            " ".join(groups),
        )
        if rank == len(compared.p):
            rows.append((*head, None, None, None, None))
            continue
        ahead = float(compared.scores[rank] - compared.scores[rank + 1])
        differs = "yes" if compared.corrected[rank] <= alpha else "no"
        rows.append((*head, ahead, float(compared.p[rank]), float(compared.corrected[rank]), differs))
    return Table("leaderboard", "The leaderboard: does a run differ from the next?", columns, tuple(rows))


def _groups_table(scored: ScoredRuns, compared: Compared) -> Table:
    rows = tuple(
        (
            _letters(number),
            last - first + 1,
            first + 1,
            last + 1,
            scored.names[compared.order[first]],
            scored.names[compared.order[last]],
        )
        for number, (first, last) in enumerate(compared.groups)
    )
    columns = ("group", "runs", "from place", "to place", "from", "to")
    return Table("groups", "Groups of runs that cannot be told apart", columns, rows)


def _answer(compared: Compared, alpha: float) -> str:
    n_differ = int((compared.corrected <= alpha).sum())
    return f"Of {len(compared.p)} pairs of neighbours on the leaderboard, {n_differ} differ at the level {alpha:g}."


def _words(scored: ScoredRuns, compared: Compared, alpha: float, correction: Correction) -> str:
    alike = [
        f"{scored.names[compared.order[rank]]} and {scored.names[compared.order[rank + 1]]}"
        for rank in np.flatnonzero(compared.corrected > alpha)
    ]
    largest = max(last - first + 1 for first, last in compared.groups)
    words = f"Tested by a paired bootstrap over questions and trials, corrected after {CORRECTIONS[correction]}."
    if alike:
        more = f" and {len(alike) - 5} more" if len(alike) > 5 else ""
        words += f" Not told apart: {'; '.join(alike[:5])}{more}."
    n_together = sum(last > first for first, last in compared.groups)
    if n_together:
        groups = "group" if n_together == 1 else "groups"
        words += f" Corrected for all pairs, {n_together} {groups} of two runs or more cannot be told apart; "
        words += f"the largest has {largest} runs."
    return words + f" The median 95 % interval of a score is {np.median(compared.high - compared.low):.4f} wide."


def _chart(scored: ScoredRuns, compared: Compared) -> Intervals:
    n = min(len(compared.order), MAX_ROWS)
    return Intervals(
        names=tuple(scored.labels[run] for run in compared.order[:n]),
        values=compared.scores[:n],
        low=compared.low[:n],
        high=compared.high[:n],
        x_label="score",
        groups=tuple((first, min(last, n - 1)) for first, last in compared.groups if first < n and last > first),
        groups_label="not told apart",
        without_groups="all differ",
        runs=tuple(scored.names[run] for run in compared.order[:n]),
        n_all=len(compared.order),
    )

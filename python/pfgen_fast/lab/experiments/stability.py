"""`stability`: would other questions or trials rank the runs in the same way?

The two rankings that are compared share no question or trial. A ranking from a part and a ranking from the whole would
agree because of the data that they share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.mean_interval import mean_interval
from ...base.table import Table, place_cell
from ..chart_data import MAX_ROWS, Line, LinePanel, LinePanels, Ranges
from ..finding import Cell, Finding, Picture, finding_table
from ..statistics.correlation import MIN_VALUES, SAME_RANKING, check_columns, kendall, ranks
from .scored_runs import ScoredRuns

_STEPS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 500)
_TAIL = 5
_LEAST_DRAWS_OF_TAIL = 20


@dataclass(frozen=True, eq=False)
class RunPairs:
    """All pairs of runs; pairs are close if their scores differ by at most half of the median interval of a score."""

    first: NDArray[np.int_]  # row of the first run of each pair
    second: NDArray[np.int_]  # row of the second run of each pair
    is_close: NDArray[np.bool_]  # whether the pair is close
    within: float | None  # largest difference of the scores of close runs; None if scores have no interval

    @classmethod
    def of(cls, question_scores: Floats) -> RunPairs:
        """The pairs of runs (rows) with these scores of questions (columns)."""
        first, second = np.triu_indices(len(question_scores), 1)
        halves = [half for row in question_scores if (half := mean_interval(row).half_width) is not None]
        within = float(np.median(halves)) if halves else None
        means = question_scores.mean(axis=1)
        is_close = np.abs(means[first] - means[second]) <= (-1.0 if within is None else within)
        return cls(first, second, is_close, within)

    def chosen(self, runs: NDArray[np.int_]) -> RunPairs:
        """The pairs of some of the runs, which are renumbered."""
        new = np.full(max(self.second) + 1, -1)
        new[runs] = np.arange(len(runs))
        kept = (new[self.first] >= 0) & (new[self.second] >= 0)
        return RunPairs(new[self.first][kept], new[self.second][kept], self.is_close[kept], self.within)

    def agreement(self, first: Floats, second: Floats) -> RankingAgreement:
        """Computes how the scores of the runs from two disjoint parts of the data agree."""
        # Rounded, because sums in another order could distinguish equal scores.
        first, second = (np.sign(part[self.first] - part[self.second]) for part in np.round((first, second), 12))
        same = first * second
        differ = np.sqrt(np.count_nonzero(first) * np.count_nonzero(second))
        close = same[self.is_close] if self.is_close.any() else np.array([math.nan])
        close_swapped = np.where(np.isnan(close), math.nan, close < 0)
        figures = same.sum() / differ if differ else 0.0, (same < 0).mean(), close.mean(), close_swapped.mean()
        return RankingAgreement(*map(float, figures))


class RankingAgreement(NamedTuple):
    """Agreement of two rankings of the same runs, from disjoint parts of the data."""

    kendall: float
    swapped: float  # share of the pairs of runs that have the opposite order
    # Kendall's correlation over close pairs: the share in the same order minus the share in the opposite order; NaN
    # without close pairs
    close: float
    close_swapped: float  # share of the close pairs that have the opposite order; NaN without close pairs


@dataclass(frozen=True, eq=False)
class Fewer:
    """Agreement of rankings from parts of the data with rankings from disjoint parts of the same size."""

    what: str  # plural noun for the things that are drawn
    n: int  # number of things in each part
    n_all: int  # total number of things
    draws: Sequence[RankingAgreement]  # agreement of each draw

    @cached_property
    def mean(self) -> RankingAgreement:
        """The mean of the draws."""
        return RankingAgreement(*np.mean(self.draws, axis=0).tolist())

    @property
    def ends(self) -> tuple[float, float]:
        """The percentiles 5 and 95 of Kendall's correlations; with few draws, the smallest and the largest."""
        tail = _TAIL if len(self.draws) >= _LEAST_DRAWS_OF_TAIL else 0
        low, high = np.percentile([draw.kendall for draw in self.draws], (tail, 100 - tail)).tolist()
        return low, high

    @property
    def has_close(self) -> bool:
        """Whether there are close pairs."""
        return not math.isnan(self.mean.close_swapped)


_ByWhat = Mapping[str, Sequence[Fewer]]
"""By the things that are drawn, the agreement for each number, the largest number first."""


def stability(scored: ScoredRuns, *, n_draws: int = 100, seed: int = 0) -> Finding:
    """Measures how the ranking depends on the choice and the number of questions and trials."""
    check_columns({"score": scored.means["score"]}, "runs")
    usual, without = ranks(scored.means["score"].round(12)), leave_one_out(scored)
    tables, words = [_ranges(scored, usual, without)], [_words_on_ranks(usual, without)]
    title = "Ranks of the runs when any one question is left out"
    pictures = [Picture("ranks", title, _ranks_chart(scored, usual, without))]
    answer = words[0]
    pairs = RunPairs.of(scored.question_scores["score"])
    trials, notes = _fewer_trials(scored, pairs, n_draws, seed)
    reductions = (_fewer_questions(scored, pairs, n_draws, seed), trials)
    fewer = {steps[0].what: steps for steps in reductions if steps}
    if fewer:
        tables.append(_fewer_table(fewer))
        title = "Kendall's correlation between rankings from disjoint parts (band: 5 % to 95 % of the draws)"
        pictures.append(Picture("fewer", title, _fewer_chart(fewer)))
        words.append(_words_on_fewer(fewer, pairs))
        answer = _answer(fewer)
    return Finding(
        "stability",
        answer,
        " ".join(words),
        tuple(tables),
        tuple(pictures),
        (*scored.problems, *notes),
        question="Would other questions or trials rank the runs in the same way?",
        runs=scored.names,
    )


# --- questions left out


def leave_one_out(scored: ScoredRuns) -> Floats:
    """The ranks of the runs (rows) without each of the questions (columns)."""
    scores = scored.question_scores["score"]
    n_questions = scores.shape[1]
    if n_questions < 2:
        return np.empty((len(scores), 0))
    without = (scores.sum(axis=1, keepdims=True) - scores) / (n_questions - 1)
    # Rounded, because sums in another order could distinguish equal scores.
    return np.stack([ranks(column) for column in without.round(12).T], axis=1)


def _ranges(scored: ScoredRuns, usual: Floats, without: Floats) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run in np.argsort(usual, kind="stable"):
        low = high = question = None
        if without.size:
            moved = np.abs(without[run] - usual[run])
            low, high = (place_cell(float(end)) for end in (without[run].min(), without[run].max()))
            question = scored.suite.questions[int(np.argmax(moved))].question_id if moved.any() else None
        score, place = float(scored.means["score"][run]), place_cell(float(usual[run]))
        rows.append((scored.names[run], score, place, low, high, question))
    columns = ("run", "score", "place", "best place", "worst place", "moved most without")
    return finding_table("ranks", "Ranks when any one question is left out", columns, rows)


def _words_on_ranks(usual: Floats, without: Floats) -> str:
    if not without.size:
        return "The suite has only one question, which cannot be left out."
    moved = np.abs(without - usual[:, None])
    correlations = [value for column in without.T if (value := kendall(usual, column)) is not None]
    farthest = f" by more than {moved.max():g} {'rank' if moved.max() <= 1 else 'ranks'}" if moved.max() else ""
    return (
        f"Without any one of the {without.shape[1]} questions, no run moves{farthest}. "
        f"{int((moved.max(axis=1) == 0).sum())} of {len(usual)} runs never move. Kendall's correlation with the "
        f"full ranking is at least {min(correlations, default=1.0):.4f}."
    )


def _ranks_chart(scored: ScoredRuns, usual: Floats, without: Floats) -> Ranges:
    shown = np.argsort(usual, kind="stable")[:MAX_ROWS]
    return Ranges(
        names=tuple(scored.labels[run] for run in shown),
        values=usual[shown],
        low=without[shown].min(axis=1) if without.size else None,
        high=without[shown].max(axis=1) if without.size else None,
        x_label="rank (bar: best to worst without any one question)",
        runs=tuple(scored.names[run] for run in shown),
        n_all=len(usual),
    )


# --- less data

_Halves = Iterator[tuple[int, Floats, Floats]]
"""For each size of a part, the scores of the runs from two disjoint parts of a draw."""


def _fewer(what: str, n_all: int, pairs: RunPairs, n_draws: int, draw: Callable[[], _Halves]) -> list[Fewer]:
    by_n: dict[int, list[RankingAgreement]] = {}
    for _ in range(n_draws):
        for n, first, second in draw():
            by_n.setdefault(n, []).append(pairs.agreement(first, second))
    return [Fewer(what, n, n_all, draws) for n, draws in by_n.items()]


def _fewer_questions(scored: ScoredRuns, pairs: RunPairs, n_draws: int, seed: int) -> list[Fewer]:
    scores, n_all = scored.question_scores["score"], len(scored.suite)
    generator = np.random.default_rng((seed, 1))

    def draw() -> _Halves:
        drawn = scores[:, generator.permutation(n_all)]
        for n in _sizes(n_all):
            yield n, drawn[:, :n].mean(axis=1), drawn[:, -n:].mean(axis=1)

    return _fewer("questions", n_all, pairs, n_draws, draw)


def _fewer_trials(scored: ScoredRuns, pairs: RunPairs, n_draws: int, seed: int) -> tuple[list[Fewer], list[str]]:
    """The agreement of fewer trials, and sentences on the runs that have too few trials."""
    generator = np.random.default_rng((seed, 2))
    scores = scores_of_trials(scored, generator)
    chosen = np.flatnonzero([len(trials) > 1 for trials in scores])
    if len(chosen) < MIN_VALUES:
        return [], ["fewer than three runs have two trials, so trials cannot be compared"]
    by_run = [scores[run] for run in chosen]
    n_all = max(map(len, by_run))
    sizes = _sizes(n_all)

    def draw() -> _Halves:
        sums = [np.r_[0.0, np.cumsum(generator.permutation(trials))] for trials in by_run]
        for n in sizes:
            # No trial is in both halves.
            sized = [(run, min(n, (len(run) - 1) // 2)) for run in sums]
            first = [run[size] / size for run, size in sized]
            second = [(run[-1] - run[-1 - size]) / size for run, size in sized]
            yield n, np.array(first), np.array(second)

    notes = []
    if len(chosen) < len(scores):
        notes.append(f"{len(scores) - len(chosen):,} runs of a single trial are left out of the rows on trials")
    n_short = sum(len(trials) // 2 < sizes[0] for trials in by_run)
    if n_short:
        notes.append(f"{n_short:,} runs have fewer than {2 * sizes[0]:,} trials; their trials are halved if needed")
    return _fewer("trials", n_all, pairs.chosen(chosen), n_draws, draw), notes


def _sizes(n_all: int) -> list[int]:
    """The sizes of parts to try, the largest first: half of the data, and smaller parts."""
    return sorted({n_all // 2, *(n for n in _STEPS if n <= n_all // 2)} - {0}, reverse=True)


def scores_of_trials(scored: ScoredRuns, generator: np.random.Generator) -> list[Floats]:
    """The mean scores of the trials of each run. Answers are shuffled first, because files may be sorted by text."""
    order = np.lexsort((generator.random(len(scored.run_numbers)), scored.cells))
    shuffled = scored.answer_scores["score"][order]
    counts = np.bincount(scored.cells).reshape(len(scored.names), -1)
    begins = np.cumsum(counts).reshape(counts.shape) - counts
    return [
        shuffled[run + np.arange(n_trials)[:, np.newaxis]].mean(axis=1)
        for run, n_trials in zip(begins, counts.min(axis=1), strict=True)
    ]


def smallest_with_same_ranking(steps: Sequence[Fewer]) -> int | None:
    """The smallest number from which on disjoint parts agree by a mean Kendall above 0.95; None if no number does."""
    enough = [step.n for step in takewhile(lambda step: step.mean.kendall > SAME_RANKING, steps)]
    return enough[-1] if enough else None


def _fewer_table(fewer: _ByWhat) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for step in (step for steps in fewer.values() for step in steps):
        lowest = step.ends[0] if len(step.draws) >= _LEAST_DRAWS_OF_TAIL else None
        kendall, swapped, *close = step.mean
        close_pairs = close if step.has_close else (None, None)
        rows.append((step.what, step.n, len(step.draws), kendall, lowest, swapped, *close_pairs))
    agreement = ("mean Kendall", "lowest 5 %", "swapped pairs", "Kendall of close pairs", "swapped close pairs")
    title = "Agreement between rankings from two disjoint parts; shares of swapped pairs"
    return finding_table("fewer", title, ("what", "how many", "draws", *agreement), rows)


def _fewer_chart(fewer: _ByWhat) -> LinePanels:
    panels = []
    for what, steps in fewer.items():
        middle, ends = zip(*((step.mean.kendall, step.ends) for step in reversed(steps)), strict=True)
        low, high = np.array(ends).T
        line = Line("mean of the draws", np.arange(len(steps), dtype=float), np.array(middle), low, high)
        sizes = tuple(f"{step.n:,}" for step in reversed(steps))
        panels.append(LinePanel(f"{what}, of {steps[0].n_all:,}", (line,), (SAME_RANKING,), sizes))
    return LinePanels(tuple(panels), "size of each part", "Kendall", level_label=f"alike: above {SAME_RANKING}")


def _answer(fewer: _ByWhat) -> str:
    enough, not_enough = [], []
    for what, steps in fewer.items():
        n, largest = smallest_with_same_ranking(steps), steps[0]
        if n is None:
            not_enough.append(f"{largest.n:,} of {largest.n_all:,} {what} ({largest.mean.kendall:.2f})")
        else:
            enough.append(f"{n:,} of {largest.n_all:,} {what}")
    alike = f"rank the runs alike (Kendall above {SAME_RANKING})"
    if enough:
        sentence = f"Two disjoint parts {alike} from {' and '.join(enough)} on"
        sentence += f", but not with {not_enough[0]}" if not_enough else ""
    else:
        sentence = f"Two disjoint parts do not {alike} with {' or '.join(not_enough)}"
    close = [largest for largest, *_ in fewer.values() if largest.has_close]
    if close:
        step = max(close, key=lambda step: step.mean.close_swapped)
        swapped = f"{100 * step.mean.close_swapped:.0f} % of the close pairs of runs swap"
        sentence += f"; {swapped} between {step.n:,} {step.what} and {step.n:,} others"
    return f"{sentence}."


def _words_on_fewer(fewer: _ByWhat, pairs: RunPairs) -> str:
    words = [
        "The two rankings that are compared share no question or trial, so each uses at most half of the data. They "
        f"count as alike if the mean of Kendall's correlation over the draws is above {SAME_RANKING}."
    ]
    if pairs.within is not None:
        words.append(
            f"Of {len(pairs.first):,} pairs of runs, {pairs.is_close.sum():,} are close: their scores differ by at "
            f"most {pairs.within:.4f}, half of the median interval of a score."
        )
    for what, (largest, *_) in fewer.items():
        kendall, _, _, share = largest.mean
        swapped = f" and {share:.1%} of the close pairs swapped" if largest.has_close else ""
        words.append(f"With {largest.n:,} of {largest.n_all:,} {what}: Kendall {kendall:.4f}{swapped}.")
    return " ".join(words)

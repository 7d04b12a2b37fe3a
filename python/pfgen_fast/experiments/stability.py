"""`stability`: would other reference answers, questions or trials rank the runs in the same way?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ..errors import ExperimentError
from ..scoring.scorer import Scorer
from ..statistics.correlation import Floats, check_columns, kendall
from ..statistics.ranking import SAME_RANKING, ranks
from ..suite.questions import Question
from ..suite.suite import Suite
from .charts import MAX_ROWS, Band, Bands, Ranges
from .finding import Cell, Finding, Picture, Table
from .scored_runs import AnswersOfRuns, DrawnAnswers, ScoredRuns

REFERENCE_ANSWERS = (500, 200, 100, 50, 20, 10, 5)
"""Numbers of answers per set to try, besides all."""

_STEPS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
_TAIL = 5


class CutReferences:
    """Scores answers with fewer reference answers as well; `score_runs` calls it with each batch.

    Args:
        sizes: The numbers of answers to draw from each set, below the size of the largest set; by default some
            numbers from 500 to 5.
        n_draws: The number of draws per size.
        trials: How many answers of each run and question are scored; by default as many as make `MANY_ANSWERS` in all.
        seed: The seed of the draws.
        threads: Number of threads; by default one per core.
    """

    def __init__(
        self,
        sizes: Sequence[int] | None = None,
        *,
        n_draws: int = 3,
        trials: int | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self._is_usual = sizes is None
        self._wanted = sorted(set(REFERENCE_ANSWERS if sizes is None else sizes), reverse=True)
        if any(size < 1 for size in self._wanted) or n_draws < 1:
            raise ExperimentError(f"reference answers {self._wanted}, draws {n_draws}: expected at least 1 of each")
        self._n_draws, self._seed, self._threads = n_draws, seed, threads
        self._drawn = DrawnAnswers(trials, seed)
        self._suite: Suite | None = None
        self._batches: list[AnswersOfRuns] = []

    def __call__(self, suite: Suite, of_runs: AnswersOfRuns) -> None:
        """Keeps the drawn answers of a batch, so that one index after the other scores them all."""
        if self._suite is None:
            self._suite = suite
            self._check_sizes(_largest_set(suite))
        self._batches.append(self._drawn.of(suite, of_runs))

    def _check_sizes(self, largest: int) -> None:
        if self._wanted[0] >= largest and not self._is_usual:
            raise ExperimentError(
                f"{self._wanted[0]} reference answers: expected fewer than {largest}, as many as the largest set has"
            )
        self._wanted = [size for size in self._wanted if size < largest]

    @property
    def notes(self) -> list[str]:
        """How many answers were scored if not all, and which numbers some sets do not exceed, one sentence each."""
        assert self._suite is not None
        sizes = [len(answers) for question in self._suite for answers in question.answers.values()]
        return [
            *self._drawn.notes("with fewer reference answers"),
            *(
                f"{sum(n <= size for n in sizes):,} of {len(sizes):,} reference sets have no more than {size:,} "
                f"answers and keep them all where {size:,} are drawn; the smallest has {min(sizes):,}"
                for size in self._wanted
                if min(sizes) <= size
            ),
        ]

    @property
    def usual(self) -> Floats:
        """The scores of the runs with all reference answers, over the drawn answers."""
        return self._all_scores[0]

    @property
    def scores(self) -> tuple[tuple[int, Floats], ...]:
        """By number of answers and draw, the scores of the runs over the drawn answers."""
        return self._all_scores[1]

    @cached_property
    def _all_scores(self) -> tuple[Floats, tuple[tuple[int, Floats], ...]]:
        assert self._suite is not None
        usual = self._scores(self._suite)
        of_cut = tuple(
            (size, self._scores(cut_suite(self._suite, size, np.random.default_rng((self._seed, size, draw)))))
            for size in self._wanted
            for draw in range(self._n_draws)
        )
        self._batches.clear()  # the texts are not needed again
        return usual, of_cut

    def _scores(self, suite: Suite) -> Floats:
        scorer = Scorer(suite, threads=self._threads)  # one at a time, because an index takes much memory
        means = [
            batch.question_means(scorer.reward(batch.questions, batch.answers), len(suite)) for batch in self._batches
        ]
        scores: Floats = np.concatenate(means).mean(axis=1)
        return scores


def _largest_set(suite: Suite) -> int:
    return max(len(answers) for question in suite for answers in question.answers.values())


def cut_suite(suite: Suite, size: int, generator: np.random.Generator) -> Suite:
    """The suite with `size` answers of each set, drawn without replacement and kept in order; all if a set has fewer.

    Example:
        >>> cut = cut_suite(Suite.load("mini"), 50, np.random.default_rng(0))
        >>> {len(answers) for question in cut for answers in question.answers.values()}
        {50}
    """

    def cut(question: Question) -> Question:
        return replace(
            question, answers=MappingProxyType({name: drawn(answers) for name, answers in question.answers.items()})
        )

    def drawn(answers: tuple[str, ...]) -> tuple[str, ...]:
        if len(answers) <= size:
            return answers
        return tuple(answers[i] for i in np.sort(generator.choice(len(answers), size, replace=False)))

    return Suite(f"{suite.name} cut to {size}", tuple(map(cut, suite)), derived_from=suite.metadata_hash)


@dataclass(frozen=True)
class Fewer:
    """Kendall's correlations of rankings from a part of the data with the full ranking.

    Attributes:
        what: What was reduced.
        n: How many are left.
        n_all: How many there are in total.
        values: The correlation of each draw.
    """

    what: str
    n: int
    n_all: int
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the draws."""
        return float(np.mean(self.values))

    def row(self) -> tuple[Cell, ...]:
        """The row of the table."""
        above = sum(value > SAME_RANKING for value in self.values) / len(self.values)
        return (self.what, self.n, len(self.values), self.mean, float(np.percentile(self.values, _TAIL)), above)


def stability(scored: ScoredRuns, cut: CutReferences | None = None, *, n_draws: int = 100, seed: int = 0) -> Finding:
    """Measures how the ranking depends on the questions, and on the number of reference answers and trials.

    Args:
        scored: The runs.
        cut: Has got the same batches, to score them with fewer reference answers; None leaves this part out.
        n_draws: The number of draws of questions and of trials.
        seed: The seed of these draws.

    Raises:
        ExperimentError: All runs have the same score.
    """
    check_columns({"score": scored.means["score"]}, "runs")
    without = leave_one_out(scored)
    title = "Ranks of the runs when any one question is left out"
    tables, words = [_ranges(scored, without)], [_words_on_ranks(scored, without)]
    pictures = [Picture("ranks", title, _ranks_chart(scored, without))]
    answer = words[0]
    fewer = [
        *_fewer_answers(scored, cut),
        *_fewer_questions(scored, n_draws, seed),
        *_fewer_trials(scored, n_draws, seed),
    ]
    if fewer:
        tables.append(_fewer_table(fewer))
        title = "Kendall's correlation with the full ranking (band: 5 % to 95 % of the draws)"
        pictures.append(Picture("fewer", title, _fewer_chart(fewer)))
        words.append(_words_on_fewer(fewer))
        answer = _answer(fewer)
    notes = (*scored.problems, *(cut.notes if cut else ()))
    return Finding(
        "stability",
        answer,
        " ".join(words),
        tuple(tables),
        tuple(pictures),
        notes,
        question="Would other reference answers, questions or trials rank the runs in the same way?",
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


def _ranges(scored: ScoredRuns, without: Floats) -> Table:
    usual = ranks(scored.means["score"].round(12))
    rows = []
    for run in np.argsort(usual, kind="stable"):
        moved = without[run] - usual[run]
        farthest = int(np.argmax(np.abs(moved))) if len(moved) else None
        question = None if farthest is None or moved[farthest] == 0 else scored.suite.questions[farthest].question_id
        low, high = (_rank(without[run].min()), _rank(without[run].max())) if len(moved) else (None, None)
        rows.append((scored.names[run], float(scored.means["score"][run]), _rank(usual[run]), low, high, question))
    columns = ("run", "score", "place", "best place", "worst place", "moved most without")
    return Table("ranks", "Ranks when any one question is left out", columns, tuple(rows))


def _rank(rank: float) -> int | float:
    return int(rank) if rank == int(rank) else float(rank)


def _words_on_ranks(scored: ScoredRuns, without: Floats) -> str:
    if not without.size:
        return "The suite has one question only, which cannot be left out."
    usual = ranks(scored.means["score"].round(12))
    moved = np.abs(without - usual[:, None])
    correlations = [value for column in without.T if (value := kendall(usual, column)) is not None]
    farthest = f" by more than {moved.max():g} {'rank' if moved.max() <= 1 else 'ranks'}" if moved.max() else ""
    return (
        f"Without any one of the {without.shape[1]} questions, no run moves{farthest}. "
        f"{int((moved.max(axis=1) == 0).sum())} of {len(usual)} runs never move. Kendall's correlation with the "
        f"full ranking is {min(correlations, default=1.0):.4f} at least."
    )


# --- fewer of something


def _fewer_answers(scored: ScoredRuns, cut: CutReferences | None) -> list[Fewer]:
    if cut is None:
        return []
    by_size: dict[int, list[float]] = {}
    for size, scores in cut.scores:
        # The same answers scored in both ways, so that nothing but the references differs.
        by_size.setdefault(size, []).append(kendall(cut.usual, scores) or 0.0)
    n_all = _largest_set(scored.suite)
    return [Fewer("reference answers per set", size, n_all, tuple(values)) for size, values in by_size.items()]


def _fewer_questions(scored: ScoredRuns, n_draws: int, seed: int) -> list[Fewer]:
    scores = scored.question_scores["score"]
    n_all = scores.shape[1]
    generator = np.random.default_rng((seed, 1))
    by_n: dict[int, list[float]] = {n: [] for n in reversed(_STEPS) if n < n_all}
    for _ in range(n_draws):
        drawn = scores[:, generator.permutation(n_all)]
        for n, values in by_n.items():
            values.append(kendall(scored.means["score"], drawn[:, :n].mean(axis=1)) or 0.0)
    return [Fewer("questions", n, n_all, tuple(values)) for n, values in by_n.items()]


def _fewer_trials(scored: ScoredRuns, n_draws: int, seed: int) -> list[Fewer]:
    """Correlations with fewer trials; a run that has fewer trials keeps all of them."""
    generator = np.random.default_rng((seed, 2))
    by_run = scores_of_trials(scored, generator)
    n_all = max(map(len, by_run))
    by_n: dict[int, list[float]] = {n: [] for n in reversed(_STEPS) if n < n_all}
    for _ in range(n_draws if by_n else 0):
        sums = [np.cumsum(generator.permutation(trials)) for trials in by_run]
        for n, values in by_n.items():
            means = np.array([of_run[min(n, len(of_run)) - 1] / min(n, len(of_run)) for of_run in sums])
            values.append(kendall(scored.means["score"], means) or 0.0)
    return [Fewer("trials", n, n_all, tuple(values)) for n, values in by_n.items()]


def scores_of_trials(scored: ScoredRuns, generator: np.random.Generator) -> list[Floats]:
    """The scores of each run's trials: the means over the questions of one answer to each.

    Files may be sorted by text, so the answers of each question are shuffled first: a trial is one random answer to
    each question. Where a question has more answers than another, the run has as many trials as the fewest.
    """
    order = np.lexsort((generator.random(len(scored.run_numbers)), scored.cells))
    shuffled = scored.answer_scores["score"][order]
    counts = np.bincount(scored.cells).reshape(len(scored.names), -1)
    begins = np.cumsum(counts).reshape(counts.shape) - counts
    return [
        shuffled[of_run + np.arange(n_trials)[:, np.newaxis]].mean(axis=1)
        for of_run, n_trials in zip(begins, counts.min(axis=1), strict=True)
    ]


def smallest_with_same_ranking(fewer: Sequence[Fewer]) -> int | None:
    """The smallest number from which on the mean of Kendall's correlations is above 0.95; None if there is none."""
    enough = None
    for step in sorted(fewer, key=lambda step: -step.n):
        if step.mean <= SAME_RANKING:
            break
        enough = step.n
    return enough


def _by_what(fewer: Sequence[Fewer]) -> dict[str, list[Fewer]]:
    found: dict[str, list[Fewer]] = {}
    for step in fewer:
        found.setdefault(step.what, []).append(step)
    return found


def _fewer_table(fewer: Sequence[Fewer]) -> Table:
    columns = ("what", "how many", "draws", "mean Kendall", "lowest 5 %", f"draws above {SAME_RANKING}")
    return Table("fewer", "Kendall's correlation with the full ranking", columns, tuple(step.row() for step in fewer))


def _answer(fewer: Sequence[Fewer]) -> str:
    found = [
        f"{n:,} of {steps[0].n_all:,} {what}" if (n := smallest_with_same_ranking(steps)) else f"no fewer {what}"
        for what, steps in _by_what(fewer).items()
    ]
    *others, last = found
    return f"The ranking stays the same with {', '.join(others)}{' or ' if others else ''}{last}."


def _words_on_fewer(fewer: Sequence[Fewer]) -> str:
    found = []
    for what, steps in _by_what(fewer).items():
        n = smallest_with_same_ranking(steps)
        if n is None:
            found.append(f"it takes all {steps[0].n_all:,} {what}")
        elif 1 < n == min(step.n for step in steps):
            found.append(f"{n:,} {what} are the fewest that were tried")
    words = f"The same ranking means that Kendall's correlation is above {SAME_RANKING} in the mean of the draws."
    return " ".join([words, *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in found)])


# --- charts


def _ranks_chart(scored: ScoredRuns, without: Floats) -> Ranges:
    usual = ranks(scored.means["score"].round(12))
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


def _fewer_chart(fewer: Sequence[Fewer]) -> Bands:
    panels = []
    for what, steps in _by_what(fewer).items():
        steps = sorted(steps, key=lambda step: step.n)
        bounds = np.array([np.percentile(step.values, [_TAIL, 100 - _TAIL]) for step in steps])
        panels.append(
            Band(
                x=np.array([step.n for step in steps]),
                middle=np.array([step.mean for step in steps]),
                low=bounds[:, 0],
                high=bounds[:, 1],
                x_label=f"{what}, of {steps[0].n_all:,}",
            )
        )
    return Bands(tuple(panels), y_label="Kendall", threshold=SAME_RANKING)
